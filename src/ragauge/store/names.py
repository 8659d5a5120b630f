"""The small tables that give names their numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Select, func, select

from ragauge.core.ask import ModelName
from ragauge.core.errors import UnknownName
from ragauge.store.database import NUMBERS, Database, rows_among
from ragauge.store.schema import judges, metrics, models, own_metrics, reasons, run_names, runs
from ragauge.store.text_codec import pack, sha_of

# which version of a metric counts: the greatest; of one of the user's own, whose versions are hashes, the last named
METRIC_RANK = func.coalesce(own_metrics.c.place, metrics.c.version)
RANKED_METRICS = select(metrics.c.metric_no, metrics.c.name, metrics.c.version, METRIC_RANK.label("rank")).join_from(
    metrics, own_metrics, own_metrics.c.metric_no == metrics.c.metric_no, isouter=True
)
NOBODY = ""  # the judge of scores that ask nothing


def run_no(connection: Connection, run_id: str) -> int:
    """A run's number. UnknownName if there is none of this id."""
    found = number_of(connection, select(runs.c.run_no).where(runs.c.run_id == run_id), ("run", run_id))
    if found is None:
        raise UnknownName("run", run_id, known_runs(connection), "ragauge runs lists them.")
    return found


def prime(connection: Connection, run_ids: Collection[str]) -> None:
    """Asks at once for what a page will ask of several runs one by one: their numbers, and counts of their writes."""
    if connection.info.get(NUMBERS) is None:
        return
    query = select(runs.c.run_id, runs.c.run_no, runs.c.writes)
    for run_id, number, writes in rows_among(connection, query, runs.c.run_id, run_ids):
        keep_run_numbers(connection, run_id, number, writes)


def keep_run_numbers(connection: Connection, run_id: str, number: int, writes: int) -> None:
    """Keeps a run's number and count of writes for the rest of a page."""
    known: dict[tuple[str, ...], int | None] | None = connection.info.get(NUMBERS)
    if known is not None:
        known["run", run_id] = number
        known.setdefault(("writes", str(number)), writes)


def known_runs(connection: Connection, most: int = 500) -> list[str]:
    """Names and ids of the newest runs, for the nearest in an error."""
    newest = select(runs.c.run_id, runs.c.name).order_by(runs.c.run_no.desc()).limit(most)
    names = {name for row in connection.execute(newest) for name in row if name}
    return [*names, *connection.execute(select(run_names.c.name).limit(most)).scalars()]


def judge_no(connection: Connection, judge_id: str | None) -> int | None:
    """A judge's number; None if it never judged here."""
    query = select(judges.c.judge_no).where(judges.c.judge_id == (judge_id or NOBODY))
    return number_of(connection, query, ("judge", judge_id or NOBODY))


def number_of(connection: Connection, query: Select[Any], name: tuple[str, ...]) -> int | None:
    """A number; asked for once where a page of a server is made, which shows nothing that is deleted meanwhile."""
    known: dict[tuple[str, ...], int | None] | None = connection.info.get(NUMBERS)
    if known is not None and name in known:
        return known[name]
    found: int | None = connection.execute(query).scalar()
    if known is not None:
        known[name] = found
    return found


def put_judges(database: Database, connection: Connection, judge_ids: Collection[str | None]) -> dict[str | None, int]:
    """Numbers of judges, new ones added."""
    found = {judge_id: judge_no(connection, judge_id) for judge_id in judge_ids}
    new = [judge_id for judge_id, number in found.items() if number is None]
    if new:
        rows = [{"judge_id": judge_id or NOBODY} for judge_id in new]
        connection.execute(database.insert(judges).on_conflict_do_nothing(), rows)
        found |= {judge_id: judge_no(connection, judge_id) for judge_id in new}
    return {judge_id: number for judge_id, number in found.items() if number is not None}


def metric_nos(connection: Connection, named: Collection[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """(name, version) -> number, of the metrics that have one."""
    wanted = set(named)
    found: dict[tuple[str, int], int] = {}
    for number, name, version in rows_among(connection, select(metrics), metrics.c.name, {name for name, _ in wanted}):
        if (name, version) in wanted:
            found[name, version] = number
    return found


def put_metrics(
    database: Database, connection: Connection, named: Collection[tuple[str, int]]
) -> dict[tuple[str, int], int]:
    """(name, version) -> number, new ones added."""
    found = metric_nos(connection, named)
    rows = [{"name": name, "version": version} for name, version in named if (name, version) not in found]
    if rows:
        connection.execute(database.insert(metrics).on_conflict_do_nothing(), rows)
        found = metric_nos(connection, named)
    return found


def put_reasons(database: Database, connection: Connection, texts: Sequence[str]) -> dict[str, int]:
    """Text -> number of each reason, new ones added."""
    by_sha = {sha_of(text): text for text in texts}
    found = _reason_nos(connection, by_sha)
    rows = [{"sha": sha, "body": pack(text)} for sha, text in by_sha.items() if text not in found]
    if rows:
        connection.execute(database.insert(reasons).on_conflict_do_nothing(), rows)
        found = _reason_nos(connection, by_sha)
    return found


def _reason_nos(connection: Connection, by_sha: dict[bytes, str]) -> dict[str, int]:
    rows = rows_among(connection, select(reasons.c.sha, reasons.c.reason_no), reasons.c.sha, by_sha)
    return {by_sha[sha]: number for sha, number in rows}


def model_nos(database: Database, connection: Connection, names: Collection[ModelName]) -> dict[ModelName, int]:
    """Numbers of models, new ones added."""
    known = {name: number for number, name in model_names(connection).items()}
    rows = [
        {"provider": one.provider, "model": one.model, "endpoint": one.endpoint} for one in names if one not in known
    ]
    if not rows:
        return known
    connection.execute(database.insert(models).on_conflict_do_nothing(), rows)
    return {name: number for number, name in model_names(connection).items()}


def model_names(connection: Connection) -> dict[int, ModelName]:
    """Number -> model."""
    rows = connection.execute(select(models))
    return {row.model_no: ModelName(row.provider, row.model, row.endpoint) for row in rows}

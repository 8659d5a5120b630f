"""The small tables that give names their numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Select, func, select

from ragauge.core.ask import ModelName
from ragauge.core.errors import UnknownName
from ragauge.store.database import NUMBERS_KEY, Database, iter_matching_rows
from ragauge.store.schema import judges, metrics, models, own_metrics, reasons, run_names, runs
from ragauge.store.text_codec import hash_text, pack_text

# which version of a metric counts: the greatest; of one of the user's own, whose versions are hashes, the last named
METRIC_RANK = func.coalesce(own_metrics.c.place, metrics.c.version)
RANKED_METRICS = select(metrics.c.metric_no, metrics.c.name, metrics.c.version, METRIC_RANK.label("rank")).join_from(
    metrics, own_metrics, own_metrics.c.metric_no == metrics.c.metric_no, isouter=True
)
NOBODY = ""  # the judge of scores that ask nothing


def find_run_no(connection: Connection, run_id: str) -> int:
    """A run's number. UnknownName if there is none of this id."""
    number = find_number(connection, select(runs.c.run_no).where(runs.c.run_id == run_id), ("run", run_id))
    if number is None:
        raise UnknownName("run", run_id, list_known_runs(connection), "ragauge runs lists them.")
    return number


def load_run_numbers(connection: Connection, run_ids: Collection[str]) -> None:
    """Asks at once for what a page will ask of several runs one by one: their numbers, and counts of their writes."""
    if connection.info.get(NUMBERS_KEY) is None:
        return
    query = select(runs.c.run_id, runs.c.run_no, runs.c.writes)
    for run_id, number, writes in iter_matching_rows(connection, query, runs.c.run_id, run_ids):
        cache_run_numbers(connection, run_id, number, writes)


def cache_run_numbers(connection: Connection, run_id: str, number: int, writes: int) -> None:
    """Stores a run's number and count of writes for the rest of a page."""
    cached: dict[tuple[str, ...], int | None] | None = connection.info.get(NUMBERS_KEY)
    if cached is not None:
        cached["run", run_id] = number
        cached.setdefault(("writes", str(number)), writes)


def list_known_runs(connection: Connection, max_runs: int = 500) -> list[str]:
    """Names and ids of the newest runs, for the nearest in an error."""
    newest = select(runs.c.run_id, runs.c.name).order_by(runs.c.run_no.desc()).limit(max_runs)
    names = {name for row in connection.execute(newest) for name in row if name}
    return [*names, *connection.execute(select(run_names.c.name).limit(max_runs)).scalars()]


def find_judge_no(connection: Connection, judge_id: str | None) -> int | None:
    """A judge's number; None if it never judged here."""
    query = select(judges.c.judge_no).where(judges.c.judge_id == (judge_id or NOBODY))
    return find_number(connection, query, ("judge", judge_id or NOBODY))


def find_number(connection: Connection, query: Select[Any], name: tuple[str, ...]) -> int | None:
    """A number; asked for once where a page of a server is made, which shows nothing that is deleted meanwhile."""
    cached: dict[tuple[str, ...], int | None] | None = connection.info.get(NUMBERS_KEY)
    if cached is not None and name in cached:
        return cached[name]
    number: int | None = connection.execute(query).scalar()
    if cached is not None:
        cached[name] = number
    return number


def put_judges(database: Database, connection: Connection, judge_ids: Collection[str | None]) -> dict[str | None, int]:
    """Numbers of judges, new ones added."""
    judge_nos = {judge_id: find_judge_no(connection, judge_id) for judge_id in judge_ids}
    new = [judge_id for judge_id, number in judge_nos.items() if number is None]
    if new:
        rows = [{"judge_id": judge_id or NOBODY} for judge_id in new]
        connection.execute(database.insert(judges).on_conflict_do_nothing(), rows)
        judge_nos |= {judge_id: find_judge_no(connection, judge_id) for judge_id in new}
    return {judge_id: number for judge_id, number in judge_nos.items() if number is not None}


def find_metric_nos(connection: Connection, requested: Collection[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """(name, version) -> number, of the metrics that have one."""
    requested_set = set(requested)
    nos_by_metric: dict[tuple[str, int], int] = {}
    for number, name, version in iter_matching_rows(
        connection, select(metrics), metrics.c.name, {name for name, _ in requested_set}
    ):
        if (name, version) in requested_set:
            nos_by_metric[name, version] = number
    return nos_by_metric


def put_metrics(
    database: Database, connection: Connection, requested: Collection[tuple[str, int]]
) -> dict[tuple[str, int], int]:
    """(name, version) -> number, new ones added."""
    nos_by_metric = find_metric_nos(connection, requested)
    rows = [{"name": name, "version": version} for name, version in requested if (name, version) not in nos_by_metric]
    if rows:
        connection.execute(database.insert(metrics).on_conflict_do_nothing(), rows)
        nos_by_metric = find_metric_nos(connection, requested)
    return nos_by_metric


def put_reasons(database: Database, connection: Connection, texts: Sequence[str]) -> dict[str, int]:
    """Text -> number of each reason, new ones added."""
    by_sha = {hash_text(text): text for text in texts}
    nos_by_text = _find_reason_nos(connection, by_sha)
    rows = [{"sha": sha, "body": pack_text(text)} for sha, text in by_sha.items() if text not in nos_by_text]
    if rows:
        connection.execute(database.insert(reasons).on_conflict_do_nothing(), rows)
        nos_by_text = _find_reason_nos(connection, by_sha)
    return nos_by_text


def _find_reason_nos(connection: Connection, by_sha: dict[bytes, str]) -> dict[str, int]:
    rows = iter_matching_rows(connection, select(reasons.c.sha, reasons.c.reason_no), reasons.c.sha, by_sha)
    return {by_sha[sha]: number for sha, number in rows}


def put_models(database: Database, connection: Connection, names: Collection[ModelName]) -> dict[ModelName, int]:
    """Numbers of models, new ones added."""
    existing = {name: number for number, name in load_model_names(connection).items()}
    rows = [
        {"provider": model.provider, "model": model.model, "endpoint": model.endpoint}
        for model in names
        if model not in existing
    ]
    if not rows:
        return existing
    connection.execute(database.insert(models).on_conflict_do_nothing(), rows)
    return {name: number for number, name in load_model_names(connection).items()}


def load_model_names(connection: Connection) -> dict[int, ModelName]:
    """Number -> model."""
    rows = connection.execute(select(models))
    return {row.model_no: ModelName(row.provider, row.model, row.endpoint) for row in rows}

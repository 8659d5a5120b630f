"""What a list of runs says beside them: which are baselines, notes, and the last summary of each."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, case, delete, func, insert, select, update

from ragauge.core.codec import from_json_value
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.core.verdict import VerdictCounts
from ragauge.scores.results.scorecard import Summary
from ragauge.store.database import Database, get_timestamp, iter_matching_rows
from ragauge.store.names import NOBODY, find_judge_no, find_run_no, put_judges
from ragauge.store.page_schema import run_tags, summary_values
from ragauge.store.schema import baselines, judges, run_judges, run_notes, runs
from ragauge.store.schema import summaries as summary_rows
from ragauge.store.text_codec import pack_text, unpack_text
from ragauge.store.verdict_schema import verdict_counts
from ragauge.store.writes import count_write

COUNT_COLUMNS = tuple(column.name for column in fields(VerdictCounts))


@dataclass(frozen=True, slots=True)
class Pointer:
    """One line in the history of a baseline: from then on the name meant this run."""

    name: str  #: of the baseline.
    run_id: str  #: of the run; "" = from then on the name meant none.
    run_name: str = ""  #: what people call the run; it stays when the run goes.
    at: str = ""  #: when, ISO 8601; filled in by the store.
    who: str = ""  #: set it.
    git: str = ""  #: the commit that the run was made at.
    branch: str = ""  #: the branch that it stands for; "" where none was known.
    tag: str = ""  #: such as v1.2; "" for none.
    note: str = ""  #: in the words of whoever set it.


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody wrote about a run."""

    text: str  #: in their words.
    at: str = ""  #: when, ISO 8601; filled in by the store.
    who: str = ""  #: wrote it.


SUMMARY_FIELDS = (
    "metric",
    "measures",
    "direction",
    "kind",
    "n",
    "scored",
    "undefined",
    "not_applicable",
    "failed",
    "mean",
)
POINTER_FIELDS = tuple(field.name for field in fields(Pointer))
POINTER_QUERY = select(*(baselines.c[name] for name in POINTER_FIELDS))


class Baselines:
    """Names that stand for runs. Nothing is overwritten: the last line of a name counts, the earlier ones stay."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def set(self, pointer: Pointer) -> Pointer:
        """Lets a name mean a run from now on; returns the line as stored.

        Raises:
            UnknownName: no such run.
        """
        with self._database.write() as connection:
            find_run_no(connection, pointer.run_id)
            return _add_line(connection, pointer)

    def remove(self, name: str, who: str = "", note: str = "") -> Pointer:
        """Lets a name mean nothing from now on; returns what it meant.

        Raises:
            UnknownName: no such baseline.
        """
        with self._database.write() as connection:
            removed = _find_current(connection, name)
            if removed is None:
                valid_names = [row.name for row in connection.execute(_build_current_query())]
                raise UnknownName("baseline", name, valid_names, "ragauge baseline list shows them.")
            _add_line(connection, Pointer(name, "", who=who, note=note))
        return removed

    def get(self, name: str) -> Pointer | None:
        """What a name means; None for nothing."""
        with self._database.read() as connection:
            return _find_current(connection, name)

    def list(self) -> builtins.list[Pointer]:
        """What every name means, by name."""
        with self._database.read() as connection:
            return sorted(
                map(_build_pointer, connection.execute(_build_current_query())), key=lambda pointer: pointer.name
            )

    def history(self, name: str | None = None) -> builtins.list[Pointer]:
        """Every line of a name, or of all, the newest first."""
        query = POINTER_QUERY.order_by(baselines.c.baseline_no.desc())
        query = query if name is None else query.where(baselines.c.name == name)
        with self._database.read() as connection:
            return [_build_pointer(row) for row in connection.execute(query)]


class RunLog:
    """What the log of evaluations says beside what runs and scores do."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, run_id: str, note: Note) -> Note:
        """Stores a note about a run in place of an earlier one; returns it as stored. An empty text removes it."""
        stored = replace(note, at=note.at or get_timestamp())
        with self._database.write() as connection:
            number = find_run_no(connection, run_id)
            count_write(connection, number, listed=False)
            connection.execute(delete(run_notes).where(run_notes.c.run_no == number))
            if note.text:
                values = {"run_no": number, "text": stored.text, "at": stored.at, "who": stored.who}
                connection.execute(insert(run_notes).values(values))
        return stored

    def tag(self, run_id: str, tags: Iterable[str]) -> None:
        """Gives a run tags, beside those that it has."""
        with self._database.write() as connection:
            number = find_run_no(connection, run_id)
            rows = [{"run_no": number, "tag": tag} for tag in dict.fromkeys(tags)]
            if rows:
                connection.execute(self._database.insert(run_tags).on_conflict_do_nothing(), rows)

    def remove_tags(self, run_id: str, tags: Iterable[str]) -> None:
        """Takes tags away from a run.

        Raises:
            UnknownName: it has no such tag.
        """
        with self._database.write() as connection:
            condition = run_tags.c.run_no == find_run_no(connection, run_id)
            existing = list(connection.execute(select(run_tags.c.tag).where(condition)).scalars())
            for tag in tags:
                if tag not in existing:
                    raise UnknownName("tag of this run", tag, existing)
                connection.execute(delete(run_tags).where(condition, run_tags.c.tag == tag))

    def tags(self, run_id: str) -> builtins.list[str]:
        """The tags of a run, in the order of the alphabet."""
        with self._database.read() as connection:
            condition = run_tags.c.run_no == find_run_no(connection, run_id)
            return list(connection.execute(select(run_tags.c.tag).where(condition).order_by(run_tags.c.tag)).scalars())

    def notes(self) -> dict[str, Note]:
        """Run id -> its note, of the runs that have one."""
        columns = (runs.c.run_id, run_notes.c.text, run_notes.c.at, run_notes.c.who)
        query = select(*columns).join_from(run_notes, runs, runs.c.run_no == run_notes.c.run_no)
        with self._database.read() as connection:
            return {run_id: Note(text, written_at, who) for run_id, text, written_at, who in connection.execute(query)}

    def find_judged_at(self, run_id: str, judge_id: str | None) -> str:
        """When a judge, or nobody, last scored a run, ISO 8601; "" when never."""
        with self._database.read() as connection:
            run = find_run_no(connection, run_id)
            conditions = (run_judges.c.run_no == run, run_judges.c.judge_no == find_judge_no(connection, judge_id))
            query = select(func.max(run_judges.c.at)).where(*conditions)
            cache_key = ("judged at", judge_id)
            return self._database.cache_for_run(
                connection, run, cache_key, lambda: connection.execute(query).scalar() or ""
            )


MAX_CACHED_SUMMARIES = 512  # runs whose summaries stay unpacked


class Summaries:
    """The last summary of a run by a judge, for lists of runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(
        self,
        run_id: str,
        judge_id: str | None,
        summaries: Sequence[Summary],
        judge_repeat: int = 0,
        *,
        counts: VerdictCounts | None = None,
    ) -> None:
        """Stores the summaries of a run in place of earlier ones; a store that can only be read stays as it is.

        Args:
            run_id: of the run.
            judge_id: who judged; None = nobody.
            summaries: in the order of the scorecard.
            judge_repeat: which asking of the judge.
            counts: of the verdicts on its examples; None = those kept before stay.
        """
        body = pack_text(to_canonical_json(to_json_value(list(summaries))))
        with (
            self._database.write_if_possible() as connection
        ):  # they follow from the scores: a report can do without them
            if connection is None:
                return
            judge = put_judges(self._database, connection, [judge_id])[judge_id]
            key = {"run_no": find_run_no(connection, run_id), "judge_no": judge, "judge_repeat": judge_repeat}
            statement = self._database.insert(summary_rows)
            connection.execute(
                statement.on_conflict_do_update(index_elements=list(key), set_={"body": statement.excluded.body}),
                [{**key, "body": body}],
            )
            _put_values(connection, key, summaries)
            if counts is not None:
                row = {**key, **{column: getattr(counts, column) for column in COUNT_COLUMNS}}
                statement = self._database.insert(verdict_counts)
                changed = {column: statement.excluded[column] for column in COUNT_COLUMNS}
                connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=changed), [row])

    def read(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> tuple[Summary, ...]:
        """The summaries kept last; () when there are none."""
        with self._database.read() as connection:
            conditions = (
                summary_rows.c.run_no == find_run_no(connection, run_id),
                summary_rows.c.judge_no == find_judge_no(connection, judge_id),
                summary_rows.c.judge_repeat == judge_repeat,
            )
            body = connection.execute(select(summary_rows.c.body).where(*conditions)).scalar()
        return () if body is None else _unpack_summaries(body)

    def list_run_ids(self, judge_id: str) -> list[str]:
        """Ids of the runs of which summaries of a judge's first asking are kept, the newest run first."""
        query = (
            select(runs.c.run_id)
            .join_from(summary_rows, runs, runs.c.run_no == summary_rows.c.run_no)
            .join(judges, judges.c.judge_no == summary_rows.c.judge_no)
            .order_by(runs.c.run_no.desc())
            .where(judges.c.judge_id == judge_id, summary_rows.c.judge_repeat == 0)
        )
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def load_for_runs(self, run_ids: Sequence[str]) -> dict[tuple[str, str], tuple[Summary, ...]]:
        """Run id and judge's ("" = nobody) -> the summaries kept last of the judge's first asking."""
        query = (
            select(runs.c.run_id, judges.c.judge_id, summary_rows.c.body)
            .join_from(summary_rows, runs, runs.c.run_no == summary_rows.c.run_no)
            .join(judges, judges.c.judge_no == summary_rows.c.judge_no)
            .where(summary_rows.c.judge_repeat == 0)
        )
        with self._database.read() as connection:
            rows = iter_matching_rows(connection, query, runs.c.run_id, run_ids)
            return {(run_id, judge_id): _unpack_summaries(body) for run_id, judge_id, body in rows}

    def load_counts(self, run_ids: Sequence[str]) -> dict[tuple[str, str], VerdictCounts]:
        """Run id and judge's ("" = nobody) -> the counts of verdicts kept last of the judge's first asking."""
        c = verdict_counts.c
        query = (
            select(runs.c.run_id, judges.c.judge_id, *(c[column] for column in COUNT_COLUMNS))
            .join_from(verdict_counts, runs, runs.c.run_no == c.run_no)
            .join(judges, judges.c.judge_no == c.judge_no)
            .where(c.judge_repeat == 0)
        )
        with self._database.read() as connection:
            rows = iter_matching_rows(connection, query, runs.c.run_id, run_ids)
            return {(run_id, judge_id): VerdictCounts(*values) for run_id, judge_id, *values in rows}


@lru_cache(maxsize=MAX_CACHED_SUMMARIES)
def _unpack_summaries(body: bytes) -> tuple[Summary, ...]:
    return tuple(from_json_value(Summary, item) for item in json.loads(unpack_text(body)))


def _put_values(connection: Connection, key: Mapping[str, int], summaries: Sequence[Summary]) -> None:
    """Stores what lists sort and filter by, and says anew which judge's they show: the last, nobody's after any."""
    values = summary_values.c
    connection.execute(delete(summary_values).where(*(values[name] == value for name, value in key.items())))
    rows = [
        {
            **key,
            "place": index,
            **{name: getattr(summary, name) for name in SUMMARY_FIELDS},
            "shown": 0,
            "low": summary.widest_interval.low if summary.widest_interval else None,
            "high": summary.widest_interval.high if summary.widest_interval else None,
        }
        for index, summary in enumerate(summaries)
    ]
    if rows:
        connection.execute(insert(summary_values), rows)
    run, last_judged = key["run_no"], func.max(run_judges.c.at)
    same_judge = (run_judges.c.run_no == run, run_judges.c.judge_no == values.judge_no)
    scored_at = select(last_judged).where(*same_judge).scalar_subquery()
    last = (
        select(values.judge_no)
        .join_from(summary_values, judges, judges.c.judge_no == values.judge_no)
        .where(values.run_no == run, values.judge_repeat == 0)
        .order_by((judges.c.judge_id != NOBODY).desc(), scored_at.desc(), values.judge_no.desc())
        .limit(1)
    )
    is_shown = case((and_(values.judge_no == last.scalar_subquery(), values.judge_repeat == 0), 1), else_=0)
    connection.execute(update(summary_values).where(values.run_no == run).values(shown=is_shown))


def check_not_baseline(connection: Connection, run_id: str) -> None:
    """Raises UsageError when a run is a baseline: a run that others are compared with must not be lost by accident."""
    names = sorted(row.name for row in connection.execute(_build_current_query()) if row.run_id == run_id)
    if names:
        (first, *_) = names
        raise UsageError(
            f"run {run_id} is the baseline {', '.join(names)} and is not deleted. Point the name to another run: "
            f"ragauge baseline set OTHER --name {first}, or remove the name: ragauge baseline remove {first}"
        )


def _add_line(connection: Connection, pointer: Pointer) -> Pointer:
    stored = replace(pointer, at=pointer.at or get_timestamp())
    connection.execute(insert(baselines).values({name: getattr(stored, name) for name in POINTER_FIELDS}))
    return stored


def _build_current_query() -> Select[Any]:
    """The last line of each name that still means a run."""
    last = select(func.max(baselines.c.baseline_no)).group_by(baselines.c.name)
    return POINTER_QUERY.where(baselines.c.baseline_no.in_(last), baselines.c.run_id != "")


def _find_current(connection: Connection, name: str) -> Pointer | None:
    own_query = POINTER_QUERY.where(baselines.c.name == name).order_by(baselines.c.baseline_no.desc()).limit(1)
    row = connection.execute(own_query).first()
    return None if row is None or row.run_id == "" else _build_pointer(row)


def _build_pointer(row: Row[Any]) -> Pointer:
    return Pointer(**{name: getattr(row, name) for name in POINTER_FIELDS})

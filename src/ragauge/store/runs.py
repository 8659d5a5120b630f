"""Runs and their responses."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, and_, exists, func, or_, select, text

from ragauge.analysis.scores.arrays import ResponseIndex
from ragauge.data.example import Example
from ragauge.data.response import Response, Run
from ragauge.errors import UnknownName, UsageError
from ragauge.store import importing
from ragauge.store.database import Database, chunks, raw_rows
from ragauge.store.importing import run_of_row
from ragauge.store.names import known_runs, run_no
from ragauge.store.packing import framed, unescape
from ragauge.store.responses import Loaded, Order, grouped, index_of, kept, load, of_run, response_no
from ragauge.store.run_log import refuse_baseline
from ragauge.store.schema import examples, responses, run_names, runs
from ragauge.store.sets import Texts
from ragauge.store.spool import Record, Spool
from ragauge.store.study_schema import studies, trials

if TYPE_CHECKING:
    import polars as pl

LATEST = "latest"
SORTS = {
    "newest": (runs.c.run_no.desc(),), "oldest": (runs.c.run_no.asc(),),
    "name": (runs.c.name.asc(), runs.c.run_no.asc()),
}     # fmt: skip
FILTERS = {
    "set": runs.c.set_name, "system": runs.c.system, "name": runs.c.name, "kind": runs.c.kind,
    "variant": runs.c.variant, "state": runs.c.state,
}     # fmt: skip
# In this order: what refers goes before what it refers to. The run's own rows go by cascade.
STEPS = tuple(
    text(step)
    for step in (
        "DELETE FROM runs WHERE run_no = :run_no",
        """DELETE FROM sets WHERE kept = 0
           AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.set_no = sets.set_no)""",
        """DELETE FROM examples
           WHERE NOT EXISTS (SELECT 1 FROM responses WHERE responses.example_no = examples.example_no)
           AND NOT EXISTS (SELECT 1 FROM set_examples WHERE set_examples.example_no = examples.example_no)""",
        """DELETE FROM texts
           WHERE NOT EXISTS (SELECT 1 FROM run_texts WHERE run_texts.text_no = texts.text_no)""",
        """DELETE FROM evidence
           WHERE NOT EXISTS (SELECT 1 FROM run_evidence WHERE run_evidence.evidence_no = evidence.evidence_no)""",
        """DELETE FROM reasons
           WHERE reason_no NOT IN (SELECT reason_no FROM scores WHERE reason_no IS NOT NULL)""",
    )
)


class Runs:
    """Runs and their responses."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._texts = Texts(database)

    def import_run(self, run: Run, records: Iterable[Record], batch: int = 500) -> Run:
        """Keeps a run and its responses, all or nothing, reading `records` once as a stream.

        A response of None is an example that a finished run holds nothing for: an empty retrieval, counted by
        `absent`; of a run that is not finished it is pending, and left out. Where a run of the same content is
        already there (examples, responses, system, configuration, variant), that run is returned, so that repeating
        a command resumes; the new name leads to it too.

        Args:
            run: what is known about it; an empty run_id, created_at or set_version is filled in.
            records: example and response, in the order of the run's file.
            batch: records written at a time.

        Returns:
            The run as stored.

        Raises:
            DataError: a query_id and repeat stand twice, a response to another query, or a number is not finite.
            UsageError: the run_id is taken by a run of other content.
        """
        spool = Spool()
        try:
            spool.fill(records, finished=run.state == "finished")
            number = importing.load(self._database, spool, run, batch)
        finally:
            spool.close()
        with self._database.read() as connection:
            return run_of_row(connection.execute(select(runs).where(runs.c.run_no == number)).one())

    def find(self, which: str) -> Run:
        """The run of an id, of a name (the newest that has it), or "latest": the one that moved last.

        Runs that only put another's causes to the test (`Run.confirms`) are the latest only where there is no other;
        trials of a study never are.

        Raises:
            UnknownName: there is none.
        """
        with self._database.read() as connection:
            found = _moved_last(connection) if which == LATEST else _called(connection, which)
            if found is None:
                raise UnknownName("run", which, {*known_runs(connection), LATEST}, "ragauge runs lists them.")
            return found

    def list(
        self, limit: int | None = None, *, study: str | None = None, after: str = "", sort: str = "newest",
        filter: Mapping[str, str] | None = None,
    ) -> builtins.list[Run]:     # fmt: skip
        """Runs, page by page: without those that are trials of a study, or those of one study alone.

        Args:
            limit: of one page, at least 1; None = all.
            study: whose trials.
            after: the run_id that the page before ended with; "" = from the start. Runs that were added meanwhile
                shift no page.
            sort: newest, oldest, or name (of equal names the oldest first).
            filter: set, system, name, kind, variant or state -> its value.

        Raises:
            UsageError: a limit below 1.
            UnknownName: no such sort or filter, or no run of the id in `after`.
        """
        if limit is not None and limit < 1:
            raise UsageError(f"runs: limit must be at least 1, got {limit}.")
        if sort not in SORTS:
            raise UnknownName("order of runs", sort, SORTS)
        wanted = [_of_no_study() if study is None else runs.c.run_no.in_(
            select(trials.c.run_no).join(studies).where(studies.c.name == study)
        )]
        for name, value in (filter or {}).items():
            if name not in FILTERS:
                raise UnknownName("filter of runs", name, FILTERS)
            wanted.append(FILTERS[name] == value)
        with self._database.read() as connection:
            if after:
                wanted.append(_behind(connection, after, sort))
            rows = connection.execute(select(runs).where(*wanted).order_by(*SORTS[sort]).limit(limit))
            return [run_of_row(row) for row in rows]

    def delete(self, run_id: str) -> None:
        """Removes a run, its scores, and the texts, examples and evidence that no other run refers to.

        Raises:
            UsageError: it is a baseline.
        """
        with self._database.write() as connection:
            number = run_no(connection, run_id)
            refuse_baseline(connection, run_id)
            delete_run(connection, number)

    def size(self, run_id: str) -> int:
        """How many responses it has, absent ones counted."""
        with self._database.read() as connection:
            mine = responses.c.run_no == run_no(connection, run_id)
            return connection.execute(select(func.count()).select_from(responses).where(mine)).scalar_one()

    def absent(self, run_id: str) -> int:
        """How many examples the run held no response for."""
        with self._database.read() as connection:
            number = run_no(connection, run_id)
            return int(connection.execute(select(runs.c.absent).where(runs.c.run_no == number)).scalar_one())

    def order(self, run_id: str, keep: Mapping[str, str] | None = None) -> Order:
        """(number, hash of the question) of every response, in example order.

        Args:
            run_id: the run.
            keep: segment column, or "tag" -> value; only responses whose examples match all.

        Raises:
            UnknownName: no example has this column, or this value in it.
        """
        columns = (responses.c.response_no, examples.c.query_key, *((examples.c.groups,) if keep else ()))
        with self._database.read() as connection:
            parts = raw_rows(connection, of_run(select(*columns), run_no(connection, run_id)))
            rows = (row for part in parts for row in part)
            if not keep:
                return Order((number, key) for number, key in rows)
            return kept(((number, key, grouped(groups)) for number, key, groups in rows), keep)

    def load(self, numbers: Sequence[int]) -> builtins.list[Loaded]:
        """Responses by number, in that order, with their examples; numbers that are gone are left out."""
        with self._database.read() as connection:
            return load(connection, self._texts, numbers)

    def pairs(self, run_id: str, batch: int = 500) -> Iterator[tuple[Example, Response]]:
        """Every example with its response, in example order, read as a stream."""
        # by number, a batch at a time: no transaction stays open while the caller works
        for part in chunks(self.order(run_id).numbers, batch):
            for item in self.load(part):
                yield item.example, item.response

    def response(self, run_id: str, query_id: str, repeat: int = 0) -> tuple[Example, Response]:
        """One example with its response. UnknownName if there is none."""
        with self._database.read() as connection:
            (item,) = self.load([response_no(connection, run_id, query_id, repeat)])
        return item.example, item.response

    def index(self, run_id: str, numbers: Sequence[int]) -> ResponseIndex:
        """Examples, repeats, weights and clusters of some responses, whose numbers ascend."""
        columns = (responses.c.response_no, responses.c.query_id, responses.c.repeat, responses.c.weight)
        with self._database.read() as connection:
            query = of_run(select(*columns, examples.c.groups), run_no(connection, run_id))
            return index_of(raw_rows(connection, query), numbers)

    def segments(self, run_id: str) -> pl.DataFrame:
        """query_id and one column per segment (null where an example does not have it), in example order."""
        import polars as pl

        ids, groups = self._groups(run_id)
        segments = [group.get("segments", {}) for group in groups]
        columns: dict[str, builtins.list[str | None]] = {"query_id": [*ids]}
        for name in dict.fromkeys(name for segment in segments for name in segment):
            values = [segment.get(name) for segment in segments]
            shown = framed(name) if name != "query_id" else "query_id (segment)"
            columns[shown] = [None if value is None else framed(str(value)) for value in values]
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def clusters(self, run_id: str) -> pl.DataFrame:
        """query_id and cluster (null where there is none), in example order."""
        import polars as pl

        ids, groups = self._groups(run_id)
        clusters = [group.get("cluster") for group in groups]
        columns = {"query_id": ids, "cluster": [None if name is None else framed(name) for name in clusters]}
        return pl.DataFrame(columns, schema={"query_id": pl.String, "cluster": pl.String})

    def _groups(self, run_id: str) -> tuple[builtins.list[str], builtins.list[dict[str, Any]]]:
        """query_id, and what it is grouped by, of each distinct query_id."""
        found: dict[str, dict[str, Any]] = {}
        with self._database.read() as connection:
            query = of_run(select(responses.c.query_id, examples.c.groups), run_no(connection, run_id))
            for part in raw_rows(connection, query):
                for query_id, groups in part:
                    if query_id not in found:
                        found[query_id] = grouped(groups)
        return [framed(unescape(query_id)) for query_id in found], list(found.values())


def _called(connection: Connection, which: str) -> Run | None:
    newest = select(runs).order_by(runs.c.run_no.desc()).limit(1)
    named = select(run_names.c.run_no).where(run_names.c.name == which)
    for meant in (runs.c.run_id == which, (runs.c.name == which) | runs.c.run_no.in_(named)):
        found = connection.execute(newest.where(meant)).first()
        if found is not None:
            return run_of_row(found)
    return None


def _moved_last(connection: Connection) -> Run | None:
    """The run that moved last. Experiments on a run are no answers of their own: only where there is nothing else."""
    newest = runs.c.heartbeat.desc(), runs.c.run_no.desc()
    rows = connection.execute(select(runs).where(_of_no_study()).order_by(*newest))
    first = None
    for row in rows:
        run = run_of_row(row)
        if not run.confirms:
            rows.close()
            return run
        first = first or run
    return first


def _behind(connection: Connection, run_id: str, sort: str) -> ColumnElement[bool]:
    """What comes after a run in this order."""
    number = run_no(connection, run_id)
    if sort == "newest":
        return runs.c.run_no < number
    if sort == "oldest":
        return runs.c.run_no > number
    name = connection.execute(select(runs.c.name).where(runs.c.run_no == number)).scalar_one()
    return or_(runs.c.name > name, and_(runs.c.name == name, runs.c.run_no > number))


def _of_no_study() -> ColumnElement[bool]:
    return ~exists().where(trials.c.run_no == runs.c.run_no)


def delete_run(connection: Connection, run_no: int) -> None:
    """Deletes a run with its responses, scores and causes, then every row that nothing refers to any more."""
    for step in STEPS:
        connection.execute(step, {"run_no": run_no} if ":run_no" in step.text else {})

"""Runs and their responses."""

from __future__ import annotations

import builtins
import json
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Row, Select, func, select

from ragauge.analysis.scores.arrays import ResponseIndex
from ragauge.data.codec import decode, from_plain
from ragauge.data.example import Example
from ragauge.data.response import Response
from ragauge.data.run import Run
from ragauge.errors import UnknownName
from ragauge.store.contracts import Loaded, Record
from ragauge.store.order import Order
from ragauge.store.packing import ESCAPE, framed, unescape, unpack
from ragauge.store.schema import examples, responses, run_names, runs
from ragauge.store.sql import deleting, importing
from ragauge.store.sql.baselines import refuse_baseline
from ragauge.store.sql.database import Database, chunks, raw_among, raw_rows
from ragauge.store.sql.names import known_runs, run_no
from ragauge.store.sql.response_index import index_of
from ragauge.store.sql.spool import Spool
from ragauge.store.sql.texts import SqlTexts

if TYPE_CHECKING:
    import polars as pl

LATEST = "latest"


class SqlRuns:
    """`Runs` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._texts = SqlTexts(database)

    def import_run(self, run: Run, records: Iterable[Record], batch: int = 500) -> Run:
        """Keeps a run and its responses, all or nothing; finds the run of the same content. See `Runs`."""
        spool = Spool()
        try:
            spool.fill(records, finished=run.state == "finished")
            number = importing.load(self._database, spool, run, batch)
        finally:
            spool.close()
        with self._database.read() as connection:
            return run_of_row(connection.execute(select(runs).where(runs.c.run_no == number)).one())

    def find(self, which: str) -> Run:
        """The run of an id, of a name (the newest that has it), or "latest": the one that moved last. See `Runs`."""
        with self._database.read() as connection:
            found = _moved_last(connection) if which == LATEST else _called(connection, which)
            if found is None:
                raise UnknownName("run", which, {*known_runs(connection), LATEST}, "ragauge runs lists them.")
            return found

    def list(self, limit: int | None = None) -> builtins.list[Run]:
        """Runs, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(runs).order_by(runs.c.run_no.desc()).limit(limit))
            return [run_of_row(row) for row in rows]

    def delete(self, run_id: str) -> None:
        """Removes a run, its scores, and the texts, examples and evidence that no other run refers to."""
        with self._database.write() as connection:
            number = run_no(connection, run_id)
            refuse_baseline(connection, run_id)
            deleting.delete_run(connection, number)

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
        """(number, hash of the question) of every response, in example order; see `Runs`."""
        columns = (responses.c.response_no, examples.c.query_key, *((examples.c.groups,) if keep else ()))
        with self._database.read() as connection:
            parts = raw_rows(connection, _of_run(select(*columns), run_no(connection, run_id)))
            rows = (row for part in parts for row in part)
            if not keep:
                return Order((number, key) for number, key in rows)
            return kept(((number, key, _grouped(groups)) for number, key, groups in rows), keep)

    def load(self, numbers: Sequence[int]) -> builtins.list[Loaded]:
        """Responses by number, in that order, with their examples; numbers that are gone are left out."""
        with self._database.read() as connection:
            rows = {row[0]: _Row(*row) for row in raw_among(connection, _bodies(), responses.c.response_no, numbers)}
            texts = self._texts.get(_text_nos(rows.values()))
        return [_loaded(rows[number], texts) for number in numbers if number in rows]

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
            query = _of_run(select(*columns, examples.c.groups), run_no(connection, run_id))
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
            query = _of_run(select(responses.c.query_id, examples.c.groups), run_no(connection, run_id))
            for part in raw_rows(connection, query):
                for query_id, groups in part:
                    if query_id not in found:
                        found[query_id] = _grouped(groups)
        return [framed(unescape(query_id)) for query_id in found], list(found.values())


def kept(rows: Iterable[tuple[int, int, dict[str, Any]]], keep: Mapping[str, str]) -> Order:
    """Number and key of the rows whose groups match every column; a column or value that nobody has is an error."""
    known: dict[str, set[str]] = {column: set() for column in keep}
    columns = {"tag"}
    found = Order()
    for number, key, groups in rows:
        values = {column: _values(groups, column) for column in keep}
        for column, some in values.items():
            known[column].update(some)
        columns.update(groups.get("segments", {}))
        if all(value in values[column] for column, value in keep.items()):
            found.numbers.append(number)
            found.keys.append(key)
    for column, value in keep.items():
        if not known[column]:
            raise UnknownName("segment", column, columns)
        if value not in known[column]:
            raise UnknownName("tag" if column == "tag" else f"value of segment {column}", value, known[column])
    return found


def _values(groups: dict[str, Any], column: str) -> builtins.list[str]:
    """An example's values in a column: one of a segment, several of "tag"."""
    segments: dict[str, str] = groups.get("segments", {})
    if column in segments:
        return [segments[column]]
    return groups.get("tags", []) if column == "tag" else []


@lru_cache(maxsize=4_096)     # most examples are grouped as others are; what is returned is only read
def _grouped(groups: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(unpack(groups)) if groups is not None else {}
    return found


def response_no(connection: Connection, run_id: str, query_id: str, repeat: int) -> int:
    """Number of one response. UnknownName if there is none."""
    number = run_no(connection, run_id)
    mine = (responses.c.run_no == number) & (responses.c.repeat == repeat)
    asked = [query_id, unescape(query_id)] if ESCAPE in query_id else [query_id]  # as it stands in a frame, too
    found = connection.execute(select(responses.c.response_no).where(mine, responses.c.query_id.in_(asked))).scalar()
    if found is None:
        known = select(responses.c.query_id).where(responses.c.run_no == number).distinct().limit(5_000)
        name = query_id if repeat == 0 else f"{query_id} (repeat {repeat})"
        raise UnknownName("query_id", name, connection.execute(known).scalars())
    return int(found)


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
    rows = connection.execute(select(runs).order_by(runs.c.heartbeat.desc(), runs.c.run_no.desc()))
    first = None
    for row in rows:
        run = run_of_row(row)
        if not run.confirms:
            rows.close()
            return run
        first = first or run
    return first


def _of_run(query: Select[Any], number: int) -> Select[Any]:
    """Responses of a run with their examples, in example order."""
    joined = query.join_from(responses, examples, responses.c.example_no == examples.c.example_no)
    return joined.where(responses.c.run_no == number).order_by(responses.c.response_no)


class _Row(NamedTuple):
    """What `_bodies` selects, as the driver gives it."""

    response_no: int
    body: bytes
    text_nos: bytes | None
    example: bytes


def _bodies() -> Select[Any]:
    columns = (responses.c.response_no, responses.c.body, responses.c.text_nos, examples.c.body.label("example"))
    return select(*columns).join_from(responses, examples, responses.c.example_no == examples.c.example_no)


def _numbers(packed: bytes | None) -> tuple[int, ...]:
    return struct.unpack(f"<{len(packed) // 8}q", packed) if packed else ()


def _text_nos(rows: Collection[_Row]) -> set[int]:
    return {number for row in rows for number in _numbers(row.text_nos) if number}


def stored_response(body: bytes) -> dict[str, Any]:
    """The fields of a response as they are stored: without its passages' texts."""
    found: dict[str, Any] = json.loads(unpack(body))
    return found


def _loaded(row: _Row, texts: dict[int, str]) -> Loaded:
    numbers = _numbers(row.text_nos)
    plain = stored_response(row.body)
    passages = [*plain.get("passages", ()), *plain.get("candidates", ())]
    if numbers:
        for passage, number in zip(passages, numbers, strict=True):
            if number:
                passage["text"] = texts[number]
    return Loaded(row.response_no, decode(Example, unpack(row.example)), from_plain(Response, plain))


def run_of_row(row: Row[Any]) -> Run:
    """A row of the table as a run."""
    return Run(
        run_id=row.run_id,
        name=row.name,
        kind=row.kind,
        set_name=row.set_name,
        set_version=row.set_version,
        system=row.system,
        config=json.loads(unpack(row.config)),
        variant=row.variant,
        git=row.git,
        state=row.state,
        planned=row.planned,
        done=row.done,
        heartbeat=row.heartbeat,
        created_at=row.created_at,
    )

"""Whether what a store holds can be read: its file by SQLite's own check, and every packed body by its checksum."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Cast, Column, Connection, LargeBinary, Select, String, cast, null, select

from ragauge.core.errors import StoreError
from ragauge.store import sqlite
from ragauge.store.database import Database, raw_rows
from ragauge.store.schema import causes, evidence, examples, metadata, responses, run_evidence, run_texts, runs, texts
from ragauge.store.text_codec import unescape, unpack


@dataclass(frozen=True, slots=True)
class DamagedPart:
    """A body that cannot be read.

    Attributes:
        kind: response, question and labels, passage, judge's verdict, or cause; or the column and table of a text.
        run: the name and id of a run that uses it; "" where none does.
        query_id: of the example, where it is one's.
    """

    kind: str
    run: str
    query_id: str = ""

    def __str__(self) -> str:
        of = f" of example {self.query_id}" if self.query_id else ""
        return f"{self.kind}{of}{f' in run {self.run}' if self.run else ''}"


class Integrity:
    """Looks through a whole store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def problems(self) -> list[str]:
        """What SQLite finds wrong with the file, a sentence each; [] for nothing."""
        return sqlite.problems_of(self._database.url)

    def damaged(self, most: int = 20) -> list[DamagedPart]:
        """Bodies of responses, examples, passages, verdicts and causes, and texts, that cannot be read; the first."""
        found: list[DamagedPart] = []
        with self._database.read() as connection:
            for part in self._damaged(connection):
                found.append(part)
                if len(found) == most:
                    break
        return found

    def _damaged(self, connection: Connection) -> Iterator[DamagedPart]:
        """Every damaged text and body, with each run and example that uses it."""
        if texts_lost := list(_undecodable(connection)):  # nothing else can be asked of the tables
            yield from texts_lost
            return
        of_run = (runs.c.name, runs.c.run_id)
        mine = select(*of_run, responses.c.query_id).join_from(responses, runs)
        for number in _unreadable(connection, responses.c.response_no, responses.c.body):
            yield from _parts(connection, "response", mine.where(responses.c.response_no == number))
        for number in _unreadable(connection, examples.c.example_no, examples.c.body):
            yield from _parts(connection, "question and labels", mine.where(responses.c.example_no == number))
        using = select(*of_run).join_from(run_texts, runs)
        for number in _unreadable(connection, texts.c.text_no, texts.c.body, is_json=False):
            yield from _parts(connection, "passage", using.where(run_texts.c.text_no == number))
        judged = mine.join(run_evidence, run_evidence.c.response_no == responses.c.response_no).distinct()
        for number in _unreadable(connection, evidence.c.evidence_no, evidence.c.body):
            yield from _parts(connection, "judge's verdict", judged.where(run_evidence.c.evidence_no == number))
        for number in _unreadable(connection, causes.c.response_no, causes.c.body):
            yield from _parts(connection, "cause", mine.where(responses.c.response_no == number))


def _undecodable(connection: Connection) -> Iterator[DamagedPart]:
    """Texts that are not UTF-8, by column, table and, where the table says so, run."""
    named = {
        number: f"{name.decode(errors='replace')} ({run_id.decode(errors='replace')})"
        for rows in raw_rows(connection, select(runs.c.run_no, *map(_as_bytes, (runs.c.name, runs.c.run_id))))
        for number, name, run_id in rows
    }
    for table in metadata.sorted_tables:
        columns = [column for column in table.columns if _holds_text(column)]
        of = table.columns.get("run_no")
        query = select(null() if of is None else of, *map(_as_bytes, columns))
        for rows in raw_rows(connection, query) if columns else ():
            for number, *values in rows:
                for column, value in zip(columns, values, strict=True):
                    if value is not None and not _is_text(value):
                        yield DamagedPart(f"{column.name} in table {table.name}", named.get(number, ""))


def _holds_text(column: Column[Any]) -> bool:
    return isinstance(getattr(column.type, "impl_instance", column.type), String)


def _as_bytes(column: Column[Any]) -> Cast[bytes]:
    return cast(column, LargeBinary)


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _unreadable(
    connection: Connection, number: Column[Any], body: Column[Any], *, is_json: bool = True
) -> Iterator[int]:
    """Numbers of the rows whose body is not what was packed."""
    for rows in raw_rows(connection, select(number, body).where(body.is_not(None))):
        for one, packed in rows:
            try:
                text = unpack(packed)
                if is_json:
                    json.loads(text)
            except (StoreError, ValueError, RecursionError):
                yield one


def _parts(connection: Connection, kind: str, query: Select[Any]) -> Iterator[DamagedPart]:
    """A damaged body as the runs see it that use it; once where none does."""
    rows = connection.execute(query).all()
    for name, run_id, *query_id in rows:
        yield DamagedPart(kind, f"{unescape(name)} ({run_id})", unescape(query_id[0]) if query_id else "")
    if not rows:
        yield DamagedPart(kind, "")

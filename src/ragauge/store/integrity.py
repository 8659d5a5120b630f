"""Whether what a store holds can be read: its file by SQLite's own check, and every packed body by its checksum."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Cast, Column, Connection, LargeBinary, Select, String, cast, null, select

from ragauge.core.errors import StoreError
from ragauge.store import sqlite
from ragauge.store.database import Database, iter_raw_rows
from ragauge.store.schema import causes, evidence, examples, metadata, responses, run_evidence, run_texts, runs, texts
from ragauge.store.text_codec import unescape_text, unpack_text


@dataclass(frozen=True, slots=True)
class DamagedPart:
    """A body that cannot be read."""

    kind: str  #: response, question and labels, passage, judge's verdict, or cause; or the column and table of a text.
    run: str  #: the name and id of a run that uses it; "" where none does.
    query_id: str = ""  #: of the example, where it is one's.

    def __str__(self) -> str:
        of = f" of example {self.query_id}" if self.query_id else ""
        return f"{self.kind}{of}{f' in run {self.run}' if self.run else ''}"


class Integrity:
    """Looks through a whole store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_problems(self) -> list[str]:
        """What SQLite finds wrong with the file, a sentence each; [] for nothing."""
        return sqlite.list_problems(self._database.url)

    def list_damaged(self, max_parts: int = 20) -> list[DamagedPart]:
        """Bodies of responses, examples, passages, verdicts and causes, and texts, that cannot be read; the first."""
        damaged_parts: list[DamagedPart] = []
        with self._database.read() as connection:
            for damaged_part in self._iter_damaged(connection):
                damaged_parts.append(damaged_part)
                if len(damaged_parts) == max_parts:
                    break
        return damaged_parts

    def _iter_damaged(self, connection: Connection) -> Iterator[DamagedPart]:
        """Every damaged text and body, with each run and example that uses it."""
        if undecodable := list(_iter_undecodable(connection)):  # nothing else can be asked of the tables
            yield from undecodable
            return
        of_run = (runs.c.name, runs.c.run_id)
        response_query = select(*of_run, responses.c.query_id).join_from(responses, runs)
        for number in _iter_unreadable(connection, responses.c.response_no, responses.c.body):
            yield from _iter_damaged_parts(
                connection, "response", response_query.where(responses.c.response_no == number)
            )
        for number in _iter_unreadable(connection, examples.c.example_no, examples.c.body):
            yield from _iter_damaged_parts(
                connection, "question and labels", response_query.where(responses.c.example_no == number)
            )
        text_query = select(*of_run).join_from(run_texts, runs)
        for number in _iter_unreadable(connection, texts.c.text_no, texts.c.body, is_json=False):
            yield from _iter_damaged_parts(connection, "passage", text_query.where(run_texts.c.text_no == number))
        evidence_query = response_query.join(
            run_evidence, run_evidence.c.response_no == responses.c.response_no
        ).distinct()
        for number in _iter_unreadable(connection, evidence.c.evidence_no, evidence.c.body):
            yield from _iter_damaged_parts(
                connection, "judge's verdict", evidence_query.where(run_evidence.c.evidence_no == number)
            )
        for number in _iter_unreadable(connection, causes.c.response_no, causes.c.body):
            yield from _iter_damaged_parts(connection, "cause", response_query.where(responses.c.response_no == number))


def _iter_undecodable(connection: Connection) -> Iterator[DamagedPart]:
    """Texts that are not UTF-8, by column, table and, where the table says so, run."""
    run_labels = {
        number: f"{name.decode(errors='replace')} ({run_id.decode(errors='replace')})"
        for rows in iter_raw_rows(connection, select(runs.c.run_no, *map(_cast_to_bytes, (runs.c.name, runs.c.run_id))))
        for number, name, run_id in rows
    }
    for table in metadata.sorted_tables:
        columns = [column for column in table.columns if _has_text(column)]
        run_column = table.columns.get("run_no")
        query = select(null() if run_column is None else run_column, *map(_cast_to_bytes, columns))
        for rows in iter_raw_rows(connection, query) if columns else ():
            for number, *values in rows:
                for column, value in zip(columns, values, strict=True):
                    if value is not None and not _is_text(value):
                        yield DamagedPart(f"{column.name} in table {table.name}", run_labels.get(number, ""))


def _has_text(column: Column[Any]) -> bool:
    return isinstance(getattr(column.type, "impl_instance", column.type), String)


def _cast_to_bytes(column: Column[Any]) -> Cast[bytes]:
    return cast(column, LargeBinary)


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _iter_unreadable(
    connection: Connection, number: Column[Any], body: Column[Any], *, is_json: bool = True
) -> Iterator[int]:
    """Numbers of the rows whose body is not what was packed."""
    for rows in iter_raw_rows(connection, select(number, body).where(body.is_not(None))):
        for row_no, packed in rows:
            try:
                text = unpack_text(packed)
                if is_json:
                    json.loads(text)
            except (StoreError, ValueError, RecursionError):
                yield row_no


def _iter_damaged_parts(connection: Connection, kind: str, query: Select[Any]) -> Iterator[DamagedPart]:
    """A damaged body as the runs see it that use it; once where none does."""
    rows = connection.execute(query).all()
    for name, run_id, *query_id in rows:
        yield DamagedPart(kind, f"{unescape_text(name)} ({run_id})", unescape_text(query_id[0]) if query_id else "")
    if not rows:
        yield DamagedPart(kind, "")

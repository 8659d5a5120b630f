"""Rows as files of tables, for what lists them in a page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragauge.core.errors import UnknownName
from ragauge.rendering.plain_csv import escape_cell

Rows = Iterable[Mapping[str, Any]]
CONTENT_TYPES: Mapping[str, str] = {".csv": "text/csv; charset=utf-8", ".parquet": "application/vnd.apache.parquet"}


def iter_table(columns: Sequence[str], rows: Rows, ending: str) -> Iterator[bytes]:
    """A table in parts, as it is sent: CSV a line at a time; Parquet as one, since it ends with where its parts are.

    Args:
        columns: in order; a row without one is empty there.
        rows: column -> text, number or None.
        ending: .csv or .parquet.

    Raises:
        UnknownName: another ending.
    """
    if ending not in CONTENT_TYPES:
        raise UnknownName("table format", ending, CONTENT_TYPES)
    return _iter_csv(columns, rows) if ending == ".csv" else _iter_parquet(columns, rows)


def _iter_csv(columns: Sequence[str], rows: Rows) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")  # with which a carriage return in a text is quoted
    writer.writerow(map(escape_cell, columns))
    for row in rows:
        writer.writerow(["" if row.get(name) is None else escape_cell(row[name]) for name in columns])
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def _iter_parquet(columns: Sequence[str], rows: Rows) -> Iterator[bytes]:
    import polars as pl

    frame = pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], infer_schema_length=None)
    if frame.is_empty():
        frame = pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    target = io.BytesIO()
    frame.write_parquet(target)
    yield target.getvalue()

"""CSV and TSV: a header, then one example a row; cells may hold JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ragauge.data.readers import promptfoo
from ragauge.data.readers.lines import LONGEST_LINE, lines
from ragauge.data.readers.rows import Row, Rows
from ragauge.errors import DataError

DELIMITERS = (",", ";", "\t", "|")


def read(path: Path) -> Rows:
    """The rows of the file, numbered as a spreadsheet shows them: the header is row 1. An empty cell is null."""
    return Rows(str(path), _rows(path), unit="row", cells=True, blank="empty cell")


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    name = str(path)
    text = (line for _, line in lines(path))
    first = next((line for line in text if line.strip()), None)
    if first is None:
        empty = next(lines(path), None) is None
        problem = "the file is empty." if empty else "the file has only blank lines."
        raise DataError(problem, source=name, hint="Expected a header with a column query, then one example a row.")
    reader = csv.reader(_again(first, text), delimiter=_delimiter(first), strict=True)
    header = [cell.strip() for cell in _cells(reader, name, 1) or []]
    twice = sorted({cell for cell in header if cell and header.count(cell) > 1})
    if twice:
        hint = promptfoo.APART if promptfoo.reads(header) else "Rename one of them, or leave it out."
        problem = f"the column {twice[0]!r} stands twice in the header."
        raise DataError(problem, source=name, line=1, unit="row", hint=hint)
    n = 1
    while (cells := _cells(reader, name, n + 1)) is not None:
        n += 1
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise DataError(
                f"{len(cells)} cells, but the header has {len(header)} columns.", source=name, line=n, unit="row",
                hint="Cells that hold the delimiter, a quote or a line break have to be quoted.",
            )
        yield n, {column: cell or None for column, cell in zip(header, cells, strict=True) if column}


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _cells(reader: Iterator[list[str]], source: str, n: int) -> list[str] | None:
    # the limit belongs to the whole process, so it is raised only while a row is read
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        return next(reader, None)
    except csv.Error as error:
        problem = "a quoted cell never ends" if "unexpected end" in str(error) else str(error)
        raise DataError(
            f"not valid CSV: {problem}.", source=source, line=n, unit="row",
            hint='Double the quotes inside a quoted cell: "say ""yes"" twice".',
        ) from None
    finally:
        csv.field_size_limit(before)


def _delimiter(header: str) -> str:
    """The delimiter that the header holds most often."""
    return max(DELIMITERS, key=header.count)

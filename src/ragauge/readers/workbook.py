"""Excel workbooks: the first sheet that is filled, read by openpyxl or by what polars reads them with."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragauge.core.errors import DataError
from ragauge.readers.lines import Row, Rows

ENGINES = ("openpyxl", "fastexcel")
SHEETS = "xl/workbook.xml"  # in the archive that a workbook is


def read(path: Path) -> Rows:
    """The rows of a workbook, numbered as a spreadsheet shows them: the header is row 1.

    Raises:
        DataError: another zip archive, no engine to read it with, or a header without names.
    """
    name = str(path)
    if not _is_workbook(path):
        raise DataError("a zip archive cannot be read.", source=name, hint="Unpack it, and give the file in it.")
    engine = next((engine for engine in ENGINES if find_spec(engine)), None)
    if engine is None:
        problem = "an Excel workbook is read by openpyxl or fastexcel, and neither is installed."
        raise DataError(problem, source=name, hint="Install one: pip install openpyxl. Or save the sheet as CSV.")
    remarks: list[str] = []
    sheets = _read_openpyxl(path) if engine == "openpyxl" else _read_fastexcel(path)
    filled = [(title, cells) for title, cells in sheets if any(value is not None for row in cells for value in row)]
    if not filled:
        raise DataError("the workbook is empty.", source=name, hint="Expected a header with a column query.")
    (title, cells), *others = filled
    if others:
        left_out = ", ".join(repr(other) for other, _ in others)
        remarks.append(f"read the sheet {title!r}; left out: {left_out}. Save a sheet of its own as CSV to read it.")
    return Rows(name, _build_rows(cells, name), unit="row", cells=True, blank="empty cell", remarks=remarks)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return SHEETS in archive.namelist()
    except zipfile.BadZipFile as error:
        problem = f"not a readable zip archive or workbook: {error}."
        raise DataError(problem, source=str(path), hint="Copy it again; is it cut off?") from None


def _read_openpyxl(path: Path) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    book = import_module("openpyxl").load_workbook(path, read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            yield sheet.title, list(sheet.iter_rows(values_only=True))
    finally:
        book.close()


def _read_fastexcel(path: Path) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    book = import_module("fastexcel").read_excel(path)
    for title in book.sheet_names:
        yield title, book.load_sheet(title, header_row=None).to_polars().rows()


def _build_rows(cells: list[tuple[Any, ...]], source: str) -> Iterator[tuple[int, Row]]:
    first = next(n for n, row in enumerate(cells) if any(value is not None for value in row))
    header = ["" if value is None else str(value).strip() for value in cells[first]]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        problem = f"the column {twice[0]!r} stands twice in the header."
        raise DataError(problem, source=source, line=first + 1, unit="row", hint="Rename one of them, or leave it out.")
    for n, row in enumerate(cells[first + 1 :], first + 2):
        values = [_to_plain_value(value) for value in row]
        if any(value is not None for value in values):
            yield n, {name: value for name, value in zip(header, values, strict=False) if name}


def _to_plain_value(value: Any) -> Any:
    """A cell's value; an empty text as null, a date as text."""
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return None if value == "" else value

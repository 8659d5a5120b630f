"""Tables: CSV and TSV, Parquet, Excel workbooks, tables in memory, and Hugging Face data sets.

Of a workbook the first sheet that is filled is read, by openpyxl or by what polars reads them with.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragauge.core.errors import DataError, UsageError
from ragauge.core.values import describe_value
from ragauge.readers.exports import promptfoo
from ragauge.readers.lines import MAX_LINE_BYTES, Row, Rows, read_lines

DELIMITERS = (",", ";", "\t", "|")


def read_csv(path: Path) -> Rows:
    """The rows of the file, numbered as a spreadsheet shows them: the header is row 1. An empty cell is null."""
    return Rows(str(path), _read_csv_rows(path), unit="row", cells=True, blank="empty cell")


def _read_csv_rows(path: Path) -> Iterator[tuple[int, Row]]:
    name = str(path)
    text = (line for _, line in read_lines(path))
    first = next((line for line in text if line.strip()), None)
    if first is None:
        empty = next(read_lines(path), None) is None
        problem = "the file is empty." if empty else "the file has only blank lines."
        raise DataError(problem, source=name, hint="Expected a header with a column query, then one example per row.")
    reader = csv.reader(_chain_lines(first, text), delimiter=_detect_delimiter(first), strict=True)
    header = [cell.strip() for cell in _read_cells(reader, name, 1) or []]
    twice = sorted({cell for cell in header if cell and header.count(cell) > 1})
    if twice:
        hint = promptfoo.SEPARATE_FILES_HINT if promptfoo.takes(header) else "Rename or remove one of them."
        problem = f"the column {twice[0]!r} appears twice in the header."
        raise DataError(problem, source=name, line=1, unit="row", hint=hint)
    n = 1
    while (cells := _read_cells(reader, name, n + 1)) is not None:
        n += 1
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise DataError(
                f"{len(cells)} cells, but the header has {len(header)} columns.",
                source=name,
                line=n,
                unit="row",
                hint="Quote cells that contain the delimiter, a quote or a line break.",
            )
        yield n, {column: cell or None for column, cell in zip(header, cells, strict=True) if column}


def _chain_lines(first: str, remaining: Iterator[str]) -> Iterator[str]:
    yield first
    yield from remaining


def _read_cells(reader: Iterator[list[str]], source: str, n: int) -> list[str] | None:
    # the limit belongs to the whole process, so it is raised only while a row is read
    previous_limit = csv.field_size_limit(MAX_LINE_BYTES)
    try:
        return next(reader, None)
    except csv.Error as error:
        problem = "a quoted cell is never closed" if "unexpected end" in str(error) else str(error)
        raise DataError(
            f"not valid CSV: {problem}.",
            source=source,
            line=n,
            unit="row",
            hint='Double the quotes inside a quoted cell: "say ""yes"" twice".',
        ) from None
    finally:
        csv.field_size_limit(previous_limit)


def _detect_delimiter(header: str) -> str:
    """The delimiter that the header holds most often."""
    return max(DELIMITERS, key=header.count)


def read_parquet(path: Path) -> Rows:
    """The rows of the file, from 1."""
    return Rows(str(path), _read_parquet_rows(path), unit="row", cells=True)


def _read_parquet_rows(path: Path) -> Iterator[tuple[int, Row]]:
    import polars as pl

    frame, start = pl.scan_parquet(path, glob=False), 0
    while True:
        try:
            batch = frame.slice(start, BATCH_SIZE_ROWS).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            problem = f"not a readable Parquet file: {str(error).splitlines()[0]}."
            raise DataError(problem, source=str(path), hint="The file may be truncated. Write it again.") from None
        if batch.is_empty():
            return
        yield from enumerate(batch.iter_rows(named=True), start + 1)
        start += batch.height


BATCH_SIZE_ROWS = 8_192
PLAIN = frozenset({str, int, float, bool, type(None)})


def is_frame(source: object) -> bool:
    """Whether the object is a table of one of the three libraries."""
    return _get_library(source) in ("polars", "pandas", "pyarrow")


def is_list(source: object) -> bool:
    """Whether the object gives dictionaries one by one."""
    is_iterable = isinstance(source, Iterable) and not isinstance(source, str | bytes | Mapping)
    return is_iterable or hasattr(source, "to_list")


def read_table(source: Any) -> Rows:
    """The rows of a table, from 1."""
    match _get_library(source):
        case "polars":
            return Rows("table", enumerate(_read_polars(source), 1), unit="row", cells=True)
        case "pandas":
            return Rows("table", enumerate(_read_pandas(source), 1), unit="row", cells=True)
        case "pyarrow":
            return Rows("table", enumerate(_read_arrow(source), 1), unit="row", cells=True)
    if hasattr(source, "to_list"):  # ragas' EvaluationDataset
        source = source.to_list()
    return Rows("list", _read_list(source), unit="entry")


def _get_library(source: object) -> str:
    return type(source).__module__.partition(".")[0]


def _read_polars(source: Any) -> Iterator[Row]:
    if hasattr(source, "collect"):
        start = 0
        while (batch := source.slice(start, BATCH_SIZE_ROWS).collect()).height:
            yield from batch.iter_rows(named=True)
            start += BATCH_SIZE_ROWS
        return
    yield from source.iter_rows(named=True)


def _read_arrow(source: Any) -> Iterator[Row]:
    batches = source.to_batches(max_chunksize=BATCH_SIZE_ROWS) if hasattr(source, "to_batches") else [source]
    for batch in batches:
        yield from batch.to_pylist()


def _read_pandas(source: Any) -> Iterator[Row]:
    columns = [str(column) for column in source.columns]
    for cells in source.itertuples(index=False, name=None):
        yield {column: to_cell_value(value) for column, value in zip(columns, cells, strict=True)}


def to_plain_value(value: Any) -> Any:
    """NumPy values, at any depth, as Python's."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, Mapping):
        return {key: to_plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_value(item) for item in value]
    return to_plain_value(value.tolist()) if _get_library(value) == "numpy" and hasattr(value, "tolist") else value


def to_cell_value(value: Any) -> Any:
    """A cell as Python's value: the empty cells of pandas (NaN, NaT, NA) as None, which its records keep too."""
    plain_value = to_plain_value(value)
    empty = type(plain_value).__name__ in ("NAType", "NaTType") or (
        isinstance(plain_value, float) and plain_value != plain_value
    )
    return None if empty else plain_value


def _read_list(source: Iterable[Any]) -> Iterator[tuple[int, Row]]:
    for n, item in enumerate(source, 1):
        row = item.model_dump() if hasattr(item, "model_dump") else item
        if not isinstance(row, Mapping):
            raise DataError(f"expected a dictionary, got {describe_value(item)}.", source="list", line=n, unit="entry")
        yield n, {str(key): to_cell_value(value) for key, value in row.items()}


def is_dataset(source: object) -> bool:
    """Whether the object is a data set (streamed ones have no `__getitem__`), or several splits of one."""
    return hasattr(source, "column_names") and (hasattr(source, "__getitem__") or hasattr(source, "__iter__"))


def read_dataset(source: Any, split: str | None = None) -> Rows:
    """The rows, from 1; of several splits the one named, else test, else the only one."""
    if isinstance(source, Mapping):
        name = split or ("test" if "test" in source else next(iter(source)) if len(source) == 1 else "")
        if name not in source:
            split_names = ", ".join(source)
            raise UsageError(f"the data set has the splits {split_names}; got {split!r}. Choose one with split=NAME.")
        source = source[name]
    # a data set may be set to give NumPy values
    rows = ({key: to_cell_value(value) for key, value in row.items()} for row in source)
    return Rows("dataset", enumerate(rows, 1), unit="row", cells=True)


ENGINES = ("openpyxl", "fastexcel")
SHEETS = "xl/workbook.xml"  # in the archive that a workbook is


def read_workbook(path: Path) -> Rows:
    """The rows of a workbook, numbered as a spreadsheet shows them: the header is row 1.

    Raises:
        DataError: another zip archive, no engine to read it with, or a header without names.
    """
    name = str(path)
    if not _is_workbook(path):
        raise DataError("a zip archive cannot be read.", source=name, hint="Extract the file and give that.")
    engine = next((engine for engine in ENGINES if find_spec(engine)), None)
    if engine is None:
        problem = "reading an Excel workbook needs openpyxl or fastexcel, and neither is installed."
        raise DataError(problem, source=name, hint="Install one: pip install openpyxl. Or save the sheet as CSV.")
    remarks: list[str] = []
    sheets = _read_openpyxl(path) if engine == "openpyxl" else _read_fastexcel(path)
    filled = [(title, cells) for title, cells in sheets if any(value is not None for row in cells for value in row)]
    if not filled:
        raise DataError("the workbook is empty.", source=name, hint="Expected a header with a column query.")
    (title, cells), *others = filled
    if others:
        left_out = ", ".join(repr(other) for other, _ in others)
        remarks.append(f"read the sheet {title!r}; skipped: {left_out}. To read another sheet, save it as CSV.")
    return Rows(name, _build_sheet_rows(cells, name), unit="row", cells=True, blank="empty cell", remarks=remarks)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return SHEETS in archive.namelist()
    except zipfile.BadZipFile as error:
        problem = f"not a readable zip archive or workbook: {error}."
        raise DataError(problem, source=str(path), hint="The file may be truncated. Copy it again.") from None


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


def _build_sheet_rows(cells: list[tuple[Any, ...]], source: str) -> Iterator[tuple[int, Row]]:
    first = next(n for n, row in enumerate(cells) if any(value is not None for value in row))
    header = ["" if value is None else str(value).strip() for value in cells[first]]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        problem = f"the column {twice[0]!r} appears twice in the header."
        raise DataError(problem, source=source, line=first + 1, unit="row", hint="Rename or remove one of them.")
    for n, row in enumerate(cells[first + 1 :], first + 2):
        dated = (value.isoformat() if isinstance(value, date | time) else value for value in row)
        values = [None if value == "" else value for value in dated]
        if any(value is not None for value in values):
            yield n, {name: value for name, value in zip(header, values, strict=False) if name}

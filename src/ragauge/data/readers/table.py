"""Tables in memory: polars, pandas, Arrow, and lists of dictionaries. None of these libraries is imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragauge.data.readers.rows import Row, Rows
from ragauge.data.readers.values import described
from ragauge.errors import DataError

BATCH = 8_192
PLAIN = frozenset({str, int, float, bool, type(None)})


def is_frame(source: object) -> bool:
    """Whether the object is a table of one of the three libraries."""
    return _library(source) in ("polars", "pandas", "pyarrow")


def is_list(source: object) -> bool:
    """Whether the object gives dictionaries one by one."""
    listed = isinstance(source, Iterable) and not isinstance(source, str | bytes | Mapping)
    return listed or hasattr(source, "to_list")


def read(source: Any) -> Rows:
    """The rows of a table, from 1."""
    match _library(source):
        case "polars":
            return Rows("table", enumerate(_polars(source), 1), unit="row", cells=True)
        case "pandas":
            return Rows("table", enumerate(_pandas(source), 1), unit="row", cells=True)
        case "pyarrow":
            return Rows("table", enumerate(_arrow(source), 1), unit="row", cells=True)
    if hasattr(source, "to_list"):       # ragas' EvaluationDataset
        source = source.to_list()
    return Rows("list", _listed(source), unit="entry")


def _library(source: object) -> str:
    return type(source).__module__.partition(".")[0]


def _polars(source: Any) -> Iterator[Row]:
    if hasattr(source, "collect"):
        start = 0
        while (batch := source.slice(start, BATCH).collect()).height:
            yield from batch.iter_rows(named=True)
            start += BATCH
        return
    yield from source.iter_rows(named=True)


def _arrow(source: Any) -> Iterator[Row]:
    batches = source.to_batches(max_chunksize=BATCH) if hasattr(source, "to_batches") else [source]
    for batch in batches:
        yield from batch.to_pylist()


def _pandas(source: Any) -> Iterator[Row]:
    columns = [str(column) for column in source.columns]
    for cells in source.itertuples(index=False, name=None):
        yield {column: cell(value) for column, value in zip(columns, cells, strict=True)}


def plain(value: Any) -> Any:
    """NumPy values, at any depth, as Python's."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(value.tolist()) if _library(value) == "numpy" and hasattr(value, "tolist") else value


def cell(value: Any) -> Any:
    """A cell as Python's value: the empty cells of pandas (NaN, NaT, NA) as None, which its records keep too."""
    found = plain(value)
    empty = type(found).__name__ in ("NAType", "NaTType") or (isinstance(found, float) and found != found)
    return None if empty else found


def _listed(source: Iterable[Any]) -> Iterator[tuple[int, Row]]:
    for n, item in enumerate(source, 1):
        row = item.model_dump() if hasattr(item, "model_dump") else item
        if not isinstance(row, Mapping):
            raise DataError(f"expected a dictionary, got {described(item)}.", source="list", line=n, unit="entry")
        yield n, {str(key): cell(value) for key, value in row.items()}

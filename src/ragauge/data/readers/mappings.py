"""Many examples in one object: a column a field, or a list of questions a category."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragauge.data.readers.aliases import ALIASES, FIELDS, names_of, nearest_column, snake
from ragauge.data.readers.rows import Row
from ragauge.data.readers.table import plain
from ragauge.data.readers.values import BadValue

WRAPPERS = ("results", "data", "examples", "samples", "records", "rows", "items", "test_cases", "testCases", "goldens")
AROUND = ("results", "testRunData")     # of promptfoo's and deepeval's files: keys of an object that wraps the rows
QUERY_NAMES = frozenset(names_of("query"))
KNOWN = frozenset({*FIELDS, *(alias.theirs for alias in ALIASES)})
MISSPELT = 0.75     # questoin is no category: the reader names the nearest field
CATEGORY = "category"     # the segment that the name of a list of questions becomes


def rows_in(value: Mapping[str, Any], *, wrapped_only: bool = False) -> Iterator[Any] | None:
    """What an object holds one example each of; None where the object is an example itself.

    {"results": [row, ...]} holds rows; {"question": [...], "answer": [...]} columns, each a list or, as pandas writes
    them, an object of index and cell; {"simple": ["How ...?", ...]} questions under their category.

    Args:
        value: the object.
        wrapped_only: it is a line of a file of lines, where columns and categories have no place.

    Raises:
        BadValue: columns of different lengths.
    """
    spelled = {snake(str(key)) for key in value}
    if QUERY_NAMES & spelled:
        return None if wrapped_only else _columns(value)
    if key := _wrapper(value):
        held: list[Any] = value[key]
        return iter(held)
    within = [value[key] for key in AROUND if isinstance(value.get(key), Mapping)]
    if within and not KNOWN & spelled and _wrapper(within[0]):
        return rows_in(within[0])
    named = KNOWN & spelled or nearest_column("query", spelled, MISSPELT)     # this is one example, or columns
    return None if named or not value or wrapped_only else _categories(value)


def _wrapper(value: Mapping[str, Any]) -> str:
    """The key whose list of objects the object is there for; "" where there is none."""
    lists = [key for key in WRAPPERS if isinstance(value.get(key), list)]
    filled = [key for key in lists if value[key]]
    return next((key for key in filled if isinstance(value[key][0], Mapping)), (filled or lists or [""])[0])


def _columns(value: Mapping[str, Any]) -> Iterator[Row] | None:
    """The rows of columns; None where the query is one question, or one chat."""
    asked = next(column for key, column in value.items() if snake(str(key)) in QUERY_NAMES)
    cells = _cells(asked)
    if cells is None or any(isinstance(cell, Mapping) and ("role" in cell or "type" in cell) for cell in cells):
        return None
    columns: dict[str, list[Any]] = {}
    for key, column in value.items():
        if column is None:
            continue
        found = _cells(column)
        if found is None or len(found) != len(cells):
            raise BadValue(str(key), f"a column of {len(cells)} cells, one a query", column if found is None else found)
        columns[str(key)] = found
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _cells(column: Any) -> list[Any] | None:
    """The cells of a column: a list, an array, a series, or the {index: cell} that pandas writes; None for a text."""
    if isinstance(column, Mapping):
        keys = [str(key) for key in column]
        return list(column.values()) if keys and all(key.isdecimal() for key in keys) else None
    for method in ("to_list", "tolist"):     # series, arrays
        listed = getattr(column, method, None)
        if callable(listed):
            column = listed()
            break
    return plain(list(column)) if isinstance(column, list | tuple) else None


def _categories(value: Mapping[str, Any]) -> Iterator[Row] | None:
    """Questions, or examples, under the name of their category; None where a value is anything else."""
    lists = [isinstance(items, list | tuple) and all(map(_asks, items)) for items in value.values()]
    if not all(lists) or not any(value.values()):
        return None
    return (_filed(item, str(category)) for category, items in value.items() for item in items)


def _asks(item: Any) -> bool:
    if isinstance(item, str):
        return bool(item.strip())
    return isinstance(item, Mapping) and bool(QUERY_NAMES & {snake(str(key)) for key in item})


def _filed(item: Any, category: str) -> Row:
    row = {"query": item} if isinstance(item, str) else item
    segments = row.get("segments")
    if segments is not None and not isinstance(segments, Mapping):
        return dict(row)     # the reader says what is wrong with it
    return {**row, "segments": {CATEGORY: category, **(segments or {})}}

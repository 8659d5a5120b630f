"""JSON: one object a line, or one list of objects, or an object that wraps such a list.

Many examples in one object: a column a field, or a list of questions a category.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

from ragauge.core.errors import DataError
from ragauge.core.values import BadValue, described
from ragauge.readers.aliases import ALIASES, FIELDS, names_of, nearest_column, snake
from ragauge.readers.lines import Row, Rows, lines, whole
from ragauge.readers.squad import is_squad, questions
from ragauge.readers.tabular import plain

WRAPPERS = (
    "results",
    "data",
    "examples",
    "samples",
    "records",
    "rows",
    "items",
    "test_cases",
    "testCases",
    "goldens",
    "responses",
    "predictions",
    "entries",
    "conversational_test_cases",
    "conversationalTestCases",
)
AROUND = ("results", "testRunData")  # of promptfoo's and deepeval's files: keys of an object that wraps the rows
QUERY_NAMES = frozenset(names_of("query"))
KNOWN = frozenset({*FIELDS, *(alias.theirs for alias in ALIASES)})
MISSPELT = 0.75  # questoin is no category: the reader names the nearest field
CATEGORY = "category"  # the segment that the name of a list of questions becomes


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
        return questions(held) if is_squad(held) else iter(held)
    within = [value[key] for key in AROUND if isinstance(value.get(key), Mapping)]
    if within and not KNOWN & spelled and _wrapper(within[0]):
        return rows_in(within[0])
    named = KNOWN & spelled or nearest_column("query", spelled, MISSPELT)  # this is one example, or columns
    return None if named or not value or wrapped_only else _categories(value)


def _wrapper(value: Mapping[str, Any]) -> str:
    """The key whose list of objects the object is there for; "" where there is none."""
    lists = [key for key in WRAPPERS if isinstance(value.get(key), list)]
    if not lists and not all(isinstance(held, list | tuple) for held in value.values()):  # else they are categories
        lists = [key for key, held in value.items() if isinstance(held, list) and held and all(map(_is_row, held))]
        return lists[0] if len(lists) == 1 else ""
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
        others = _cells(column)
        if others is None or len(others) != len(cells):
            raise BadValue(
                str(key), f"a column of {len(cells)} cells, one a query", column if others is None else others
            )
        columns[str(key)] = others
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _cells(column: Any) -> list[Any] | None:
    """The cells of a column: a list, an array, a series, or the {index: cell} that pandas writes; None for a text."""
    if isinstance(column, Mapping):
        keys = [str(key) for key in column]
        return list(column.values()) if keys and all(key.isdecimal() for key in keys) else None
    for method in ("to_list", "tolist"):  # series, arrays
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


def _is_row(item: Any) -> bool:
    return isinstance(item, Mapping) and _asks(item)


def _asks(item: Any) -> bool:
    if isinstance(item, str):
        return bool(item.strip())
    return isinstance(item, Mapping) and bool(QUERY_NAMES & {snake(str(key)) for key in item})


def _filed(item: Any, category: str) -> Row:
    row = {"query": item} if isinstance(item, str) else item
    segments = row.get("segments")
    if segments is not None and not isinstance(segments, Mapping):
        return dict(row)  # the reader says what is wrong with it
    return {**row, "segments": {CATEGORY: category, **(segments or {})}}


# control characters inside texts are accepted as they are; json.loads would build a decoder at every call
DECODER = JSONDecoder(strict=False)
CURLY = ("Pi", "Pf")  # categories of quotes that open or close
LINES = frozenset({".jsonl", ".ndjson"})  # whose lines are an example each, also where there is one


def read(path: Path) -> Rows:
    """The objects of a JSON or JSONL file."""
    name = str(path)
    first = list(islice((line for _, line in lines(path) if line.strip()), 2))
    if not first:
        empty = next(lines(path), None) is None
        problem = "the file is empty." if empty else "the file has only blank lines."
        raise DataError(problem, source=name, hint='Expected one JSON object a line, such as {"query": "..."}.')
    if first[0].lstrip().startswith("["):
        return Rows(name, _listed(path), unit="entry")
    if len(first) == 2 and _continues(*first):
        row = _object(_parsed(whole(path), name, None), name, 1)
        held = _held(row, path)
        return Rows(name, iter([(1, row)]) if held is None else _numbered(held, name), unit="entry")
    if len(first) == 1:
        try:
            value = DECODER.decode(first[0])
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and (held := _held(value, path)) is not None:
            return Rows(name, _numbered(held, name), unit="entry")
    return Rows(name, _lines(path))


def _continues(first: str, second: str) -> bool:
    """Whether the first line is only the start of an object that is spread over lines."""
    if not second.lstrip().startswith("{"):
        try:
            DECODER.decode(first)
        except (ValueError, RecursionError):
            return True
        return False
    return first.rstrip().endswith(("{", "[", ",", ":"))


def _lines(path: Path) -> Iterator[tuple[int, Row]]:
    name = str(path)
    for n, line in lines(path):
        if line and not line.isspace():
            value = _parsed(line.rstrip("\r\n"), name, n)
            if not isinstance(value, dict):
                raise DataError(f"expected a JSON object, got {described(value)}.", source=name, line=n)
            yield n, value


def _parsed(text: str, source: str, n: int | None) -> Any:
    try:
        return DECODER.decode(text)
    except JSONDecodeError as error:
        line = n if n is not None else error.lineno
        hint = ""
        if text.lstrip().startswith("{'"):
            hint = "Texts stand in double quotes: write the file with json.dumps, not with str."
        elif unicodedata.category(text[error.pos : error.pos + 1] or " ") in CURLY:
            hint = f"The quote {text[error.pos]} is a word processor's: write straight ones, with a plain text editor."
        elif error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            hint = "It ends early: is the file cut off?"
        what = error.msg[0].lower() + error.msg[1:].removesuffix(" starting at")
        problem = f"not valid JSON at character {error.colno}: {what}."
        raise DataError(problem, source=source, line=line, hint=hint) from None
    except RecursionError:
        raise DataError("the JSON is nested too deeply.", source=source, line=n) from None
    except ValueError as error:  # an integer of thousands of digits
        raise DataError(f"not valid JSON: {error}.", source=source, line=n) from None


def _listed(path: Path) -> Iterator[tuple[int, Row]]:
    """The objects of one list, one at a time."""
    text, name = whole(path), str(path)
    at, n = text.index("[") + 1, 0
    while True:
        at = _skipped(text, at)
        if text[at : at + 1] == "]" and n == 0:
            break
        try:
            value, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            _parsed(text, name, None)  # says where it breaks
            raise
        n += 1
        yield n, _object(value, name, n)
        at = _skipped(text, at)
        if text[at : at + 1] != ",":
            break
        at += 1
    if text[at : at + 1] != "]" or text[at + 1 :].strip():
        _parsed(text, name, None)


def _skipped(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


def _object(value: Any, source: str, n: int) -> Row:
    if not isinstance(value, dict):
        problem = f"expected a JSON object, got {described(value)}."
        raise DataError(problem, source=source, line=n, unit="entry")
    return value


def _held(value: Row, path: Path) -> Iterator[Any] | None:
    """The examples that one object holds; None where it is an example itself."""
    try:
        return rows_in(value, wrapped_only=not LINES.isdisjoint(path.suffixes))
    except BadValue as bad:
        raise DataError(str(bad), source=str(path)) from None


def _numbered(items: Iterator[Any], source: str) -> Iterator[tuple[int, Row]]:
    for n, item in enumerate(items, 1):
        yield n, _object(item, source, n)

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
from ragauge.core.values import BadValue, describe_value
from ragauge.readers.aliases import ALIASES, COLUMNS, FIELDS, find_nearest_column, list_field_names, to_snake_case
from ragauge.readers.lines import Row, Rows, read_lines, read_text
from ragauge.readers.squad import is_squad, read_questions
from ragauge.readers.tabular import to_plain_value

WRAPPERS: list[str] = COLUMNS["columns"]["lists"]["wrappers"].split()
# of promptfoo's and deepeval's files: keys of an object that wraps the rows
OUTER_WRAPPERS = ("results", "testRunData")
QUERY_NAMES = frozenset(list_field_names("query"))
KNOWN_NAMES = frozenset({*FIELDS, *(alias.theirs for alias in ALIASES)})
MIN_SPELLING_SIMILARITY = 0.75  # questoin is no category: the reader names the nearest field
CATEGORY = "category"  # the segment that the name of a list of questions becomes


def find_rows(value: Mapping[str, Any], *, wrapped_only: bool = False) -> Iterator[Any] | None:
    """What an object holds one example each of; None where the object is an example itself.

    {"results": [row, ...]} holds rows; {"question": [...], "answer": [...]} columns, each a list or, as pandas writes
    them, an object of index and cell; {"simple": ["How ...?", ...]} questions under their category.

    Args:
        value: the object.
        wrapped_only: it is a line of a file of lines, where columns and categories have no place.

    Raises:
        BadValue: columns of different lengths.
    """
    spelled = {to_snake_case(str(key)) for key in value}
    if QUERY_NAMES & spelled:
        return None if wrapped_only else _read_columns(value)
    if key := _find_wrapper_key(value):
        wrapped_rows: list[Any] = value[key]
        return read_questions(wrapped_rows) if is_squad(wrapped_rows) else iter(wrapped_rows)
    within = [value[key] for key in OUTER_WRAPPERS if isinstance(value.get(key), Mapping)]
    if within and not KNOWN_NAMES & spelled and _find_wrapper_key(within[0]):
        return find_rows(within[0])
    # this is one example, or columns
    is_example = KNOWN_NAMES & spelled or find_nearest_column("query", spelled, MIN_SPELLING_SIMILARITY)
    return None if is_example or not value or wrapped_only else _read_categories(value)


def _find_wrapper_key(value: Mapping[str, Any]) -> str:
    """The key whose list of objects the object is there for; "" where there is none."""
    lists = [key for key in WRAPPERS if isinstance(value.get(key), list)]
    if not lists and not all(isinstance(inner, list | tuple) for inner in value.values()):  # else they are categories
        lists = [key for key, inner in value.items() if isinstance(inner, list) and inner and all(map(_is_row, inner))]
        return lists[0] if len(lists) == 1 else ""
    filled = [key for key in lists if value[key]]
    return next((key for key in filled if isinstance(value[key][0], Mapping)), (filled or lists or [""])[0])


def _read_columns(value: Mapping[str, Any]) -> Iterator[Row] | None:
    """The rows of columns; None where the query is one question, or one chat."""
    query_column = next(column for key, column in value.items() if to_snake_case(str(key)) in QUERY_NAMES)
    cells = _list_cells(query_column)
    if cells is None or any(isinstance(cell, Mapping) and ("role" in cell or "type" in cell) for cell in cells):
        return None
    columns: dict[str, list[Any]] = {}
    for key, column in value.items():
        if column is None:
            continue
        others = _list_cells(column)
        if others is None or len(others) != len(cells):
            raise BadValue(
                str(key), f"a column of {len(cells)} cells, one per query", column if others is None else others
            )
        columns[str(key)] = others
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _list_cells(column: Any) -> list[Any] | None:
    """The cells of a column: a list, an array, a series, or the {index: cell} that pandas writes; None for a text."""
    if isinstance(column, Mapping):
        keys = [str(key) for key in column]
        return list(column.values()) if keys and all(key.isdecimal() for key in keys) else None
    for method in ("to_list", "tolist"):  # series, arrays
        convert = getattr(column, method, None)
        if callable(convert):
            column = convert()
            break
    return to_plain_value(list(column)) if isinstance(column, list | tuple) else None


def _read_categories(value: Mapping[str, Any]) -> Iterator[Row] | None:
    """Questions, or examples, under the name of their category; None where a value is anything else."""
    lists = [isinstance(items, list | tuple) and all(map(_has_query, items)) for items in value.values()]
    if not all(lists) or not any(value.values()):
        return None
    return (_add_category(item, str(category)) for category, items in value.items() for item in items)


def _is_row(item: Any) -> bool:
    return isinstance(item, Mapping) and _has_query(item)


def _has_query(item: Any) -> bool:
    if isinstance(item, str):
        return bool(item.strip())
    return isinstance(item, Mapping) and bool(QUERY_NAMES & {to_snake_case(str(key)) for key in item})


def _add_category(item: Any, category: str) -> Row:
    row = {"query": item} if isinstance(item, str) else item
    segments = row.get("segments")
    if segments is not None and not isinstance(segments, Mapping):
        return dict(row)  # the reader says what is wrong with it
    return {**row, "segments": {CATEGORY: category, **(segments or {})}}


# control characters inside texts are accepted as they are; json.loads would build a decoder at every call
DECODER = JSONDecoder(strict=False)
CURLY = ("Pi", "Pf")  # categories of quotes that open or close
LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})  # whose lines are an example each, also where there is one


def read(path: Path) -> Rows:
    """The objects of a JSON or JSONL file."""
    name = str(path)
    first = list(islice((line for _, line in read_lines(path) if line.strip()), 2))
    if not first:
        empty = next(read_lines(path), None) is None
        problem = "the file is empty." if empty else "the file has only blank lines."
        raise DataError(problem, source=name, hint='Expected one JSON object per line, such as {"query": "..."}.')
    if first[0].lstrip().startswith("["):
        return Rows(name, _read_list(path), unit="entry")
    if len(first) == 2 and _is_multiline_object(*first):
        row = _check_object(_parse_json(read_text(path), name, None), name, 1)
        items = _find_items(row, path)
        return Rows(name, iter([(1, row)]) if items is None else _number_items(items, name), unit="entry")
    if len(first) == 1:
        try:
            value = DECODER.decode(first[0])
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and (items := _find_items(value, path)) is not None:
            return Rows(name, _number_items(items, name), unit="entry")
    return Rows(name, _read_lines(path))


def _is_multiline_object(first: str, second: str) -> bool:
    """Whether the first line is only the start of an object that is spread over lines."""
    if not second.lstrip().startswith("{"):
        try:
            DECODER.decode(first)
        except (ValueError, RecursionError):
            return True
        return False
    return first.rstrip().endswith(("{", "[", ",", ":"))


def _read_lines(path: Path) -> Iterator[tuple[int, Row]]:
    name = str(path)
    for n, line in read_lines(path):
        if line and not line.isspace():
            value = _parse_json(line.rstrip("\r\n"), name, n)
            if not isinstance(value, dict):
                raise DataError(f"expected a JSON object, got {describe_value(value)}.", source=name, line=n)
            yield n, value


def _parse_json(text: str, source: str, n: int | None) -> Any:
    try:
        return DECODER.decode(text)
    except JSONDecodeError as error:
        line = n if n is not None else error.lineno
        hint = ""
        if text.lstrip().startswith("{'"):
            hint = "JSON text needs double quotes. Write the file with json.dumps, not with str."
        elif unicodedata.category(text[error.pos : error.pos + 1] or " ") in CURLY:
            hint = f"The quote {text[error.pos]} comes from a word processor. Use straight quotes."
        elif error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            hint = "The file ends early and may be truncated."
        what = error.msg[0].lower() + error.msg[1:].removesuffix(" starting at")
        problem = f"not valid JSON at character {error.colno}: {what}."
        raise DataError(problem, source=source, line=line, hint=hint) from None
    except RecursionError:
        raise DataError("the JSON is nested too deeply.", source=source, line=n) from None
    except ValueError as error:  # an integer of thousands of digits
        raise DataError(f"not valid JSON: {error}.", source=source, line=n) from None


def _read_list(path: Path) -> Iterator[tuple[int, Row]]:
    """The objects of one list, one at a time."""
    text, name = read_text(path), str(path)
    position, n = text.index("[") + 1, 0
    while True:
        position = _skip_whitespace(text, position)
        if text[position : position + 1] == "]" and n == 0:
            break
        try:
            value, position = DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            _parse_json(text, name, None)  # says where it breaks
            raise
        n += 1
        yield n, _check_object(value, name, n)
        position = _skip_whitespace(text, position)
        if text[position : position + 1] != ",":
            break
        position += 1
    if text[position : position + 1] != "]" or text[position + 1 :].strip():
        _parse_json(text, name, None)


def _skip_whitespace(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position


def _check_object(value: Any, source: str, n: int) -> Row:
    if not isinstance(value, dict):
        problem = f"expected a JSON object, got {describe_value(value)}."
        raise DataError(problem, source=source, line=n, unit="entry")
    return value


def _find_items(value: Row, path: Path) -> Iterator[Any] | None:
    """The examples that one object holds; None where it is an example itself."""
    try:
        return find_rows(value, wrapped_only=not LINE_SUFFIXES.isdisjoint(path.suffixes))
    except BadValue as bad:
        raise DataError(str(bad), source=str(path)) from None


def _number_items(items: Iterator[Any], source: str) -> Iterator[tuple[int, Row]]:
    for n, item in enumerate(items, 1):
        yield n, _check_object(item, source, n)

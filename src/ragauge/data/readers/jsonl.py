"""JSON: one object a line, or one list of objects, or an object that wraps such a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

from ragauge.data.readers.aliases import names_of, snake
from ragauge.data.readers.lines import lines, whole
from ragauge.data.readers.rows import Row, Rows
from ragauge.data.readers.values import described
from ragauge.errors import DataError

# control characters inside texts are accepted as they are; json.loads would build a decoder at every call
DECODER = JSONDecoder(strict=False)
WRAPPERS = ("results", "data", "examples", "samples", "records", "rows", "items", "test_cases", "testCases", "goldens")
QUERY_NAMES = frozenset(names_of("query"))


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
        return Rows(name, _wrapped(path, _parsed(whole(path), name, None)), unit="entry")
    if len(first) == 1:
        try:
            value = DECODER.decode(first[0])
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, Mapping) and _wrapper(value):
            return Rows(name, _wrapped(path, value), unit="entry")
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
        elif error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            hint = "It ends early: is the file cut off?"
        what = error.msg[0].lower() + error.msg[1:].removesuffix(" starting at")
        problem = f"not valid JSON at character {error.colno}: {what}."
        raise DataError(problem, source=source, line=line, hint=hint) from None
    except RecursionError:
        raise DataError("the JSON is nested too deeply.", source=source, line=n) from None
    except ValueError as error:      # an integer of thousands of digits
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
            _parsed(text, name, None)       # says where it breaks
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


def _wrapper(value: Mapping[str, Any]) -> str:
    """The key whose list of objects the object is there for; "" when it is an example itself."""
    if QUERY_NAMES & {snake(key) for key in value}:
        return ""
    lists = [key for key in WRAPPERS if isinstance(value.get(key), list)]
    return next((key for key in lists if value[key]), lists[0] if lists else "")


def _wrapped(path: Path, value: Any) -> Iterator[tuple[int, Row]]:
    name = str(path)
    row = _object(value, name, 1)
    key = _wrapper(row)
    if not key:
        yield 1, row
        return
    for n, item in enumerate(row[key], 1):
        yield n, _object(item, name, n)


"""JSON: one object a line, or one list of objects, or an object that wraps such a list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

from ragauge.data.readers.lines import lines, whole
from ragauge.data.readers.mappings import rows_in
from ragauge.data.readers.rows import Row, Rows
from ragauge.data.readers.values import BadValue, described
from ragauge.errors import DataError

# control characters inside texts are accepted as they are; json.loads would build a decoder at every call
DECODER = JSONDecoder(strict=False)
LINES = frozenset({".jsonl", ".ndjson"})     # whose lines are an example each, also where there is one


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


def _held(value: Row, path: Path) -> Iterator[Any] | None:
    """The examples that one object holds; None where it is an example itself."""
    try:
        return rows_in(value, wrapped_only=not LINES.isdisjoint(path.suffixes))
    except BadValue as bad:
        raise DataError(str(bad), source=str(path)) from None


def _numbered(items: Iterator[Any], source: str) -> Iterator[tuple[int, Row]]:
    for n, item in enumerate(items, 1):
        yield n, _object(item, source, n)

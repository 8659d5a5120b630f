"""deepeval's own files: in its CSV and JSONL the texts of a list stand in one, joined by `|`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragauge.data.readers.aliases import snake
from ragauge.data.readers.rows import Row
from ragauge.data.readers.values import Notes, opened

JOINED = frozenset({"retrieval_context", "context"})
TOKENS = {"input_token_count": "input", "output_token_count": "output"}
BETWEEN = "|"


def reads(found: Iterable[str]) -> bool:
    """Whether the columns are deepeval's: an input, and beside it a list that only deepeval names so."""
    names = {snake(name) for name in found}
    return "input" in names and ("retrieval_context" in names or {"expected_output", "context"} <= names)


def flat(row: Row, notes: Notes) -> Row:
    """The row with its joined texts as lists, as deepeval reads them too, and its counts of tokens as one object."""
    out: dict[str, Any] = {}
    tokens: dict[str, Any] = {}
    for column, value in row.items():
        name = snake(column)
        if name in TOKENS:
            tokens[TOKENS[name]] = value
        else:
            out[column] = _parts(value, column, notes) if name in JOINED and isinstance(value, str) else value
    if any(count is not None for count in tokens.values()):
        out.setdefault("tokens", tokens)
    return out


def _parts(value: str, column: str, notes: Notes) -> Any:
    found = opened(value, column, notes)
    if found is not value or BETWEEN not in value:
        return found
    pieces = value.split(BETWEEN)
    if any(not piece.strip() for piece in pieces):     # a table's row, or a mark in the text: no way to tell
        notes.unclear[column] = notes.unclear.get(column, 0) + 1
    return [piece.strip() for piece in pieces if piece.strip()]

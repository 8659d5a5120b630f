"""deepeval: test cases and goldens, in CSV files their lists joined with |."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragauge.core.values import Notes, decode_cell
from ragauge.readers.aliases import GOLDEN, to_snake_case
from ragauge.readers.lines import Row, RowContext

JOINED_COLUMNS = frozenset({"retrieval_context", "context"})
TOKENS = {"input_token_count": "input", "output_token_count": "output"}
SEPARATOR = "|"


def takes(columns: Iterable[str]) -> bool:
    """Whether the columns are deepeval's: an input, and beside it a list that only deepeval names so."""
    names = {to_snake_case(name) for name in columns}
    if "input" not in names or names.isdisjoint(("retrieval_context", "context")):
        return False
    return not names.isdisjoint(("retrieval_context", "expected_output")) or GOLDEN.without.isdisjoint(names)


def read_row(row: Row, context: RowContext) -> Row:
    """The row with its joined texts as lists, as deepeval reads them too, and its counts of tokens as one object."""
    out: dict[str, Any] = {}
    tokens: dict[str, Any] = {}
    for column, value in row.items():
        name = to_snake_case(column)
        if name in TOKENS:
            tokens[TOKENS[name]] = value
        else:
            out[column] = (
                _split_joined(value, column, context.notes)
                if name in JOINED_COLUMNS and isinstance(value, str)
                else value
            )
    if any(count is not None for count in tokens.values()):
        out.setdefault("tokens", tokens)
    return out


def _split_joined(value: str, column: str, notes: Notes) -> Any:
    decoded = decode_cell(value, column, notes)
    if decoded is not value or SEPARATOR not in value:
        return decoded
    entries = value.split(SEPARATOR)
    if any(not entry.strip() for entry in entries):  # a table's row, or a mark in the text: no way to tell
        notes.unclear[column] = notes.unclear.get(column, 0) + 1
    return [entry.strip() for entry in entries if entry.strip()]

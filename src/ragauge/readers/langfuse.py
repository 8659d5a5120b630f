"""Langfuse's exports: input, output, expected output and metadata of traces and of items of data sets.

Each is JSON, also as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragauge.readers.aliases import snake
from ragauge.readers.lines import Row
from ragauge.readers.payloads import PASSAGE_KEYS, entered, first_of, returned, unpacked

ENTRY = ("input", "output", "expected_output", "metadata")  # columns of Langfuse that hold JSON


def is_export(columns: Iterable[str]) -> bool:
    """Whether the columns are those of Langfuse's exports: an input with what came of it, or with what should."""
    names = {snake(column) for column in columns}
    return "input" in names and not names.isdisjoint(ENTRY[1:])


def unpack_json(row: Row) -> Row:
    """The row with its JSON as objects; one that holds nothing of its own stays a text: an answer may be JSON."""
    columns = {column: snake(column) for column in row}
    opened_cells = {column: unpacked(row[column], column) for column, name in columns.items() if name in ENTRY}
    held = {column: value for column, value in opened_cells.items() if isinstance(value, Mapping)}
    kept = {
        column: value
        for column, value in held.items()
        if columns[column] in ("input", "metadata") or returned(value) or not isinstance(row[column], str)
    }
    return {**row, **kept} if kept else row


def read_row(row: Row) -> Row:
    """A row of such objects with question, answer, reference and passages as columns of their own."""
    parts = {snake(column): (column, value) for column, value in row.items() if isinstance(value, Mapping)}
    column, payload = parts.get("input", ("", {}))
    out = {name: value for name, value in row.items() if name != column}
    question = entered(payload)
    if payload and "query" not in question:
        return row  # the reader says that there is none
    out |= question
    for name in ("output", "expected_output"):
        column, payload = parts.get(name, ("", {}))
        found = returned(payload)
        if found:
            del out[column]
        if name == "output":
            out |= found
        elif "answer" in found:
            out["reference_answer"] = found["answer"]
    beside = (first_of(parts[name][1], PASSAGE_KEYS) for name in ("input", "metadata") if name in parts)
    if out.get("passages") is None and (passages := next((held for held in beside if held is not None), None)):
        out["passages"] = passages
    return out

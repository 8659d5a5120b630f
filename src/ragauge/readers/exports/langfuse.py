"""Langfuse: the exports of traces, observations and data sets, whose columns hold JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragauge.readers.aliases import to_snake_case
from ragauge.readers.lines import Row, RowContext
from ragauge.readers.messages import PASSAGE_KEYS, find_first_value, parse_input, parse_output, unpack_payload

JSON_COLUMNS = ("input", "output", "expected_output", "metadata")  # columns of Langfuse that hold JSON


def takes(columns: Iterable[str]) -> bool:
    """Whether the columns are those of Langfuse's exports: an input with what came of it, or with what should."""
    names = {to_snake_case(column) for column in columns}
    return "input" in names and not names.isdisjoint(JSON_COLUMNS[1:])


def unpack_json(row: Row) -> Row:
    """The row with its JSON as objects; one that holds nothing of its own stays a text: an answer may be JSON."""
    columns = {column: to_snake_case(column) for column in row}
    opened_cells = {
        column: unpack_payload(row[column], column) for column, name in columns.items() if name in JSON_COLUMNS
    }
    objects = {column: value for column, value in opened_cells.items() if isinstance(value, Mapping)}
    payloads = {
        column: value
        for column, value in objects.items()
        if columns[column] in ("input", "metadata") or parse_output(value) or not isinstance(row[column], str)
    }
    return {**row, **payloads} if payloads else row


def read_row(row: Row, context: RowContext) -> Row:  # noqa: ARG001 - as all exports are read
    """A row of such objects with question, answer, reference and passages as columns of their own."""
    payload_columns = {
        to_snake_case(column): (column, value) for column, value in row.items() if isinstance(value, Mapping)
    }
    column, payload = payload_columns.get("input", ("", {}))
    out = {name: value for name, value in row.items() if name != column}
    question = parse_input(payload)
    if payload and "query" not in question:
        return row  # the reader says that there is none
    out |= question
    for name in ("output", "expected_output"):
        column, payload = payload_columns.get(name, ("", {}))
        fields = parse_output(payload)
        if fields:
            del out[column]
        if name == "output":
            out |= fields
        elif "answer" in fields:
            out["reference_answer"] = fields["answer"]
    passage_lists = (
        find_first_value(payload_columns[name][1], PASSAGE_KEYS)
        for name in ("input", "metadata")
        if name in payload_columns
    )
    if out.get("passages") is None and (
        passages := next((candidate for candidate in passage_lists if candidate is not None), None)
    ):
        out["passages"] = passages
    return out

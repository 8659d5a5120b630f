"""LangSmith: inputs, outputs and reference_outputs; in an exported data set, outputs are the reference.

The table of an experiment (`evaluate(…).to_pandas()`) has a column a part: inputs.question, outputs.answer,
reference.answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragauge.core.values import decode_cell
from ragauge.readers.lines import Row, RowContext
from ragauge.readers.messages import parse_input, parse_output, unpack_payload

PAYLOAD_COLUMNS = frozenset({"inputs", "outputs", "reference_outputs"})


def takes(columns: Iterable[str]) -> bool:
    """Whether the columns are LangSmith's."""
    names = set(columns)
    if any(name.startswith("inputs.") for name in names):
        return any(name.startswith(("outputs.", "reference.")) for name in names)
    return "inputs" in names and bool(names & {"reference_outputs", "dataset_id", "source_run_id"})


def read_row(row: Row, context: RowContext) -> Row:
    """The row with its payloads taken apart."""
    if "inputs" not in row:
        row = _group_columns(row, context)
    out = {key: value for key, value in row.items() if key not in PAYLOAD_COLUMNS}
    exported = "reference_outputs" not in row
    out |= parse_input(unpack_payload(row.get("inputs"), "inputs"))
    column = "outputs" if exported else "reference_outputs"
    reference = parse_output(unpack_payload(row.get(column), column))
    if not exported:
        out |= {"answer": None, **parse_output(unpack_payload(row.get("outputs"), "outputs"))}
    if "answer" in reference:
        out["reference_answer"] = reference["answer"]
    expected = reference.get("passages")
    if expected is not None:
        by_text = isinstance(expected, list) and all(isinstance(entry, str) for entry in expected)
        out["relevant_texts" if by_text else "relevant"] = expected
    return out


def _group_columns(row: Row, context: RowContext) -> Row:
    """A row of an experiment's table with its parts in objects; query_id is the example's id, not the trace's."""
    groups: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}, "reference": {}}
    out: dict[str, Any] = {}
    for column, value in row.items():
        head, dot, name = column.partition(".")
        if dot and head in groups:
            groups[head][name] = decode_cell(value, column, context.notes)
        else:
            out[{"example_id": "query_id", "execution_time": "latency_s"}.get(column, column)] = value
    if "query_id" in out:
        out.pop("id", None)
    return {**out, "inputs": groups["inputs"], "outputs": groups["outputs"], "reference_outputs": groups["reference"]}

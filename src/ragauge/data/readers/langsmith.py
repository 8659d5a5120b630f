"""LangSmith: inputs, outputs and reference_outputs; in an exported data set, outputs are the reference.

The table of an experiment (`evaluate(…).to_pandas()`) has a column a part: inputs.question, outputs.answer,
reference.answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragauge.data.readers.payloads import entered, returned, unpacked
from ragauge.data.readers.rows import Row
from ragauge.data.readers.values import Notes, opened

COLUMNS = frozenset({"inputs", "outputs", "reference_outputs"})


def reads(found: Iterable[str]) -> bool:
    """Whether the columns are LangSmith's."""
    names = set(found)
    if any(name.startswith("inputs.") for name in names):
        return any(name.startswith(("outputs.", "reference.")) for name in names)
    return "inputs" in names and bool(names & {"reference_outputs", "dataset_id", "source_run_id"})


def flat(row: Row, notes: Notes) -> Row:
    """The row with its payloads taken apart."""
    if "inputs" not in row:
        row = _joined(row, notes)
    out = {key: value for key, value in row.items() if key not in COLUMNS}
    exported = "reference_outputs" not in row
    out |= entered(unpacked(row.get("inputs"), "inputs", notes))
    column = "outputs" if exported else "reference_outputs"
    reference = returned(unpacked(row.get(column), column, notes))
    if not exported:
        out |= returned(unpacked(row.get("outputs"), "outputs", notes))
    if "answer" in reference:
        out["reference_answer"] = reference["answer"]
    expected = reference.get("passages")
    if expected is not None:
        by_text = isinstance(expected, list) and all(isinstance(one, str) for one in expected)
        out["relevant_texts" if by_text else "relevant"] = expected
    return out


def _joined(row: Row, notes: Notes) -> Row:
    """A row of an experiment's table with its parts in objects; query_id is the example's id, not the trace's."""
    parts: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}, "reference": {}}
    out: dict[str, Any] = {}
    for column, value in row.items():
        head, dot, name = column.partition(".")
        if dot and head in parts:
            parts[head][name] = opened(value, column, notes)
        else:
            out[{"example_id": "query_id", "execution_time": "latency_s"}.get(column, column)] = value
    if "query_id" in out:
        out.pop("id", None)
    return {**out, "inputs": parts["inputs"], "outputs": parts["outputs"], "reference_outputs": parts["reference"]}


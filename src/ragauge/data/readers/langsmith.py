"""LangSmith: inputs, outputs and reference_outputs; in an exported data set, outputs are the reference."""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.data.readers.payloads import entered, returned, unpacked
from ragauge.data.readers.rows import Row
from ragauge.data.readers.values import Notes

COLUMNS = frozenset({"inputs", "outputs", "reference_outputs"})


def reads(found: Iterable[str]) -> bool:
    """Whether the columns are LangSmith's."""
    names = set(found)
    return "inputs" in names and bool(names & {"reference_outputs", "dataset_id", "source_run_id"})


def flat(row: Row, notes: Notes) -> Row:
    """The row with its payloads taken apart."""
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


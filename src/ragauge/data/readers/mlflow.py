"""MLflow: columns inputs, outputs, expectations (MLflow 3), or request and response that hold chat payloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ragauge.data.readers.payloads import entered, returned, unpacked
from ragauge.data.readers.rows import Row
from ragauge.data.readers.values import Notes

COLUMNS = frozenset({"inputs", "outputs", "expectations", "request", "response"})


def reads(found: Iterable[str]) -> bool:
    """Whether the columns are MLflow's."""
    names = set(found)
    return "inputs" in names or ("request" in names and "query" not in names)


def flat(row: Row, notes: Notes) -> Row:
    """The row with its payloads taken apart; the columns of expectations stand beside the others."""
    out = {key: value for key, value in row.items() if key not in COLUMNS}
    readers: dict[str, Callable[[Any], dict[str, Any]]] = {
        "inputs": entered, "request": entered, "outputs": returned, "response": returned
    }
    for column, read in readers.items():
        value = unpacked(row.get(column), column, notes)
        if value is not None:
            for field, part in read(value).items():
                out.setdefault(field, part)
    expected = unpacked(row.get("expectations"), "expectations", notes)
    if isinstance(expected, dict):
        for field, part in expected.items():
            out.setdefault(field, part)
    elif expected is not None:
        out.setdefault("expected_response", expected)
    return out


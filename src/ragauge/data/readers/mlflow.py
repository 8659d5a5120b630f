"""MLflow: columns inputs, outputs, expectations (MLflow 3), or request and response that hold chat payloads.

In tables of traces (`search_traces`, the results of `genai.evaluate`) what was retrieved stands in spans, and what was
expected in assessments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ragauge.data.readers.payloads import entered, returned, unpacked
from ragauge.data.readers.rows import Row
from ragauge.data.readers.values import Notes, opened

TRACED = frozenset({"spans", "assessments"})
OF_TRACE = frozenset({
    "trace", "trace_id", "client_request_id", "state", "request_time", "execution_duration", "trace_metadata", "tags",
})  # fmt: skip
COLUMNS = frozenset({"inputs", "outputs", "expectations", "request", "response"})


def reads(found: Iterable[str]) -> bool:
    """Whether the columns are MLflow's."""
    names = set(found)
    return "inputs" in names or ("request" in names and "query" not in names)


def flat(row: Row, notes: Notes) -> Row:
    """The row with its payloads taken apart; the columns of expectations stand beside the others."""
    if "trace_id" in row and not TRACED.isdisjoint(row):
        row = _of_trace(row, notes)
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


def _of_trace(row: Row, notes: Notes) -> Row:
    """A trace as a row: request and response, expectations, and the passages of its retrievers."""
    expected = _expected(_listed(row, "assessments", notes))
    dropped = {*OF_TRACE, *TRACED, *(f"{name}/value" for name in expected)}
    out = {key: value for key, value in row.items() if key not in dropped}
    passages = _retrieved(_listed(row, "spans", notes))
    if passages is not None:
        out["passages"] = passages
    if row.get("state") == "ERROR":
        out["error"] = "the trace ended in an error"
    return out | {"expectations": expected or None, "latency_ms": row.get("execution_duration")}


def _listed(row: Row, column: str, notes: Notes) -> list[Mapping[str, Any]]:
    """The objects of a column, which tables hold as objects or as their text."""
    found = opened(row.get(column), column, notes)
    items = [_decoded(one) for one in found] if isinstance(found, list | tuple) else []
    return [one for one in items if isinstance(one, Mapping)]


def _expected(assessments: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What people or data sets expected, by name; a list or object is written as its JSON."""
    found = {}
    for one in assessments:
        said = one.get("expectation")
        if isinstance(said, Mapping):
            written = said.get("serialized_value")
            value = _decoded(written.get("value")) if isinstance(written, Mapping) else said.get("value")
            found[str(one.get("assessment_name"))] = value
    return found


def _retrieved(spans: list[Mapping[str, Any]]) -> list[Any] | None:
    """What the outermost retrievers of a trace returned, in order; None where it has none."""
    retrievers = [one for one in spans if _attribute(one, "mlflow.spanType") == "RETRIEVER"]
    inner = {one.get("span_id") for one in retrievers}
    outputs = [_attribute(one, "mlflow.spanOutputs") for one in retrievers if one.get("parent_span_id") not in inner]
    lists = [one for one in outputs if isinstance(one, list)]
    return [passage for one in lists for passage in one] if lists else None


def _attribute(span: Mapping[str, Any], name: str) -> Any:
    attributes = span.get("attributes")
    return _decoded(attributes.get(name)) if isinstance(attributes, Mapping) else None


def _decoded(value: Any) -> Any:
    """What JSON in a text says; anything else as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


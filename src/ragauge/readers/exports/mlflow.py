"""MLflow: columns inputs, outputs, expectations (MLflow 3), or request and response that hold chat payloads.

In tables of traces (`search_traces`, the results of `genai.evaluate`) what was retrieved stands in spans, and what was
expected in assessments. `mlflow.evaluate` wrote targets and predictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragauge.core.values import Notes, decode_cell
from ragauge.readers.lines import Row, RowContext
from ragauge.readers.messages import decode_json, parse_input, parse_output, unpack_payload

TRACE_COLUMNS = frozenset({"spans", "assessments"})
TRACE_INFO_COLUMNS = frozenset(
    {"trace", "trace_id", "client_request_id", "state", "request_time", "execution_duration", "trace_metadata", "tags"}
)
# of `mlflow.evaluate`: texts, or of a retriever ids
EVALUATION_COLUMNS = {"targets": ("expected_response", "relevant"), "predictions": ("answer", "retrieved_ids")}
PAYLOAD_COLUMNS = frozenset({"inputs", "outputs", "expectations", "request", "response"})


def takes(columns: Iterable[str]) -> bool:
    """Whether the columns are MLflow's."""
    names = set(columns)
    return not names.isdisjoint({"inputs", "outputs"}) or ("request" in names and "query" not in names)


def read_row(row: Row, context: RowContext) -> Row:
    """The row with its payloads taken apart; the columns of expectations stand beside the others."""
    if "trace_id" in row and not TRACE_COLUMNS.isdisjoint(row):
        row = _read_trace_row(row, context.notes)
    out = {key: value for key, value in row.items() if key not in PAYLOAD_COLUMNS}
    for column in ("inputs", "request", "outputs", "response"):
        parse = parse_input if column in ("inputs", "request") else parse_output
        out |= {key: value for key, value in parse(unpack_payload(row.get(column), column)).items() if key not in out}
    for column, (text_field, list_field) in EVALUATION_COLUMNS.items():
        value = decode_cell(out.pop(column, None), column, context.notes)
        if value is not None:
            out.setdefault(list_field if isinstance(value, list | tuple) else text_field, value)
    if not {"outputs", "response"}.isdisjoint(row):
        out.setdefault("answer", None)  # null: not recorded
    expected = unpack_payload(row.get("expectations"), "expectations")
    if isinstance(expected, dict):
        out |= {key: value for key, value in expected.items() if key not in out}
    elif expected is not None:
        out.setdefault("expected_response", expected)
    return out


def _read_trace_row(row: Row, notes: Notes) -> Row:
    """A trace as a row: request and response, expectations, and the passages of its retrievers."""
    expected = _read_expectations(_list_objects(row, "assessments", notes))
    dropped = {*TRACE_INFO_COLUMNS, *TRACE_COLUMNS, *(f"{name}/value" for name in expected)}
    out = {key: value for key, value in row.items() if key not in dropped}
    passages = _find_retrieved(_list_objects(row, "spans", notes))
    if passages is not None:
        out["passages"] = passages
    if row.get("state") == "ERROR":
        out["error"] = "the trace ended with an error"
    return out | {"expectations": expected or None, "latency_ms": row.get("execution_duration")}


def _list_objects(row: Row, column: str, notes: Notes) -> list[Mapping[str, Any]]:
    """The objects of a column, which tables hold as objects or as their text."""
    opened_value = decode_cell(row.get(column), column, notes)
    items = [decode_json(entry) for entry in opened_value] if isinstance(opened_value, list | tuple) else []
    return [item for item in items if isinstance(item, Mapping)]


def _read_expectations(assessments: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What people or data sets expected, by name; a list or object is written as its JSON."""
    expected = {}
    for assessment in assessments:
        expectation = assessment.get("expectation")
        if isinstance(expectation, Mapping):
            written = expectation.get("serialized_value")
            value = decode_json(written.get("value")) if isinstance(written, Mapping) else expectation.get("value")
            expected[str(assessment.get("assessment_name"))] = value
    return expected


def _find_retrieved(spans: list[Mapping[str, Any]]) -> list[Any] | None:
    """What the outermost retrievers of a trace returned, in order; None where it has none."""
    retrievers = [span for span in spans if _get_attribute(span, "mlflow.spanType") == "RETRIEVER"]
    inner = {retriever.get("span_id") for retriever in retrievers}
    outputs = [
        _get_attribute(span, "mlflow.spanOutputs") for span in retrievers if span.get("parent_span_id") not in inner
    ]
    lists = [output for output in outputs if isinstance(output, list)]
    return [passage for output in lists for passage in output] if lists else None


def _get_attribute(span: Mapping[str, Any], name: str) -> Any:
    attributes = span.get("attributes")
    return decode_json(attributes.get(name)) if isinstance(attributes, Mapping) else None

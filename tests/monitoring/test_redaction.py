"""What is redacted is nowhere in what is kept, wherever a sender puts it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient
from tests.monitoring.conftest import CHILD, TRACE, attributes, span, traces

from ragauge.monitoring.intake.redaction import Redaction
from ragauge.store.store_access import Store

REDACTION = Redaction(("user.*", "secret"), (r"[\w.]+@[\w.]+",), key="k")
LINES = {"content-type": "application/x-ndjson"}
Sender = Callable[..., TestClient]


def kept(store: Store) -> list[bytes]:
    return [batch.body for _, batch in store.inbox.read(range(1, 99))]


@pytest.mark.parametrize(
    "where",
    [
        {"links": [{"traceId": TRACE, "spanId": CHILD, "attributes": attributes(user__id="anna")}]},
        {"links": [{"traceId": TRACE, "spanId": CHILD, "attributes": attributes(note="anna@b.de")}]},
        {"links": [{"traceId": TRACE, "spanId": CHILD, "traceState": "x=anna@b.de"}]},
        {"traceState": "x=anna@b.de,ot=th:8"},
        {"events": [{"name": "anna@b.de"}]},
        {"attributes": [{"key": "user.id", "value": {"bytesValue": "YW5uYQ=="}}]},
        {"attributes": [{"key": "user", "value": {"kvlistValue": {"values": attributes(id="anna")}}}]},
        {
            "attributes": [
                {
                    "key": "metadata",
                    "value": {
                        "kvlistValue": {
                            "values": [{"key": "user", "value": {"kvlistValue": {"values": attributes(id="anna")}}}]
                        }
                    },
                }
            ]
        },
        {
            "attributes": [
                {"key": "by", "value": {"kvlistValue": {"values": [{"key": "anna@b.de", "value": {"intValue": 1}}]}}}
            ]
        },
        {"attributes": attributes(metadata='{"user": {"id": "anna"}}')},
        {"attributes": attributes(metadata='{"all": [{"user": {"name": "x", "id": "anna"}}]}')},
        {"attributes": attributes(metadata=json.dumps({"told": json.dumps({"secret": "anna"})}))},
        {"attributes": attributes(metadata="[" * 100_000 + "anna")},
        {"attributes": attributes(metadata='{"a":' * 300 + '"anna"' + "}" * 300)},
    ],
)
def test_no_part_of_a_span_keeps_it(where: dict[str, Any], sender: Sender, store: Store) -> None:
    """Links, events, the tracestate and parts of values, by the names on the way to them: none is kept."""
    assert sender(REDACTION).post("/v1/traces", json=traces(span(**where))).status_code == 200
    (body,) = kept(store)
    assert b"anna" not in body
    assert ExportTraceServiceRequest.FromString(body).resource_spans[0].scope_spans[0].spans[0].name == "ask"


def test_scopes_and_unknown_fields_keep_nothing(sender: Sender, store: Store) -> None:
    """Attributes of a scope are redacted; fields of protobuf that nobody knows here are dropped."""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    scope.scope.attributes.add(key="user.id").value.string_value = "anna"
    scope.spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name="ask")
    body = request.SerializeToString() + b"\xfa\x7f\x04anna"  # field 2047, a text
    headers = {"content-type": "application/x-protobuf"}
    assert sender(REDACTION).post("/v1/traces", content=body, headers=headers).status_code == 200
    (found,) = kept(store)
    assert b"anna" not in found


def test_what_is_said_besides_stays(sender: Sender, store: Store) -> None:
    """The sampler's entry of a tracestate, JSON that names nothing, and names that readers know stay as they were."""
    text = '{"input":  1.0, "users": {"id": "x"}}'
    redaction = Redaction(("user.*",), (r"\d{9}", "pass[a-z]*", r"id\b"), key="k")
    sent = span(traceState="ot=th:123456789,x=123456789", attributes=attributes(input__value=text.replace("id", "it")))
    client = sender(redaction)
    client.post("/v1/traces", json=traces(sent))
    passages = [{"id": "a", "passage_id": "b", "text": "y"}]
    client.post("/v1/responses", content=json.dumps({"query": "x", "passages": passages}), headers=LINES)
    spans, lines = kept(store)
    found = ExportTraceServiceRequest.FromString(spans).resource_spans[0].scope_spans[0].spans[0]
    assert found.trace_state == f"ot=th:123456789,x={redaction.text('123456789')}"
    assert found.attributes[0].value.string_value == text.replace("id", "it")
    assert json.loads(lines)["passages"] == passages


def test_lines_and_the_header(sender: Sender, store: Store) -> None:
    """Names of segments, parts by the names on the way to them, texts that are JSON, and the project of the header."""
    row = {
        "query_id": "q",
        "query": "x",
        "segments": {"anna@b.de": 1},
        "metadata": {"user": {"id": "anna"}},
        "origin": '{"user": [{"id": "anna"}]}',
    }
    client = sender(REDACTION)
    headers = {**LINES, "x-project-name": "anna@b.de"}
    assert client.post("/v1/responses", content=json.dumps(row), headers=headers).json()["taken"] == 1
    client.post("/v1/traces", json=traces(span()), headers={"x-project-name": "anna@b.de"})
    hashed = REDACTION.text("anna@b.de")
    assert [batch.project for _, batch in store.inbox.read(range(9))] == [hashed, hashed]
    assert json.loads(kept(store)[0]) == {
        "query_id": "q",
        "query": "x",
        "segments": {hashed: 1},
        "metadata": {"user": {"id": "__REDACTED__"}},
        "origin": '{"user": [{"id": "__REDACTED__"}]}',
    }


@pytest.mark.parametrize("levels", [*range(90, 110), *range(280, 1000, 30), 5000])
def test_deep_lines_hide_nothing(levels: int) -> None:
    """However deep a line is nested, what is named is not in it, be it that the line cannot be read any more."""
    line = b'{"query": ' + b'{"a":' * levels + b'{"secret": "anna"}' + b"}" * levels + b"}"
    assert b"anna" not in REDACTION.redact_lines(line)
    assert json.loads(REDACTION.redact_lines(line))

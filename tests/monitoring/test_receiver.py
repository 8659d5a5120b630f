"""What exporters are answered: every line of OTLP/HTTP, and that what was answered with 200 is on disk."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from starlette.testclient import TestClient
from tests.monitoring.conftest import CHILD, ROOT, TRACE, attributes, span, traces

from ragauge.core.errors import StoreError
from ragauge.monitoring.intake import intake
from ragauge.monitoring.intake.intake import MAX_WAITING_BYTES, Intake
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.store.inbox import Batch, TracePart
from ragauge.store.store_access import Store

JSON, PROTOBUF = {"content-type": "application/json"}, {"content-type": "application/x-protobuf"}
TOKEN = "a-token-of-many-letters"  # noqa: S105 - of the test
Sender = Callable[..., TestClient]


def protobuf(*ids: tuple[bytes, bytes, bytes]) -> ExportTraceServiceRequest:
    """A request with spans of (trace id, span id, parent id)."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for trace_id, span_id, parent in ids:
        spans.add(
            trace_id=trace_id,
            span_id=span_id,
            parent_span_id=parent,
            name="ask",
            start_time_unix_nano=1,
            end_time_unix_nano=3,
        )
    return request


def kept(store: Store) -> list[Batch]:
    return [batch for _, batch in store.inbox.read(range(1, 99))]


def said(answer: Any) -> str:
    """The message of a google.rpc.Status in JSON."""
    return str(answer.json()["message"])


def test_json_and_protobuf_are_kept_alike(sender: Sender, store: Store) -> None:
    """Hex ids of OTLP/JSON become protobuf's bytes; both keep equal messages, and are answered in their own type."""
    sent = traces(span(attributes=attributes(a="x"), links=[{"traceId": TRACE, "spanId": CHILD}]), span(CHILD, ROOT))
    client = sender()
    answer = client.post("/v1/traces", json=sent)
    assert (answer.status_code, answer.headers["content-type"], answer.json()) == (200, "application/json", {})
    (batch,) = kept(store)
    (due,) = store.inbox.list_due(1e12, 9)
    assert (due.trace_id, due.due) == (TRACE, due.first + 5.0)  # the root is there
    found = ExportTraceServiceRequest.FromString(batch.body)
    (one, two) = found.resource_spans[0].scope_spans[0].spans
    assert (one.trace_id.hex(), one.span_id.hex(), one.parent_span_id) == (TRACE, ROOT, b"")
    assert two.parent_span_id.hex() == ROOT
    assert one.links[0].span_id.hex() == CHILD
    assert one.end_time_unix_nano == 3_000_000_000
    answer = client.post("/v1/traces/", content=batch.body, headers={"content-type": "application/x-protobuf; a=b"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-protobuf")
    assert answer.content == ExportTraceServiceResponse().SerializeToString() == b""
    messages = [ExportTraceServiceRequest.FromString(one.body) for one in kept(store)]
    assert messages == [found, found]


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw"])
def test_packed_bodies(encoding: str, sender: Sender, store: Store) -> None:
    """gzip, in several members too, and deflate with and without zlib's head are unpacked."""
    body = protobuf((b"t" * 16, b"s" * 8, b"")).SerializeToString()
    packed = gzip.compress(body[:9]) + gzip.compress(body[9:]) if encoding == "gzip" else zlib.compress(body)
    if encoding == "raw":
        packer = zlib.compressobj(wbits=-15)
        packed, encoding = packer.compress(body) + packer.flush(), "deflate"
    answer = sender().post("/v1/traces", content=packed, headers={**PROTOBUF, "content-encoding": encoding})
    assert answer.status_code == 200
    assert [batch.body for batch in kept(store)] == [body]


def test_bombs_are_refused_before_they_are_unpacked(sender: Sender, store: Store) -> None:
    """A body of more than 16 MiB packed or 64 MiB unpacked is 413, and no more than the limit was ever in memory."""
    client, zeros = sender(), gzip.compress(bytes(65 << 20), 1)
    answer = client.post("/v1/traces", content=zeros, headers={**JSON, "content-encoding": "gzip"})
    assert (answer.status_code, answer.json()["code"]) == (413, 11)
    assert "64 MiB" in said(answer)
    assert client.post("/v1/traces", content=bytes((16 << 20) + 1), headers=JSON).status_code == 413
    told: list[int] = []
    unpacking = intake.BodyUnpacker("gzip", told.append)
    with pytest.raises(intake.RequestRefusedError):
        unpacking.add(zeros)
    assert sum(told) == sum(map(len, unpacking._parts)) <= intake.MAX_UNPACKED_BYTES
    assert kept(store) == []


def test_millions_of_empty_parts_are_refused(sender: Sender, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long bodies of parts of two bytes each are 413 before they are read; what is long by its texts is taken."""
    monkeypatch.setattr(intake, "MAX_PARTS", 20_000)  # of the million that takes a second to count
    client = sender()
    spans = b"\x12\x00" * (3 << 20)
    within = b"\x0a" + varint(len(spans) + 5) + b"\x12" + varint(len(spans)) + spans
    for body in (b"\x0a\x00" * (3 << 20), within):
        answer = client.post("/v1/traces", content=body, headers=PROTOBUF)
        assert answer.status_code == 413
        assert b"more than 20,000 parts" in answer.content
    empty = b'{"resourceSpans": [' + b"{}," * (2 << 20) + b"{}]}"
    assert client.post("/v1/traces", content=empty, headers=JSON).status_code == 413
    long = protobuf((b"t" * 16, b"s" * 8, b""))
    long.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="a").value.string_value = "{" * (5 << 20)
    assert intake._count_messages(long.SerializeToString(), long.DESCRIPTOR) == 5
    assert client.post("/v1/traces", content=long.SerializeToString(), headers=PROTOBUF).status_code == 200
    assert len(kept(store)) == 1


def varint(value: int) -> bytes:
    return bytes((value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14 & 0x7F | 0x80, value >> 21))


def test_deep_nesting_is_refused(sender: Sender, store: Store) -> None:
    """Values in values, a thousand deep: 400 in protobuf, the span left out in JSON, and no crash in either."""
    request = protobuf((b"t" * 16, b"s" * 8, b""))
    value = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="deep").value
    deep: Any = {"stringValue": "x"}
    for _ in range(300):
        value = value.array_value.values.add()
        deep = {"arrayValue": {"values": [deep]}}
    client = sender()
    answer = client.post("/v1/traces", content=request.SerializeToString(), headers=PROTOBUF)
    assert answer.status_code == 400
    both = traces(span(attributes=[{"key": "deep", "value": deep}]), span(CHILD, ROOT))
    answer = client.post("/v1/traces", json=both)
    assert answer.status_code == 200
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert client.post("/v1/traces", content=b"[" * 100_000, headers=JSON).status_code == 400
    assert len(kept(store)) == 1


def test_one_bad_span_takes_no_other_with_it(sender: Sender, store: Store) -> None:
    """Of three spans the two with whole ids are kept; the answer counts the third and says why, in its own type."""
    client = sender()
    request = protobuf((b"t" * 16, b"s" * 8, b""), (b"t" * 12, b"s" * 8, b""), (b"t" * 16, b"u" * 8, b"s" * 8))
    answer = client.post("/v1/traces", content=request.SerializeToString(), headers=PROTOBUF)
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (answer.status_code, partial.rejected_spans) == (200, 1)
    assert partial.error_message == f"the trace id must be 16 bytes and not all zeros, got {b't'.hex() * 12}"
    (batch,) = kept(store)
    assert len(ExportTraceServiceRequest.FromString(batch.body).resource_spans[0].scope_spans[0].spans) == 2

    as_base64 = base64.b64encode(b"t" * 16).decode()
    bad = (span(trace_id=as_base64), span(attributes={"a": "x"}), span(startTimeUnixNano={}))
    partial = client.post("/v1/traces", json=traces(*bad, span(CHILD, ROOT))).json()["partialSuccess"]
    assert partial == {
        "rejectedSpans": "3",
        "errorMessage": f"traceId must be 32 hexadecimal digits and not all zeros, got text {as_base64!r}",
    }
    partial = client.post("/v1/traces", json=traces(bad[1])).json()["partialSuccess"]
    assert partial["errorMessage"] == "attributes must be a list of key-value pairs, got an object with a"


def test_unreadable_bodies_say_the_likely_cause(sender: Sender, store: Store) -> None:
    """400 with a google.rpc.Status: another signal, JSON as protobuf, unsaid gzip, a list, broken JSON, broken gzip."""
    logs, metrics = ExportLogsServiceRequest(), ExportMetricsServiceRequest()
    logs.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=5).body.string_value = "x"
    gauge = metrics.resource_metrics.add().scope_metrics.add().metrics.add(name="load").gauge
    gauge.data_points.add(time_unix_nano=5).as_double = 1.0
    client = sender()
    for body, headers, cause in (
        (logs.SerializeToString(), PROTOBUF, "this looks like OTLP logs; send it to /v1/logs"),
        (metrics.SerializeToString(), PROTOBUF, "this looks like OTLP metrics; send it to /v1/metrics"),
        (b'{"resourceSpans": []}', PROTOBUF, "it looks like JSON; send it with Content-Type: application/json"),
        (gzip.compress(b"x" * 99), PROTOBUF, "it is compressed with gzip, but there is no Content-Encoding header"),
        (b'{"resourceLogs": []}', JSON, "this looks like OTLP logs"),
        (b"[1]", JSON, "expected an object with resourceSpans, got a list of 1"),
        (b'{"resource_spans": []}', JSON, "expected an object with resourceSpans, got an object with resource_spans"),
        (b'{"resourceSpans": {}}', JSON, "resourceSpans must be a list of objects, got an object with nothing"),
        (b'{"resourceSpans": [1]}', JSON, "resourceSpans must be a list of objects, got a list of 1"),
        (b'{"resourceSpans": ', JSON, "the body is not valid JSON: it is cut off after 18 bytes; send all of it"),
        (b'{"resourceSpans": [{"a": "b', JSON, "it is cut off after 27 bytes"),
        (b'{"resourceSpans": x}', JSON, "Expecting value: line 1 column 19"),
        (b"\x1f\x8bbroken", {**JSON, "content-encoding": "gzip"}, "cannot be decompressed as gzip"),
        (gzip.compress(b"x" * 99)[:-9], {**JSON, "content-encoding": "gzip"}, "ends early"),
    ):
        answer = client.post("/v1/traces", content=body, headers=headers)
        assert answer.status_code == 400, cause
        assert cause in (said(answer) if headers != PROTOBUF else answer.content.decode("utf-8", "replace"))
    assert kept(store) == []


def test_an_error_in_protobuf_is_a_status(sender: Sender) -> None:
    """A refusal of protobuf is a google.rpc.Status in protobuf: field 1 the code, field 2 the text."""
    from google.rpc.status_pb2 import Status

    answer = sender().post("/v1/traces", content=b"{}", headers=PROTOBUF)
    status = Status.FromString(answer.content)
    assert (answer.headers["content-type"], status.code) == ("application/x-protobuf", 3)
    assert status.message.startswith("the body is not OTLP traces in protobuf")
    assert intake.build_status("protobuf", 429, "x" * 300) == Status(code=8, message="x" * 300).SerializeToString()


@pytest.mark.parametrize("path", ["/", "/v1/trace", "/v1"])
def test_another_address_is_told_the_right_one(sender: Sender, path: str) -> None:
    """What an exporter sends where nothing is taken in is 404, with the address that takes it."""
    answer = sender().post(path, json=traces(span()))
    assert answer.status_code == 404
    assert said(answer).startswith(f"there is no endpoint at {path}. Send traces to /v1/traces;")


def test_types_methods_and_encodings(sender: Sender) -> None:
    """Another type or encoding is 415 and says what is read; gRPC is told the exporter's setting; GET is 405."""
    client = sender()
    for headers, text in (
        ({"content-type": "text/plain"}, "application/x-protobuf or application/json, got text/plain"),
        ({"content-type": "application/grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"),
        ({**JSON, "content-encoding": "br"}, "send gzip, deflate or none"),
    ):
        answer = client.post("/v1/traces", content=b"x", headers=headers)
        assert answer.status_code == 415
        assert text in said(answer)
    answer = client.get("/v1/traces")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert client.get("/runs").text == "the dashboard"


def test_a_token_is_asked_for(sender: Sender, store: Store) -> None:
    """Without the token 401, with another 403, with it as bearer or as Basic's password (Langfuse) it is taken."""
    client = sender(host="0.0.0.0", token=TOKEN)  # noqa: S104 - nothing listens
    basic = base64.b64encode(f"pk-lf-1:{TOKEN}".encode()).decode()
    for path, header, status in (
        ("/v1/traces", "", 401),
        ("/v1/traces", "Bearer wrong", 403),
        ("/v1/traces", f"Bearer {TOKEN}", 200),
        ("/v1/traces", "Basic !", 401),
        ("/api/public/otel/v1/traces", f"Basic {basic}", 200),
    ):
        headers = {"authorization": header} if header else {}
        answer = client.post(path, json=traces(span()), headers=headers)
        assert answer.status_code == status, header
        if status != 200:
            assert TOKEN not in answer.text
            assert "OTEL_EXPORTER_OTLP_HEADERS" in said(answer)
    assert len(kept(store)) == 2


def test_a_page_on_the_web_cannot_send(sender: Sender, store: Store) -> None:
    """Where no token is needed a request must name this machine, so that no other name that leads here is taken."""
    assert sender().post("/v1/traces", json=traces(span()), headers={"host": "evil.example"}).status_code == 421
    assert kept(store) == []


def test_what_cannot_be_kept_can_be_sent_again(sender: Sender, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """429 where too much waits, 503 where the disk is full, both with Retry-After; then it is taken."""
    intake = Intake(store)
    client = sender(intake=intake)
    with intake.reserve_room() as grow:
        grow(MAX_WAITING_BYTES - 9)  # bytes: less than a body
        answer = client.post("/v1/traces", json=traces(span()))
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["code"]) == (429, "1", 8)

    def full(*_: object) -> None:
        raise StoreError("the store failed: database or disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(store.inbox, "add", full)
        answer = client.post("/v1/traces", json=traces(span()))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert "disk is full" in said(answer)
    assert client.post("/v1/traces", json=traces(span())).status_code == 200
    assert len(kept(store)) == 1


def test_logs_keep_events_of_traces(sender: Sender, store: Store) -> None:
    """Events named gen_ai.… with ids are kept under their trace; other logs are counted as rejected."""
    records = [
        {"eventName": "gen_ai.choice", "traceId": TRACE, "spanId": ROOT, "body": {"stringValue": "x"}},
        {"attributes": attributes(event__name="gen_ai.user.message"), "traceId": TRACE, "spanId": ROOT},
        {"body": {"stringValue": "started"}},
        {"eventName": "gen_ai.choice"},
    ]
    answer = sender().post("/v1/logs", json={"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]})
    partial = answer.json()["partialSuccess"]
    assert partial["rejectedLogRecords"] == "2"
    assert "gen_ai." in partial["errorMessage"]
    (batch,) = kept(store)
    assert batch.signal == "logs"
    assert [(one.trace_id, one.due - one.first) for one in store.inbox.list_due(1e12, 9)] == [(TRACE, 30.0)]


def test_metrics_are_answered_and_not_kept(sender: Sender, store: Store) -> None:
    """Metrics are 200 with everything rejected, so that exporters of all signals do not send them again."""
    sent = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "load"}, {"name": "other"}]}]}]}
    answer = sender().post("/v1/metrics", json=sent)
    assert (answer.status_code, answer.json()["partialSuccess"]["rejectedDataPoints"]) == (200, "2")
    assert kept(store) == []


def test_responses_as_lines(sender: Sender, store: Store) -> None:
    """JSON lines are kept, each under its query_id, with their project; one that cannot be read is counted."""
    lines = [json.dumps({"query_id": "q1", "query": "x"}), "broken", "", json.dumps({"query": "y"}), '{"foo": 1}']
    headers = {"content-type": "application/x-ndjson", "x-project-name": "bot"}
    client = sender()
    answer = client.post("/v1/responses", content="\n".join(lines), headers=headers)
    assert answer.status_code == 200
    assert (answer.json()["taken"], answer.json()["rejected"]) == (2, 2)
    assert answer.json()["why"].startswith("line 2 is not valid JSON")
    assert answer.json()["lines"][1] == "line 5: expected a response, with query and answer, got an object with foo"
    refused = said(client.post("/v1/responses", content='{"foo": 1}\n' * 25, headers=headers))
    assert refused.count("expected a response") == 20
    assert "; and 5 more. Send" in refused
    (batch,) = kept(store)
    assert (batch.project, batch.body.count(b"\n")) == ("bot", 1)
    assert {one.trace_id[:5] for one in store.inbox.list_due(1e12, 9)} == {"q1", "line:"}
    assert client.post("/v1/responses", content="broken", headers=headers).status_code == 400
    assert client.post("/v1/responses", content="{}", headers=PROTOBUF).status_code == 415


def test_redacted_before_it_is_kept(sender: Sender, store: Store) -> None:
    """Values of named attributes are gone, what a pattern matches is a keyed hash, the same for the same text."""
    redaction = Redaction(("user.*", "hidden"), (r"[\w.]+@[\w.]+",), key="k")
    sent = traces(
        span(
            attributes=[
                *attributes(user__id="anna", input__value="mail anna@b.de, or anna@b.de"),
                {"key": "deep", "value": {"kvlistValue": {"values": attributes(hidden="x")}}},
                {"key": "list", "value": {"arrayValue": {"values": [{"stringValue": "c@d.de"}]}}},
            ],
            events=[{"name": "e", "attributes": attributes(hidden="y")}],
            status={"message": "no c@d.de"},
        )
    )
    client = sender(redaction)
    assert client.post("/v1/traces", json=sent).status_code == 200
    line = json.dumps({"query_id": "q", "query": "who is c@d.de?", "metadata": {"hidden": ["z"]}})
    client.post("/v1/responses", content=line, headers={"content-type": "application/x-ndjson"})
    spans, lines = (batch.body for batch in kept(store))
    for text in (b"anna", b"@", b'"x"', b"\x01x", b"\x01y", b'z"'):
        assert text not in spans + lines, text
    found = MessageToDict(ExportTraceServiceRequest.FromString(spans))["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    values = {one["key"]: one["value"] for one in found["attributes"]}
    assert values["user.id"] == {"stringValue": "__REDACTED__"}
    words = values["input.value"]["stringValue"].split()
    assert words[1].rstrip(",") == words[3]
    hashed = values["list"]["arrayValue"]["values"][0]["stringValue"]
    assert found["status"]["message"] == f"no {hashed}"
    assert json.loads(lines) == {"query_id": "q", "query": f"who is {hashed}?", "metadata": {"hidden": "__REDACTED__"}}
    assert Redaction((), (r"\d+",), key="other").text("5") != Redaction((), (r"\d+",), key="k").text("5")


def test_parts_of_one_trace_are_joined(sender: Sender, store: Store) -> None:
    """Spans of a trace that come in two requests are one trace with two batches."""
    client = sender()
    client.post("/v1/traces", json=traces(span(CHILD, ROOT)))
    client.post("/v1/traces", json=traces(span()))
    (due,) = store.inbox.list_due(1e12, 9)
    assert (due.trace_id, due.batches) == (TRACE, (1, 2))
    assert TracePart(TRACE) == TracePart(TRACE, 1, False)

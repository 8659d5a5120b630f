"""Messages of OTLP as the spans that the normaliser reads."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragauge.data.readers.traces.spans import DEEPEST, ERROR, VECTORS, BadSpan, Event, TraceSpan, failure
from ragauge.monitoring.otlp import event_name

BODY = "body"     # what the body of an event is called among its attributes


def spans_of(body: bytes, wanted: frozenset[str]) -> Iterator[tuple[str, TraceSpan | str]]:
    """(trace id, span) of some traces in a kept request; for a span that cannot be read, why."""
    ids = {bytes.fromhex(trace_id): trace_id for trace_id in wanted if len(trace_id) == 32}
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        about: dict[str, Any] | None = None
        for scope in resource.scope_spans:
            for span in scope.spans:
                trace_id = ids.get(span.trace_id)
                if trace_id is None:
                    continue
                about = attributes(resource.resource.attributes) if about is None else about
                try:
                    yield trace_id, _span(trace_id, span, about)
                except BadSpan as bad:
                    yield trace_id, str(bad)


def events_of(body: bytes, wanted: frozenset[str]) -> Iterator[tuple[str, str, Event]]:
    """(trace id, span id, event) of some traces in a kept request of logs."""
    ids = {bytes.fromhex(trace_id): trace_id for trace_id in wanted if len(trace_id) == 32}
    for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                trace_id = ids.get(record.trace_id)
                if trace_id is None:
                    continue
                try:
                    said = attributes(record.attributes)
                    content = value(record.body, 0)
                except BadSpan:
                    continue     # its span is there without it
                if content is not None:
                    said = {**said, BODY: content}
                yield trace_id, record.span_id.hex(), Event(event_name(record), said)


def _span(trace_id: str, span: Any, resource: dict[str, Any]) -> TraceSpan:
    events = tuple(Event(event.name, attributes(event.attributes)) for event in span.events)
    return TraceSpan(
        trace_id=trace_id,
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex() if any(span.parent_span_id) else "",
        name=span.name,
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        attributes=attributes(span.attributes),
        events=events,
        resource=resource,
        error=failure(span.status.message, events) if span.status.code == ERROR[0] else "",
        state=span.trace_state,
        dropped=span.dropped_attributes_count,
    )


def attributes(sent: Any, depth: int = 0) -> dict[str, Any]:
    """A list of key and value as an object.

    Raises:
        BadSpan: a value is nested too deeply.
    """
    found = {}
    for one in sent:     # each field of a message is made anew wherever it is named, so it is named once
        name = one.key
        if not name.startswith(VECTORS):
            held = one.value
            # most are texts
            found[name] = held.string_value or value(held, depth)
    return found


def value(sent: Any, depth: int) -> Any:
    """What an AnyValue holds; None where it holds nothing."""
    kind = sent.WhichOneof("value")
    if kind == "string_value":
        return sent.string_value
    if depth > DEEPEST:
        raise BadSpan(f"an attribute is nested deeper than {DEEPEST} levels")
    match kind:
        case "array_value":
            return [value(item, depth + 1) for item in sent.array_value.values]
        case "kvlist_value":
            return attributes(sent.kvlist_value.values, depth + 1)
        case "bytes_value":
            return base64.b64encode(sent.bytes_value).decode()
        case None:
            return None
    return getattr(sent, kind)

"""Messages of OTLP as the spans that the normaliser reads."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragauge.monitoring.intake.otlp import read_event_name
from ragauge.readers.traces.spans import (
    BODY,
    ERROR_CODES,
    MAX_DEPTH,
    SPAN_ID,
    TRACE_ID,
    VECTOR_PREFIX,
    BadSpan,
    Event,
    Link,
    TraceSpan,
    describe_failure,
)
from ragauge.readers.traces.verdicts import find_judged_span


def iterate_spans(body: bytes, trace_ids: frozenset[str]) -> Iterator[tuple[str, TraceSpan | str]]:
    """(trace id, span) of some traces in a kept request; for a span that cannot be read, why.

    What judges a span of one of these traces, and says so by a link, is of that trace as well.
    """
    ids = {bytes.fromhex(trace_id): trace_id for trace_id in trace_ids if len(trace_id) == 32}
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        about: dict[str, Any] | None = None
        for scope in resource.scope_spans:
            for span in scope.spans:
                trace_id = ids.get(span.trace_id)
                judged_id = ids.get(span.links[0].trace_id) if len(span.links) == 1 else None
                if trace_id is None and judged_id is None:
                    continue
                about = decode_attributes(resource.resource.attributes) if about is None else about
                try:
                    read = _decode_span(span, about)
                except BadSpan as bad:
                    if trace_id is not None:
                        yield trace_id, str(bad)
                    continue
                if trace_id is not None:
                    yield trace_id, read
                if judged_id is not None and judged_id != trace_id and find_judged_span(read) is not None:
                    yield judged_id, read


def iterate_events(body: bytes, trace_ids: frozenset[str]) -> Iterator[tuple[str, str, Event]]:
    """(trace id, span id, event) of some traces in a kept request of logs."""
    ids = {bytes.fromhex(trace_id): trace_id for trace_id in trace_ids if len(trace_id) == 32}
    for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                trace_id = ids.get(record.trace_id)
                if trace_id is None:
                    continue
                try:
                    attribute_values = decode_attributes(record.attributes)
                    content = decode_value(record.body, 0)
                except BadSpan:
                    continue  # its span is there without it
                if content is not None:
                    attribute_values = {**attribute_values, BODY: content}
                timestamp = record.time_unix_nano or record.observed_time_unix_nano
                yield trace_id, record.span_id.hex(), Event(read_event_name(record), attribute_values, timestamp)


def _decode_span(span: Any, resource: dict[str, Any]) -> TraceSpan:
    events = tuple(
        Event(event.name, decode_attributes(event.attributes), event.time_unix_nano) for event in span.events
    )
    return TraceSpan(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex() if any(span.parent_span_id) else "",
        name=span.name,
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        attributes=decode_attributes(span.attributes),
        events=events,
        resource=resource,
        error=describe_failure(span.status.message, events) if span.status.code == ERROR_CODES[0] else "",
        state=span.trace_state,
        dropped=span.dropped_attributes_count,
        links=tuple(_decode_links(span.links)),
    )


def _decode_links(sent: Any) -> Iterator[Link]:
    for link in sent:
        ids = link.trace_id.hex(), link.span_id.hex()
        if TRACE_ID.fullmatch(ids[0]) and SPAN_ID.fullmatch(ids[1]):
            yield Link(*ids)


def decode_attributes(sent: Any, depth: int = 0) -> dict[str, Any]:
    """A list of key and value as an object.

    Raises:
        BadSpan: a value is nested too deeply.
    """
    decoded = {}
    for pair in sent:  # each field of a message is made anew wherever it is named, so it is named once
        name = pair.key
        if not name.startswith(VECTOR_PREFIX):
            value_message = pair.value
            # most are texts
            decoded[name] = value_message.string_value or decode_value(value_message, depth)
    return decoded


def decode_value(sent: Any, depth: int) -> Any:
    """What an AnyValue holds; None where it holds nothing."""
    kind = sent.WhichOneof("value")
    if kind == "string_value":
        return sent.string_value
    if depth > MAX_DEPTH:
        raise BadSpan(f"an attribute is nested deeper than {MAX_DEPTH} levels")
    match kind:
        case "array_value":
            return [decode_value(item, depth + 1) for item in sent.array_value.values]
        case "kvlist_value":
            return decode_attributes(sent.kvlist_value.values, depth + 1)
        case "bytes_value":
            return base64.b64encode(sent.bytes_value).decode()
        case None:
            return None
    return getattr(sent, kind)

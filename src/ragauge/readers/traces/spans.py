"""Spans of OpenTelemetry, out of the JSON that exporters and collectors write (OTLP/JSON)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragauge.core.values import describe_value

TRACE_ID, SPAN_ID = re.compile(r"(?!0{32})[0-9a-f]{32}"), re.compile(r"(?!0{16})[0-9a-f]{16}")
MAX_DEPTH = 32  # levels of lists and objects in one attribute
VECTOR_PREFIX = "embedding.embeddings."  # numbers by the thousand, and nothing that is measured
ERROR_CODES = (2, "STATUS_CODE_ERROR")
BATCH = re.compile(rb'\{\s*"resource(?:Spans|Logs)"\s*:')
LOGS = "resourceLogs"
METRICS = "resourceMetrics"
BODY = "body"  # what the body of an event that came as a log record is called among its attributes
EVENT_PREFIX = "gen_ai."  # how the names of log records begin that are events of spans


class BadSpan(ValueError):  # noqa: N818 - what was found
    """A span that cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened while a span was open, or afterwards."""

    name: str  #: what happened.
    attributes: Mapping[str, Any]  #: as those of a span.
    at: int = 0  #: nanoseconds since 1970, by the clock of the machine that it happened on; 0 = not said.


@dataclass(frozen=True, slots=True)
class Link:
    """Another span that a span has to do with; ids as a span's own."""

    trace_id: str
    span_id: str


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One step of a request."""

    trace_id: str  #: of the request, 32 hexadecimal digits.
    span_id: str  #: within the request, 16 hexadecimal digits.
    parent_id: str = ""  #: the span that it is part of; "" = none.
    name: str = ""  #: as the instrumentation calls it.
    start: int = 0  #: nanoseconds since 1970, by the clock of the machine that it ran on.
    end: int = 0  #: as start; 0 = not said.
    attributes: Mapping[str, Any] = field(default_factory=dict)  #: name -> text, number, truth value, list or object.
    events: tuple[Event, ...] = ()  #: in order.
    resource: Mapping[str, Any] = field(default_factory=dict)  #: attributes of the service that sent it.
    error: str = ""  #: why it failed; "" = it did not.
    state: str = ""  #: the sampler's notes, W3C tracestate.
    dropped: int = 0  #: attributes that the exporter left out because there were too many.
    #: other spans, such as the one that is judged, in order; without those that cannot be read.
    links: tuple[Link, ...] = ()

    @property
    def duration_ms(self) -> float | None:
        """How long it took; None where the times are not there or go backwards."""
        return (self.end - self.start) / 1e6 if 0 < self.start <= self.end else None


def is_batch(start: bytes) -> bool:
    """Whether a file that starts so holds batches of spans."""
    return BATCH.match(start) is not None


def read_spans(batch: Mapping[str, Any]) -> Iterator[TraceSpan | str]:
    """The spans of one batch, {"resourceSpans": [...]}; for one that cannot be read, why.

    One bad span takes no other with it. Fields that are not known are ignored.
    """
    if METRICS in batch:
        yield "metrics, not spans"
    for sent in _list_objects(batch.get("resourceSpans")):
        resource = sent.get("resource")
        try:
            about = _parse_attributes(resource.get("attributes")) if isinstance(resource, Mapping) else {}
        except BadSpan:
            about = {}
        for scope in _list_objects(sent.get("scopeSpans")):
            for span in _list_objects(scope.get("spans")):
                try:
                    yield _parse_span(span, about)
                except BadSpan as bad:
                    yield str(bad)


def read_events(batch: Mapping[str, Any]) -> Iterator[tuple[str, str, Event]]:
    """(trace id, span id, event) of the log records of one batch, {"resourceLogs": [...]}, that are events of spans."""
    for sent in _list_objects(batch.get(LOGS)):
        for scope in _list_objects(sent.get("scopeLogs")):
            for record in _list_objects(scope.get("logRecords")):
                try:
                    attributes, body = _parse_attributes(record.get("attributes")), _parse_value(record.get(BODY), 0)
                    trace_id = _parse_id(record.get("traceId"), "traceId", TRACE_ID, 32)
                    span_id = _parse_id(record.get("spanId"), "spanId", SPAN_ID, 16)
                except BadSpan:
                    continue  # its span is there without it
                name = str(record.get("eventName") or attributes.get("event.name") or "")
                if name.startswith(EVENT_PREFIX):
                    timestamp = _parse_whole_number(record.get("timeUnixNano")) or _parse_whole_number(
                        record.get("observedTimeUnixNano")
                    )
                    yield (
                        trace_id,
                        span_id,
                        Event(name, attributes if body is None else {**attributes, BODY: body}, timestamp),
                    )


def _list_objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _parse_span(sent: Mapping[str, Any], resource: Mapping[str, Any]) -> TraceSpan:
    attributes = _parse_attributes(sent.get("attributes"))
    events = tuple(
        Event(
            str(event.get("name", "")),
            _parse_attributes(event.get("attributes")),
            _parse_whole_number(event.get("timeUnixNano")),
        )
        for event in _list_objects(sent.get("events"))
    )
    parent = sent.get("parentSpanId")
    return TraceSpan(
        trace_id=_parse_id(sent.get("traceId"), "traceId", TRACE_ID, 32),
        span_id=_parse_id(sent.get("spanId"), "spanId", SPAN_ID, 16),
        parent_id=_parse_id(parent, "parentSpanId", SPAN_ID, 16) if parent and set(str(parent)) != {"0"} else "",
        name=str(sent.get("name", "")),
        start=_parse_whole_number(sent.get("startTimeUnixNano")),
        end=_parse_whole_number(sent.get("endTimeUnixNano")),
        attributes=attributes,
        events=events,
        resource=resource,
        error=_find_error(sent.get("status"), events),
        state=str(sent.get("traceState", "")),
        dropped=_parse_whole_number(sent.get("droppedAttributesCount")),
        links=tuple(_parse_links(sent.get("links"))),
    )


def _parse_links(sent: Any) -> Iterator[Link]:
    for link in _list_objects(sent):
        ids = str(link.get("traceId", "")).lower(), str(link.get("spanId", "")).lower()
        if TRACE_ID.fullmatch(ids[0]) and SPAN_ID.fullmatch(ids[1]):
            yield Link(*ids)


def _parse_id(value: Any, name: str, form: re.Pattern[str], digits: int) -> str:
    """Ids are hexadecimal in OTLP/JSON; a general writer of protobuf makes base64 of them."""
    if isinstance(value, str) and form.fullmatch(value.lower()):
        return value.lower()
    raise BadSpan(f"{name} must be {digits} hexadecimal digits, not all 0, got {describe_value(value)}")


def _find_error(status: Any, events: tuple[Event, ...]) -> str:
    if not isinstance(status, Mapping) or status.get("code") not in ERROR_CODES:
        return ""
    return describe_failure(str(status.get("message") or ""), events)


def describe_failure(message: str, events: Sequence[Event]) -> str:
    """Why a span that ended in an error did: its last exception, else the message of its status."""
    thrown = [event.attributes for event in events if event.name == "exception"]
    if thrown:
        parts = (thrown[-1].get("exception.type"), thrown[-1].get("exception.message"))
        exception_text = ": ".join(str(part) for part in parts if part)
        if exception_text:
            return exception_text
    return message or "the span ended with an error"


def _parse_whole_number(value: Any) -> int:
    """A whole number of at least 0; 64-bit ones stand in a text. 0 for anything else."""
    try:
        return max(0, int(value)) if isinstance(value, str | int) else 0
    except ValueError:
        return 0


def _parse_attributes(value: Any, depth: int = 0) -> dict[str, Any]:
    """A list of {key, value} as an object."""
    if value is not None and not isinstance(value, list):
        raise BadSpan(f"attributes must be a list of keys and values, got {describe_value(value)}")
    return {
        str(item.get("key")): _parse_value(item.get("value"), depth)
        for item in _list_objects(value)
        if not str(item.get("key")).startswith(VECTOR_PREFIX)
    }


def _parse_value(value: Any, depth: int) -> Any:
    """What an AnyValue holds; None where it holds nothing."""
    if depth > MAX_DEPTH:
        raise BadSpan(f"an attribute is nested deeper than {MAX_DEPTH} levels")
    if not isinstance(value, Mapping):
        return None
    for kind, content in value.items():
        match kind:
            case "stringValue" | "boolValue" | "bytesValue":
                return content
            case "intValue":
                return _parse_number(content, int)
            case "doubleValue":
                return _parse_number(content, float)
            case "arrayValue" if isinstance(content, Mapping):
                return [_parse_value(item, depth + 1) for item in content.get("values") or ()]
            case "kvlistValue" if isinstance(content, Mapping):
                return _parse_attributes(content.get("values"), depth + 1)
    return None


def _parse_number(value: Any, kind: type[int] | type[float]) -> int | float | None:
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        return None

"""Spans of OpenTelemetry, out of the JSON that exporters and collectors write (OTLP/JSON)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragauge.core.values import described

TRACE_ID, SPAN_ID = re.compile(r"(?!0{32})[0-9a-f]{32}"), re.compile(r"(?!0{16})[0-9a-f]{16}")
DEEPEST = 32  # levels of lists and objects in one attribute
VECTORS = "embedding.embeddings."  # numbers by the thousand, and nothing that is measured
ERROR = (2, "STATUS_CODE_ERROR")
BATCH = re.compile(rb'\{\s*"resource(?:Spans|Logs)"\s*:')
LOGS = "resourceLogs"
METRICS = "resourceMetrics"
BODY = "body"  # what the body of an event that came as a log record is called among its attributes
EVENTS = "gen_ai."  # how the names of log records begin that are events of spans


class BadSpan(ValueError):  # noqa: N818 - what was found
    """A span that cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened while a span was open, or afterwards.

    Attributes:
        name: what happened.
        attributes: as those of a span.
        at: nanoseconds since 1970, by the clock of the machine that it happened on; 0 = not said.
    """

    name: str
    attributes: Mapping[str, Any]
    at: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """Another span that a span has to do with; ids as a span's own."""

    trace_id: str
    span_id: str


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One step of a request.

    Attributes:
        trace_id: of the request, 32 hexadecimal digits.
        span_id: within the request, 16 hexadecimal digits.
        parent_id: the span that it is part of; "" = none.
        name: as the instrumentation calls it.
        start: nanoseconds since 1970, by the clock of the machine that it ran on.
        end: as start; 0 = not said.
        attributes: name -> text, number, truth value, list or object.
        events: in order.
        resource: attributes of the service that sent it.
        error: why it failed; "" = it did not.
        state: the sampler's notes, W3C tracestate.
        dropped: attributes that the exporter left out because there were too many.
        links: other spans, such as the one that is judged, in order; without those that cannot be read.
    """

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    start: int = 0
    end: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    resource: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    state: str = ""
    dropped: int = 0
    links: tuple[Link, ...] = ()

    @property
    def milliseconds(self) -> float | None:
        """How long it took; None where the times are not there or go backwards."""
        return (self.end - self.start) / 1e6 if 0 < self.start <= self.end else None


def is_batch(start: bytes) -> bool:
    """Whether a file that starts so holds batches of spans."""
    return BATCH.match(start) is not None


def spans_of(batch: Mapping[str, Any]) -> Iterator[TraceSpan | str]:
    """The spans of one batch, {"resourceSpans": [...]}; for one that cannot be read, why.

    One bad span takes no other with it. Fields that are not known are ignored.
    """
    if METRICS in batch:
        yield "metrics, not spans"
    for sent in _objects(batch.get("resourceSpans")):
        resource = sent.get("resource")
        try:
            about = _attributes(resource.get("attributes")) if isinstance(resource, Mapping) else {}
        except BadSpan:
            about = {}
        for scope in _objects(sent.get("scopeSpans")):
            for span in _objects(scope.get("spans")):
                try:
                    yield _span(span, about)
                except BadSpan as bad:
                    yield str(bad)


def events_of(batch: Mapping[str, Any]) -> Iterator[tuple[str, str, Event]]:
    """(trace id, span id, event) of the log records of one batch, {"resourceLogs": [...]}, that are events of spans."""
    for sent in _objects(batch.get(LOGS)):
        for scope in _objects(sent.get("scopeLogs")):
            for record in _objects(scope.get("logRecords")):
                try:
                    said, body = _attributes(record.get("attributes")), _value(record.get(BODY), 0)
                    trace_id = _id(record.get("traceId"), "traceId", TRACE_ID, 32)
                    span_id = _id(record.get("spanId"), "spanId", SPAN_ID, 16)
                except BadSpan:
                    continue  # its span is there without it
                name = str(record.get("eventName") or said.get("event.name") or "")
                if name.startswith(EVENTS):
                    at = _whole(record.get("timeUnixNano")) or _whole(record.get("observedTimeUnixNano"))
                    yield trace_id, span_id, Event(name, said if body is None else {**said, BODY: body}, at)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _span(sent: Mapping[str, Any], resource: Mapping[str, Any]) -> TraceSpan:
    attributes = _attributes(sent.get("attributes"))
    events = tuple(
        Event(str(event.get("name", "")), _attributes(event.get("attributes")), _whole(event.get("timeUnixNano")))
        for event in _objects(sent.get("events"))
    )
    parent = sent.get("parentSpanId")
    return TraceSpan(
        trace_id=_id(sent.get("traceId"), "traceId", TRACE_ID, 32),
        span_id=_id(sent.get("spanId"), "spanId", SPAN_ID, 16),
        parent_id=_id(parent, "parentSpanId", SPAN_ID, 16) if parent and set(str(parent)) != {"0"} else "",
        name=str(sent.get("name", "")),
        start=_whole(sent.get("startTimeUnixNano")),
        end=_whole(sent.get("endTimeUnixNano")),
        attributes=attributes,
        events=events,
        resource=resource,
        error=_error(sent.get("status"), events),
        state=str(sent.get("traceState", "")),
        dropped=_whole(sent.get("droppedAttributesCount")),
        links=tuple(_links(sent.get("links"))),
    )


def _links(sent: Any) -> Iterator[Link]:
    for link in _objects(sent):
        ids = str(link.get("traceId", "")).lower(), str(link.get("spanId", "")).lower()
        if TRACE_ID.fullmatch(ids[0]) and SPAN_ID.fullmatch(ids[1]):
            yield Link(*ids)


def _id(value: Any, name: str, form: re.Pattern[str], digits: int) -> str:
    """Ids are hexadecimal in OTLP/JSON; a general writer of protobuf makes base64 of them."""
    if isinstance(value, str) and form.fullmatch(value.lower()):
        return value.lower()
    raise BadSpan(f"{name} must be {digits} hexadecimal digits and not all 0, got {described(value)}")


def _error(status: Any, events: tuple[Event, ...]) -> str:
    if not isinstance(status, Mapping) or status.get("code") not in ERROR:
        return ""
    return failure(str(status.get("message") or ""), events)


def failure(message: str, events: Sequence[Event]) -> str:
    """Why a span that ended in an error did: its last exception, else the message of its status."""
    thrown = [event.attributes for event in events if event.name == "exception"]
    if thrown:
        parts = (thrown[-1].get("exception.type"), thrown[-1].get("exception.message"))
        said = ": ".join(str(part) for part in parts if part)
        if said:
            return said
    return message or "the span ended in an error"


def _whole(value: Any) -> int:
    """A whole number of at least 0; 64-bit ones stand in a text. 0 for anything else."""
    try:
        return max(0, int(value)) if isinstance(value, str | int) else 0
    except ValueError:
        return 0


def _attributes(value: Any, depth: int = 0) -> dict[str, Any]:
    """A list of {key, value} as an object."""
    if value is not None and not isinstance(value, list):
        raise BadSpan(f"attributes must be a list of key and value, got {described(value)}")
    return {
        str(item.get("key")): _value(item.get("value"), depth)
        for item in _objects(value)
        if not str(item.get("key")).startswith(VECTORS)
    }


def _value(value: Any, depth: int) -> Any:
    """What an AnyValue holds; None where it holds nothing."""
    if depth > DEEPEST:
        raise BadSpan(f"an attribute is nested deeper than {DEEPEST} levels")
    if not isinstance(value, Mapping):
        return None
    for kind, held in value.items():
        match kind:
            case "stringValue" | "boolValue" | "bytesValue":
                return held
            case "intValue":
                return _number(held, int)
            case "doubleValue":
                return _number(held, float)
            case "arrayValue" if isinstance(held, Mapping):
                return [_value(item, depth + 1) for item in held.get("values") or ()]
            case "kvlistValue" if isinstance(held, Mapping):
                return _attributes(held.get("values"), depth + 1)
    return None


def _number(value: Any, kind: type[int] | type[float]) -> int | float | None:
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        return None

"""Requests of OTLP: protobuf and JSON become the same messages, each bad span or event is left out with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from ragauge.core.values import describe_value
from ragauge.monitoring.intake.intake import Form, RequestRefusedError, check_parts
from ragauge.readers.traces.spans import SPAN_ID, TRACE_ID

MAX_ATTRIBUTES = 10_000  # of a span or an event; SDKs stop at 128 unless they are told otherwise
MAX_DEPTH = 100  # levels of messages in messages; protobuf's own limit for the binary form
GZIP = b"\x1f\x8b"
EVENT_PREFIX = "gen_ai."  # names of the log records that are kept begin so
OWN_PREFIX = "ragauge."  # attributes of results that we give back: taken in, these would go round for ever
NO_ID = {16: bytes(16), 8: bytes(8)}

M = TypeVar("M", bound=Message)


class BadItemError(ValueError):
    """A span, event or metric that cannot be taken; the text says why."""


@dataclass(slots=True)
class SkippedItems:
    """What of a request is not taken."""

    n: int = 0  #: how many.
    first: str = ""  #: why the first of them is not.

    def add(self, reason: str, n: int = 1) -> None:
        """Counts items that are left out."""
        self.n += n
        self.first = self.first or reason


@dataclass(frozen=True, slots=True)
class Signal(Generic[M]):
    """One of OTLP's signals."""

    name: str  #: as people say it.
    request: type[M]  #: its message.
    answer: type[Message]  #: the message of its reply.
    rejected: str  #: the field of the reply that counts what was not taken.
    keys: tuple[str, str, str]  #: of the lists in JSON: by resource, by scope, of items.
    lists: tuple[str, str, str]  #: the same in the message.
    check: Callable[[Any], None]  #: raises BadItem for an item that cannot be taken.


@dataclass(slots=True)
class ParsedRequest(Generic[M]):
    """A request as it was read."""

    message: M  #: without what is left out.
    kept: int = 0  #: how many items it holds.
    left: SkippedItems = field(default_factory=SkippedItems)  #: what is left out.


def _check_size(attributes: Sized) -> None:
    if len(attributes) > MAX_ATTRIBUTES:
        raise BadItemError(f"it has {len(attributes):,} attributes; the maximum is {MAX_ATTRIBUTES:,}")


def _check_ids(item: Any) -> None:
    _check_size(item.attributes)
    for name, value, size in (("trace id", item.trace_id, 16), ("span id", item.span_id, 8)):
        if len(value) != size or value == NO_ID[size]:
            raise BadItemError(f"the {name} must be {size} bytes and not all zeros, got {value.hex() or 'nothing'}")


def _check_event(item: Any) -> None:
    if not read_event_name(item).startswith(EVENT_PREFIX):
        raise BadItemError(f"only log events named {EVENT_PREFIX}… are accepted; send other logs elsewhere")
    if any(attribute.key.startswith(OWN_PREFIX) for attribute in item.attributes):
        raise BadItemError("ragauge does not ingest its own results again")
    _check_ids(item)


def _check_metric(_: Any) -> None:
    raise BadItemError("metrics are not accepted; send them elsewhere")


def build_gauge_signal(names: frozenset[str]) -> Signal[ExportMetricsServiceRequest]:
    """Metrics, of which only the gauges with these names are taken."""
    if not names:
        return METRICS

    def check_gauge(metric: Any) -> None:
        if metric.name not in names or metric.WhichOneof("data") != "gauge":
            raise BadItemError(
                f"the only metrics accepted are gauges named in monitor.signals ({', '.join(sorted(names))})"
            )

    return replace(METRICS, check=check_gauge)


def read_event_name(record: Any) -> str:
    """The name of an event that is a log record: its own field, or the attribute that came before there was one."""
    if record.event_name:
        return str(record.event_name)
    return next(
        (str(attribute.value.string_value) for attribute in record.attributes if attribute.key == "event.name"), ""
    )


TRACES = Signal(
    "traces",
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
    "rejected_spans",
    ("resourceSpans", "scopeSpans", "spans"),
    ("resource_spans", "scope_spans", "spans"),
    _check_ids,
)
LOGS = Signal(
    "logs",
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
    "rejected_log_records",
    ("resourceLogs", "scopeLogs", "logRecords"),
    ("resource_logs", "scope_logs", "log_records"),
    _check_event,
)
METRICS = Signal(
    "metrics",
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
    "rejected_data_points",
    ("resourceMetrics", "scopeMetrics", "metrics"),
    ("resource_metrics", "scope_metrics", "metrics"),
    _check_metric,
)
SIGNALS: tuple[Signal[Any], ...] = (TRACES, LOGS, METRICS)


def parse_request(signal: Signal[M], form: Form, body: bytes) -> ParsedRequest[M]:
    """A request, without the items that cannot be taken.

    Raises:
        Refused: 400, where nothing of it can be read, with the likely cause; 413, where it has too many parts.
    """
    check_parts(body, form, signal.request)
    if form == "json":
        parsed = _parse_json_request(signal, body)
    else:
        try:
            parsed = ParsedRequest(signal.request.FromString(body))
        except (DecodeError, RecursionError) as error:
            _refuse_another(signal, body)
            raise RequestRefusedError(
                400, f"the body is not OTLP {signal.name} in protobuf: {_guess_cause(body) or error}."
            ) from None
    _remove_bad_items(signal, parsed)
    if parsed.left.n and not parsed.kept and form == "protobuf":
        _refuse_another(signal, body)
    return parsed


def _remove_bad_items(signal: Signal[M], parsed: ParsedRequest[M]) -> None:
    """Takes out of a message what does not pass its check."""
    by_resource, by_scope, items = signal.lists
    for resource in getattr(parsed.message, by_resource):
        for scope in getattr(resource, by_scope):
            item_list = getattr(scope, items)
            bad: list[int] = []
            for index, item in enumerate(item_list):
                try:
                    signal.check(item)
                except BadItemError as why:
                    bad.append(index)
                    parsed.left.add(str(why))
            for index in reversed(bad):
                del item_list[index]
            parsed.kept += len(item_list)


def _refuse_another(signal: Signal[Any], body: bytes) -> None:
    """Refuses a body of another signal: protobuf reads one as the other, with nothing in it."""
    for other in SIGNALS:
        if other.name == signal.name:
            continue
        try:
            message = other.request.FromString(body)
        except DecodeError:
            continue
        if any(_has_content(other, item) for item in iterate_items(other, message)):
            raise RequestRefusedError(400, f"this looks like OTLP {other.name}; send it to /v1/{other.name}.")


def iterate_items(signal: Signal[Any], message: Any) -> Iterator[Any]:
    """The spans, log records or metrics of a request."""
    by_resource, by_scope, items = signal.lists
    for resource in getattr(message, by_resource):
        for scope in getattr(resource, by_scope):
            yield from getattr(scope, items)


def _has_content(signal: Signal[Any], item: Any) -> bool:
    if signal.name == METRICS.name:
        return bool(item.name) and item.WhichOneof("data") is not None
    return bool(item.start_time_unix_nano if signal is TRACES else item.time_unix_nano or item.observed_time_unix_nano)


def _guess_cause(body: bytes) -> str:
    """Why a body is likely no protobuf; "" where nothing is known."""
    if body.startswith(GZIP):
        return "it is compressed with gzip, but there is no Content-Encoding header"
    if body.lstrip()[:1] in (b"{", b"["):
        return "it looks like JSON; send it with Content-Type: application/json"
    return ""


def _parse_json_request(signal: Signal[M], body: bytes) -> ParsedRequest[M]:
    by_resource, by_scope, items = signal.keys
    resources, scopes, items_field = signal.lists
    sent = _load_json(signal, body)
    parsed = ParsedRequest(signal.request())
    for resource_json in _get_objects(sent, by_resource):
        into = getattr(parsed.message, resources).add()
        _fill_or_skip(into.resource, resource_json.get("resource"), parsed.left)
        for within in _get_objects(resource_json, by_scope):
            scope = getattr(into, scopes).add()
            for item in _get_objects(within, items):
                made = getattr(scope, items_field)
                try:
                    _fill_message(made.add(), item)
                except BadItemError as why:
                    del made[-1]
                    parsed.left.add(str(why))
    return parsed


def _load_json(signal: Signal[Any], body: bytes) -> Mapping[str, Any]:
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestRefusedError(400, f"the body is not valid JSON: {_describe_json_error(body, error)}.") from None
    if not isinstance(sent, Mapping):
        raise RequestRefusedError(400, f"expected an object with {signal.keys[0]}, got {describe_value(sent)}.")
    for other in SIGNALS:
        if other.name != signal.name and other.keys[0] in sent:
            raise RequestRefusedError(400, f"this looks like OTLP {other.name}; send it to /v1/{other.name}.")
    if sent and signal.keys[0] not in sent:
        raise RequestRefusedError(400, f"expected an object with {signal.keys[0]}, got {describe_value(sent)}.")
    return sent


def _describe_json_error(body: bytes, error: Exception) -> str:
    """Where JSON breaks, and why."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if body.startswith(GZIP):
        return _guess_cause(body)
    if isinstance(error, json.JSONDecodeError):
        unfinished = error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip())
        if unfinished:
            return f"it is cut off after {len(body):,} bytes; send all of it" if body.strip() else "it is empty"
    return str(error)


def _get_objects(within: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    objects = within.get(key, [])
    if not isinstance(objects, list) or not all(isinstance(item, Mapping) for item in objects):
        raise RequestRefusedError(400, f"{key} must be a list of objects, got {describe_value(objects)}.")
    return objects


def _fill_or_skip(into: Message, sent: Any, skipped: SkippedItems) -> None:
    """Fills in what is said of a service; where it cannot be read, nothing is known of it, which stops no span."""
    try:
        _fill_message(into, sent if sent is not None else {})
    except BadItemError as why:
        into.Clear()
        skipped.first = skipped.first or f"the resource was skipped: {why}"


def _fill_message(into: Any, sent: Any) -> None:
    """Fills a message from JSON: ids are hexadecimal there, where protobuf's own reader would take them for base64."""
    if not isinstance(sent, Mapping):
        raise BadItemError(f"expected an object, got {describe_value(sent)}")
    attributes = sent.get("attributes")
    if attributes is not None and not isinstance(attributes, list):
        raise BadItemError(f"attributes must be a list of key-value pairs, got {describe_value(attributes)}")
    _check_size(attributes or ())
    ids = {"traceId": TRACE_ID, "spanId": SPAN_ID, "parentSpanId": SPAN_ID}
    links = sent.get("links")
    json_fields = {key: value for key, value in sent.items() if key not in ids and key != "links"}
    try:
        ParseDict(json_fields, into, ignore_unknown_fields=True, max_recursion_depth=MAX_DEPTH)
    except (ParseError, RecursionError, ValueError, TypeError, AttributeError) as error:
        raise BadItemError(f"it cannot be read: {str(error)[:200]}") from None
    for key, form in ids.items():
        value = sent.get(key)
        if value is None or value == "" or (key == "parentSpanId" and set(str(value)) == {"0"}):
            continue
        if not (isinstance(value, str) and form.fullmatch(value.lower())):
            digits = 32 if key == "traceId" else 16
            raise BadItemError(
                f"{key} must be {digits} hexadecimal digits and not all zeros, got {describe_value(value)}"
            )
        setattr(into, {"traceId": "trace_id", "spanId": "span_id"}.get(key, "parent_span_id"), bytes.fromhex(value))
    for link in links if isinstance(links, list) else ():
        _fill_message(into.links.add(), link)


def build_reply(signal: Signal[Any], form: Form, skipped: SkippedItems) -> bytes:
    """What a request that was taken is answered with: nothing to say, or how many items were left out, and why."""
    if form == "json":
        if not skipped.n and not skipped.first:
            return b"{}"
        counted = {_to_camel_case(signal.rejected): str(skipped.n)} if skipped.n else {}
        payload = {"partialSuccess": {**counted, "errorMessage": skipped.first}}
        return json.dumps(payload, ensure_ascii=False).encode()
    answer: Any = signal.answer()
    if skipped.n or skipped.first:
        setattr(answer.partial_success, signal.rejected, skipped.n)
        answer.partial_success.error_message = skipped.first
    return bytes(answer.SerializeToString())


def _to_camel_case(name: str) -> str:
    first, *remaining_words = name.split("_")
    return first + "".join(word.title() for word in remaining_words)

"""What a body holds once unpacked: traces, and responses as JSON lines."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragauge.core.response import normalize_outcome
from ragauge.core.values import describe_value
from ragauge.monitoring.intake import otlp
from ragauge.monitoring.intake.intake import Form, RequestRefusedError
from ragauge.monitoring.intake.otlp import SkippedItems
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.monitoring.series.gauge_monitors import SignalPoint
from ragauge.readers.aliases import list_field_names, to_snake_case
from ragauge.readers.traces.verdicts import HUMAN, RESULT_EVENT, USER_VERDICT_NAME
from ragauge.store.inbox import Batch, TracePart


def read_gauge_points(
    message: Any, names: frozenset[str], timestamp: float, skipped: otlp.SkippedItems
) -> Iterator[tuple[str, SignalPoint]]:
    """(name, value) of the gauges of a request that are named; the attributes of a value say which source it is of.

    Args:
        message: the request.
        names: of the gauges.
        timestamp: of arrival, seconds since 1970.
        skipped: counts the values that are no finite numbers, which are not kept.
    """
    for metric in otlp.iterate_items(otlp.METRICS, message):
        if metric.name not in names or metric.WhichOneof("data") != "gauge":
            continue
        for point in metric.gauge.data_points:
            value_kind = point.WhichOneof("value")
            value = float(getattr(point, value_kind)) if value_kind else math.nan
            if not math.isfinite(value):
                got = value if value_kind else "none"
                skipped.add(f"gauge {metric.name}: values must be finite numbers, got {got}")
                continue
            source = sorted(f"{attribute.key}={_format_attribute(attribute.value)}" for attribute in point.attributes)
            yield metric.name, SignalPoint(timestamp, ",".join(source), value)


def _format_attribute(value: Any) -> str:
    kind = value.WhichOneof("value")
    return str(getattr(value, kind)) if kind in ("string_value", "int_value", "bool_value", "double_value") else ""


MAX_ID_CHARS = 200  # characters
CAPTURE_TIME_FORMAT = "%Y%m%dT%H%M%S.%f"  # how the ids of captured responses begin
MAX_NAMED_LINES = 20  # lines that are left out
CONTENT_KEYS = frozenset(
    {*list_field_names("query"), *list_field_names("answer"), *list_field_names("passages"), "error"}
)


@dataclass(frozen=True, slots=True)
class ParsedLines:
    """Lines that can be read."""

    body: bytes  #: these lines alone.
    parts: tuple[TracePart, ...]  #: one a line, by what identifies it.
    left: SkippedItems  #: lines that are left out.
    named: tuple[str, ...] = ()  #: why the first twenty of them are.


def parse_lines(body: bytes, *, dated: bool = False) -> ParsedLines:
    """The lines of a body, each on its own: one that cannot be read takes no other with it.

    Args:
        body: JSON lines.
        dated: lines count from when they were captured, where their ids say it.

    Raises:
        Refused: 400, where no line can be read.
    """
    wrong, readable, trace_parts = list[str](), list[bytes](), dict[str, TracePart]()
    for n, line in enumerate(body.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            wrong.append(f"line {n} is not valid JSON: {str(error)[:200]}")
            continue
        if reason := find_response_problem(row):
            wrong.append(f"line {n}: {reason}")
            continue
        readable.append(line)
        trace_id = get_row_id(row, line)
        trace_parts[trace_id] = TracePart(trace_id, rooted=True, began=_parse_capture_time(trace_id) if dated else None)
    if wrong and not readable:
        raise RequestRefusedError(
            400,
            f"no line could be read; {format_mistakes(wrong)}. Send one JSON object per line, as rg.capture writes.",
        )
    skipped = SkippedItems(len(wrong), next(iter(wrong), ""))
    return ParsedLines(b"\n".join(readable), tuple(trace_parts.values()), skipped, tuple(wrong[:MAX_NAMED_LINES]))


def _parse_capture_time(query_id: str) -> float | None:
    """When a response was captured, by its id, seconds since 1970; None where the id does not say it.

    >>> _parse_capture_time("20260131T101500.250000-3f9a"), _parse_capture_time("q1")
    (1769854500.25, None)
    """
    try:
        return datetime.strptime(query_id.partition("-")[0], CAPTURE_TIME_FORMAT).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def format_mistakes(wrong: Sequence[str]) -> str:
    """The first twenty mistakes, and how many more there are."""
    more = f"; and {len(wrong) - MAX_NAMED_LINES:,} more" if len(wrong) > MAX_NAMED_LINES else ""
    return "; ".join(wrong[:MAX_NAMED_LINES]) + more


def find_response_problem(row: Any) -> str:
    """Why a row of JSON is no response; "" = it is one."""
    if not isinstance(row, Mapping):
        return f"expected an object, got {describe_value(row)}"
    if CONTENT_KEYS.isdisjoint(to_snake_case(str(key)) for key in row):
        return f"expected a response, with query and answer, got {describe_value(row)}"
    return ""


def iterate_rows(body: bytes, trace_ids: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(id, row) of some lines of a kept body."""
    for line in body.split(b"\n"):
        row = json.loads(line)
        if (trace_id := get_row_id(row, line)) in trace_ids:
            yield trace_id, row


def get_row_id(row: Mapping[str, object], line: bytes) -> str:
    """What identifies a line: its query_id, so that it may be sent again; a hash of the line where it has none."""
    query_id = row.get("query_id")
    if isinstance(query_id, str) and 0 < len(query_id) <= MAX_ID_CHARS:
        return query_id
    return f"line:{hashlib.sha256(line).hexdigest()[:32]}"


VERDICT_MARKERS = (b"nnotation.", b"valuation.")  # in the names of people's and judges' results, whatever carries them
# how the names end of who judged, a person or a model, and of what was judged
JUDGED_BY_SUFFIXES, NAME_SUFFIXES = ("annotator_kind", "evaluator.type"), ("annotation.name", "evaluation.name")


@dataclass(frozen=True, slots=True)
class ParsedBody:
    """What a body holds."""

    batch: Batch | None  #: to be kept; None where there is nothing to keep.
    reply: bytes  #: what the sender is told.
    left: otlp.SkippedItems  #: what is left out.
    points: tuple[tuple[str, SignalPoint], ...] = ()  #: values of gauges, by name.


@dataclass(frozen=True, slots=True)
class SentBody:
    """A body as it was sent."""

    form: Form  #: how it is written.
    body: bytes  #: unpacked.
    at: float  #: of arrival, seconds since 1970.
    project: str  #: that a header names; "" = none.


class BodyParser:
    """Reads bodies. Each of its ways raises Refused where nothing of a body can be read.

    Args:
        redaction: what is taken out before anything is kept.
        signals: names of the gauges that are kept.
        dated: traces count from when they began by their own clocks, not from their arrival.
    """

    def __init__(
        self, redaction: Redaction | None = None, signals: frozenset[str] = frozenset(), *, dated: bool = False
    ) -> None:
        self._redaction, self._signals, self._dated = redaction or Redaction(), signals, dated

    def parse_traces(self, sent: SentBody) -> ParsedBody:
        """What a request with spans holds."""
        parsed = otlp.parse_request(otlp.TRACES, sent.form, sent.body)
        trace_parts = _build_span_parts(parsed.message, sent.body, dated=self._dated)
        return self._build_result(otlp.TRACES, parsed, trace_parts, sent)

    def parse_logs(self, sent: SentBody) -> ParsedBody:
        """What a request with log records holds."""
        parsed = otlp.parse_request(otlp.LOGS, sent.form, sent.body)
        trace_parts = _build_event_parts(parsed.message)
        return self._build_result(otlp.LOGS, parsed, trace_parts, sent)

    def _build_result(
        self, signal: Any, parsed: otlp.ParsedRequest[Any], trace_parts: Any, sent: SentBody
    ) -> ParsedBody:
        batch = None
        if parsed.kept:
            changed = self._redaction.redact_message(parsed.message)
            as_sent = sent.form == "protobuf" and not changed and not parsed.left.n
            body = sent.body if as_sent else parsed.message.SerializeToString()
            batch = Batch(sent.at, signal.name, body, trace_parts, self._redaction.text(sent.project))
        return ParsedBody(batch, otlp.build_reply(signal, sent.form, parsed.left), parsed.left)

    def metrics(self, sent: SentBody) -> ParsedBody:
        """What a request with metrics holds."""
        signal = otlp.build_gauge_signal(self._signals)
        parsed = otlp.parse_request(signal, sent.form, sent.body)
        self._redaction.redact_message(parsed.message)
        points = tuple(read_gauge_points(parsed.message, self._signals, sent.at, parsed.left))
        return ParsedBody(None, otlp.build_reply(signal, sent.form, parsed.left), parsed.left, points)

    def responses(self, sent: SentBody) -> ParsedBody:
        """What lines of responses hold."""
        parsed_lines = parse_lines(self._redaction.redact_lines(sent.body), dated=self._dated)
        project = self._redaction.text(sent.project)
        batch = (
            Batch(sent.at, "responses", parsed_lines.body, parsed_lines.parts, project) if parsed_lines.parts else None
        )
        payload = {
            "taken": len(parsed_lines.parts),
            "rejected": parsed_lines.left.n,
            "why": parsed_lines.left.first,
            "lines": parsed_lines.named,
        }
        return ParsedBody(batch, json.dumps(payload, ensure_ascii=False).encode(), parsed_lines.left)


def _build_span_parts(request: ExportTraceServiceRequest, body: bytes, *, dated: bool = False) -> tuple[TracePart, ...]:
    """The traces that the spans of a request belong to, and those whose spans people judge in it.

    Args:
        request: as it was read.
        body: as it was sent: where no name of a verdict is in it, no span is looked through for one.
        dated: traces count from when they began by their own clocks, where their spans say it.
    """
    counts_by_trace: dict[bytes, list[int]] = {}
    verdicts = any(name in body for name in VERDICT_MARKERS)
    for span in otlp.iterate_items(otlp.TRACES, request):
        counts = counts_by_trace.setdefault(span.trace_id, [0, 0, 0, 0])
        counts[0] += 1
        counts[1] |= not span.parent_span_id and bool(span.end_time_unix_nano)
        if dated and span.start_time_unix_nano:
            counts[3] = min(counts[3] or span.start_time_unix_nano, span.start_time_unix_nano)
        if verdicts and _has_verdicts(span):
            about = span.links[0].trace_id if len(span.links) == 1 and _is_judge_span(span) else b""
            about = about if len(about) == 16 and about != otlp.NO_ID[16] else span.trace_id
            counts_by_trace.setdefault(about, [0, 0, 0, 0])[2] = 1
    return tuple(
        TracePart(trace_id.hex(), n, bool(rooted), bool(has_verdict), began / 1e9 if began else None)
        for trace_id, (n, rooted, has_verdict, began) in counts_by_trace.items()
    )


def _has_verdicts(span: Any) -> bool:
    event_attributes = [event.attributes for event in span.events if event.name == RESULT_EVENT]
    return any(map(_is_by_person, (span.attributes, *event_attributes)))


def _is_by_person(attributes: Any) -> bool:
    """Whether a person's result is among attributes; what models say of all their answers has no trace read twice."""
    for attribute in attributes:
        if attribute.key.endswith(JUDGED_BY_SUFFIXES) and attribute.value.string_value.upper() == HUMAN:
            return True
        if attribute.key.endswith(NAME_SUFFIXES) and USER_VERDICT_NAME.fullmatch(
            normalize_outcome(attribute.value.string_value)
        ):
            return True
    return False


def _is_judge_span(span: Any) -> bool:
    kinds = (
        attribute.value.string_value for attribute in span.attributes if attribute.key == "openinference.span.kind"
    )
    return any(kind.upper() == "EVALUATOR" for kind in kinds)


def _build_event_parts(request: ExportLogsServiceRequest) -> tuple[TracePart, ...]:
    """The traces that the events of a request belong to."""
    counts_by_trace: dict[bytes, list[int]] = {}
    for record in otlp.iterate_items(otlp.LOGS, request):
        counts = counts_by_trace.setdefault(record.trace_id, [0, 0])
        counts[0] += 1
        counts[1] |= otlp.read_event_name(record) == RESULT_EVENT and _is_by_person(record.attributes)
    return tuple(
        TracePart(trace_id.hex(), n, verdicts=bool(has_verdict))
        for trace_id, (n, has_verdict) in counts_by_trace.items()
    )

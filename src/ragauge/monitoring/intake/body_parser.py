"""What a body holds once it is unpacked: a batch to be kept, without what cannot be read and what is redacted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ragauge.monitoring.alerts.gauges import read_gauge_points
from ragauge.monitoring.intake import lines, otlp
from ragauge.monitoring.intake.bodies import Form
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.monitoring.series.gauge_monitors import SignalPoint
from ragauge.store.inbox import Batch


@dataclass(frozen=True, slots=True)
class ParsedBody:
    """What a body holds.

    Attributes:
        batch: to be kept; None where there is nothing to keep.
        reply: what the sender is told.
        left: what is left out.
        points: values of gauges, by name.
    """

    batch: Batch | None
    reply: bytes
    left: otlp.SkippedItems
    points: tuple[tuple[str, SignalPoint], ...] = ()


@dataclass(frozen=True, slots=True)
class SentBody:
    """A body as it was sent.

    Attributes:
        form: how it is written.
        body: unpacked.
        at: of arrival, seconds since 1970.
        project: that a header names; "" = none.
    """

    form: Form
    body: bytes
    at: float
    project: str


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
        trace_parts = otlp.build_span_parts(parsed.message, sent.body, dated=self._dated)
        return self._build_result(otlp.TRACES, parsed, trace_parts, sent)

    def parse_logs(self, sent: SentBody) -> ParsedBody:
        """What a request with log records holds."""
        parsed = otlp.parse_request(otlp.LOGS, sent.form, sent.body)
        trace_parts = otlp.build_event_parts(parsed.message)
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
        parsed_lines = lines.parse_lines(self._redaction.redact_lines(sent.body), dated=self._dated)
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

"""What a body holds once it is unpacked: a batch to be kept, without what cannot be read and what is redacted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ragauge.monitoring.alerts.gauges import gauge_points
from ragauge.monitoring.intake import lines, otlp
from ragauge.monitoring.intake.bodies import Form
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.monitoring.series.gauge_monitors import SignalPoint
from ragauge.store.inbox import Batch


@dataclass(frozen=True, slots=True)
class Taken:
    """What a body holds.

    Attributes:
        batch: to be kept; None where there is nothing to keep.
        reply: what the sender is told.
        left: what is left out.
        points: values of gauges, by name.
    """

    batch: Batch | None
    reply: bytes
    left: otlp.Left
    points: tuple[tuple[str, SignalPoint], ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
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


class Taking:
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

    def traces(self, sent: Sent) -> Taken:
        """What a request with spans holds."""
        parsed = otlp.parse(otlp.TRACES, sent.form, sent.body)
        parts = otlp.parts_of_spans(parsed.message, sent.body, dated=self._dated)
        return self._otlp(otlp.TRACES, parsed, parts, sent)

    def logs(self, sent: Sent) -> Taken:
        """What a request with log records holds."""
        parsed = otlp.parse(otlp.LOGS, sent.form, sent.body)
        parts = otlp.parts_of_events(parsed.message)
        return self._otlp(otlp.LOGS, parsed, parts, sent)

    def _otlp(self, signal: Any, parsed: otlp.Parsed[Any], parts: Any, sent: Sent) -> Taken:
        batch = None
        if parsed.kept:
            changed = self._redaction.redact(parsed.message)
            as_sent = sent.form == "protobuf" and not changed and not parsed.left.n
            body = sent.body if as_sent else parsed.message.SerializeToString()
            batch = Batch(sent.at, signal.name, body, parts, self._redaction.text(sent.project))
        return Taken(batch, otlp.reply(signal, sent.form, parsed.left), parsed.left)

    def metrics(self, sent: Sent) -> Taken:
        """What a request with metrics holds."""
        signal = otlp.gauges(self._signals)
        parsed = otlp.parse(signal, sent.form, sent.body)
        self._redaction.redact(parsed.message)
        points = tuple(gauge_points(parsed.message, self._signals, sent.at, parsed.left))
        return Taken(None, otlp.reply(signal, sent.form, parsed.left), parsed.left, points)

    def responses(self, sent: Sent) -> Taken:
        """What lines of responses hold."""
        found = lines.parse(self._redaction.redact_lines(sent.body), dated=self._dated)
        project = self._redaction.text(sent.project)
        batch = Batch(sent.at, "responses", found.body, found.parts, project) if found.parts else None
        said = {"taken": len(found.parts), "rejected": found.left.n, "why": found.left.first, "lines": found.named}
        return Taken(batch, json.dumps(said, ensure_ascii=False).encode(), found.left)

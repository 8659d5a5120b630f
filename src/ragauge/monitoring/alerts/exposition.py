"""What came in and where monitors stand, as Prometheus reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from ragauge.monitoring.alerts.verb import alerts, monitors
from ragauge.monitoring.series.states import Standing, State
from ragauge.monitoring.traffic.verb import traffic

if TYPE_CHECKING:
    from prometheus_client import Metric

    from ragauge.monitoring.replay.compute import SeriesStatus

SERIES = ("monitor", "asks", "decide", "segment", "value")  # no two series have the same
STATES: tuple[Standing, ...] = (*get_args(State), "not_enough_data")
TYPE = CONTENT_TYPE_LATEST


class _Collected:
    """What a scrape finds."""

    def __init__(self, store: str, config: Path | None) -> None:
        self._store, self._config = store, config

    def collect(self) -> Iterator[Metric]:
        """Every family, with its values now."""
        yield from _traffic(self._store)
        yield from _monitors(self._store, self._config)
        yield _alerts(self._store)


def exposition(store: str, config: Path | None) -> bytes:
    """The text of a scrape.

    All are gauges: what became of a trace changes, and is forgotten after `keep.traces`, so no count only grows.

    Args:
        store: URL of the store.
        config: the file with the section monitor; None = ragauge.yaml, where there is one.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    registry = CollectorRegistry()
    registry.register(_Collected(store, config))
    return generate_latest(registry)


def _traffic(store: str) -> Iterator[Metric]:
    found = traffic(store=store).found
    outcomes: Counter[str] = Counter()
    for day in found.days:
        outcomes.update(day.outcomes)
    kept = "Traces that are kept, by what became of them."
    by_outcome = GaugeMetricFamily("ragauge_traces", kept, labels=["outcome"])
    for outcome, n in sorted(outcomes.items()):
        by_outcome.add_metric([outcome], n)
    yield by_outcome
    yield GaugeMetricFamily("ragauge_traces_waiting", "Traces that are still to be read.", value=found.waiting)
    behind = "Seconds by which the longest waiting trace is overdue."
    yield GaugeMetricFamily("ragauge_traces_overdue_seconds", behind, value=found.behind)
    yield GaugeMetricFamily("ragauge_inbox_batches", "Raw batches that are kept.", value=found.batches)
    yield GaugeMetricFamily("ragauge_inbox_bytes", "Bytes that raw batches take, packed.", value=found.bytes)
    yield GaugeMetricFamily("ragauge_late_spans", "Spans that came too late and are ignored.", value=found.late)


def _monitors(store: str, config: Path | None) -> Iterator[Metric]:
    found = monitors(config=config, store=store).found
    states = GaugeMetricFamily("ragauge_monitor_state", "1 for the state of a series.", labels=[*SERIES, "state"])
    means = GaugeMetricFamily("ragauge_monitor_mean", "Mean of the last scores.", labels=[*SERIES, "scores"])
    allowed = GaugeMetricFamily("ragauge_monitor_allowed", "Mean that a series is held to.", labels=SERIES)
    evidence = GaugeMetricFamily(
        "ragauge_monitor_evidence_ratio", "Evidence of a drop over the limit that raises an alert.", labels=SERIES
    )
    standing = [(_named(one), one.state) for one in found.series]
    standing += [([one.name, one.asks, "signal", "", ""], one.state) for one in found.gauges if one.asks]
    for named, stands in standing:
        for state in STATES:
            states.add_metric([*named, state], float(stands == state))
    for one in found.series:
        for scores, mean in (("50", one.last_50), ("500", one.last_500)):
            if mean is not None:
                means.add_metric([*_named(one), scores], mean)
        if one.allowed is not None:
            allowed.add_metric(_named(one), one.allowed)
        if one.evidence is not None:
            evidence.add_metric(_named(one), one.evidence / one.limit)
    yield from (states, means, allowed, evidence)


def _alerts(store: str) -> Metric:
    counted = Counter(
        ("open" if one.alert.ended_at is None else "ended", one.resolution or "none")
        for one in alerts(store=store).found.alerts
    )
    raised = GaugeMetricFamily("ragauge_alerts", "Alerts, by state and by what people say.", labels=["state", "said"])
    for labels, n in sorted(counted.items()):
        raised.add_metric(labels, n)
    return raised


def _named(one: SeriesStatus) -> list[str]:
    return [one.monitor, one.asks, one.decide, *one.segment]

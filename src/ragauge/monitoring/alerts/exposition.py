"""What came in and where monitors stand, as Prometheus reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from ragauge.monitoring.alerts.verb import list_alerts, list_monitors
from ragauge.monitoring.series.monitor_specs import Standing, State
from ragauge.monitoring.traffic.verb import build_traffic_status

if TYPE_CHECKING:
    from prometheus_client import Metric

    from ragauge.monitoring.replay.compute import SeriesStatus

SERIES = ("monitor", "asks", "decide", "segment", "value")  # no two series have the same
STATES: tuple[Standing, ...] = (*get_args(State), "not_enough_data")
TYPE = CONTENT_TYPE_LATEST


class _StoreCollector:
    """What a scrape finds."""

    def __init__(self, store: str, config: Path | None) -> None:
        self._store, self._config = store, config

    def collect(self) -> Iterator[Metric]:
        """Every family, with its values now."""
        yield from _collect_traffic(self._store)
        yield from _collect_monitors(self._store, self._config)
        yield _collect_alerts(self._store)


def render_metrics(store: str, config: Path | None) -> bytes:
    """The text of a scrape.

    All are gauges: what became of a trace changes, and is forgotten after `keep.traces`, so no count only grows.

    Args:
        store: URL of the store.
        config: the file with the section monitor; None = ragauge.yaml, where there is one.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    registry = CollectorRegistry()
    registry.register(_StoreCollector(store, config))
    return generate_latest(registry)


def _collect_traffic(store: str) -> Iterator[Metric]:
    status = build_traffic_status(store=store).data
    outcomes: Counter[str] = Counter()
    for day in status.days:
        outcomes.update(day.outcomes)
    description = "Stored traces by outcome."
    by_outcome = GaugeMetricFamily("ragauge_traces", description, labels=["outcome"])
    for outcome, n in sorted(outcomes.items()):
        by_outcome.add_metric([outcome], n)
    yield by_outcome
    yield GaugeMetricFamily("ragauge_traces_waiting", "Traces waiting to be processed.", value=status.waiting)
    behind = "Seconds the longest-waiting trace is overdue."
    yield GaugeMetricFamily("ragauge_traces_overdue_seconds", behind, value=status.behind)
    yield GaugeMetricFamily("ragauge_inbox_batches", "Stored raw batches.", value=status.batches)
    yield GaugeMetricFamily("ragauge_inbox_bytes", "Compressed size of raw batches in bytes.", value=status.bytes)
    yield GaugeMetricFamily("ragauge_late_spans", "Spans ignored because they arrived too late.", value=status.late)


def _collect_monitors(store: str, config: Path | None) -> Iterator[Metric]:
    status = list_monitors(config=config, store=store).data
    states = GaugeMetricFamily("ragauge_monitor_state", "1 for the current state, else 0.", labels=[*SERIES, "state"])
    means = GaugeMetricFamily("ragauge_monitor_mean", "Mean of the most recent scores.", labels=[*SERIES, "scores"])
    allowed = GaugeMetricFamily("ragauge_monitor_allowed", "Limit for the mean of a series.", labels=SERIES)
    evidence = GaugeMetricFamily(
        "ragauge_monitor_evidence_ratio", "Evidence of a drop divided by the limit for an alert.", labels=SERIES
    )
    standing = [(_build_labels(item), item.state) for item in status.series]
    standing += [([item.name, item.asks, "signal", "", ""], item.state) for item in status.gauges if item.asks]
    for labels, state_name in standing:
        for state in STATES:
            states.add_metric([*labels, state], float(state_name == state))
    for item in status.series:
        for scores, mean in (("50", item.last_50), ("500", item.last_500)):
            if mean is not None:
                means.add_metric([*_build_labels(item), scores], mean)
        if item.allowed is not None:
            allowed.add_metric(_build_labels(item), item.allowed)
        if item.evidence is not None:
            evidence.add_metric(_build_labels(item), item.evidence / item.limit)
    yield from (states, means, allowed, evidence)


def _collect_alerts(store: str) -> Metric:
    counted = Counter(
        ("open" if saved_alert.alert.ended_at is None else "ended", saved_alert.resolution or "none")
        for saved_alert in list_alerts(store=store).data.alerts
    )
    raised = GaugeMetricFamily("ragauge_alerts", "Alerts by state and resolution.", labels=["state", "said"])
    for labels, n in sorted(counted.items()):
        raised.add_metric(labels, n)
    return raised


def _build_labels(series: SeriesStatus) -> list[str]:
    return [series.monitor, series.asks, series.decide, *series.segment]

"""Monitors over what came in before: where each series stands, and which alerts there would have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragauge.monitoring.drift.compute import DriftDay
from ragauge.monitoring.series.alert_details import AlertAccount
from ragauge.monitoring.series.false_alarm_budget import AlarmShares, MonitoredProjects, count_parts
from ragauge.monitoring.series.gauge_monitors import GaugeStatus
from ragauge.monitoring.series.label_correction import CorrectedDay
from ragauge.monitoring.series.monitor_tracker import Alert, MonitorTracker, TrackerState
from ragauge.monitoring.series.series import LONG_WINDOW, WINDOW, Segment, Series

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_specs import MonitorSpec, MonitorSpecs, Standing
    from ragauge.scores.request_stream import Arrival


class DayMean(NamedTuple):
    """A metric on one day: its mean, the standard error of that (None for fewer than two scores), and the scores."""

    day: date
    mean: float
    error: float | None
    n: int


@dataclass(frozen=True, slots=True)
class SeriesStatus:
    """Where one series stands."""

    monitor: str  #: what is watched.
    asks: str  #: what must hold, in words.
    segment: Segment  #: name and value; ("", "") = all requests.
    state: Standing  #: as Grafana names it; not_enough_data where nothing is off, but no baseline is known either.
    since: datetime | None  #: when it came into that state; None before the first score.
    scores: int  #: in the days that are kept of it.
    last_50: float | None  #: mean of the metric over the last 50 scores; None where there are fewer.
    last_500: float | None  #: over the last 500.
    error_50: float | None  #: standard error of last_50; None where that is None.
    error_500: float | None  #: standard error of last_500.
    baseline: float | None  #: mean before the period; None where it is not known.
    error: float | None  #: its standard error.
    allowed: float | None  #: the mean that it is held to; None while the baseline is not known well enough.
    needed: int  #: scores that a baseline takes to be known; 0 where nothing can be said.
    evidence: float | None  #: that the mean fell, M; None where nothing is tested.
    limit: float  #: of the evidence.
    decide: str  #: test or point.
    #: the share of periods in which the last 50 alone would alert although nothing changed, simulated; None where that
    #: is not known.
    point_false_alarms: float | None
    days: tuple[DayMean, ...]  #: means of the days that are kept, the oldest first.
    project: str = ""  #: whose traffic, where several projects send; "" else.
    not_read: int = 0  #: scores of the days that are kept that the judge could not read.
    corrected: tuple[CorrectedDay, ...] = ()  #: of all requests, the days whose mean labels correct.
    passed: int = 0  #: of all requests, scores of logs of the past that were passed by.
    #: of all requests, how many more scores decide whether the clock was put back; None = it was not.
    doubted: int | None = None


@dataclass(frozen=True, slots=True)
class MonitoringStatus:
    """Where the monitors of a configuration stand."""

    series: tuple[SeriesStatus, ...] = ()  #: all of them, monitor by monitor.
    shares: AlarmShares = field(default_factory=AlarmShares)  #: who shares the false alarms that are allowed.
    gauges: tuple[GaugeStatus, ...] = ()  #: those that are kept.
    missing: str = ""  #: why nothing is watched; "" = something is.
    projects: MonitoredProjects = field(default_factory=MonitoredProjects)  #: whose traffic is watched.
    opened: tuple[Alert, ...] = ()  #: the alerts that are open, whatever raised them.


@dataclass(frozen=True, slots=True)
class Replay:
    """Monitors over what came in before."""

    first: date | None  #: day of the first request; None without any.
    last: date | None  #: day of the last.
    requests: int  #: how many.
    pending: int  #: how many wait for a judgement.
    shares: AlarmShares  #: who shares the false alarms that are allowed.
    series: tuple[SeriesStatus, ...]  #: where each stands at the end.
    alerts: tuple[AlertAccount, ...]  #: those there would have been, in order.
    ended: dict[str, str]  #: alert -> when it would have ended, ISO time.
    drift: tuple[DriftDay, ...] = ()  #: of the last seven days.


def build_trackers(
    monitor: MonitorSection, monitor_specs: MonitorSpecs, came: Sequence[str] = ()
) -> tuple[MonitorTracker, ...]:
    """How each monitor of a metric is watched: they share the false alarms that are allowed.

    Args:
        monitor: the section.
        monitor_specs: what it watches.
        came: the projects with traffic, in the order in which they came; of several each names its own.
    """
    promise, n = monitor.false_alarms, count_parts(monitor)
    return tuple(
        MonitorTracker(
            monitor_spec,
            n,
            promise.chance,
            promise.days,
            monitor.cool_down,
            _find_max_weight(monitor, monitor_spec),
            monitor_spec.project or came[0] if len(came) > 1 else "",
        )
        for monitor_spec in monitor_specs.metrics
    )


def _find_max_weight(monitor: MonitorSection, monitor_spec: MonitorSpec) -> float:
    """What a drawn request weighs, where others are judged whatever is drawn; 0 where all weigh alike."""
    from ragauge.metrics.catalogue import list_questions, parse_metric

    has_forced = monitor.sample.always or monitor.sample.at_least
    return 1 / monitor.sample.rate if has_forced and list_questions([parse_metric(monitor_spec.metric)]) else 0.0


def list_statuses(tracker: MonitorTracker, state: TrackerState, *, simulated: bool = True) -> list[SeriesStatus]:
    """Where the series of one monitor stand, all requests first.

    Args:
        tracker: the monitor.
        state: where it stands.
        simulated: whether the false alarms of the last 50 scores are simulated even where the test decides, which takes
            a tenth of a second a series.
    """
    return [
        _build_status(tracker, state, segment, series, simulated=simulated or tracker.watch.decide == "point")
        for segment, series in sorted(state.series.items())
    ]


def _build_status(
    tracker: MonitorTracker, state: TrackerState, segment: Segment, series: Series, *, simulated: bool
) -> SeriesStatus:
    monitor_spec, reference = tracker.watch, series.reference
    totals = series.sum_days(min(series.days, default=0), max(series.days, default=-1) + 1)
    point_rate = _simulate_point_alarms(tracker, series) if simulated and segment in state.watched else None
    days = [
        DayMean(date.fromordinal(day), monitor_spec.shown(sums.mean), sums.error, sums.n)
        for day, sums in sorted(series.days.items())
        if sums.mean is not None
    ]
    return SeriesStatus(
        str(monitor_spec),
        monitor_spec.asks,
        segment,
        _find_standing(series),
        series.state.since,
        totals.n,
        _to_metric_value(monitor_spec, series.window(WINDOW)),
        _to_metric_value(monitor_spec, series.window(LONG_WINDOW)),
        series.compute_window_error(WINDOW),
        series.compute_window_error(LONG_WINDOW),
        _to_metric_value(monitor_spec, reference.baseline if reference is not None else None),
        reference.error if reference is not None else None,
        _to_metric_value(monitor_spec, series.target_mean),
        reference.needed if reference is not None else 0,
        series.evidence.value if series.evidence is not None and monitor_spec.decide == "test" else None,
        tracker.limit(state),
        monitor_spec.decide,
        point_rate,
        tuple(days),
        tracker.of,
        sum(series.unread.values()),
        passed=0 if segment[0] else state.passed,
        doubted=None if segment[0] else state.doubted,
    )


def _find_standing(series: Series) -> Standing:
    """What is shown of a series: not_read where the judge could read nothing of the last day on which scores came."""
    state = series.state
    if state.state == "normal" and max(series.unread, default=0) > max(series.days, default=0):
        return "not_read"
    return "not_enough_data" if series.target_mean is None and state.state == "normal" else state.state


def _simulate_point_alarms(tracker: MonitorTracker, series: Series) -> float | None:
    if series.target_mean is None or not series.days:
        return None
    a_day = series.sum_days(min(series.days), max(series.days) + 1).n / len(series.days)
    return simulate_point_alarms(
        [score.x for score in series.recent], series.target_mean, a_day, tracker.days, tracker.watch.wait
    )


def _to_metric_value(monitor_spec: MonitorSpec, x: float | None) -> float | None:
    return None if x is None else monitor_spec.shown(x)


def replay_requests(
    trackers: Sequence[MonitorTracker], arrivals: Mapping[str, Sequence[Arrival]]
) -> tuple[list[SeriesStatus], list[Alert]]:
    """Where every series stands after some requests, and the alerts, those that ended a second time, in order.

    Args:
        trackers: the monitors.
        arrivals: by project, as monitors name it.
    """
    series_statuses, alerts = list[SeriesStatus](), list[tuple[int, Alert]]()
    for index, tracker in enumerate(trackers):
        state, raised = tracker.after(TrackerState(), arrivals[tracker.watch.project])
        series_statuses += list_statuses(tracker, state)
        alerts += [(index, alert) for alert in raised]
    ordered = sorted(alerts, key=lambda entry: ((entry[1].ended_at or entry[1].fired_at), entry[1].number, entry[0]))
    return series_statuses, [alert for _, alert in ordered]


N_MONTHS, MAX_DAY_SCORES = 200, 500  # that are simulated; scores of a simulated day, at most


def simulate_point_alarms(
    values: Sequence[float], m: float, a_day: float, days: int, wait: timedelta = timedelta(0), *, seed: int = 0
) -> float | None:
    """The share of periods in which the mean of the last 50 scores falls below m although nothing changed.

    Simulated: periods of scores that are drawn from those that were seen.

    Args:
        values: scores that were seen, shape (n,), in [0, 1], higher better.
        m: what the mean of the last 50 is held to.
        a_day: scores a day; more than 500 are simulated as 500.
        days: of a period.
        wait: how long it must stay below.
        seed: of the simulation.

    Returns:
        In [0, 1]; None with fewer than 50 values.

    >>> simulate_point_alarms([0.0] + [1.0] * 9, 0.85, 50, 30) is None
    True
    >>> simulate_point_alarms([0.0] * 10 + [1.0] * 90, 0.85, 50, 30) > 0.9
    True
    """
    import numpy as np

    if len(values) < WINDOW:
        return None
    rate = max(1, min(MAX_DAY_SCORES, round(a_day)))
    generator, observed, alarmed = np.random.default_rng(seed), np.asarray(values, dtype=float), 0
    run = max(1, round(wait / timedelta(days=1) * rate))
    for _ in range(N_MONTHS):
        sums = np.cumsum(np.concatenate([[0.0], generator.choice(observed, rate * days + WINDOW)]))
        below = np.concatenate([[0], np.cumsum((sums[WINDOW:] - sums[:-WINDOW]) / WINDOW < m - 1e-12)])
        alarmed += bool((below[run:] - below[:-run] == run).any()) if len(below) > run else False
    return alarmed / N_MONTHS

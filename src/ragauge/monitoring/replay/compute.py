"""Monitors over what came in before: where each series stands, and which alerts there would have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple

from ragauge.monitoring.drift.compute import DriftDay
from ragauge.monitoring.series.alert_details import AlertAccount
from ragauge.monitoring.series.false_alarm_budget import AlarmShares, parts
from ragauge.monitoring.series.gauge_monitors import GaugeStatus
from ragauge.monitoring.series.label_correction import CorrectedDay
from ragauge.monitoring.series.monitor_tracker import Alert, Watching, WatchState
from ragauge.monitoring.series.projects import WatchedProjects
from ragauge.monitoring.series.series import LONG_WINDOW, WINDOW, Segment, Series
from ragauge.monitoring.series.windows import point_false_alarms

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_specs import Watch, Watches
    from ragauge.monitoring.series.states import Standing
    from ragauge.scores.request_stream import Arrival


class DayMean(NamedTuple):
    """A metric on one day: its mean, the standard error of that (None for fewer than two scores), and the scores."""

    day: date
    mean: float
    error: float | None
    n: int


@dataclass(frozen=True, slots=True)
class SeriesStatus:
    """Where one series stands.

    Attributes:
        monitor: what is watched.
        asks: what must hold, in words.
        segment: name and value; ("", "") = all requests.
        state: as Grafana names it; not_enough_data where nothing is off, but no baseline is known either.
        since: when it came into that state; None before the first score.
        scores: in the days that are kept of it.
        last_50: mean of the metric over the last 50 scores; None where there are fewer.
        last_500: over the last 500.
        error_50: standard error of last_50; None where that is None.
        error_500: standard error of last_500.
        baseline: mean before the period; None where it is not known.
        error: its standard error.
        allowed: the mean that it is held to; None while the baseline is not known well enough.
        needed: scores that a baseline takes to be known; 0 where nothing can be said.
        evidence: that the mean fell, M; None where nothing is tested.
        limit: of the evidence.
        decide: test or point.
        point_false_alarms: the share of periods in which the last 50 alone would alert although nothing changed,
            simulated; None where that is not known.
        days: means of the days that are kept, the oldest first.
        project: whose traffic, where several projects send; "" else.
        not_read: scores of the days that are kept that the judge could not read.
        corrected: of all requests, the days whose mean labels correct.
        passed: of all requests, scores of logs of the past that were passed by.
        doubted: of all requests, how many more scores decide whether the clock was put back; None = it was not.
    """

    monitor: str
    asks: str
    segment: Segment
    state: Standing
    since: datetime | None
    scores: int
    last_50: float | None
    last_500: float | None
    error_50: float | None
    error_500: float | None
    baseline: float | None
    error: float | None
    allowed: float | None
    needed: int
    evidence: float | None
    limit: float
    decide: str
    point_false_alarms: float | None
    days: tuple[DayMean, ...]
    project: str = ""
    not_read: int = 0
    corrected: tuple[CorrectedDay, ...] = ()
    passed: int = 0
    doubted: int | None = None


@dataclass(frozen=True, slots=True)
class Monitored:
    """Where the monitors of a configuration stand.

    Attributes:
        series: all of them, monitor by monitor.
        shares: who shares the false alarms that are allowed.
        gauges: those that are kept.
        missing: why nothing is watched; "" = something is.
        projects: whose traffic is watched.
        opened: the alerts that are open, whatever raised them.
    """

    series: tuple[SeriesStatus, ...] = ()
    shares: AlarmShares = field(default_factory=AlarmShares)
    gauges: tuple[GaugeStatus, ...] = ()
    missing: str = ""
    projects: WatchedProjects = field(default_factory=WatchedProjects)
    opened: tuple[Alert, ...] = ()


@dataclass(frozen=True, slots=True)
class Replay:
    """Monitors over what came in before.

    Attributes:
        first: day of the first request; None without any.
        last: day of the last.
        requests: how many.
        pending: how many wait for a judgement.
        shares: who shares the false alarms that are allowed.
        series: where each stands at the end.
        alerts: those there would have been, in order.
        ended: alert -> when it would have ended, ISO time.
        drift: of the last seven days.
    """

    first: date | None
    last: date | None
    requests: int
    pending: int
    shares: AlarmShares
    series: tuple[SeriesStatus, ...]
    alerts: tuple[AlertAccount, ...]
    ended: dict[str, str]
    drift: tuple[DriftDay, ...] = ()


def watchings(monitor: MonitorSection, watches: Watches, came: Sequence[str] = ()) -> tuple[Watching, ...]:
    """How each monitor of a metric is watched: they share the false alarms that are allowed.

    Args:
        monitor: the section.
        watches: what it watches.
        came: the projects with traffic, in the order in which they came; of several each names its own.
    """
    promise, n = monitor.false_alarms, parts(monitor)
    return tuple(
        Watching(
            watch,
            n,
            promise.chance,
            promise.days,
            monitor.cool_down,
            _heaviest(monitor, watch),
            watch.project or came[0] if len(came) > 1 else "",
        )
        for watch in watches.metrics
    )


def _heaviest(monitor: MonitorSection, watch: Watch) -> float:
    """What a drawn request weighs, where others are judged whatever is drawn; 0 where all weigh alike."""
    from ragauge.metrics.catalogue import parse, questions

    apart = monitor.sample.always or monitor.sample.at_least
    return 1 / monitor.sample.rate if apart and questions([parse(watch.metric)]) else 0.0


def statuses(by: Watching, state: WatchState, *, simulated: bool = True) -> list[SeriesStatus]:
    """Where the series of one monitor stand, all requests first.

    Args:
        by: the monitor.
        state: where it stands.
        simulated: whether the false alarms of the last 50 scores are simulated even where the test decides, which takes
            a tenth of a second a series.
    """
    return [
        _status(by, state, segment, series, simulated=simulated or by.watch.decide == "point")
        for segment, series in sorted(state.series.items())
    ]


def _status(by: Watching, state: WatchState, segment: Segment, series: Series, *, simulated: bool) -> SeriesStatus:
    watch, reference = by.watch, series.reference
    kept = series.over(min(series.days, default=0), max(series.days, default=-1) + 1)
    pointed = _pointed(by, series) if simulated and segment in state.watched else None
    days = [
        DayMean(date.fromordinal(day), watch.shown(sums.mean), sums.error, sums.n)
        for day, sums in sorted(series.days.items())
        if sums.mean is not None
    ]
    return SeriesStatus(
        str(watch),
        watch.asks,
        segment,
        _standing(series),
        series.state.since,
        kept.n,
        _shown(watch, series.window(WINDOW)),
        _shown(watch, series.window(LONG_WINDOW)),
        series.window_error(WINDOW),
        series.window_error(LONG_WINDOW),
        _shown(watch, reference.baseline if reference is not None else None),
        reference.error if reference is not None else None,
        _shown(watch, series.m),
        reference.needed if reference is not None else 0,
        series.evidence.value if series.evidence is not None and watch.decide == "test" else None,
        by.limit(state),
        watch.decide,
        pointed,
        tuple(days),
        by.of,
        sum(series.unread.values()),
        passed=0 if segment[0] else state.passed,
        doubted=None if segment[0] else state.doubted,
    )


def _standing(series: Series) -> Standing:
    """What is shown of a series: not_read where the judge could read nothing of the last day on which scores came."""
    state = series.state
    if state.state == "normal" and max(series.unread, default=0) > max(series.days, default=0):
        return "not_read"
    return "not_enough_data" if series.m is None and state.state == "normal" else state.state


def _pointed(by: Watching, series: Series) -> float | None:
    if series.m is None or not series.days:
        return None
    a_day = series.over(min(series.days), max(series.days) + 1).n / len(series.days)
    return point_false_alarms([score.x for score in series.recent], series.m, a_day, by.days, by.watch.wait)


def _shown(watch: Watch, x: float | None) -> float | None:
    return None if x is None else watch.shown(x)


def gone_through(
    by: Sequence[Watching], arrivals: Mapping[str, Sequence[Arrival]]
) -> tuple[list[SeriesStatus], list[Alert]]:
    """Where every series stands after some requests, and the alerts, those that ended a second time, in order.

    Args:
        by: the monitors.
        arrivals: by project, as monitors name it.
    """
    found, alerts = list[SeriesStatus](), list[tuple[int, Alert]]()
    for place, watching in enumerate(by):
        state, raised = watching.after(WatchState(), arrivals[watching.watch.project])
        found += statuses(watching, state)
        alerts += [(place, alert) for alert in raised]
    ordered = sorted(alerts, key=lambda one: ((one[1].ended_at or one[1].fired_at), one[1].number, one[0]))
    return found, [alert for _, alert in ordered]

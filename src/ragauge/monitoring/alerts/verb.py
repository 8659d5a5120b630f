"""Where monitors stand, the alerts that they raised, and what people say of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName, UsageError
from ragauge.monitoring.replay.verb import EXAMPLE, SAMPLED, accounted, monitor_of, read_monitor, section_of
from ragauge.verbs.result_base import Found
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.replay.compute import Monitored, SeriesStatus
    from ragauge.monitoring.series.alert_details import AlertAccount, TraceOf
    from ragauge.monitoring.series.gauge_monitors import GaugeStatus
    from ragauge.monitoring.series.monitor_specs import Watch, Watches
    from ragauge.monitoring.series.monitor_tracker import Alert, Watching
    from ragauge.monitoring.series.states import Resolution
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.request_stream import Arrival
    from ragauge.store.monitors import AlertList, KeptAlert
    from ragauge.store.store_access import Store

BEFORE = 28  # days before an alert of drift or of the judge, whose traces are held against those since
SAID: tuple[Resolution, ...] = ("acknowledged", "false_alarm")


@dataclass(frozen=True, slots=True)
class ResolvedAlert:
    """An alert and what is said of it.

    Attributes:
        alert: what fired.
        resolution: acknowledged or false_alarm.
        resolved: alerts that people said something of.
        precision: the share of them that count as true alarms: acknowledged, and not called false since.
    """

    alert: Alert
    resolution: str
    resolved: int
    precision: float


@dataclass(frozen=True, slots=True)
class ToldAlert:
    """One alert with all that it has to say.

    Attributes:
        account: of the alert; without means, causes and traces where its monitor is no longer configured.
        resolution: what people say of it; "" = nothing yet.
        missing: why the account says no more than the alert itself; "" = it does.
    """

    account: AlertAccount
    resolution: Resolution
    missing: str = ""


class MonitorsResult(Found):
    """Where monitors stand, in every form."""

    found: Monitored

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import monitored_sections

        return monitored_sections(self.found)


class AlertsResult(Found):
    """Every alert, in every form."""

    found: AlertList

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import list_sections

        return list_sections(self.found)


class AlertResult(Found):
    """One alert, in every form."""

    found: ToldAlert

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import kept_sections

        return kept_sections(self.found.account, self.found.resolution, self.found.missing)


def monitors(*, config: Path | None = None, store: str | None = None) -> MonitorsResult:
    """Where each series of the monitors of a configuration stands, by the scores that were taken so far.

    Args:
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.core.config.config_loader import DEFAULT
    from ragauge.engine.request_stream import traffic_projects
    from ragauge.monitoring.drift.drift_days import projects_before
    from ragauge.monitoring.replay.compute import Monitored, statuses, watchings
    from ragauge.monitoring.series.false_alarm_budget import alarm_shares
    from ragauge.monitoring.series.projects import looked_into, watched_projects
    from ragauge.store.store_access import open_store

    path = config or Path(DEFAULT)
    if config is None and not path.is_file():
        why = f"Nothing is watched: there is no {DEFAULT} where this was started. Write there, and start it again: "
        return MonitorsResult(Monitored(missing=why + EXAMPLE))
    section, watched, missing = read_monitor(str(path))
    if section is None:
        return MonitorsResult(Monitored(missing=missing))
    with open_store(store_url(store)) as opened:
        came = traffic_projects(opened)
        series = [
            _with_labels(opened, one, by)
            for by in watchings(section, watched, came)
            for one in statuses(by, opened.monitors.state(by.name), simulated=False)
        ]
        gauges = _gauges(opened, section, watched)
        of = watched_projects(section, watched, came)
        tested = projects_before(opened, looked_into(section, came), datetime.now(UTC).date())
        fired = tuple(one.alert for one in opened.monitors.alerts() if one.alert.ended_at is None)
    shares = alarm_shares(section, watched.metrics, {one.asks: one.limit for one in series}, tested)
    return MonitorsResult(Monitored(tuple(series), shares, gauges, missing, of, fired))


def _with_labels(store: Store, status: SeriesStatus, by: Watching) -> SeriesStatus:
    """Where a series stands, with the days whose mean labels correct, where it is of all requests."""
    from ragauge.monitoring.series.corrected_days import corrected_days

    if status.segment[0] or not status.days:
        return status
    first, project = status.days[0].day, by.of or by.watch.project
    return replace(status, corrected=corrected_days(store, by.watch.metric, first, project=project))


def _gauges(store: Store, monitor: MonitorSection, watched: Watches) -> tuple[GaugeStatus, ...]:
    """Where each gauge stands that is kept: for each of its monitors, or alone."""
    from ragauge.monitoring.series.gauge_monitors import DAY, gauge_status

    now, found = datetime.now(UTC).timestamp(), []
    open_ones = {one.alert.asks for one in store.monitors.alerts() if one.alert.ended_at is None}
    of = [(watch.signal, watch) for watch in watched.signals]
    alone = [(name, None) for name in monitor.signals if name not in dict(of)]
    for name, watch in (*of, *alone):
        points = store.inbox.signal(name, now - DAY)
        if not points and (last := store.inbox.last_signal(name)) is not None:
            points = store.inbox.signal(name, last - 1)
        firing = watch is not None and watch.asks in open_ones
        found.append(gauge_status(name, watch, points, now, monitor.no_data, firing=firing))
    return tuple(found)


def alerts(*, store: str | None = None) -> AlertsResult:
    """Every alert that was raised, the newest first, with what people say of it.

    Args:
        store: URL of the store.
    """
    from ragauge.monitoring.series.corrected_days import corrected_of
    from ragauge.store.monitors import AlertList
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        known = [replace(one, corrected=corrected_of(opened, one.alert)) for one in opened.monitors.alerts()]
    return AlertsResult(AlertList(tuple(known), *_said(known)))


def alert(alert_id: str, *, config: Path | None = None, store: str | None = None) -> AlertResult:
    """One alert: since when, how much, where, why, what changed in the traces, the ten worst.

    Args:
        alert_id: of the alert, or its beginning.
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        UnknownName: no such alert.
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.monitoring.series.alert_details import bare
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        kept = opened.monitors.alert(alert_id)
        if kept.alert.said:  # it says itself what fired: no monitor of a metric did
            told = said_account(opened, kept.alert, section_of(config))
            return AlertResult(ToldAlert(told, kept.resolution))
        watch = _watch_of(kept.alert, config)
        if watch is None:
            return AlertResult(
                ToldAlert(
                    bare(kept.alert),
                    kept.resolution,
                    (
                        "Its monitor does not stand in the configuration any more, so causes and traces are not "
                        "gathered."
                    ),
                )
            )
        told = account_of(opened, kept.alert, watch)
        worst = tuple(one._replace(query=_question(opened, one)) for one in told.traces)
        return AlertResult(ToldAlert(replace(told, traces=worst), kept.resolution))


def _question(store: Store, one: TraceOf) -> str:
    try:
        return store.runs.response(one.run_id, one.trace_id)[0].query
    except UnknownName:  # its run was deleted meanwhile
        return ""


def said_account(store: Store, alert: Alert, monitor: MonitorSection | None) -> AlertAccount:
    """An alert that says itself what fired; of drift and of the judge with what changed in the traces since.

    The judge judges the traffic of every project; drift is of one.

    Args:
        store: with the alert and the traffic.
        alert: what fired.
        monitor: the section of the configuration, which may name a project.
    """
    from ragauge.engine.request_stream import arrivals, facts_of, traffic_projects
    from ragauge.monitoring.series.alert_details import bare

    if alert.decide not in ("drift", "canary"):
        return bare(alert)
    sides: tuple[list[int], list[int]] = ([], [])
    since, meant = alert.since - timedelta(days=BEFORE), "" if monitor is None else monitor.project
    of = traffic_projects(store) if alert.decide == "canary" else [alert.project or meant]
    for one in merge(*(arrivals(store, [], since=since.isoformat(), project=name) for name in of), key=_number):
        if one.at <= alert.fired_at:
            sides[one.at.date() >= alert.since].append(one.number)
    before, now = (facts_of(store, side[-SAMPLED:]) for side in sides)
    return bare(alert, (before, now))


def _number(one: Arrival) -> int:
    return one.number


def account_of(store: Store, alert: Alert, watch: Watch) -> AlertAccount:
    """All that an alert of a monitor has to say, with the requests of its baseline and since from the store."""
    from ragauge.engine.request_stream import arrivals

    first = alert.since - watch.baseline - timedelta(days=1)
    came = arrivals(store, [watch.metric], since=first.isoformat(), project=watch.project)
    return accounted(store, alert, watch, list(came))


def _watch_of(alert: Alert, config: Path | None) -> Watch | None:
    """The monitor that raised an alert, as the configuration has it; None where it has it no more."""
    from ragauge.core.config.config_loader import DEFAULT

    path = config or Path(DEFAULT)
    if config is None and not path.is_file():
        return None
    try:
        _, watched = monitor_of(str(path))
    except UsageError:
        return None
    return next((one for one in watched.metrics if (str(one), one.asks) == (alert.monitor, alert.asks)), None)


def resolve_alert(alert_id: str, *, resolution: str = "acknowledged", store: str | None = None) -> ResolvedAlert:
    """Says of an alert that somebody knows of it, or that it was a false alarm; the last word counts.

    Args:
        alert_id: of the alert, or its beginning.
        resolution: acknowledged or false_alarm.
        store: URL of the store.

    Raises:
        UnknownName: no such alert, or no such word.
    """
    from ragauge.store.store_access import open_store

    said = next((one for one in SAID if one == resolution), None)
    if said is None:
        raise UnknownName("resolution of an alert", resolution, SAID)
    with open_store(store_url(store)) as opened:
        found = opened.monitors.resolve(alert_id, said)
        resolved, precision = _said(opened.monitors.alerts())
    return ResolvedAlert(found.alert, said, resolved, precision if precision is not None else 1.0)


def _said(known: Sequence[KeptAlert]) -> tuple[int, float | None]:
    """How many alerts people said something of, and the share of them that were no false alarms."""
    words = [one.resolution for one in known if one.resolution]
    return len(words), words.count("acknowledged") / len(words) if words else None

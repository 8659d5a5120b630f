"""Where monitors stand, the alerts that they raised, and what people say of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ragauge.core.errors import UnknownName, UsageError
from ragauge.monitoring.replay.verb import (
    EXAMPLE_SECTION,
    SAMPLE_SIZE_RESPONSES,
    build_alert_account,
    read_monitor,
    read_section,
    require_monitor,
)
from ragauge.verbs.option_specs import OptionSpec, with_options
from ragauge.verbs.option_specs import Store as StoreOption
from ragauge.verbs.result_base import ValueResult
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.replay.compute import MonitoringStatus, SeriesStatus
    from ragauge.monitoring.series.alert_details import AlertAccount, AlertTrace
    from ragauge.monitoring.series.gauge_monitors import GaugeStatus
    from ragauge.monitoring.series.monitor_specs import MonitorSpec, MonitorSpecs, Resolution
    from ragauge.monitoring.series.monitor_tracker import Alert, MonitorTracker
    from ragauge.rendering.sections import ReportSection
    from ragauge.store.monitors import AlertList, StoredAlert
    from ragauge.store.store_access import Store

DAYS_BEFORE_ALERT = 28  # days before an alert of drift or of the judge, whose traces are held against those since
RESOLUTIONS: tuple[Resolution, ...] = ("acknowledged", "false_alarm")


@dataclass(frozen=True, slots=True)
class ResolvedAlert:
    """An alert and what is said of it."""

    alert: Alert  #: what fired.
    resolution: str  #: acknowledged or false_alarm.
    resolved: int  #: alerts that people said something of.
    precision: float  #: the share of them that count as true alarms: acknowledged, and not called false since.


@dataclass(frozen=True, slots=True)
class AlertReport:
    """One alert with all that it has to say."""

    account: AlertAccount  #: of the alert; without means, causes and traces where its monitor is no longer configured.
    resolution: Resolution  #: what people say of it; "" = nothing yet.
    missing: str = ""  #: why the account says no more than the alert itself; "" = it does.


class MonitorsResult(ValueResult):
    """Where monitors stand, in every form."""

    data: MonitoringStatus

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import build_status_sections

        return build_status_sections(self.data)


class AlertsResult(ValueResult):
    """Every alert, in every form."""

    data: AlertList

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import build_list_sections

        return build_list_sections(self.data)


class AlertResult(ValueResult):
    """One alert, in every form."""

    data: AlertReport

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import build_stored_alert_sections

        return build_stored_alert_sections(self.data.account, self.data.resolution, self.data.missing)


def list_monitors(*, config: Path | None = None, store: str | None = None) -> MonitorsResult:
    """Where each series of the monitors of a configuration stands, by the scores that were taken so far.

    Args:
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.core.config.config_loader import DEFAULT_FILE
    from ragauge.engine.request_stream import list_traffic_projects
    from ragauge.monitoring.drift.drift_measures import count_testable_projects
    from ragauge.monitoring.replay.compute import MonitoringStatus, build_trackers, list_statuses
    from ragauge.monitoring.series.false_alarm_budget import build_alarm_shares, find_watched_projects, select_projects
    from ragauge.store.store_access import open_store

    path = config or Path(DEFAULT_FILE)
    if config is None and not path.is_file():
        reason = (
            f"Nothing is monitored: there is no {DEFAULT_FILE} in the working directory. Create it and start again, "
            "for example with: "
        )
        return MonitorsResult(MonitoringStatus(missing=reason + EXAMPLE_SECTION))
    section, watched, missing = read_monitor(str(path))
    if section is None:
        return MonitorsResult(MonitoringStatus(missing=missing))
    with open_store(resolve_store_url(store)) as opened_store:
        came = list_traffic_projects(opened_store)
        series = [
            _add_label_corrections(opened_store, entry, by)
            for by in build_trackers(section, watched, came)
            for entry in list_statuses(by, opened_store.monitors.state(by.name), simulated=False)
        ]
        gauges = _build_gauges(opened_store, section, watched)
        of = find_watched_projects(section, watched, came)
        tested = count_testable_projects(opened_store, select_projects(section, came), datetime.now(UTC).date())
        fired = tuple(entry.alert for entry in opened_store.monitors.list_alerts() if entry.alert.ended_at is None)
    shares = build_alarm_shares(section, watched.metrics, {entry.asks: entry.limit for entry in series}, tested)
    return MonitorsResult(MonitoringStatus(tuple(series), shares, gauges, missing, of, fired))


def _add_label_corrections(store: Store, status: SeriesStatus, by: MonitorTracker) -> SeriesStatus:
    """Where a series stands, with the days whose mean labels correct, where it is of all requests."""
    from ragauge.monitoring.series.corrected_days import find_corrected_days

    if status.segment[0] or not status.days:
        return status
    first, project = status.days[0].day, by.of or by.watch.project
    return replace(status, corrected=find_corrected_days(store, by.watch.metric, first, project=project))


def _build_gauges(store: Store, monitor: MonitorSection, watched: MonitorSpecs) -> tuple[GaugeStatus, ...]:
    """Where each gauge stands that is kept: for each of its monitors, or alone."""
    from ragauge.monitoring.series.gauge_monitors import DAY_S, build_gauge_status

    timestamp, statuses = datetime.now(UTC).timestamp(), []
    open_ones = {
        stored_alert.alert.asks for stored_alert in store.monitors.list_alerts() if stored_alert.alert.ended_at is None
    }
    of = [(monitor_spec.signal, monitor_spec) for monitor_spec in watched.signals]
    alone = [(name, None) for name in monitor.signals if name not in dict(of)]
    for name, monitor_spec in (*of, *alone):
        points = store.inbox.list_signal_points(name, timestamp - DAY_S)
        if not points and (last := store.inbox.find_last_signal(name)) is not None:
            points = store.inbox.list_signal_points(name, last - 1)
        firing = monitor_spec is not None and monitor_spec.asks in open_ones
        statuses.append(build_gauge_status(name, monitor_spec, points, timestamp, monitor.no_data, firing=firing))
    return tuple(statuses)


def list_alerts(*, store: str | None = None) -> AlertsResult:
    """Every alert that was raised, the newest first, with what people say of it.

    Args:
        store: URL of the store.
    """
    from ragauge.monitoring.series.corrected_days import find_alert_days
    from ragauge.store.monitors import AlertList
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        stored_alerts = [
            replace(stored_alert, corrected=find_alert_days(opened_store, stored_alert.alert))
            for stored_alert in opened_store.monitors.list_alerts()
        ]
    return AlertsResult(AlertList(tuple(stored_alerts), *_count_resolved(stored_alerts)))


def find_alert(alert_id: str, *, config: Path | None = None, store: str | None = None) -> AlertResult:
    """One alert: since when, how much, where, why, what changed in the traces, the ten worst.

    Args:
        alert_id: of the alert, or its beginning.
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        UnknownName: no such alert.
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.monitoring.series.alert_details import build_plain_account
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        stored = opened_store.monitors.find_alert(alert_id)
        if stored.alert.said:  # it says itself what fired: no monitor of a metric did
            account = build_stated_account(opened_store, stored.alert, read_section(config))
            return AlertResult(AlertReport(account, stored.resolution))
        monitor_spec = _find_monitor(stored.alert, config)
        if monitor_spec is None:
            return AlertResult(
                AlertReport(
                    build_plain_account(stored.alert),
                    stored.resolution,
                    ("Its monitor is no longer in the configuration, so causes and traces are not available."),
                )
            )
        account = load_account(opened_store, stored.alert, monitor_spec)
        worst = tuple(trace._replace(query=_load_query(opened_store, trace)) for trace in account.traces)
        return AlertResult(AlertReport(replace(account, traces=worst), stored.resolution))


def _load_query(store: Store, trace: AlertTrace) -> str:
    try:
        return store.runs.response(trace.run_id, trace.trace_id)[0].query
    except UnknownName:  # its run was deleted meanwhile
        return ""


def build_stated_account(store: Store, alert: Alert, monitor: MonitorSection | None) -> AlertAccount:
    """An alert that says itself what fired; of drift and of the judge with what changed in the traces since.

    The judge judges the traffic of every project; drift is of one.

    Args:
        store: with the alert and the traffic.
        alert: what fired.
        monitor: the section of the configuration, which may name a project.
    """
    from ragauge.engine.request_stream import count_origin_facts, iter_arrivals, list_traffic_projects
    from ragauge.monitoring.series.alert_details import build_plain_account

    if alert.decide not in ("drift", "canary"):
        return build_plain_account(alert)
    sides: tuple[list[int], list[int]] = ([], [])
    since, meant = alert.since - timedelta(days=DAYS_BEFORE_ALERT), "" if monitor is None else monitor.project
    of = list_traffic_projects(store) if alert.decide == "canary" else [alert.project or meant]
    for arrival in merge(
        *(iter_arrivals(store, [], since=since.isoformat(), project=name) for name in of),
        key=lambda arrival: arrival.number,
    ):
        if arrival.at <= alert.fired_at:
            sides[arrival.at.date() >= alert.since].append(arrival.number)
    previous, current = (count_origin_facts(store, side[-SAMPLE_SIZE_RESPONSES:]) for side in sides)
    return build_plain_account(alert, (previous, current))


def load_account(store: Store, alert: Alert, monitor_spec: MonitorSpec) -> AlertAccount:
    """All that an alert of a monitor has to say, with the requests of its baseline and since from the store."""
    from ragauge.engine.request_stream import iter_arrivals

    first = alert.since - monitor_spec.baseline - timedelta(days=1)
    came = iter_arrivals(store, [monitor_spec.metric], since=first.isoformat(), project=monitor_spec.project)
    return build_alert_account(store, alert, monitor_spec, list(came))


def _find_monitor(alert: Alert, config: Path | None) -> MonitorSpec | None:
    """The monitor that raised an alert, as the configuration has it; None where it has it no more."""
    from ragauge.core.config.config_loader import DEFAULT_FILE

    path = config or Path(DEFAULT_FILE)
    if config is None and not path.is_file():
        return None
    try:
        _, watched = require_monitor(str(path))
    except UsageError:
        return None
    return next(
        (
            monitor_spec
            for monitor_spec in watched.metrics
            if (str(monitor_spec), monitor_spec.asks) == (alert.monitor, alert.asks)
        ),
        None,
    )


def describe_resolution(resolved: ResolvedAlert, _: object) -> str:
    """What `ragauge monitor resolve` prints."""
    from ragauge.monitoring.alerts.alert_coverage import format_headline

    share = f"{resolved.precision:.0%} of {resolved.resolved:,} reviewed alerts count as true alarms"
    until = (
        ", including this one unless you mark it with --as false_alarm" if resolved.resolution == "acknowledged" else ""
    )
    return f"{resolved.resolution.replace('_', ' ')}: {format_headline(resolved.alert)}\n{share}{until}"


@with_options(
    alert_id=Annotated[str, OptionSpec("Alert ID or the start of it.", argument=True, metavar="ALERT")],
    resolution=Annotated[str, OptionSpec("acknowledged or false_alarm.", "--as")],
    store=StoreOption,
)
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

    known_word = next((word for word in RESOLUTIONS if word == resolution), None)
    if known_word is None:
        raise UnknownName("alert resolution", resolution, RESOLUTIONS)
    with open_store(resolve_store_url(store)) as opened_store:
        stored_alert = opened_store.monitors.resolve_alert(alert_id, known_word)
        resolved, precision = _count_resolved(opened_store.monitors.list_alerts())
    return ResolvedAlert(stored_alert.alert, known_word, resolved, precision if precision is not None else 1.0)


def _count_resolved(stored_alerts: Sequence[StoredAlert]) -> tuple[int, float | None]:
    """How many alerts people said something of, and the share of them that were no false alarms."""
    words = [stored_alert.resolution for stored_alert in stored_alerts if stored_alert.resolution]
    return len(words), words.count("acknowledged") / len(words) if words else None

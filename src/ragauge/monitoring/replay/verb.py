"""Monitor replay: which alerts there would have been over the traffic that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import ConfigError, UsageError
from ragauge.monitoring.options import MonitorReplayOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import PageResult, ValueResult
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.drift.compute import DriftDay
    from ragauge.monitoring.replay.compute import Replay
    from ragauge.monitoring.series.alert_details import AlertAccount
    from ragauge.monitoring.series.monitor_specs import MonitorSpec, MonitorSpecs
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.request_stream import Arrival
    from ragauge.scores.results.scorecard import Cause
    from ragauge.store.store_access import Store

EXAMPLE_SECTION = "monitor: {monitors: [{metric: faithfulness, max_drop: 3%}]}"  # the shortest section that watches
SAMPLE_SIZE_RESPONSES = 200  # responses on a side whose facts are looked at


class NoTrafficError(UsageError):
    """No run of traffic is stored: of a project, where one is named, or of some days.

    Args:
        when: which days, after a blank; "" = any.
        project: whose traffic; "" = any.
    """

    def __init__(self, when: str, project: str = "") -> None:
        whose = f" of {project}" if project else ""
        how = "Ingest traces with ragauge monitor serve, or store a log with ragauge evaluate FILE --traffic."
        super().__init__(f"no traffic run{whose} is stored{when}. {how}")


class ReplayResult(ValueResult, PageResult):
    """Monitors over what came in before, in every form."""

    _what = "monitor replay"
    data: Replay

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import build_replay_sections

        return build_replay_sections(self.data)


@expand_options(MonitorReplayOptions)
def monitor_replay(options: MonitorReplayOptions) -> ReplayResult:
    """Goes through the stored runs of traffic in order of arrival as the monitors of a configuration would have.

    It asks nobody and changes nothing. Signals are not kept, so their monitors are not gone through.

    Options:
        config: path of ragauge.yaml, or its content as a mapping; its section `monitor` counts.
        since: the first day (ISO, UTC); "" = all that is stored.
        store: URL of the store.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
        UsageError: no monitor of a metric, no such day, or no run of traffic.
    """
    from ragauge.engine.request_stream import list_traffic_projects
    from ragauge.monitoring.drift.drift_measures import count_testable_projects
    from ragauge.monitoring.replay.compute import Replay, build_trackers, replay_requests
    from ragauge.monitoring.series.false_alarm_budget import build_alarm_shares, select_projects
    from ragauge.store.store_access import open_store

    monitor, specs = require_monitor(options.config)
    since = parse_day("since", options.since)
    with open_store(resolve_store_url(options.store)) as store:
        of = _load_requests(store, monitor, specs, since)
        requests = list({request.number: request for several in of.values() for request in several}.values())
        projects = list_traffic_projects(store)
        series, alerts = replay_requests(build_trackers(monitor, specs, projects), of)
        watch_of = {monitor_spec.asks: monitor_spec for monitor_spec in specs.metrics}
        accounts = tuple(
            build_alert_account(store, alert, watch_of[alert.asks], of[watch_of[alert.asks].project])
            for alert in alerts
            if alert.ended_at is None
        )
        days = [request.at.date() for request in requests]
        drift = _build_drift(store, monitor, projects, since)
        tested = count_testable_projects(store, select_projects(monitor, projects), max(days) + timedelta(days=1))
    return ReplayResult(
        Replay(
            min(days),
            max(days),
            len(requests),
            sum(_is_pending(request) for request in requests),
            build_alarm_shares(monitor, specs.metrics, {entry.asks: entry.limit for entry in series}, tested),
            tuple(series),
            accounts,
            {alert.alert_id: alert.ended_at.isoformat() for alert in alerts if alert.ended_at is not None},
            drift,
        )
    )


def _load_requests(store: Store, monitor: MonitorSection, specs: MonitorSpecs, since: str) -> dict[str, list[Arrival]]:
    """The requests of each project that is monitored, in order of arrival."""
    from ragauge.engine.request_stream import iter_arrivals

    metrics = list(dict.fromkeys(monitor_spec.metric for monitor_spec in specs.metrics))
    names = dict.fromkeys([monitor.project, *(monitor_spec.project for monitor_spec in specs.metrics)])
    of = {name: list(iter_arrivals(store, metrics, since=since, project=name)) for name in names}
    if not any(of.values()):
        raise NoTrafficError(f" since {since}" if since else "", monitor.project)
    return of


def _build_drift(store: Store, monitor: MonitorSection, came: Sequence[str], since: str) -> tuple[DriftDay, ...]:
    """The drift of each project of the last seven days, by project."""
    from ragauge.engine.request_stream import iter_arrivals
    from ragauge.monitoring.drift.drift_measures import run_drift_tests
    from ragauge.monitoring.series.false_alarm_budget import select_projects

    drift_by_day: list[DriftDay] = []
    for project in select_projects(monitor, came) if monitor.drift else ():
        requests = list(iter_arrivals(store, [], since=since, project=project))
        drift_by_day += run_drift_tests(store, requests, monitor.drift, project=project if len(came) > 1 else "")
    return tuple(drift_by_day)


def require_monitor(config: str | Mapping[str, Any]) -> tuple[MonitorSection, MonitorSpecs]:
    """The section `monitor` of a configuration and what it watches.

    Raises:
        ConfigError: mistakes in it; all of them are in the text.
        UsageError: it has no monitor of a metric.
    """
    section, watched, missing = read_monitor(config)
    if section is None or missing:
        raise UsageError(missing)
    return section, watched


def read_monitor(config: str | Mapping[str, Any]) -> tuple[MonitorSection | None, MonitorSpecs, str]:
    """The section `monitor` of a configuration, what it watches, and why no metric is; "" = one is.

    Raises:
        ConfigError: mistakes in it; all of them are in the text.
    """
    from ragauge.core.config.config_loader import read_config
    from ragauge.monitoring.series.monitor_specs import read_monitor_specs

    file = read_config(config)
    watched, wrong = read_monitor_specs(file)
    if problems := (*file.problems, *wrong):
        raise ConfigError(problems)
    if file.config.monitor is not None and watched.metrics:
        return file.config.monitor, watched, ""
    reason = f"no metric is monitored. Add a monitor, for example {EXAMPLE_SECTION}"
    return file.config.monitor, watched, f"{file.name}: {reason}"


def read_section(config: Path | None) -> MonitorSection | None:
    """The section `monitor` of a file, ragauge.yaml where there is one; None without a file or section.

    Raises:
        ConfigError: mistakes in it; all of them are in the text.
    """
    from ragauge.core.config.config_loader import DEFAULT_FILE, read_config

    if config is None and not Path(DEFAULT_FILE).is_file():
        return None
    return read_config(config or DEFAULT_FILE).checked().monitor


def build_alert_account(store: Store, alert: Alert, monitor_spec: MonitorSpec, came: Sequence[Arrival]) -> AlertAccount:
    """All that an alert has to say, with the causes and the facts of the responses from the store."""
    from ragauge.engine.request_stream import count_origin_facts, count_verdicts, load_causes, load_verdicts
    from ragauge.monitoring.series.alert_attribution import attribute_alert
    from ragauge.monitoring.series.alert_details import build_account, select_alert_requests
    from ragauge.monitoring.series.corrected_days import find_alert_days

    windows = select_alert_requests(alert, monitor_spec, came)
    run_ids = [arrival.run_id for side in windows for arrival in side]
    verdicts = load_verdicts(store, run_ids)
    counts = tuple(count_verdicts(verdicts, (arrival.number for arrival in side)) for side in windows)
    causes: dict[int, Cause] = {}
    if all(side.is_current for side in counts):  # failures counted by two rules are not compared
        failed = {number for number, (verdict, _) in verdicts.items() if verdict == "failed"}
        causes = {number: cause for number, cause in load_causes(store, run_ids).items() if number in failed}
    previous, current = (
        count_origin_facts(store, [entry.number for entry in side[-SAMPLE_SIZE_RESPONSES:]]) for side in windows
    )
    blame = attribute_alert(store, alert, monitor_spec, windows, causes)
    corrected = find_alert_days(store, alert, monitor_spec.project, monitor_spec.metric)
    alert_account = build_account(alert, monitor_spec, windows, causes, (previous, current), blame)
    return replace(alert_account, verdicts=(counts[0], counts[1]), corrected=corrected)


def _is_pending(arrival: Arrival) -> bool:
    return any(score.status == "pending" for score in arrival.scores.values())


def parse_day(name: str, text: str) -> str:
    """A day as an option says it, ISO; "" = none was said.

    Raises:
        UsageError: it is no day.
    """
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise UsageError(f"{name}: expected a day such as 2026-01-31, got {text!r}.") from None

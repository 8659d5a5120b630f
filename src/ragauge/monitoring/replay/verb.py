"""Monitor replay: which alerts there would have been over the traffic that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import ConfigError, UsageError
from ragauge.monitoring.options import MonitorReplayOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import Found, PageResult
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.drift.compute import DriftDay
    from ragauge.monitoring.replay.compute import Replay
    from ragauge.monitoring.series.alert_details import AlertAccount
    from ragauge.monitoring.series.monitor_specs import Watch, Watches
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.request_stream import Arrival
    from ragauge.scores.results.scorecard import Cause
    from ragauge.store.store_access import Store

EXAMPLE = "monitor: {monitors: [{metric: faithfulness, max_drop: 3%}]}"  # the shortest section that watches
SAMPLED = 200  # responses on a side whose facts are looked at


class NoTraffic(UsageError):  # noqa: N818 - what is lacking
    """No run of traffic is stored: of a project, where one is named, or of some days.

    Args:
        when: which days, after a blank; "" = any.
        project: whose traffic; "" = any.
    """

    def __init__(self, when: str, project: str = "") -> None:
        whose = f" of {project}" if project else ""
        how = "Take traces in with ragauge monitor serve, or store a log with ragauge evaluate FILE --traffic."
        super().__init__(f"no run of traffic{whose} is stored{when}. {how}")


class ReplayResult(Found, PageResult):
    """Monitors over what came in before, in every form."""

    _what = "replay of monitors"
    found: Replay

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import replay_sections

        return replay_sections(self.found)


@keywords(MonitorReplayOptions)
def monitor_replay(wanted: MonitorReplayOptions) -> ReplayResult:
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
    from ragauge.engine.request_stream import arrivals, traffic_projects
    from ragauge.monitoring.drift.drift_days import projects_before
    from ragauge.monitoring.replay.compute import Replay, gone_through, watchings
    from ragauge.monitoring.series.false_alarm_budget import alarm_shares
    from ragauge.monitoring.series.projects import looked_into
    from ragauge.store.store_access import open_store

    monitor, watches = monitor_of(wanted.config)
    metrics = list(dict.fromkeys(watch.metric for watch in watches.metrics))
    since = day_of_text("since", wanted.since)
    with open_store(store_url(wanted.store)) as store:
        names = dict.fromkeys([monitor.project, *(watch.project for watch in watches.metrics)])
        of = {name: list(arrivals(store, metrics, since=since, project=name)) for name in names}
        came = list({one.number: one for several in of.values() for one in several}.values())
        if not came:
            when = f" since {since}" if since else ""
            raise NoTraffic(when, monitor.project)
        projects = traffic_projects(store)
        series, alerts = gone_through(watchings(monitor, watches, projects), of)
        watch_of = {watch.asks: watch for watch in watches.metrics}
        opened = [alert for alert in alerts if alert.ended_at is None]
        told = tuple(
            accounted(store, alert, watch_of[alert.asks], of[watch_of[alert.asks].project]) for alert in opened
        )
        days = [one.at.date() for one in came]
        drift = _drift(store, monitor, projects, since)
        tested = projects_before(store, looked_into(monitor, projects), max(days) + timedelta(days=1))
    return ReplayResult(
        Replay(
            min(days),
            max(days),
            len(came),
            sum(_pending(one) for one in came),
            alarm_shares(monitor, watches.metrics, {one.asks: one.limit for one in series}, tested),
            tuple(series),
            told,
            {alert.alert_id: alert.ended_at.isoformat() for alert in alerts if alert.ended_at is not None},
            drift,
        )
    )


def _drift(store: Store, monitor: MonitorSection, came: Sequence[str], since: str) -> tuple[DriftDay, ...]:
    """The drift of each project of the last seven days, by project."""
    from ragauge.engine.request_stream import arrivals
    from ragauge.monitoring.drift.drift_days import drift_days
    from ragauge.monitoring.series.projects import looked_into

    found: list[DriftDay] = []
    for project in looked_into(monitor, came) if monitor.drift else ():
        requests = list(arrivals(store, [], since=since, project=project))
        found += drift_days(store, requests, monitor.drift, project=project if len(came) > 1 else "")
    return tuple(found)


def monitor_of(config: str | Mapping[str, Any]) -> tuple[MonitorSection, Watches]:
    """The section `monitor` of a configuration and what it watches.

    Raises:
        ConfigError: mistakes in it; all of them are in the text.
        UsageError: it has no monitor of a metric.
    """
    section, found, missing = read_monitor(config)
    if section is None or missing:
        raise UsageError(missing)
    return section, found


def read_monitor(config: str | Mapping[str, Any]) -> tuple[MonitorSection | None, Watches, str]:
    """The section `monitor` of a configuration, what it watches, and why no metric is; "" = one is.

    Raises:
        ConfigError: mistakes in it; all of them are in the text.
    """
    from ragauge.core.config.config_loader import read_config
    from ragauge.monitoring.series.monitor_specs import watches

    file = read_config(config)
    found, wrong = watches(file)
    if problems := (*file.problems, *wrong):
        raise ConfigError(problems)
    if file.config.monitor is not None and found.metrics:
        return file.config.monitor, found, ""
    why = f"there is no monitor of a metric. Write one, such as {EXAMPLE}"
    return file.config.monitor, found, f"{file.name}: {why}"


def section_of(config: Path | None) -> MonitorSection | None:
    """The section `monitor` of a file, ragauge.yaml where there is one; None without a file or section.

    Raises:
        ConfigError: mistakes in it; all of them are in the text.
    """
    from ragauge.core.config.config_loader import DEFAULT, read_config

    if config is None and not Path(DEFAULT).is_file():
        return None
    return read_config(config or DEFAULT).checked().monitor


def accounted(store: Store, alert: Alert, watch: Watch, came: Sequence[Arrival]) -> AlertAccount:
    """All that an alert has to say, with the causes and the facts of the responses from the store."""
    from ragauge.engine.request_stream import causes_of, count_verdicts, facts_of, verdicts_of
    from ragauge.monitoring.series.alert_attribution import blame_of
    from ragauge.monitoring.series.alert_details import account, looked_at
    from ragauge.monitoring.series.corrected_days import corrected_of

    looked = looked_at(alert, watch, came)
    run_ids = [arrival.run_id for side in looked for arrival in side]
    verdicts = verdicts_of(store, run_ids)
    counts = tuple(count_verdicts(verdicts, (arrival.number for arrival in side)) for side in looked)
    causes: dict[int, Cause] = {}
    if all(side.is_current for side in counts):  # failures counted by two rules are not compared
        failed = {number for number, (verdict, _) in verdicts.items() if verdict == "failed"}
        causes = {number: cause for number, cause in causes_of(store, run_ids).items() if number in failed}
    before, now = (facts_of(store, [one.number for one in side[-SAMPLED:]]) for side in looked)
    blame = blame_of(store, alert, watch, looked, causes)
    corrected = corrected_of(store, alert, watch.project, watch.metric)
    told = account(alert, watch, looked, causes, (before, now), blame)
    return replace(told, verdicts=(counts[0], counts[1]), corrected=corrected)


def _pending(one: Arrival) -> bool:
    return any(score.status == "pending" for score in one.scores.values())


def day_of_text(name: str, text: str) -> str:
    """A day as an option says it, ISO; "" = none was said.

    Raises:
        UsageError: it is no day.
    """
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise UsageError(f"{name}: expected a day such as 2026-01-31, got {text!r}.") from None

"""The daily drift check: whether the texts of the day before differ from those before it, with its alerts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from ragauge.core.identity import hash_json
from ragauge.engine.request_stream import find_watched_project, iter_arrivals, list_traffic_projects
from ragauge.monitoring.drift.compute import (
    DriftDay,
    DriftReport,
    Texts,
    build_drift_name,
    count_permutations,
    list_marked_days,
)
from ragauge.monitoring.drift.drift_measures import (
    BASELINE_DAYS,
    LAST_DAYS,
    build_drift_report,
    count_testable_projects,
)
from ragauge.monitoring.jobs.scheduler import DailyJob
from ragauge.monitoring.series.false_alarm_budget import compute_daily_level, count_parts, select_projects
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.series.series import ALL

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.worker import StageTurn
    from ragauge.scores.results.monitoring import Job
    from ragauge.store.store_access import Store


class DriftJob(DailyJob):
    """The daily look at the texts of a configuration."""

    name = "drift (daily)"

    def check_day(self, turn: StageTurn, job: Job) -> tuple[str, Sequence[Alert]]:
        """What the last seven days of each project say, and the alerts that they raise or end."""
        several = _DriftProjects(turn.store, self._monitor)
        until = datetime.fromtimestamp(job.due, UTC).date()
        messages, changed = list[str](), list[Alert]()
        for project in several.projects:
            report = self._build_report(several, project, until)
            messages.append(_describe_report(report))
            changed += self._find_changed_alerts(several, project, report, turn.now)
        return "; ".join(messages) or "no traffic", changed

    def _build_report(self, several: _DriftProjects, project: str, until: date) -> DriftReport:
        """The last seven days of a project before a day, each beside those before it; what is unusual of the last."""
        store = several.store
        first = min((until - timedelta(days=LAST_DAYS), *list_marked_days(store.periods.list())))
        since = first - timedelta(days=BASELINE_DAYS)
        came = [
            request
            for request in iter_arrivals(store, [], since=since.isoformat(), project=project)
            if request.at.date() < until
        ]
        several.past |= {request.at.date() for request in came if request.past}
        days = sorted({request.at.date() for request in came} or {until})[-LAST_DAYS:]
        permutations = count_permutations(min(map(several.level, days)))
        return build_drift_report(store, came, self._monitor.drift, days[-1], permutations, several.of(project))

    def _find_changed_alerts(
        self, several: _DriftProjects, project: str, report: DriftReport, now: float
    ) -> list[Alert]:
        """Alerts that are raised or end by these days, each in its last state."""
        saved_alerts = [entry.alert for entry in several.store.monitors.list_alerts()]
        changed_alerts: dict[str, Alert] = {}
        for texts in self._monitor.drift:
            own_alerts = [entry for entry in saved_alerts if several.has_alert(entry, texts, project)]
            open_alert = next((entry for entry in own_alerts if entry.ended_at is None), None)
            last = max(
                (entry.since if entry.ended_at is None else entry.ended_at.date() for entry in own_alerts),
                default=date.min,
            )
            for drift_day in report.days:
                day, entry = drift_day.day, drift_day.drift
                if entry.of != texts or day <= last or (open_alert is None and day in several.past):
                    continue
                if open_alert is None and entry.drifted and (entry.p is None or entry.p <= several.level(day)):
                    open_alert = changed_alerts[f"{texts}{day}"] = self._build_alert(
                        several, project, drift_day, report, now
                    )
                elif open_alert is not None and entry.drifted is False:
                    ended = datetime.combine(day, datetime.min.time(), UTC)
                    changed_alerts[f"{texts}{open_alert.since}"] = replace(open_alert, ended_at=ended)
                    open_alert = None
        return list(changed_alerts.values())

    def _build_alert(
        self, several: _DriftProjects, project: str, drift_day: DriftDay, report: DriftReport, now: float
    ) -> Alert:
        day, drift_result, project_name = drift_day
        level = several.level(day)
        p = "" if drift_result.p is None else f" (p = {drift_result.p:.2g})"
        unusual = report.unusual_text if day == max(each.day for each in report.days) else ""
        whose = f"{drift_result.of} of {project_name} on {day}" if project_name else f"{drift_result.of} on {day}"
        return Alert(
            hash_json([self.name, drift_result.of, project, day.isoformat()])[:10],
            build_drift_name(drift_result.of, project_name),
            f"{drift_result.of} of a day match those of the {BASELINE_DAYS} days before, p above {level:.2g}",
            ALL,
            datetime.fromtimestamp(now, UTC),
            -1,
            "",
            day,
            drift_result.p,
            0,
            level,
            None,
            1.0,
            1.0,
            count_parts(self._monitor) * several.among(day),
            "drift",
            False,
            project=project_name,
            said=f"{whose} differ from those of the {BASELINE_DAYS} days before{p}{unusual}",
        )


class _DriftProjects:
    """The projects whose texts are looked at, and how small a p is asked of each on a day.

    Args:
        store: with the traffic.
        monitor: the section.

    Attributes:
        past: days of which requests were dated to the past: they raise no alert.
    """

    def __init__(self, store: Store, monitor: MonitorSection) -> None:
        self.store, self._monitor = store, monitor
        self._came = list_traffic_projects(store)
        self.projects = select_projects(monitor, self._came)
        self._meant = find_watched_project(store, monitor.project)
        self._among: dict[date, int] = {}
        self.past = set[date]()

    def of(self, project: str) -> tuple[str, ...]:
        """The projects with traffic, one of them first."""
        return (project, *(other for other in self._came if other != project))

    def among(self, day: date) -> int:
        """How many projects may be tested on a day."""
        if day not in self._among:
            self._among[day] = count_testable_projects(self.store, self.projects, day)
        return self._among[day]

    def level(self, day: date) -> float:
        """The p at which a project's day raises an alert."""
        return compute_daily_level(self._monitor, self.among(day))

    def has_alert(self, alert: Alert, texts: Texts, project: str) -> bool:
        """Whether an alert is of a project's texts; one of when there was no other project names none."""
        project_name = alert.project or (project if project == self._meant else "")
        return alert.monitor == build_drift_name(texts, alert.project) and project_name == project


def _describe_report(report: DriftReport) -> str:
    last = max((drift_day.day for drift_day in report.days), default=None)
    sentences = [
        f"{drift_day.drift.of}: {drift_day.drift.reason}" for drift_day in report.days if drift_day.day == last
    ]
    whose = f"{report.project}, " if report.project else ""
    return f"{whose}{last}: {'; '.join(sentences)}{report.unusual_text}" if sentences else f"{whose}no traffic"

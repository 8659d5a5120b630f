"""What the server does once a day: asks whether the texts of yesterday are unlike those before, and raises alerts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from ragauge.core.identity import digest
from ragauge.engine.request_stream import arrivals, traffic_projects, watched_project
from ragauge.monitoring.drift.compute import DriftDay, DriftReport, Texts, drift_name, permutations_for
from ragauge.monitoring.drift.drift_days import BASELINE_DAYS, LAST_DAYS, projects_before
from ragauge.monitoring.drift.drift_measures import drift_report
from ragauge.monitoring.drift.normal_ranges import marked_days
from ragauge.monitoring.jobs.daily_job import DailyLook
from ragauge.monitoring.series.false_alarm_budget import level_of_a_day, parts
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.series.projects import looked_into
from ragauge.monitoring.series.series import ALL

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.scores.results.jobs import Job
    from ragauge.store.store_access import Store


class DriftWatcher(DailyLook):
    """The daily look at the texts of a configuration."""

    name = "drift (daily)"

    @classmethod
    def wanted(cls, monitor: MonitorSection) -> bool:
        """Whether `drift` names texts."""
        return bool(monitor.drift)

    def seen(self, store: Store, job: Job) -> tuple[str, Sequence[Alert]]:
        """What the last seven days of each project say, and the alerts that they raise or end."""
        several = _Several(store, self._monitor)
        until = datetime.fromtimestamp(job.due, UTC).date()
        said, changed = list[str](), list[Alert]()
        for project in several.projects:
            found = self._report(several, project, until)
            said.append(_said(found))
            changed += self._changed(several, project, found)
        return "; ".join(said) or "no traffic", changed

    def _report(self, several: _Several, project: str, until: date) -> DriftReport:
        """The last seven days of a project before a day, each beside those before it; what is unusual of the last."""
        store = several.store
        first = min((until - timedelta(days=LAST_DAYS), *marked_days(store.periods.list())))
        since = first - timedelta(days=BASELINE_DAYS)
        came = [one for one in arrivals(store, [], since=since.isoformat(), project=project) if one.at.date() < until]
        several.past |= {one.at.date() for one in came if one.past}
        days = sorted({one.at.date() for one in came} or {until})[-LAST_DAYS:]
        permutations = permutations_for(min(map(several.level, days)))
        return drift_report(store, came, self._monitor.drift, days[-1], permutations, several.of(project))

    def _changed(self, several: _Several, project: str, report: DriftReport) -> list[Alert]:
        """Alerts that are raised or end by these days, each in its last state."""
        kept = [one.alert for one in several.store.monitors.alerts()]
        found: dict[str, Alert] = {}
        for texts in self._monitor.drift:
            mine = [one for one in kept if several.meets(one, texts, project)]
            opened = next((one for one in mine if one.ended_at is None), None)
            last = max((one.since if one.ended_at is None else one.ended_at.date() for one in mine), default=date.min)
            for seen in report.days:
                day, one = seen.day, seen.drift
                if one.of != texts or day <= last or (opened is None and day in several.past):
                    continue
                if opened is None and one.drifted and (one.p is None or one.p <= several.level(day)):
                    opened = found[f"{texts}{day}"] = self._alert(several, project, seen, report)
                elif opened is not None and one.drifted is False:
                    ended = datetime.combine(day, datetime.min.time(), UTC)
                    found[f"{texts}{opened.since}"] = replace(opened, ended_at=ended)
                    opened = None
        return list(found.values())

    def _alert(self, several: _Several, project: str, seen: DriftDay, report: DriftReport) -> Alert:
        day, one, named = seen
        level = several.level(day)
        p = "" if one.p is None else f" (p = {one.p:.2g})"
        unusual = report.unusual if day == max(each.day for each in report.days) else ""
        whose = f"{one.of} of {named} on {day}" if named else f"{one.of} of {day}"
        return Alert(
            digest([self.name, one.of, project, day.isoformat()])[:10],
            drift_name(one.of, named),
            f"the {one.of} of a day as those of the {BASELINE_DAYS} days before, p above {level:.2g}",
            ALL,
            datetime.fromtimestamp(self._clock(), UTC),
            -1,
            "",
            day,
            one.p,
            0,
            level,
            None,
            1.0,
            1.0,
            parts(self._monitor) * several.among(day),
            "drift",
            False,
            project=named,
            said=f"{whose} are unlike those of the {BASELINE_DAYS} days before{p}{unusual}",
        )


class _Several:
    """The projects whose texts are looked at, and how small a p is asked of each on a day.

    Args:
        store: with the traffic.
        monitor: the section.

    Attributes:
        past: days of which requests were dated to the past: they raise no alert.
    """

    def __init__(self, store: Store, monitor: MonitorSection) -> None:
        self.store, self._monitor = store, monitor
        self._came = traffic_projects(store)
        self.projects = looked_into(monitor, self._came)
        self._meant = watched_project(store, monitor.project)
        self._among: dict[date, int] = {}
        self.past = set[date]()

    def of(self, project: str) -> tuple[str, ...]:
        """The projects with traffic, one of them first."""
        return (project, *(one for one in self._came if one != project))

    def among(self, day: date) -> int:
        """How many projects may be tested on a day."""
        if day not in self._among:
            self._among[day] = projects_before(self.store, self.projects, day)
        return self._among[day]

    def level(self, day: date) -> float:
        """The p at which a project's day raises an alert."""
        return level_of_a_day(self._monitor, self.among(day))

    def meets(self, alert: Alert, texts: Texts, project: str) -> bool:
        """Whether an alert is of a project's texts; one of when there was no other project names none."""
        named = alert.project or (project if project == self._meant else "")
        return alert.monitor == drift_name(texts, alert.project) and named == project


def _said(report: DriftReport) -> str:
    last = max((one.day for one in report.days), default=None)
    told = [f"{one.drift.of}: {one.drift.reason}" for one in report.days if one.day == last]
    whose = f"{report.project}, " if report.project else ""
    return f"{whose}{last}: {'; '.join(told)}{report.unusual}" if told else f"{whose}no traffic"

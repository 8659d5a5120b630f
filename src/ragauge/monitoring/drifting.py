"""What the server does once a day: asks whether the texts of yesterday are unlike those before, and raises alerts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from ragauge.analysis.monitoring.bands import marked_days
from ragauge.analysis.monitoring.drift import DriftDay, DriftReport, Texts, permutations_for
from ragauge.analysis.monitoring.promise import level_of_a_day, parts
from ragauge.analysis.monitoring.series import ALL
from ragauge.analysis.monitoring.watching import Alert
from ragauge.data.identity import digest
from ragauge.engine.arrivals import arrivals
from ragauge.engine.drift_days import BASELINE_DAYS, LAST_DAYS
from ragauge.engine.drift_measures import drift_report
from ragauge.monitoring.daily import DailyLook

if TYPE_CHECKING:
    from ragauge.analysis.results.jobs import Job
    from ragauge.data.config.monitor import MonitorSection
    from ragauge.store.open import Store


class DriftWatcher(DailyLook):
    """The daily look at the texts of a configuration."""

    name = "drift (daily)"

    @classmethod
    def wanted(cls, monitor: MonitorSection) -> bool:
        """Whether `drift` names texts."""
        return bool(monitor.drift)

    def seen(self, store: Store, job: Job) -> tuple[str, Sequence[Alert]]:
        """What the last seven days say, and the alerts that they raise or end."""
        found = self._report(store, datetime.fromtimestamp(job.due, UTC).date())
        return f"{_said(found.days)}{found.unusual}", self._changed(store, found)

    @property
    def _level(self) -> float:
        return level_of_a_day(self._monitor)

    def _report(self, store: Store, until: date) -> DriftReport:
        """The last seven days before a day, each beside those before it, and what is unusual of the last."""
        first = min((until - timedelta(days=LAST_DAYS), *marked_days(store.periods.list())))
        since = first - timedelta(days=BASELINE_DAYS)
        taken = arrivals(store, [], since=since.isoformat(), project=self._monitor.project)
        came = [one for one in taken if one.at.date() < until]
        last = max((one.at.date() for one in came), default=until)
        return drift_report(store, came, self._monitor.drift, last, permutations_for(self._level))

    def _changed(self, store: Store, report: DriftReport) -> list[Alert]:
        """Alerts that are raised or end by these days, each in its last state."""
        kept = [one.alert for one in store.monitors.alerts()]
        found: dict[str, Alert] = {}
        for of in self._monitor.drift:
            mine = [one for one in kept if one.monitor == f"drift of {of}"]
            opened = next((one for one in mine if one.ended_at is None), None)
            last = max((one.since if one.ended_at is None else one.ended_at.date() for one in mine), default=date.min)
            for day, one in report.days:
                if one.of != of or day <= last:
                    continue
                if opened is None and one.drifted and (one.p is None or one.p <= self._level):
                    opened = found[f"{of}{day}"] = self._alert(of, DriftDay(day, one), report)
                elif opened is not None and one.drifted is False:
                    ended = datetime.combine(day, datetime.min.time(), UTC)
                    found[f"{of}{opened.since}"] = replace(opened, ended_at=ended)
                    opened = None
        return list(found.values())

    def _alert(self, of: Texts, seen: DriftDay, report: DriftReport) -> Alert:
        day, one = seen
        p = "" if one.p is None else f" (p = {one.p:.2g})"
        unusual = report.unusual if day == max(day for day, _ in report.days) else ""
        return Alert(
            digest([self.name, of, day.isoformat()])[:10], f"drift of {of}",
            f"the {of} of a day as those of the {BASELINE_DAYS} days before, p above {self._level:.2g}", ALL,
            datetime.fromtimestamp(self._clock(), UTC), -1, "", day, one.p, 0, self._level, None, 1.0, 1.0,
            parts(self._monitor), "drift", False,
            said=f"{of} of {day} are unlike those of the {BASELINE_DAYS} days before{p}{unusual}",
        )  # fmt: skip


def _said(days: tuple[DriftDay, ...]) -> str:
    last = max((day for day, _ in days), default=None)
    told = [f"{one.of}: {one.reason}" for day, one in days if day == last]
    return f"{last}: {'; '.join(told)}" if told else "no traffic"

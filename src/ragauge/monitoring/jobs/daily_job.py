"""A check that the server makes once a day."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ragauge.monitoring.alerts.notifications import save_alerts
from ragauge.monitoring.alerts.verb import build_stated_account
from ragauge.monitoring.worker import Lease
from ragauge.store.inbox import DAY_S

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.monitoring.worker import Turn
    from ragauge.scores.results.monitoring import Job

DAILY_OFFSET_S = 3600.0  # seconds after midnight, UTC, when a day's traces are there


class DailyJob(ABC):
    """A check that is made once a day, an hour after midnight UTC.

    Args:
        monitor: the section of the configuration.
    """

    name: ClassVar[str]

    def __init__(self, monitor: MonitorSection) -> None:
        self._monitor = monitor

    @abstractmethod
    def check_day(self, turn: Turn, job: Job) -> tuple[str, Sequence[Alert]]:
        """The outcome in a sentence, and the alerts that are raised or end, each in its last state."""

    def run_once(self, turn: Turn, repeat_after_s: float | None = None) -> int:
        """Makes the check if no server has yet today; returns how many alerts were raised or ended.

        Args:
            turn: with the store and the moment.
            repeat_after_s: seconds since the last check after which another is made, whatever the time; None = once
                a day.
        """
        store, now = turn.store, turn.now
        due = (now - DAILY_OFFSET_S) // DAY_S * DAY_S + DAILY_OFFSET_S if repeat_after_s is None else now
        latest = store.jobs.newest(self.name, now + DAY_S)
        is_abandoned = latest is not None and latest.state == "running"
        if turn.over.is_set() or (
            latest is not None and not is_abandoned and latest.due >= due - (repeat_after_s or 0.0)
        ):
            return 0
        lease = Lease.take(turn, self.name, latest.due if latest is not None and is_abandoned else due)
        if lease is None:
            return 0
        with lease.send_heartbeats():
            message, changed = self.check_day(turn, lease.job)
        with store.transaction():
            if not lease.end("done", message=message):
                return 0
            save_alerts(store, self._monitor, changed, now, partial(build_stated_account, store, monitor=self._monitor))
        return len(changed)

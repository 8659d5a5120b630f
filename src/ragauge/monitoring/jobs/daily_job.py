"""What the server looks at once a day, whichever server does it; what it raises is kept with its outcome."""

from __future__ import annotations

import os
import secrets
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from ragauge.core.config.config_loader import DEFAULT_FILE, read_config
from ragauge.monitoring.alerts.notifications import build_deliveries, send_deliveries
from ragauge.monitoring.alerts.verb import build_stated_account
from ragauge.monitoring.jobs.scheduler import HEARTBEAT_S
from ragauge.store.inbox import DAY_S

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.scores.results.jobs import Job
    from ragauge.store.store_access import Store

DAILY_OFFSET_S = 3600.0  # seconds after midnight, UTC, when a day's traces are there


class DailyJob(ABC):
    """A look that is taken once a day, an hour after midnight UTC.

    Args:
        monitor: the section of the configuration.
        clock: seconds since 1970.
    """

    name: ClassVar[str]

    def __init__(self, monitor: MonitorSection, clock: Callable[[], float] = time.time) -> None:
        self._monitor, self._clock = monitor, clock
        self._owner = f"{os.getpid()}-{secrets.token_hex(6)}"

    @classmethod
    @abstractmethod
    def wanted(cls, monitor: MonitorSection) -> bool:
        """Whether a configuration asks for this look."""

    @classmethod
    def of(cls, config: Path | None) -> Self | None:
        """The look that a file asks for, ragauge.yaml where there is one; None where it asks for none.

        Raises:
            ConfigError: there are mistakes in it; all of them are in the text.
        """
        if config is None and not Path(DEFAULT_FILE).is_file():
            return None
        monitor = read_config(config or DEFAULT_FILE).checked().monitor
        return cls(monitor) if monitor is not None and cls.wanted(monitor) else None

    @abstractmethod
    def seen(self, store: Store, job: Job) -> tuple[str, Sequence[Alert]]:
        """What there is to say, and the alerts that are raised or end, each in its last state."""

    def run_once(self, store: Store, over: threading.Event, again: float | None = None) -> int:
        """Looks where nobody has yet today; returns how many alerts were raised or ended.

        Args:
            store: with the runs.
            over: set at the end of the server.
            again: seconds since the last look after which another is taken, whatever the time; None = once a day.
        """
        now = self._clock()
        due = (now - DAILY_OFFSET_S) // DAY_S * DAY_S + DAILY_OFFSET_S if again is None else now
        latest = store.jobs.newest(self.name, now + DAY_S)
        is_abandoned = latest is not None and latest.state == "running"
        if over.is_set() or (latest is not None and not is_abandoned and latest.due >= due - (again or 0.0)):
            return 0
        job = store.jobs.take_job(
            self.name, latest.due if latest is not None and is_abandoned else due, self._owner, now
        )
        if job is None:
            return 0
        with self._send_heartbeats(store, job):
            message, changed = self.seen(store, job)
        with store.transaction():
            if not store.jobs.end(job, self._owner, self._clock(), "done", message=message):
                return 0
            store.monitors.save_alerts(changed)
            accounts = [build_stated_account(store, item, self._monitor) for item in changed]
            store.monitors.add_deliveries(
                [each for item in accounts for each in build_deliveries(store, self._monitor, item, now)]
            )
        send_deliveries(store, self._monitor, now)
        return len(changed)

    @contextmanager
    def _send_heartbeats(self, store: Store, job: Job) -> Iterator[None]:
        """A block in which signs of life are given."""
        finished = threading.Event()

        def send_beats() -> None:
            while not finished.wait(HEARTBEAT_S):
                store.jobs.record_heartbeat(job, self._owner, self._clock())

        thread = threading.Thread(target=send_beats, name="ragauge-beat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()

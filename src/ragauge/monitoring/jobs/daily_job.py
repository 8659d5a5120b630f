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

from ragauge.core.config.config_loader import DEFAULT, read_config
from ragauge.monitoring.alerts.notifications import deliver, deliveries
from ragauge.monitoring.alerts.verb import said_account
from ragauge.monitoring.jobs.scheduler import BEAT
from ragauge.store.inbox import DAY

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.scores.results.jobs import Job
    from ragauge.store.store_access import Store

AFTER = 3600.0  # seconds after midnight, UTC, when a day's traces are there


class DailyLook(ABC):
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
        if config is None and not Path(DEFAULT).is_file():
            return None
        monitor = read_config(config or DEFAULT).checked().monitor
        return cls(monitor) if monitor is not None and cls.wanted(monitor) else None

    @abstractmethod
    def seen(self, store: Store, job: Job) -> tuple[str, Sequence[Alert]]:
        """What there is to say, and the alerts that are raised or end, each in its last state."""

    def look(self, store: Store, over: threading.Event, again: float | None = None) -> int:
        """Looks where nobody has yet today; returns how many alerts were raised or ended.

        Args:
            store: with the runs.
            over: set at the end of the server.
            again: seconds since the last look after which another is taken, whatever the time; None = once a day.
        """
        now = self._clock()
        due = (now - AFTER) // DAY * DAY + AFTER if again is None else now
        known = store.jobs.newest(self.name, now + DAY)
        left = known is not None and known.state == "running"
        if over.is_set() or (known is not None and not left and known.due >= due - (again or 0.0)):
            return 0
        job = store.jobs.take(self.name, known.due if known is not None and left else due, self._owner, now)
        if job is None:
            return 0
        with self._beating(store, job):
            said, changed = self.seen(store, job)
        with store.transaction():
            if not store.jobs.end(job, self._owner, self._clock(), "done", said=said):
                return 0
            store.monitors.raised(changed)
            told = [said_account(store, one, self._monitor) for one in changed]
            store.monitors.tell([each for one in told for each in deliveries(store, self._monitor, one, now)])
        deliver(store, self._monitor, now)
        return len(changed)

    @contextmanager
    def _beating(self, store: Store, job: Job) -> Iterator[None]:
        """A block in which signs of life are given."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(BEAT):
                store.jobs.beat(job, self._owner, self._clock())

        thread = threading.Thread(target=beat, name="ragauge-beat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

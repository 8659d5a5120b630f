"""What the server's worker does once scores are there: monitors go on, and alerts are kept with what has to be told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ragauge.core.config.config_loader import DEFAULT, read_config
from ragauge.core.errors import ConfigError, RagaugeError
from ragauge.engine.request_stream import arrivals, traffic_projects
from ragauge.metrics.catalogue import parse, questions
from ragauge.monitoring.alerts.monitor_migration import left_behind, taken_up
from ragauge.monitoring.alerts.notifications import deliver, deliveries
from ragauge.monitoring.alerts.verb import account_of
from ragauge.monitoring.canary.runner import JudgeCanary
from ragauge.monitoring.replay.compute import watchings
from ragauge.monitoring.series.alert_details import bare
from ragauge.monitoring.series.monitor_specs import watches
from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED
from ragauge.monitoring.series.no_data_detection import quiet

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_specs import Watch, Watches
    from ragauge.monitoring.series.monitor_tracker import Alert, Watching, WatchState
    from ragauge.scores.request_stream import Arrival
    from ragauge.store.monitors import Delivery
    from ragauge.store.store_access import Store

DOUBTED = 3600.0  # seconds for which the judge is believed after a look at it
STEP = 60.0  # seconds by which a clock that steps differs from the time that passed


class RunningSince:
    """Since when a server runs without its clock being put forward or back, as after a night in which it was suspended.

    Args:
        elapsed: seconds that it really ran, from any moment on.
    """

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._elapsed = elapsed
        self._began: float | None = None
        self._seen = 0.0, 0.0

    def at(self, now: float) -> float:
        """Since when, at a moment: both in seconds since 1970. A step of its clock by a minute is another beginning."""
        ran = self._elapsed()
        stepped = abs((now - self._seen[0]) - (ran - self._seen[1])) > STEP
        self._began = now if self._began is None or stepped else self._began
        self._seen = now, ran
        return self._began


class Watcher:
    """The monitors of a configuration.

    Args:
        monitor: the section of the configuration.
        watched: what it watches.
        canary: asks whether the judge is still who it was, before an alert of what it judged is raised; None = nobody
            does.
        elapsed: seconds that the server really ran.
    """

    def __init__(
        self,
        monitor: MonitorSection,
        watched: Watches,
        canary: JudgeCanary | None = None,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monitor, self._watched, self._canary = monitor, watched, canary
        self._running = RunningSince(elapsed)

    @classmethod
    def of(cls, config: Path | None) -> Self | None:
        """The monitors of a file, ragauge.yaml where there is one; None where it has no monitor of a metric.

        Raises:
            ConfigError: there are mistakes in it; all of them are in the text.
        """
        if config is None and not Path(DEFAULT).is_file():
            return None
        file = read_config(config or DEFAULT)
        found, wrong = watches(file)
        if problems := (*file.problems, *wrong):
            raise ConfigError(problems)
        if file.config.monitor is None or not found.metrics:
            return None
        return cls(file.config.monitor, found, JudgeCanary.of(config))

    def look(self, store: Store, now: float) -> int:
        """Takes the scores that came, and tells what is to be told; returns how many alerts were raised or ended."""
        raised = judge_series(store, self._monitor, self._watched, now, self._canary, self._running.at(now))
        deliver(store, self._monitor, now)
        return len(raised)


def judge_series(
    store: Store,
    monitor: MonitorSection,
    watched: Watches,
    now: float,
    canary: JudgeCanary | None = None,
    began: float | None = None,
) -> tuple[Alert, ...]:
    """Takes every score that has come since the last call, and keeps what the monitors raise.

    A monitor's state, alerts and deliveries are kept in one transaction: a kill loses and repeats nothing, of two
    processes one is first, and however often it is called, the alerts are the same.

    Args:
        store: with the runs of traffic.
        monitor: the section of the configuration.
        watched: what it watches.
        now: seconds since 1970, from which on is told what was raised.
        canary: asks whether the judge is still who it was, before an alert of what it judged is raised.
        began: since when the server runs, `now` at its first look and once its clock stepped; None = it does not.

    Returns:
        The alerts that were raised or have ended, in order.
    """
    every = watchings(monitor, watched, traffic_projects(store))
    found = list(_ended(store, monitor, every, now)) if began == now else []
    for by in every:
        judged = bool(questions([parse(by.watch.metric)]))
        if judged and _judge_changed(store):  # its scores are taken when the judge is believed again
            continue
        before = store.monitors.state(by.name)
        came = _Coming(store, by.watch, before)
        after, raised = _of_present(store, by.after(before, came), came.past)
        if began is not None:  # what waits to be read or scored is not missing
            moved = after.cursor != before.cursor or came.waits or _unread(store, now)
            after, missing = quiet(by, after, _at(now), _at(began), monitor.no_data, moved=moved)
            raised += missing
        tell = raised
        if before.cursor < 0 or began == now:  # it may be another form of one that was there
            new = taken_up(store, by, [one.name for one in every], after, raised, _at(now))
            after, raised, tell = new.state, new.raised, new.told
        if after == before and not raised:
            continue
        if judged and canary is not None and any(one.ended_at is None and one.decide != "no_data" for one in raised):
            with suppress(RagaugeError):  # a judge that does not answer tells nothing
                canary.look(store, threading.Event(), DOUBTED)
            if _judge_changed(store):
                continue
        told = _told(store, monitor, by, tell, now)
        with store.transaction():
            if store.monitors.advance(by.name, before, after, raised):
                store.monitors.tell(told)
                found += raised
    return tuple(found)


class _Coming:
    """What came since a monitor looked last, as it is taken; whether a score is waited for, numbers of the past."""

    def __init__(self, store: Store, watch: Watch, state: WatchState) -> None:
        self._metric, self.waits, self.past = watch.metric, False, set[int]()
        self._arrivals = arrivals(store, [watch.metric], after=state.cursor, project=watch.project)

    def __iter__(self) -> Iterator[Arrival]:
        for one in self._arrivals:
            score = one.scores.get(self._metric)
            if one.past:
                self.past.add(one.number)
            self.waits = self.waits or (score is not None and score.status == "pending")
            yield one


def _of_present(
    store: Store, came: tuple[WatchState, tuple[Alert, ...]], past: Collection[int]
) -> tuple[WatchState, tuple[Alert, ...]]:
    """Without the alerts that fired in the past; one that is still open is raised once the present has begun."""
    after, raised = came
    if not raised and not after.alerts:
        return came
    stored = {one.alert.alert_id for one in store.monitors.alerts()}
    now = {one.alert_id for one in raised if one.ended_at is None and one.number not in past}
    open_still = [one for one in after.alerts.values() if one.alert_id not in stored | now]
    known = (one for one in raised if one.alert_id in stored | now)
    return after, (*known, *(open_still if after.last is not None else ()))


def _unread(store: Store, now: float) -> bool:
    """Whether traces should have been read by now and were not."""
    since = store.inbox.counts().since
    return since is not None and since <= now


def _ended(store: Store, monitor: MonitorSection, every: Sequence[Watching], now: float) -> Sequence[Alert]:
    """Ends the alerts of monitors that the configuration has no more."""
    over = left_behind(store, every, monitor.project, _at(now))
    with store.transaction():
        store.monitors.raised(over)
        store.monitors.tell([one for alert in over for one in deliveries(store, monitor, bare(alert), now)])
    return over


def _judge_changed(store: Store) -> bool:
    """Whether it is open that the judge changed, and nobody has said anything of it."""
    return any(
        one.alert.monitor == JUDGE_CHANGED and one.alert.ended_at is None and not one.resolution
        for one in store.monitors.alerts()
    )


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _told(store: Store, monitor: MonitorSection, by: Watching, raised: Sequence[Alert], now: float) -> list[Delivery]:
    told = [bare(alert) if alert.said else account_of(store, alert, by.watch) for alert in raised]
    return [one for each in told for one in deliveries(store, monitor, each, now)]

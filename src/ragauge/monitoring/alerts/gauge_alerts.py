"""The monitors of gauges: looked at as values come, with what has to be told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ragauge.core.config.config_loader import DEFAULT, read_config
from ragauge.core.identity import digest
from ragauge.monitoring.alerts.alert_worker import RunningSince
from ragauge.monitoring.alerts.notifications import deliver, deliveries
from ragauge.monitoring.series.alert_details import bare
from ragauge.monitoring.series.gauge_monitors import SignalTurn, signal_turns
from ragauge.monitoring.series.monitor_specs import SignalWatch, watches
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.series.no_data_detection import no_data_alert
from ragauge.monitoring.series.series import ALL

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.store.store_access import Store

HOUR = 3600.0
LONGEST = 100  # characters of a source in an alert


class SignalWatcher:
    """The monitors of gauges of a configuration.

    Args:
        monitor: the section of the configuration.
        watched: its monitors of gauges.
        clock: seconds since 1970.
        elapsed: seconds that the server really ran.
    """

    def __init__(
        self,
        monitor: MonitorSection,
        watched: tuple[SignalWatch, ...],
        clock: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monitor, self._watched, self._clock = monitor, watched, clock
        self._running = RunningSince(elapsed)
        self._began = self._running.at(clock())

    @classmethod
    def of(cls, config: Path | None) -> Self | None:
        """The monitors of a file, ragauge.yaml where there is one; None where it has none of a gauge.

        Raises:
            ConfigError: there are mistakes in it; all of them are in the text.
        """
        if config is None and not Path(DEFAULT).is_file():
            return None
        file = read_config(config or DEFAULT)
        monitor = file.checked().monitor
        watched = watches(file)[0].signals
        return cls(monitor, watched) if monitor is not None and watched else None

    def look(self, store: Store, over: threading.Event) -> int:
        """Takes the values that came, and tells what is to be told; returns how many alerts were raised or ended."""
        if over.is_set():
            return 0
        now = self._clock()
        self._began = self._running.at(now)
        with store.transaction():
            changed = [alert for watch in self._watched for alert in self._changed(store, watch, now)]
            names = dict.fromkeys(watch.signal for watch in self._watched)
            changed += [alert for name in names for alert in self._missing(store, name, now)]
            store.monitors.raised(changed)
            told = [each for one in changed for each in deliveries(store, self._monitor, bare(one), now)]
            store.monitors.tell(told)
        deliver(store, self._monitor, now)
        return len(changed)

    def _missing(self, store: Store, name: str, now: float) -> list[Alert]:
        """The alert that a gauge comes no more, or that it comes again."""
        last, wait = store.inbox.last_signal(name), self._monitor.no_data
        if last is None:
            return []
        came, seen = datetime.fromtimestamp(last, UTC), datetime.fromtimestamp(now, UTC)
        said = no_data_alert(name, f"value of {name}", came, seen, wait)
        opened = [
            one.alert for one in store.monitors.alerts() if one.alert.asks == said.asks and one.alert.ended_at is None
        ]
        if opened:
            return [replace(one, ended_at=max(came, one.fired_at)) for one in opened if one.alert_id != said.alert_id]
        return [said] if now - max(last, self._began) >= wait.total_seconds() else []

    def _changed(self, store: Store, watch: SignalWatch, now: float) -> list[Alert]:
        mine = [one.alert for one in store.monitors.alerts() if one.alert.asks == watch.asks]
        last = max(mine, key=lambda one: one.fired_at, default=None)
        opened = last if last is not None and last.ended_at is None else None
        since = 0.0 if last is None else (last.ended_at or last.fired_at).timestamp()
        reach = max(watch.wait, self._monitor.cool_down).total_seconds() + HOUR
        points = store.inbox.signal(watch.signal, now - reach)
        found: dict[str, Alert] = {}
        turns = signal_turns(watch, points, self._monitor.cool_down, since=since, opened=opened is not None)
        for turn in turns:
            if turn.opens:
                opened = _alert(watch, turn, len(self._watched))
            elif opened is not None:
                opened = replace(opened, ended_at=turn.at)
            if opened is not None:
                found[opened.alert_id] = opened
        return list(found.values())


def _alert(watch: SignalWatch, turn: SignalTurn, monitors: int) -> Alert:
    value = watch.shown(turn.values)
    end, side = (min, "least") if watch.kind == "min" else (max, "greatest")
    farthest, source = end(zip(turn.values, turn.sources, strict=True))
    over = f" over {len(turn.values):,} sources" if len(turn.values) > 1 else ""
    named = f"; the {side} is that of {source[:LONGEST]}, {farthest:.3g}" if source else ""
    return Alert(
        digest(["signal", watch.asks, turn.at.isoformat()])[:10],
        watch.signal,
        watch.asks,
        ALL,
        turn.at,
        -1,
        "",
        turn.at.astimezone(UTC).date(),
        value,
        len(turn.values),
        watch.limit,
        None,
        1.0,
        1.0,
        monitors,
        "signal",
        watch.kind != "min",
        said=f"{watch.asks} does not hold: it is {value:.3g}{over}{named}",
    )

"""The monitors of gauges: looked at as values come, with what has to be told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ragauge.core.config.config_loader import DEFAULT_FILE, read_config
from ragauge.core.identity import hash_json
from ragauge.monitoring.alerts.alert_worker import ServerStart
from ragauge.monitoring.alerts.notifications import build_deliveries, send_deliveries
from ragauge.monitoring.series.alert_details import build_plain_account
from ragauge.monitoring.series.gauge_monitors import SignalTurn, list_signal_turns
from ragauge.monitoring.series.monitor_specs import GaugeSpec, read_monitor_specs
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.series.no_data_detection import build_no_data_alert
from ragauge.monitoring.series.series import ALL

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.store.store_access import Store

HOUR_S = 3600.0
MAX_SOURCE_CHARS = 100  # characters of a source in an alert


class GaugeWatcher:
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
        watched: tuple[GaugeSpec, ...],
        clock: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monitor, self._watched, self._clock = monitor, watched, clock
        self._running = ServerStart(elapsed)
        self._began = self._running.at(clock())

    @classmethod
    def of(cls, config: Path | None) -> Self | None:
        """The monitors of a file, ragauge.yaml where there is one; None where it has none of a gauge.

        Raises:
            ConfigError: there are mistakes in it; all of them are in the text.
        """
        if config is None and not Path(DEFAULT_FILE).is_file():
            return None
        file = read_config(config or DEFAULT_FILE)
        monitor = file.checked().monitor
        watched = read_monitor_specs(file)[0].signals
        return cls(monitor, watched) if monitor is not None and watched else None

    def run_once(self, store: Store, over: threading.Event) -> int:
        """Takes the values that came, and tells what is to be told; returns how many alerts were raised or ended."""
        if over.is_set():
            return 0
        now = self._clock()
        self._began = self._running.at(now)
        with store.transaction():
            changed = [
                alert for gauge_spec in self._watched for alert in self._find_changed_alerts(store, gauge_spec, now)
            ]
            names = dict.fromkeys(gauge_spec.signal for gauge_spec in self._watched)
            changed += [alert for name in names for alert in self._find_missing_alerts(store, name, now)]
            store.monitors.save_alerts(changed)
            new_deliveries = [
                each
                for changed_alert in changed
                for each in build_deliveries(store, self._monitor, build_plain_account(changed_alert), now)
            ]
            store.monitors.add_deliveries(new_deliveries)
        send_deliveries(store, self._monitor, now)
        return len(changed)

    def _find_missing_alerts(self, store: Store, name: str, now: float) -> list[Alert]:
        """The alert that a gauge comes no more, or that it comes again."""
        last, wait = store.inbox.find_last_signal(name), self._monitor.no_data
        if last is None:
            return []
        came, now_utc = datetime.fromtimestamp(last, UTC), datetime.fromtimestamp(now, UTC)
        no_data = build_no_data_alert(name, f"value of {name}", came, now_utc, wait)
        open_alerts = [
            entry.alert
            for entry in store.monitors.list_alerts()
            if entry.alert.asks == no_data.asks and entry.alert.ended_at is None
        ]
        if open_alerts:
            return [
                replace(entry, ended_at=max(came, entry.fired_at))
                for entry in open_alerts
                if entry.alert_id != no_data.alert_id
            ]
        return [no_data] if now - max(last, self._began) >= wait.total_seconds() else []

    def _find_changed_alerts(self, store: Store, gauge_spec: GaugeSpec, now: float) -> list[Alert]:
        own_alerts = [entry.alert for entry in store.monitors.list_alerts() if entry.alert.asks == gauge_spec.asks]
        last = max(own_alerts, key=lambda entry: entry.fired_at, default=None)
        open_alert = last if last is not None and last.ended_at is None else None
        since = 0.0 if last is None else (last.ended_at or last.fired_at).timestamp()
        reach = max(gauge_spec.wait, self._monitor.cool_down).total_seconds() + HOUR_S
        points = store.inbox.list_signal_points(gauge_spec.signal, now - reach)
        changed_alerts: dict[str, Alert] = {}
        turns = list_signal_turns(
            gauge_spec, points, self._monitor.cool_down, since=since, is_open=open_alert is not None
        )
        for turn in turns:
            if turn.opens:
                open_alert = _build_alert(gauge_spec, turn, len(self._watched))
            elif open_alert is not None:
                open_alert = replace(open_alert, ended_at=turn.at)
            if open_alert is not None:
                changed_alerts[open_alert.alert_id] = open_alert
        return list(changed_alerts.values())


def _build_alert(gauge_spec: GaugeSpec, turn: SignalTurn, monitors: int) -> Alert:
    value = gauge_spec.shown(turn.values)
    end, extreme_name = (min, "lowest") if gauge_spec.kind == "min" else (max, "highest")
    farthest, source = end(zip(turn.values, turn.sources, strict=True))
    over = f" over {len(turn.values):,} sources" if len(turn.values) > 1 else ""
    source_text = f"; the {extreme_name} is {farthest:.3g}, from {source[:MAX_SOURCE_CHARS]}" if source else ""
    return Alert(
        hash_json(["signal", gauge_spec.asks, turn.at.isoformat()])[:10],
        gauge_spec.signal,
        gauge_spec.asks,
        ALL,
        turn.at,
        -1,
        "",
        turn.at.astimezone(UTC).date(),
        value,
        len(turn.values),
        gauge_spec.limit,
        None,
        1.0,
        1.0,
        monitors,
        "signal",
        gauge_spec.kind != "min",
        said=f"{gauge_spec.asks} is violated: the value is {value:.3g}{over}{source_text}",
    )

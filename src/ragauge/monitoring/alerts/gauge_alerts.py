"""The monitors of gauges: looked at as values come, with what has to be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragauge.core.identity import hash_json
from ragauge.monitoring.alerts.notifications import save_alerts
from ragauge.monitoring.series.gauge_monitors import SignalTurn, list_signal_turns
from ragauge.monitoring.series.monitor_specs import GaugeSpec
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.series.no_data_detection import build_no_data_alert
from ragauge.monitoring.series.series import ALL

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.worker import Turn

HOUR_S = 3600.0
MAX_SOURCE_CHARS = 100  # characters of a source in an alert


def watch_gauges(turn: Turn, monitor: MonitorSection, gauge_specs: Sequence[GaugeSpec]) -> int:
    """Takes the values of gauges that came; returns how many alerts were raised or ended.

    Args:
        turn: with the store and the moment.
        monitor: the section of the configuration.
        gauge_specs: its monitors of gauges.
    """
    with turn.store.transaction():
        changed = [alert for spec in gauge_specs for alert in _find_changed_alerts(turn, monitor, spec, gauge_specs)]
        names = dict.fromkeys(spec.signal for spec in gauge_specs)
        changed += [alert for name in names for alert in _find_missing_alerts(turn, monitor, name)]
        save_alerts(turn.store, monitor, changed, turn.now)
    return len(changed)


def _find_missing_alerts(turn: Turn, monitor: MonitorSection, name: str) -> list[Alert]:
    """The alert that a gauge comes no more, or that it comes again."""
    last, wait = turn.store.inbox.find_last_signal(name), monitor.no_data
    if last is None:
        return []
    came, now_utc = datetime.fromtimestamp(last, UTC), datetime.fromtimestamp(turn.now, UTC)
    no_data = build_no_data_alert(name, f"value of {name}", came, now_utc, wait)
    open_alerts = [
        entry.alert
        for entry in turn.store.monitors.list_alerts()
        if entry.alert.asks == no_data.asks and entry.alert.ended_at is None
    ]
    if open_alerts:
        return [
            replace(entry, ended_at=max(came, entry.fired_at))
            for entry in open_alerts
            if entry.alert_id != no_data.alert_id
        ]
    return [no_data] if turn.now - max(last, turn.began or 0.0) >= wait.total_seconds() else []


def _find_changed_alerts(
    turn: Turn, monitor: MonitorSection, gauge_spec: GaugeSpec, gauge_specs: Sequence[GaugeSpec]
) -> list[Alert]:
    own_alerts = [entry.alert for entry in turn.store.monitors.list_alerts() if entry.alert.asks == gauge_spec.asks]
    last = max(own_alerts, key=lambda entry: entry.fired_at, default=None)
    open_alert = last if last is not None and last.ended_at is None else None
    since = 0.0 if last is None else (last.ended_at or last.fired_at).timestamp()
    reach = max(gauge_spec.wait, monitor.cool_down).total_seconds() + HOUR_S
    points = turn.store.inbox.list_signal_points(gauge_spec.signal, turn.now - reach)
    changed_alerts: dict[str, Alert] = {}
    signal_turns = list_signal_turns(gauge_spec, points, monitor.cool_down, since=since, is_open=open_alert is not None)
    for signal_turn in signal_turns:
        if signal_turn.opens:
            open_alert = _build_alert(gauge_spec, signal_turn, len(gauge_specs))
        elif open_alert is not None:
            open_alert = replace(open_alert, ended_at=signal_turn.at)
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

"""A monitor whose configuration may have changed: it takes up what an earlier form of it raised."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ragauge.monitoring.series.monitor_tracker import Alert, TrackerState

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_tracker import MonitorTracker
    from ragauge.monitoring.series.series import Segment
    from ragauge.store.store_access import Store


@dataclass(frozen=True, slots=True)
class Takeover:
    """What a monitor begins with."""

    state: TrackerState  #: where it stands.
    raised: tuple[Alert, ...]  #: alerts that are to be kept: those it raised, and those of earlier forms, ended.
    notified: tuple[Alert, ...]  #: those of them that somebody is told of.


def end_removed_alerts(store: Store, every: Sequence[MonitorTracker], project: str, now: datetime) -> list[Alert]:
    """The open alerts of monitors that a configuration has no more in any form, ended; of its project alone.

    Args:
        store: with the alerts.
        every: the monitors of the configuration.
        project: of the section; "" = that of the project whose traffic came first.
        now: the moment.
    """
    open_ids = {entry.alert.alert_id for entry in store.monitors.list_alerts() if entry.alert.ended_at is None}
    configured = {tracker.name for tracker in every}
    of, orphaned = f" days; {project}" if project else " days", list[Alert]()
    for name in store.monitors.names():
        if name in configured or not name.endswith(of) or any(tracker.is_earlier_form(name) for tracker in every):
            continue
        state = store.monitors.state(name)
        orphaned += [entry for entry in (*state.alerts.values(), *state.silent.values()) if entry.alert_id in open_ids]
    return [replace(entry, ended_at=now) for entry in orphaned]


def take_over_alerts(
    store: Store,
    tracker: MonitorTracker,
    configured: Collection[str],
    state: TrackerState,
    raised: Sequence[Alert],
    now: datetime,
) -> Takeover:
    """What a monitor begins with where a server starts, or where it is new and has gone through all that came before.

    An alert that is open in an earlier form of it, of the same metric and project, goes on as it was where the monitor
    asks the same and is off too; else it ends. What began and ended before a new one was there is kept, and nobody is
    told. One that was put back to what it asked before goes on with its own alerts.

    Args:
        store: with the alerts.
        tracker: the monitor.
        configured: names of the monitors that the configuration has; another is an earlier form.
        state: where it stands after what came before.
        raised: the alerts of that, ended ones a second time.
        now: the moment.
    """
    saved_alerts = {entry.alert.alert_id: entry.alert for entry in store.monitors.list_alerts()}
    open_alerts = {name: alert for name, alert in saved_alerts.items() if alert.ended_at is None}
    names, alerts, silent = store.monitors.names(), dict(state.alerts), dict(state.silent)
    is_new, closed_ids = tracker.name not in names, saved_alerts.keys() - open_alerts.keys()
    past = {entry.alert_id for entry in raised if is_new and entry.ended_at is not None} - open_alerts.keys()
    again = [entry for entry in (*alerts.values(), *silent.values()) if entry.alert_id in closed_ids]
    ended, same = list[Alert](), set[str]()
    for earlier_state in (
        store.monitors.state(name) for name in names if name not in configured and tracker.is_earlier_form(name)
    ):
        for segment, alert in earlier_state.alerts.items():
            open_alert, own_alert = open_alerts.pop(alert.alert_id, None), alerts.get(segment)
            if open_alert is not None and own_alert is not None and own_alert.asks == open_alert.asks:
                same.add(own_alert.alert_id)
                alerts[segment] = open_alert
            elif open_alert is not None and (own_alert is None or own_alert.alert_id != open_alert.alert_id):
                ended.append(replace(open_alert, ended_at=now))
        for segment, alert in earlier_state.silent.items():
            if open_alerts.pop(alert.alert_id, None) is None:
                continue
            if _is_same_silence(tracker, segment, state, earlier_state):
                silent[segment] = alert
            else:
                ended.append(replace(alert, ended_at=now))
    notified = (*(entry for entry in raised if entry.alert_id not in past | same), *ended)
    past_alerts = [entry for entry in raised if entry.alert_id in past]
    return Takeover(replace(state, alerts=alerts, silent=silent), (*past_alerts, *again, *notified), notified)


def _is_same_silence(tracker: MonitorTracker, segment: Segment, state: TrackerState, earlier: TrackerState) -> bool:
    """Whether a segment has been silent since the same score in both."""
    return segment in state.series and tracker.find_last_heard(state, segment) == tracker.find_last_heard(
        earlier, segment
    )

"""A monitor whose configuration may have changed: it takes up what an earlier form of it raised."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ragauge.monitoring.series.monitor_tracker import Alert, WatchState

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_tracker import Watching
    from ragauge.store.store_access import Store


@dataclass(frozen=True, slots=True)
class TakenUp:
    """What a monitor begins with.

    Attributes:
        state: where it stands.
        raised: alerts that are to be kept: those it raised, and those of earlier forms, ended.
        told: those of them that somebody is told of.
    """

    state: WatchState
    raised: tuple[Alert, ...]
    told: tuple[Alert, ...]


def left_behind(store: Store, every: Sequence[Watching], project: str, now: datetime) -> list[Alert]:
    """The open alerts of monitors that a configuration has no more in any form, ended; of its project alone.

    Args:
        store: with the alerts.
        every: the monitors of the configuration.
        project: of the section; "" = that of the project whose traffic came first.
        now: the moment.
    """
    there = {one.alert.alert_id for one in store.monitors.alerts() if one.alert.ended_at is None}
    configured = {by.name for by in every}
    of, found = f" days; {project}" if project else " days", list[Alert]()
    for name in store.monitors.names():
        if name in configured or not name.endswith(of) or any(by.was(name) for by in every):
            continue
        state = store.monitors.state(name)
        found += [one for one in (*state.alerts.values(), *state.silent.values()) if one.alert_id in there]
    return [replace(one, ended_at=now) for one in found]


def taken_up(
    store: Store, by: Watching, configured: Collection[str], state: WatchState, raised: Sequence[Alert], now: datetime
) -> TakenUp:
    """What a monitor begins with where a server starts, or where it is new and has gone through all that came before.

    An alert that is open in an earlier form of it, of the same metric and project, goes on as it was where the monitor
    asks the same and is off too; else it ends. What began and ended before a new one was there is kept, and nobody is
    told. One that was put back to what it asked before goes on with its own alerts.

    Args:
        store: with the alerts.
        by: the monitor.
        configured: names of the monitors that the configuration has; another is an earlier form.
        state: where it stands after what came before.
        raised: the alerts of that, ended ones a second time.
        now: the moment.
    """
    kept = {one.alert.alert_id: one.alert for one in store.monitors.alerts()}
    there = {name: alert for name, alert in kept.items() if alert.ended_at is None}
    names, alerts, silent = store.monitors.names(), dict(state.alerts), dict(state.silent)
    past = set[str]()
    if by.name not in names:
        past = {one.alert_id for one in raised if one.ended_at is not None} - there.keys()
    again = [one for one in (*alerts.values(), *silent.values()) if one.alert_id in kept.keys() - there.keys()]
    ended, same = list[Alert](), set[str]()
    for before in (store.monitors.state(name) for name in names if name not in configured and by.was(name)):
        for segment, alert in before.alerts.items():
            known, mine = there.pop(alert.alert_id, None), alerts.get(segment)
            if known is not None and mine is not None and mine.asks == known.asks:
                same.add(mine.alert_id)
                alerts[segment] = known
            elif known is not None and (mine is None or mine.alert_id != known.alert_id):
                ended.append(replace(known, ended_at=now))
        for segment, alert in before.silent.items():
            if there.pop(alert.alert_id, None) is None:
                continue
            if segment in state.series and by.last_heard(state, segment) == by.last_heard(before, segment):
                silent[segment] = alert
            else:
                ended.append(replace(alert, ended_at=now))
    new = [one for one in raised if one.alert_id not in past | same]
    told = (*new, *ended)
    over = [one for one in raised if one.alert_id in past]
    return TakenUp(replace(state, alerts=alerts, silent=silent), (*over, *again, *told), told)

"""The stages that raise alerts: monitors of metrics, also where their configuration changed, and of gauges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragauge.core.errors import RagaugeError
from ragauge.core.identity import hash_json
from ragauge.engine.request_stream import iter_arrivals, list_traffic_projects
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.monitoring.alerts.notifications import build_deliveries, save_alerts
from ragauge.monitoring.alerts.verb import load_account
from ragauge.monitoring.replay.compute import build_trackers
from ragauge.monitoring.series.alert_details import build_plain_account
from ragauge.monitoring.series.gauge_monitors import SignalTurn, list_signal_turns
from ragauge.monitoring.series.monitor_specs import GaugeSpec
from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED, Alert, TrackerState
from ragauge.monitoring.series.no_data_detection import build_no_data_alert, detect_silence
from ragauge.monitoring.series.series import ALL

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_specs import MonitorSpec, MonitorSpecs
    from ragauge.monitoring.series.monitor_tracker import MonitorTracker
    from ragauge.monitoring.series.series import Segment
    from ragauge.monitoring.worker import StageTurn
    from ragauge.scores.request_stream import Arrival
    from ragauge.store.monitors import Delivery
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


def advance_monitors(
    store: Store,
    monitor: MonitorSection,
    watched: MonitorSpecs,
    now: float,
    check_judge: Callable[[], object] | None = None,
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
        check_judge: checks that the judge did not change, before an alert of what it judged is raised.
        began: since when the server runs, `now` at its first look and once its clock stepped; None = it does not.

    Returns:
        The alerts that were raised or have ended, in order.
    """
    every = build_trackers(monitor, watched, list_traffic_projects(store))
    changed = list(_end_removed(store, monitor, every, now)) if began == now else []
    for tracker in every:
        uses_judge = bool(list_questions([parse_metric(tracker.watch.metric)]))
        if uses_judge and _is_judge_changed(store):  # its scores are taken when the judge is believed again
            continue
        previous_state = store.monitors.state(tracker.name)
        after, raised = _take_scores(store, monitor, tracker, previous_state, now, began)
        tell = raised
        if previous_state.cursor < 0 or began == now:  # it may be another form of one that was there
            new = take_over_alerts(store, tracker, [entry.name for entry in every], after, raised, _to_datetime(now))
            after, raised, tell = new.state, new.raised, new.notified
        if after == previous_state and not raised:
            continue
        needs_judge_check = any(entry.ended_at is None and entry.decide != "no_data" for entry in raised)
        if uses_judge and check_judge is not None and needs_judge_check:
            with suppress(RagaugeError):  # a judge that does not answer tells nothing
                check_judge()
            if _is_judge_changed(store):
                continue
        new_deliveries = _build_deliveries(store, monitor, tracker, tell, now)
        with store.transaction():
            if store.monitors.save_progress(tracker.name, previous_state, after, raised):
                store.monitors.add_deliveries(new_deliveries)
                changed += raised
    return tuple(changed)


def _take_scores(
    store: Store, monitor: MonitorSection, tracker: MonitorTracker, state: TrackerState, now: float, began: float | None
) -> tuple[TrackerState, tuple[Alert, ...]]:
    """Where a monitor stands after the scores that came, with the alerts that it raises, those of missing data too."""
    came = _IncomingRequests(store, tracker.watch, state)
    after, raised = _select_present(store, tracker.after(state, came), came.past)
    if began is None:
        return after, raised
    # what waits to be read or scored is not missing
    moved = after.cursor != state.cursor or came.waits or _has_unread_traces(store, now)
    after, missing = detect_silence(
        tracker, after, _to_datetime(now), _to_datetime(began), monitor.no_data, moved=moved
    )
    return after, raised + missing


class _IncomingRequests:
    """What came since a monitor looked last, as it is taken; whether a score is waited for, numbers of the past."""

    def __init__(self, store: Store, monitor_spec: MonitorSpec, state: TrackerState) -> None:
        self._metric, self.waits, self.past = monitor_spec.metric, False, set[int]()
        self._arrivals = iter_arrivals(store, [monitor_spec.metric], after=state.cursor, project=monitor_spec.project)

    def __iter__(self) -> Iterator[Arrival]:
        for request in self._arrivals:
            score = request.scores.get(self._metric)
            if request.past:
                self.past.add(request.number)
            self.waits = self.waits or (score is not None and score.status == "pending")
            yield request


def _select_present(
    store: Store, came: tuple[TrackerState, tuple[Alert, ...]], past: Collection[int]
) -> tuple[TrackerState, tuple[Alert, ...]]:
    """Without the alerts that fired in the past; one that is still open is raised once the present has begun."""
    after, raised = came
    if not raised and not after.alerts:
        return came
    stored = {entry.alert.alert_id for entry in store.monitors.list_alerts()}
    current_ids = {entry.alert_id for entry in raised if entry.ended_at is None and entry.number not in past}
    open_still = [entry for entry in after.alerts.values() if entry.alert_id not in stored | current_ids]
    current_alerts = (entry for entry in raised if entry.alert_id in stored | current_ids)
    return after, (*current_alerts, *(open_still if after.last is not None else ()))


def _has_unread_traces(store: Store, now: float) -> bool:
    """Whether traces should have been read by now and were not."""
    since = store.inbox.counts().since
    return since is not None and since <= now


def _end_removed(store: Store, monitor: MonitorSection, every: Sequence[MonitorTracker], now: float) -> Sequence[Alert]:
    """Ends the alerts of monitors that the configuration has no more."""
    over = end_removed_alerts(store, every, monitor.project, _to_datetime(now))
    save_alerts(store, monitor, over, now)
    return over


def _is_judge_changed(store: Store) -> bool:
    """Whether it is open that the judge changed, and nobody has said anything of it."""
    return any(
        saved_alert.alert.monitor == JUDGE_CHANGED and saved_alert.alert.ended_at is None and not saved_alert.resolution
        for saved_alert in store.monitors.list_alerts()
    )


def _to_datetime(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _build_deliveries(
    store: Store, monitor: MonitorSection, tracker: MonitorTracker, raised: Sequence[Alert], now: float
) -> list[Delivery]:
    accounts = [
        build_plain_account(alert) if alert.said else load_account(store, alert, tracker.watch) for alert in raised
    ]
    return [delivery for each in accounts for delivery in build_deliveries(store, monitor, each, now)]


HOUR_S = 3600.0
MAX_SOURCE_CHARS = 100  # characters of a source in an alert


def watch_gauges(turn: StageTurn, monitor: MonitorSection, gauge_specs: Sequence[GaugeSpec]) -> int:
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


def _find_missing_alerts(turn: StageTurn, monitor: MonitorSection, name: str) -> list[Alert]:
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
    turn: StageTurn, monitor: MonitorSection, gauge_spec: GaugeSpec, gauge_specs: Sequence[GaugeSpec]
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

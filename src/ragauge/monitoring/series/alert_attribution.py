"""Where the fault of an alert lies, by what the store holds of the requests before and since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from ragauge.core.facts import RelevanceFacts
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.monitoring.canary.compute import CANARY, FIRST_ASKING, find_first_look
from ragauge.monitoring.series.fault_attribution import (
    NO_BLAME,
    UNCLEAR,
    Blame,
    BlamedRequest,
    assign_blame,
    compare_rejudged,
)
from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED

if TYPE_CHECKING:
    from ragauge.monitoring.series.alert_details import AlertRequests
    from ragauge.monitoring.series.monitor_specs import MonitorSpec
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.scores.request_stream import Arrival
    from ragauge.scores.results.scorecard import Cause
    from ragauge.store.store_access import Store

MAX_REQUESTS = 500  # requests of a side that are looked into, the last ones
RELEVANCE_QUESTION = "rate_passages"  # the question whose answer tells less relevant passages
LOOK_INTERVAL = timedelta(days=1)  # between two looks at the judge


def attribute_alert(
    store: Store, alert: Alert, monitor_spec: MonitorSpec, lookback: AlertRequests, causes: Mapping[int, Cause]
) -> Blame:
    """Where the fault of an alert lies.

    Args:
        store: with the runs.
        alert: of a monitor of a metric.
        monitor_spec: its monitor.
        lookback: the requests before and since.
        causes: number of a request that failed -> why.
    """
    metric = parse_metric(monitor_spec.metric)
    needs_judge = bool(list_questions([metric]))
    windows = [window[-MAX_REQUESTS:] for window in lookback]
    relevance = _load_relevance(store, [arrival for window in windows for arrival in window])
    previous, current = (
        [_build_request(arrival, monitor_spec, relevance, causes) for arrival in window] for window in windows
    )
    changed = _find_judge_change(store, alert) if needs_judge else None
    reason = ""
    if changed is not None:
        reason = f"the judge changed at that time (alert {changed.alert_id})"
        judge_shift = compare_rejudged(previous, current, _pair_frozen_scores(store, monitor_spec, changed))
        if judge_shift is not None:
            reason += (
                f"; the frozen responses changed by {judge_shift.judge:+.2f}, the requests by {judge_shift.change:+.2f}"
            )
        if judge_shift is None or not judge_shift.beyond:
            return Blame("judge", reason)
        reason += ", so the judge explains only part of it: "
    if metric.measures == "retrieval":
        return Blame("retrieval", f"{reason}{metric} measures retrieval")
    if metric.measures == "end_to_end" and not needs_judge:  # time, tokens and cost are of all components
        return NO_BLAME
    attributed = assign_blame(previous, current)
    return (
        Blame(attributed.component or "judge", f"{reason}{attributed.why or 'no component stands out'}")
        if reason
        else attributed
    )


def _build_request(
    arrival: Arrival, monitor_spec: MonitorSpec, relevance: Mapping[int, float], causes: Mapping[int, Cause]
) -> BlamedRequest:
    score, cause = arrival.scores[monitor_spec.metric], causes.get(arrival.number)
    failed = "" if cause is None else cause.component or UNCLEAR
    return BlamedRequest(score.weight, monitor_spec.score(score.value or 0.0), failed, relevance.get(arrival.number))


def _find_judge_change(store: Store, alert: Alert) -> Alert | None:
    """The alert that the judge changed, where that was or would be seen by when this one fired; None without one."""
    for stored in store.monitors.list_alerts():
        other = stored.alert
        over = other.ended_at is not None and other.ended_at.date() < alert.since
        if other.monitor == JUDGE_CHANGED and other.fired_at <= alert.fired_at + LOOK_INTERVAL and not over:
            return None if stored.resolution == "false_alarm" else other
    return None


def _pair_frozen_scores(store: Store, monitor_spec: MonitorSpec, changed: Alert) -> list[tuple[float, float]]:
    """What a monitor watches of each frozen response, by the first look and by that which saw the judge change."""
    run = next((entry for entry in store.runs.list() if entry.name == CANARY), None)
    judge_id = None if run is None else next(iter(store.scores.judges(run.run_id)), None)
    if run is None or judge_id is None or changed.number < FIRST_ASKING:
        return []
    looks = []
    earlier = [entry.alert for entry in store.monitors.list_alerts() if entry.alert.number < changed.number]
    for look in (find_first_look(earlier, judge_id), changed.number):
        rows = (
            store.scores.load_frame(run.run_id, judge_id, look)
            .select("query_id", "metric", "status", "value")
            .to_dicts()
        )
        scored = [row for row in rows if row["metric"] == monitor_spec.metric and row["status"] == "scored"]
        looks.append({row["query_id"]: monitor_spec.score(row["value"]) for row in scored})
    return [(value, looks[1][name]) for name, value in looks[0].items() if name in looks[1]]


def _load_relevance(store: Store, requests: Sequence[Arrival]) -> dict[int, float]:
    """Number of a request -> how relevant its first passage is, where a judge rated it."""
    by_run: dict[str, list[int]] = {}
    for entry in requests:
        by_run.setdefault(entry.run_id, []).append(entry.number)
    relevance_by_number: dict[int, float] = {}
    for run_id, numbers in by_run.items():
        judge_id = next(iter(store.scores.judges(run_id)), None)
        if judge_id is None:
            continue
        for number, several in store.evidence.load_linked(numbers, judge_id).items():
            facts = next((entry.evidence().facts for entry in several if entry.question == RELEVANCE_QUESTION), None)
            if isinstance(facts, RelevanceFacts) and facts.ratings and facts.ratings[0].chance is not None:
                relevance_by_number[number] = facts.ratings[0].chance
    return relevance_by_number

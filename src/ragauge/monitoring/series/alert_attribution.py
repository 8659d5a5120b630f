"""Where the fault of an alert lies, by what the store holds of the requests before and since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from ragauge.core.facts import RelevanceFacts
from ragauge.metrics.catalogue import parse, questions
from ragauge.monitoring.canary.compute import CANARY, FRESH, first_look
from ragauge.monitoring.series.fault_attribution import UNCLEAR, UNTOLD, Blame, BlamedRequest, blamed, judged_anew
from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED

if TYPE_CHECKING:
    from ragauge.monitoring.series.alert_details import LookedAt
    from ragauge.monitoring.series.monitor_specs import Watch
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.scores.request_stream import Arrival
    from ragauge.scores.results.scorecard import Cause
    from ragauge.store.store_access import Store

MOST = 500  # requests of a side that are looked into, the last ones
ASKED = "rate_passages"  # the question whose answer tells less relevant passages
LOOK = timedelta(days=1)  # between two looks at the judge


def blame_of(store: Store, alert: Alert, watch: Watch, looked: LookedAt, causes: Mapping[int, Cause]) -> Blame:
    """Where the fault of an alert lies.

    Args:
        store: with the runs.
        alert: of a monitor of a metric.
        watch: its monitor.
        looked: the requests before and since.
        causes: number of a request that failed -> why.
    """
    metric = parse(watch.metric)
    judged = bool(questions([metric]))
    sides = [side[-MOST:] for side in looked]
    relevance = _relevance(store, [one for side in sides for one in side])
    before, now = ([_request(one, watch, relevance, causes) for one in side] for side in sides)
    changed = _judge_changed(store, alert) if judged else None
    told = ""
    if changed is not None:
        told = f"the judge changed at that time (alert {changed.alert_id})"
        anew = judged_anew(before, now, _frozen(store, watch, changed))
        if anew is not None:
            told += f"; frozen responses moved by {anew.judge:+.2f} with it, the requests by {anew.change:+.2f}"
        if anew is None or not anew.beyond:
            return Blame("judge", told)
        told += ", so more is wrong than the judge: "
    if metric.measures == "retrieval":
        return Blame("retrieval", f"{told}{metric} measures it")
    if metric.measures == "end_to_end" and not judged:  # time, tokens and cost are of all components
        return UNTOLD
    found = blamed(before, now)
    return Blame(found.component or "judge", f"{told}{found.why or 'nothing tells where'}") if told else found


def _request(one: Arrival, watch: Watch, relevance: Mapping[int, float], causes: Mapping[int, Cause]) -> BlamedRequest:
    score, cause = one.scores[watch.metric], causes.get(one.number)
    failed = "" if cause is None else cause.component or UNCLEAR
    return BlamedRequest(score.weight, watch.score(score.value or 0.0), failed, relevance.get(one.number))


def _judge_changed(store: Store, alert: Alert) -> Alert | None:
    """The alert that the judge changed, where that was or would be seen by when this one fired; None without one."""
    for one in store.monitors.alerts():
        other = one.alert
        over = other.ended_at is not None and other.ended_at.date() < alert.since
        if other.monitor == JUDGE_CHANGED and other.fired_at <= alert.fired_at + LOOK and not over:
            return None if one.resolution == "false_alarm" else other
    return None


def _frozen(store: Store, watch: Watch, changed: Alert) -> list[tuple[float, float]]:
    """What a monitor watches of each frozen response, by the first look and by that which saw the judge change."""
    run = next((one for one in store.runs.list() if one.name == CANARY), None)
    judge_id = None if run is None else next(iter(store.scores.judges(run.run_id)), None)
    if run is None or judge_id is None or changed.number < FRESH:
        return []
    looks = []
    earlier = [one.alert for one in store.monitors.alerts() if one.alert.number < changed.number]
    for look in (first_look(earlier, judge_id), changed.number):
        rows = store.scores.frame(run.run_id, judge_id, look).select("query_id", "metric", "status", "value").to_dicts()
        scored = [row for row in rows if row["metric"] == watch.metric and row["status"] == "scored"]
        looks.append({row["query_id"]: watch.score(row["value"]) for row in scored})
    return [(value, looks[1][name]) for name, value in looks[0].items() if name in looks[1]]


def _relevance(store: Store, requests: Sequence[Arrival]) -> dict[int, float]:
    """Number of a request -> how relevant its first passage is, where a judge rated it."""
    by_run: dict[str, list[int]] = {}
    for one in requests:
        by_run.setdefault(one.run_id, []).append(one.number)
    found: dict[int, float] = {}
    for run_id, numbers in by_run.items():
        judge_id = next(iter(store.scores.judges(run_id)), None)
        if judge_id is None:
            continue
        for number, several in store.evidence.linked(numbers, judge_id).items():
            facts = next((one.evidence().facts for one in several if one.question == ASKED), None)
            if isinstance(facts, RelevanceFacts) and facts.ratings and facts.ratings[0].chance is not None:
                found[number] = facts.ratings[0].chance
    return found

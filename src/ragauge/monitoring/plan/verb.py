"""Monitor plan: how long a drop takes to be seen, and what its judge costs a day."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName, UsageError
from ragauge.monitoring.options import MonitorPlanOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import Found, PageResult
from ragauge.verbs.sources import know_own_metrics, run_of, store_url

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.core.config.monitor import FalseAlarms
    from ragauge.monitoring.plan.compute import MonitorPlan
    from ragauge.rendering.sections import ReportSection


class MonitorPlanResult(Found, PageResult):
    """What a monitor can see, in every form."""

    _what = "plan of a monitor"
    found: MonitorPlan

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.plan.tables import sections

        return sections(self.found)


@keywords(MonitorPlanOptions)
def monitor_plan(wanted: MonitorPlanOptions) -> MonitorPlanResult:
    """How many days a monitor takes to see drops of 5, 10 and 20 %, and what judging costs a day, by sampling rate.

    Drops are simulated with the run's own scores, or with scores of the mean and deviation that are given.

    Options:
        run: a stored run whose scores are typical: id, name, "latest"; None = mean and deviation are given.
        metric: printed name; it must have been evaluated on the run.
        mean: of the scores, in (0, 1), higher better, where there is no run.
        deviation: their standard deviation.
        requests: a day.
        judge_cost: US dollars for judging one request; None = what it cost in the run.
        max_drop: how much may be lost without an alert, of the mean, such as "3%".
        false_alarms: the chance of even one false alarm in a period, such as "5% per 30d".
        series: how many share it, monitors times segments.
        judge: whose verdicts; None = the last judge's.
        store: URL of the store.

    Raises:
        UnknownName: no such run, metric or judge.
        UsageError: neither a run nor mean and deviation, or a number outside its range.
    """
    from ragauge.monitoring.plan.compute import PlannedMonitor, scores_like
    from ragauge.monitoring.plan.compute import monitor_plan as planned

    promise, drop = _promise(wanted.false_alarms), share_of_mean("max_drop", wanted.max_drop)
    if wanted.run is not None:
        values, cost = _scores(wanted)
    elif wanted.mean is not None and wanted.deviation is not None:
        values, cost = scores_like(wanted.mean, wanted.deviation), None
    else:
        raise UsageError("monitor plan: name a stored run, or give --mean and --deviation, such as 0.9 and 0.2.")
    metric = wanted.metric if wanted.run is not None else ""
    cost = cost if wanted.judge_cost is None else wanted.judge_cost
    return MonitorPlanResult(
        planned(
            values, PlannedMonitor(wanted.requests, drop, promise.chance, promise.days, wanted.series, cost, metric)
        )
    )


def _promise(text: str) -> FalseAlarms:
    from ragauge.core.config.monitor import read_promise

    try:
        return read_promise(text)
    except ValueError as error:
        raise UsageError(f"false_alarms: {error}") from None


def share_of_mean(name: str, text: str) -> float:
    """A loss as an option says it, such as 3%, as a share of the mean.

    Raises:
        UsageError: it is none.
    """
    from ragauge.core.config.gate import read_drop

    try:
        drop = read_drop(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    if drop is None or not drop.relative:
        raise UsageError(f"{name}: expected a share of the mean, such as 3%, got {text!r}.")
    return drop.amount


def _scores(wanted: MonitorPlanOptions) -> tuple[npt.NDArray[np.float64], float | None]:
    """The scores of a run, higher better, and what judging one request cost."""
    from ragauge.evaluation.runs.costs import asked_of
    from ragauge.evaluation.scorecard.cards import judged, measure_command
    from ragauge.metrics.catalogue import parse, questions
    from ragauge.scores.arrays import SCORED, by_example
    from ragauge.store.store_access import open_store
    from ragauge.verbs.columns import StoredColumns

    know_own_metrics(wanted.store or getattr(wanted.run, "url", None))
    metric = parse(wanted.metric)
    if metric.direction == "neither" or metric.range != (0, 1):
        raise UsageError(f"a plan is made for metrics in [0, 1] that have a better side, not for {metric}.")
    with open_store(store_url(wanted.store or getattr(wanted.run, "url", None))) as store:
        run = run_of(wanted.run, store)
        judge_id = judged(store, run, wanted.judge)
        known = store.scores.metrics(run.run_id, judge_id)
        if str(metric) not in known:
            how = f"Evaluate it: {measure_command(store, run, str(metric))}"
            raise UnknownName("metric evaluated on this run", str(metric), known, how)
        numbers = store.scores.evaluated(run.run_id, judge_id, [str(metric)])
        columns = StoredColumns(store, run.run_id, judge_id, store.runs.index(run.run_id, numbers)).column(str(metric))
        asked = set(questions([metric]))
        spent = [one.paid.cost for one in asked_of(store, run.run_id, judge_id or "") if one.question in asked]
    examples = None if columns is None else by_example(columns)
    if examples is None:
        raise UsageError(f"{run.name} has no scores of {metric}.")
    values = examples.value[examples.status == SCORED]
    return (1 - values if metric.direction == "lower" else values), sum(spent) / max(1, len(numbers))

"""Monitor plan: how long a drop takes to be seen, and what its judge costs a day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.messages import format_count, format_value
from ragauge.monitoring.options import MonitorPlanOptions
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, TableCell
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import PageResult, ValueResult
from ragauge.verbs.sources import find_run, load_store_metrics, resolve_store_url

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.core.config.monitor import FalseAlarmBudget
    from ragauge.monitoring.plan.compute import MonitorPlan, PlannedDelay


class MonitorPlanResult(ValueResult, PageResult):
    """What a monitor can see, in every form."""

    _what = "monitor plan"
    data: MonitorPlan

    def _build_sections(self) -> Iterable[ReportSection]:
        return build_sections(self.data)


@expand_options(MonitorPlanOptions)
def monitor_plan(options: MonitorPlanOptions) -> MonitorPlanResult:
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
    from ragauge.monitoring.plan.compute import PlannedMonitor, generate_scores
    from ragauge.monitoring.plan.compute import monitor_plan as planned

    budget, drop = _parse_budget(options.false_alarms), parse_share_of_mean("max_drop", options.max_drop)
    if options.run is not None:
        values, cost = _load_scores(options)
    elif options.mean is not None and options.deviation is not None:
        values, cost = generate_scores(options.mean, options.deviation), None
    else:
        raise UsageError("monitor plan: name a stored run, or give --mean and --deviation, such as 0.9 and 0.2.")
    metric = options.metric if options.run is not None else ""
    cost = cost if options.judge_cost is None else options.judge_cost
    return MonitorPlanResult(
        planned(
            values, PlannedMonitor(options.requests, drop, budget.chance, budget.days, options.series, cost, metric)
        )
    )


def _parse_budget(text: str) -> FalseAlarmBudget:
    from ragauge.core.config.monitor import parse_false_alarm_budget

    try:
        return parse_false_alarm_budget(text)
    except ValueError as error:
        raise UsageError(f"false_alarms: {error}") from None


def parse_share_of_mean(name: str, text: str) -> float:
    """A loss as an option says it, such as 3%, as a share of the mean.

    Raises:
        UsageError: it is none.
    """
    from ragauge.core.config.gate import parse_drop

    try:
        drop = parse_drop(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    if drop is None or not drop.relative:
        raise UsageError(f"{name}: expected a share of the mean, such as 3%, got {text!r}.")
    return drop.amount


def _load_scores(options: MonitorPlanOptions) -> tuple[npt.NDArray[np.float64], float | None]:
    """The scores of a run, higher better, and what judging one request cost."""
    from ragauge.evaluation.runs.costs import list_question_costs
    from ragauge.evaluation.scorecard.cards import build_measure_command, resolve_scored_judge
    from ragauge.metrics.catalogue import list_questions, parse_metric
    from ragauge.scores.arrays import SCORED, merge_repeats
    from ragauge.store.store_access import open_store
    from ragauge.verbs.columns import StoredColumns

    load_store_metrics(options.store or getattr(options.run, "url", None))
    metric = parse_metric(options.metric)
    if metric.direction == "neither" or metric.range != (0, 1):
        raise UsageError(f"a plan needs a metric in [0, 1] that is better when higher or lower, got {metric}.")
    with open_store(resolve_store_url(options.store or getattr(options.run, "url", None))) as store:
        run = find_run(options.run, store)
        judge_id = resolve_scored_judge(store, run, options.judge)
        valid_names = store.scores.metrics(run.run_id, judge_id)
        if str(metric) not in valid_names:
            how = f"Evaluate it: {build_measure_command(store, run, str(metric))}"
            raise UnknownName("metric evaluated on this run", str(metric), valid_names, how)
        numbers = store.scores.evaluated(run.run_id, judge_id, [str(metric)])
        columns = StoredColumns(store, run.run_id, judge_id, store.runs.index(run.run_id, numbers)).column(str(metric))
        judge_questions = set(list_questions([metric]))
        spent = [
            call.paid.cost
            for call in list_question_costs(store, run.run_id, judge_id or "")
            if call.question in judge_questions
        ]
    examples = None if columns is None else merge_repeats(columns)
    if examples is None:
        raise UsageError(f"{run.name} has no scores of {metric}.")
    values = examples.value[examples.status == SCORED]
    return (1 - values if metric.direction == "lower" else values), sum(spent) / max(1, len(numbers))


SIMULATED_PERIODS = 2  # that were simulated


def build_sections(plan: MonitorPlan) -> Iterator[ReportSection]:
    """Days to see a drop, and dollars a day, by the share of requests that is judged."""
    drops = plan.rates[0].delays
    headers = (
        ReportColumn("judged", "number"),
        ReportColumn("scores per day", "number"),
        ReportColumn("$ per day", "number"),
        ReportColumn("baseline after", "number"),
        *(ReportColumn(f"drop of {entry.drop:.0%}", "number", whole=True) for entry in drops),
    )
    longest = f"> {SIMULATED_PERIODS * plan.days} d"
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (
            f"{entry.rate:.0%}",
            f"{entry.scores:,.0f}",
            "?" if entry.cost is None else f"{entry.cost:,.2f}",
            f"{entry.baseline:,} d",
            *(_format_delay(delay, longest) for delay in entry.delays),
        )
        for entry in plan.rates
    )
    what = (
        f"{plan.metric}: mean {format_value(plan.mean)}"
        if plan.metric
        else f"Scores with a mean of {format_value(plan.mean)}"
    )
    yield ReportSection(
        "Monitor plan",
        f"{plan.requests:,} requests per day",
        (
            f"{what}, standard deviation {format_value(plan.deviation)}. The monitor alerts when the mean "
            f"drops by more than {100 * plan.max_drop:g} %.",
            f"At most {100 * plan.false_alarms:g} % of {plan.days}-day periods have any false alarm, across "
            f"{format_count(plan.series, 'series', 'series')}.",
        ),
        ReportTable(headers, rows),
        notes=(
            "Drops: time until half of such drops have raised an alert, and until 80 % have. In the simulation, a "
            "share of the requests scores 0 from some time on.",
            "Baseline after: days until the baseline is known. Nothing alerts before that.",
            "Metrics without a judge are measured on every request: see the last row.",
        ),
    )


def _format_delay(delay: PlannedDelay, longest: str) -> Phrase:
    median, most_time = (longest if days is None else _format_time(days) for days in (delay.median, delay.most))
    text = median if median == most_time else f"{median}, {most_time}"
    return Phrase(text, "faint" if delay.median is None else "")


def _format_time(days: float) -> str:
    if days >= 10:
        return f"{days:.0f} d"
    if days >= 1:
        return f"{days:.1f} d"
    return f"{days * 24:.0f} h" if days * 24 >= 1 else "< 1 h"

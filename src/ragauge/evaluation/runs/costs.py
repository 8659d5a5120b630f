"""What judging a run took, from what is stored.

What judging a run has cost, from what is stored.

What the responses of a stored run are, before anything is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command
from ragauge.core.response import Run
from ragauge.scores.judge_usage import ExampleCost, JudgeCost, JudgeUseGatherer, RunCost, compute_metric_costs
from ragauge.scores.results.judge_usage import AskedOf, JudgeSpread, JudgeUse

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.evaluation.overview.run_counts import RunCounts
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.gather import ClaimProfile
    from ragauge.scores.results.scorecard import JudgeNote
    from ragauge.stats.judge_error import JudgeMeanError
    from ragauge.store.store_access import Store


def list_question_costs(store: Store, run_id: str, judge_id: str) -> tuple[AskedOf, ...]:
    """What a judge's questions about a run have cost, in the order of asking."""
    from ragauge.metrics.catalogue import QUESTIONS

    spent = store.calls.spent(run_id, judge_id)
    order = {question: n for n, question in enumerate(QUESTIONS)}
    costs = [AskedOf(call.question, str(call.model), call.paid) for call in spent]
    return tuple(sorted(costs, key=lambda question: (order.get(question.question, len(order)), question.model)))


def build_judge_use(
    store: Store,
    run: Run,
    judge_id: str | None,
    gathered: JudgeUseGatherer,
    metrics: Sequence[Metric],
    index: ResponseIndex,
) -> JudgeUse | None:
    """What judging took; None where nobody was asked."""
    if judge_id is None:
        return None
    repeats = store.judges.list_repeats(run.run_id, judge_id)
    return gathered.found(
        list_question_costs(store, run.run_id, judge_id),
        compute_spreads(store, run.run_id, judge_id, metrics, index, repeats) if len(repeats) > 1 else (),
        sum(_count_replies(store, judge_id, repeat, index) for repeat in repeats if repeat),
    )


def _count_replies(store: Store, judge_id: str, repeat: int, index: ResponseIndex) -> int:
    """How many replies the verdicts of one asking rest on."""
    from ragauge.verbs.columns import BATCH_SIZE_RESPONSES

    count = 0
    for start in range(0, len(index), BATCH_SIZE_RESPONSES):
        numbers = index.number[start : start + BATCH_SIZE_RESPONSES].tolist()
        for several in store.evidence.load_linked(numbers, judge_id, repeat).values():
            count += sum(evidence.n_replies for evidence in several)
    return count


def compute_spreads(
    store: Store, run_id: str, judge_id: str, metrics: Sequence[Metric], index: ResponseIndex, repeats: Sequence[int]
) -> tuple[JudgeSpread, ...]:
    """How far the metrics' means lie apart between the askings of a judge."""
    from ragauge.metrics.catalogue import list_questions
    from ragauge.scores.agreement import measure_spread
    from ragauge.verbs.columns import StoredColumns

    repeat_columns = [StoredColumns(store, run_id, judge_id, index, repeat) for repeat in repeats]
    of_metrics = []
    for metric in metrics:
        columns = [columns.column(str(metric)) for columns in repeat_columns] if list_questions([metric]) else []
        scored = [column for column in columns if column is not None]
        if len(scored) > 1:
            of_metrics.append(measure_spread(metric, scored))
    return tuple(of_metrics)


def load_judge_note(
    store: Store,
    run: Run,
    judge_id: str | None,
    claims: ClaimProfile,
    use: JudgeUse | None,
    errors: Mapping[str, JudgeMeanError],
) -> JudgeNote:
    """What a report says about the judge of a run, which errs so far on it."""
    from dataclasses import replace
    from statistics import fmean

    from ragauge.engine.judges import JudgeProgress, build_judge_note
    from ragauge.scores.results.scorecard import ScaleSummary

    if judge_id is None:
        return build_judge_note(None)
    versions = store.evidence.list_versions(run.run_id, judge_id)
    judge_note = build_judge_note(
        judge_id, claims, JudgeProgress(store.judges.find_spec(judge_id) or "", versions, use, errors)
    )
    controls = store.controls.read(run.run_id, judge_id)
    if controls is None:
        return judge_note
    scales = tuple(
        ScaleSummary(
            *key,
            scale.is_readable,
            fmean(scale.yes),
            fmean(scale.no),
            scale.auroc,
            scale.gap,
            len(scale.yes),
            len(scale.no),
            scale.shipped,
        )
        for key, scale in sorted(controls.scales.items())
    )
    return replace(judge_note, controls=controls.known_no, scales=scales)


def compute_run_cost(store: Store, run: Run) -> RunCost:
    """Calls, tokens and cost of a run by judge, model, question, metric and example."""
    judges = tuple(_compute_judge_cost(store, run, judge) for judge in store.scores.judges(run.run_id))
    judge_ids = {judge.judge_id for judge in judges}
    others: dict[str, list[AskedOf]] = {}  # of judges that were stopped before they had scored anything
    for call in store.calls.spent(run.run_id):
        if call.judge_id not in judge_ids:
            others.setdefault(call.judge_id, []).append(AskedOf(call.question, str(call.model), call.paid))
    paid = store.calls.sum_by_response(run.run_id)
    examples = [ExampleCost(query_id, repeat, spent) for (query_id, repeat), spent in paid.items()]
    examples.sort(key=lambda example: (-example.paid.cost, -example.paid.input_tokens - example.paid.output_tokens))
    stopped = tuple(JudgeCost(judge_id, tuple(costs), ()) for judge_id, costs in others.items())
    return RunCost(run, (*judges, *stopped), tuple(examples))


def _compute_judge_cost(store: Store, run: Run, judge_id: str) -> JudgeCost:
    from ragauge.metrics.catalogue import list_questions, parse_metric

    costs = list_question_costs(store, run.run_id, judge_id)
    needs = {name: list_questions([parse_metric(name)]) for name in store.scores.metrics(run.run_id, judge_id)}
    return JudgeCost(
        judge_id, costs, compute_metric_costs({name: needed for name, needed in needs.items() if needed}, costs)
    )


def count_responses(store: Store, run_id: str) -> RunCounts:
    """What the responses of a run are."""
    from ragauge.evaluation.overview.run_counts import CountsGatherer
    from ragauge.evaluation.overview.timings import SpendingGatherer, TimingGatherer
    from ragauge.scores.gather import run_gatherers
    from ragauge.verbs.columns import iter_visits

    index = store.runs.index(run_id, store.runs.load_order(run_id).numbers)
    counts, timings, spending = CountsGatherer(), TimingGatherer(), SpendingGatherer()
    run_gatherers(iter_visits(store, None, index), (counts, timings, spending))
    return counts.counts(timings.timings(index), spending.spending())


def describe_all_failed(store: Store, run: Run) -> str:
    """Where every call of a run failed: that, its error, and where to look; "" where one was answered."""
    counts = count_responses(store, run.run_id)
    if not counts.all_failed:
        return ""
    return f"{counts.all_failed} See also: {format_command('show', run.name)}"

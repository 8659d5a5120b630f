"""The scorecard of a run, and what is said where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError
from ragauge.core.messages import format_command
from ragauge.core.response import Run
from ragauge.evaluation.runs.costs import describe_all_failed
from ragauge.evaluation.scorecard.completeness import CardScope
from ragauge.verbs.columns import list_card_metrics
from ragauge.verbs.judge_lookup import resolve_judge_id

if TYPE_CHECKING:
    from ragauge.evaluation.scorecard.result import Scorecard
    from ragauge.metrics.base import Metric
    from ragauge.store.store_access import Store


def load_card(store: Store, run: Run, judge: str | None, baseline: Run | None = None) -> Scorecard:
    """The scorecard of everything that was computed for a run by one judge.

    Raises:
        UsageError: the run has not been evaluated, or its baseline otherwise.
        UnknownName: no judge of this run has such an id.
    """
    from ragauge.evaluation.scorecard.card_parts import PartCache
    from ragauge.metrics.catalogue import parse_metric

    cached = PartCache(store, run, resolve_judge(store, run, judge), baseline).read_card()
    if cached is not None:
        return cached
    judge_id = resolve_scored_judge(store, run, judge)
    metrics = [parse_metric(name) for name in list_card_metrics(store, run.run_id, judge_id)]
    return build_card(store, run, metrics, judge_id, baseline=baseline)


def build_card(
    store: Store,
    run: Run,
    metrics: Sequence[Metric],
    judge_id: str | None,
    scope: CardScope | None = None,
    baseline: Run | None = None,
) -> Scorecard:
    """The scorecard of some metrics, as `CardBuilder` puts it together."""
    from ragauge.evaluation.scorecard.card_builder import CardBuilder

    return CardBuilder(store, run, metrics, judge_id, scope or CardScope(), baseline).build_card()


def resolve_scored_judge(store: Store, run: Run, judge: str | None) -> str | None:
    """The judge that is meant by its spec, its id or how that begins, or the last one; None = nobody judged.

    Raises:
        UnknownName: no judge of this run has such an id.
        UsageError: the run has not been evaluated.
    """
    judge_id = resolve_judge(store, run, judge)
    if not store.scores.has_any(run.run_id, judge_id):
        if problem := describe_all_failed(store, run):
            raise UsageError(f"run {run.name} has not been evaluated, and there is nothing to evaluate: {problem}")
        if under_way := describe_progress(store, run):
            raise UsageError(f"run {run.name} has no scores yet: {under_way}")
        if run.state != "finished" and run.done < run.planned:
            raise UsageError(
                f"run {run.name} has not been evaluated: {run.done:,} of {run.planned:,} questions are answered. "
                "Run the same `ragauge run` command to ask the remaining questions; then: "
                + format_command("evaluate", store.runs.word(run))
            )
        how = format_command("evaluate", store.runs.word(run))
        raise UsageError(f"run {run.name} has not been evaluated. Evaluate it with: {how}")
    return judge_id


def describe_progress(store: Store, run: Run) -> str:
    """How far a run is whose questions are asked, or that is evaluated, at this moment; "" where nothing is under way.

    As long as something is, nobody is advised to evaluate: it happens, or the answers are not there yet.
    """
    from ragauge.store.run_list import compute_stale_time

    if run.state == "running" and run.heartbeat >= compute_stale_time():
        return f"it is in flight, with {run.done:,} of {run.planned:,} questions answered. Wait until it has finished."
    moved = store.evaluations.read(run.run_id)
    if moved is None or moved.done >= moved.planned or moved.heartbeat < compute_stale_time():
        return ""
    return f"it is being evaluated, {moved.done:,} of {moved.planned:,} responses so far. Wait until it has finished."


def build_measure_command(store: Store, run: Run, metric: str) -> str:
    """The command that measures a metric on a run."""
    from ragauge.metrics.catalogue import format_typed_name, parse_metric
    from ragauge.metrics.own_class import ColumnMetric

    parsed = parse_metric(metric)
    if isinstance(parsed, ColumnMetric):
        return format_command("evaluate", "FILE", "--scores", parsed.declared.more["column"])
    return format_command("evaluate", store.runs.word(run), "-m", format_typed_name(parsed))


def build_unmeasured_error(store: Store, run: Run, metric: str, judge_id: str | None) -> UsageError:
    """That a run has no scores of a metric by this judge, with the command that measures it."""
    judge = f" by {judge_id}" if judge_id else ""
    if under_way := describe_progress(store, run):
        return UsageError(f"{metric} has no scores in {run.name}{judge} yet: {under_way}")
    again = build_measure_command(store, run, metric)
    return UsageError(f"{metric} was not measured in {run.name}{judge}. Measure it with: {again}")


def resolve_judge(store: Store, run: Run, judge: str | None) -> str | None:
    """The judge that is meant by its spec, its id or how that begins, or the last one; None = nobody judged.

    Raises:
        UnknownName: no judge of this run is meant.
        UsageError: several may be meant.
    """
    judges = store.scores.judges(run.run_id)
    if judge is None:
        return judges[0] if judges else None
    nobody = f"It has not been judged. Judge it with: {format_command('evaluate', run.name, '--judge', str(judge))}"
    return resolve_judge_id(store, judge, judges, "this run", nobody)

"""Thresholds: which level of a metric serves, or what the baseline reaches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.baseline import find_baseline_run
from ragauge.comparison.baselines.verb import DEFAULT_BASELINE, find_default_name, resolve_baseline
from ragauge.core.errors import UnknownName, UsageError
from ragauge.verbs.columns import StoredColumns, iter_visits
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.options import ThresholdsOptions
from ragauge.verbs.result_base import ValueResult
from ragauge.verbs.sources import find_run, load_store_metrics

if TYPE_CHECKING:
    from ragauge.core.outcomes import OutcomeValue
    from ragauge.core.response import Run
    from ragauge.evaluation.thresholds.compute import Thresholds
    from ragauge.metrics.base import Metric
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.arrays import Columns, ResponseIndex
    from ragauge.store.store_access import Store


class ThresholdsResult(ValueResult):
    """Which level of a metric serves, in every form."""

    data: Thresholds

    @property
    def verdict(self) -> str:
        """serves, none does, not enough data; "" where no outcome is recorded."""
        return self.data.by_outcome.verdict if self.data.by_outcome is not None else ""

    @property
    def level(self) -> float | None:
        """The score from which on answers turn out well often enough; None where there is none."""
        return self.data.by_outcome.level if self.data.by_outcome is not None else None

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.evaluation.thresholds.tables import build_sections

        return build_sections(self.data)


@expand_options(ThresholdsOptions)
def thresholds(options: ThresholdsOptions) -> ThresholdsResult:
    """From which level of a metric on answers turn out well often enough; without outcomes, what the run reaches.

    Where responses carry an outcome (solved, thumbs, click), the share that turned out well by level of the metric,
    and the lowest level from which its interval reaches the target. Otherwise the run's own distribution: a
    description, not a target.

    Options:
        metric: printed name; it must have been evaluated.
        run: an evaluated run: id, name, a baseline's name, or what stands for one. None = the baseline of this git
            branch, else main, else the latest run.
        target: the wanted share of good outcomes.
        outcome: which one, such as solved; the one recorded most often by default.
        good: which of its values are good, such as ">=4" or "up,love", where they do not say so themselves.
        judge: whose verdicts; None = the last judge's.
        store: URL of the store.

    Raises:
        UnknownName: no such metric, run, outcome or judge.
        UsageError: the metric was not evaluated, or values of an outcome that need to be explained.
    """
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.store.store_access import open_store

    url = load_store_metrics(options.store or getattr(options.run, "url", None))
    metric = parse_metric(options.metric)
    if not 0 < options.target < 1:
        raise UsageError(f"target must lie between 0 and 1, got {options.target:g}. Write 0.8 for 80 %.")
    with open_store(url) as opened_store:
        run = find_baseline_run(options.run, opened_store) or _find_default_run(opened_store)
        return ThresholdsResult(_build_thresholds(opened_store, run, metric, options))


def _find_default_run(store: Store) -> Run:
    """The baseline of this branch, else main, else the latest run."""
    try:
        names = dict.fromkeys((find_default_name(), DEFAULT_BASELINE))
    except UsageError:  # a checkout without a branch
        names = {DEFAULT_BASELINE: None}
    baseline = next((run_id for name in names if (run_id := resolve_baseline(name, store)) is not None), None)
    return find_run(baseline or "latest", store)


def _build_thresholds(store: Store, run: Run, metric: Metric, options: ThresholdsOptions) -> Thresholds:
    from ragauge.engine.judge_error import find_judge_errors
    from ragauge.evaluation.scorecard.cards import build_measure_command, resolve_scored_judge
    from ragauge.evaluation.thresholds.compute import Thresholds, compute_reached
    from ragauge.scores.arrays import SCORED, merge_repeats
    from ragauge.scores.indicators import find_starting_point
    from ragauge.scores.summarize import summarize_metric

    judge_id = resolve_scored_judge(store, run, options.judge)
    valid_names = store.scores.metrics(run.run_id, judge_id)
    if str(metric) not in valid_names:
        how = f"Evaluate it: {build_measure_command(store, run, str(metric))}"
        raise UnknownName("metric evaluated on this run", str(metric), valid_names, how)
    index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, [str(metric)]))
    columns = StoredColumns(store, run.run_id, judge_id, index).column(str(metric))
    examples = None if columns is None else merge_repeats(columns)
    mean = summarize_metric(metric, examples, error=find_judge_errors(judge_id, store, (run.run_id,)).get(str(metric)))
    values = None if examples is None else examples.value[examples.status == SCORED]
    name, others, good, without, outcome = _build_outcome(store, index, columns, metric, options)
    return Thresholds(
        run.name,
        run.run_id,
        str(metric),
        metric.direction,
        metric.scale,
        judge_id or "",
        mean.scored,
        mean.mean,
        mean.interval,
        () if values is None else compute_reached(values, metric.direction),
        name,
        good,
        others,
        without,
        outcome,
        mean.judged,
        find_starting_point(str(metric)),
    )


def _build_outcome(
    store: Store, index: ResponseIndex, columns: Columns | None, metric: Metric, options: ThresholdsOptions
) -> tuple[str, tuple[str, ...], str, int, Any]:
    """Which outcome, the others, what is good, scored responses without it, and the shares by level."""
    import numpy as np

    from ragauge.core.outcomes import choose_outcome, mark_values
    from ragauge.evaluation.thresholds.compute import compute_by_outcome
    from ragauge.scores.arrays import SCORED

    recorded = _load_outcomes(store, index)
    name, others = choose_outcome(recorded, options.outcome)
    if not name or columns is None:
        return "", (), "", 0, None
    if metric.direction == "neither":
        raise UsageError(f"{metric} has no better direction, so it cannot have a threshold.")
    values: list[OutcomeValue | None] = [outcomes.get(name) for outcomes in recorded]
    good_at, good = mark_values(values, name, options.good)
    scored = columns.take(np.flatnonzero(columns.status == SCORED))
    has = np.asarray([good_at[index] is not None for index in scored.place], dtype=bool)
    selected = scored.take(np.flatnonzero(has))
    clusters = selected.cluster if selected.cluster is not None else selected.query if index.repeated else None
    outcome = compute_by_outcome(
        selected.value,
        [bool(good_at[index]) for index in selected.place],
        metric.direction,
        target=options.target,
        weights=selected.weight,
        clusters=clusters,
    )
    return name, others, good, int((~has).sum()), outcome


def _load_outcomes(store: Store, index: ResponseIndex) -> list[dict[str, OutcomeValue]]:
    """The outcomes of every response, in the order of the index."""
    return [dict(visit.response.outcome) for visit in iter_visits(store, None, index)]

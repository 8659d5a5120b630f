"""Thresholds: which level of a metric serves, or what the baseline reaches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.baseline import baseline_run
from ragauge.comparison.baselines.verb import USUAL, resolve, usual_name
from ragauge.core.errors import UnknownName, UsageError
from ragauge.verbs.columns import StoredColumns, visits
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.options import ThresholdsOptions
from ragauge.verbs.result_base import Found
from ragauge.verbs.sources import know_own_metrics, run_of

if TYPE_CHECKING:
    from ragauge.core.outcomes import Value
    from ragauge.core.response import Run
    from ragauge.evaluation.thresholds.compute import Thresholds
    from ragauge.metrics.base import Metric
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.arrays import Columns, ResponseIndex
    from ragauge.store.store_access import Store


class ThresholdsResult(Found):
    """Which level of a metric serves, in every form."""

    found: Thresholds

    @property
    def verdict(self) -> str:
        """serves, none does, not enough data; "" where no outcome is recorded."""
        return self.found.by_outcome.verdict if self.found.by_outcome is not None else ""

    @property
    def level(self) -> float | None:
        """The score from which on answers turn out well often enough; None where there is none."""
        return self.found.by_outcome.level if self.found.by_outcome is not None else None

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.evaluation.thresholds.tables import sections

        return sections(self.found)


@keywords(ThresholdsOptions)
def thresholds(wanted: ThresholdsOptions) -> ThresholdsResult:
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
    from ragauge.metrics.catalogue import parse
    from ragauge.store.store_access import open_store

    url = know_own_metrics(wanted.store or getattr(wanted.run, "url", None))
    metric = parse(wanted.metric)
    if not 0 < wanted.target < 1:
        raise UsageError(f"target must lie between 0 and 1, got {wanted.target:g}. Write 0.8 for 80 %.")
    with open_store(url) as opened:
        run = baseline_run(wanted.run, opened) or _usual_run(opened)
        return ThresholdsResult(_read(opened, run, metric, wanted))


def _usual_run(store: Store) -> Run:
    """The baseline of this branch, else main, else the latest run."""
    try:
        names = dict.fromkeys((usual_name(), USUAL))
    except UsageError:  # a checkout without a branch
        names = {USUAL: None}
    baseline = next((run_id for name in names if (run_id := resolve(name, store)) is not None), None)
    return run_of(baseline or "latest", store)


def _read(store: Store, run: Run, metric: Metric, wanted: ThresholdsOptions) -> Thresholds:
    from ragauge.engine.judge_error import judge_errors
    from ragauge.evaluation.scorecard.cards import judged, measure_command
    from ragauge.evaluation.thresholds.compute import Thresholds, reached
    from ragauge.scores.arrays import SCORED, by_example
    from ragauge.scores.indicators import point_of
    from ragauge.scores.summarize import summary

    judge_id = judged(store, run, wanted.judge)
    known = store.scores.metrics(run.run_id, judge_id)
    if str(metric) not in known:
        how = f"Evaluate it: {measure_command(store, run, str(metric))}"
        raise UnknownName("metric evaluated on this run", str(metric), known, how)
    index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, [str(metric)]))
    columns = StoredColumns(store, run.run_id, judge_id, index).column(str(metric))
    examples = None if columns is None else by_example(columns)
    mean = summary(metric, examples, error=judge_errors(judge_id, store, (run.run_id,)).get(str(metric)))
    values = None if examples is None else examples.value[examples.status == SCORED]
    name, others, good, without, outcome = _outcome(store, index, columns, metric, wanted)
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
        () if values is None else reached(values, metric.direction),
        name,
        good,
        others,
        without,
        outcome,
        mean.judged,
        point_of(str(metric)),
    )


def _outcome(
    store: Store, index: ResponseIndex, columns: Columns | None, metric: Metric, wanted: ThresholdsOptions
) -> tuple[str, tuple[str, ...], str, int, Any]:
    """Which outcome, the others, what is good, scored responses without it, and the shares by level."""
    import numpy as np

    from ragauge.core.outcomes import chosen, marks
    from ragauge.evaluation.thresholds.compute import by_outcome
    from ragauge.scores.arrays import SCORED

    recorded = _recorded(store, index)
    name, others = chosen(recorded, wanted.outcome)
    if not name or columns is None:
        return "", (), "", 0, None
    if metric.direction == "neither":
        raise UsageError(f"of {metric} neither high nor low is better, so no level of it can serve.")
    values: list[Value | None] = [outcomes.get(name) for outcomes in recorded]
    good_at, good = marks(values, name, wanted.good)
    scored = columns.take(np.flatnonzero(columns.status == SCORED))
    has = np.asarray([good_at[index] is not None for index in scored.place], dtype=bool)
    kept = scored.take(np.flatnonzero(has))
    clusters = kept.cluster if kept.cluster is not None else kept.query if index.repeated else None
    outcome = by_outcome(
        kept.value,
        [bool(good_at[index]) for index in kept.place],
        metric.direction,
        target=wanted.target,
        weights=kept.weight,
        clusters=clusters,
    )
    return name, others, good, int((~has).sum()), outcome


def _recorded(store: Store, index: ResponseIndex) -> list[dict[str, Value]]:
    """The outcomes of every response, in the order of the index."""
    return [dict(visit.response.outcome) for visit in visits(store, None, index)]

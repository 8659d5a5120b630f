"""One run held against a baseline, metric by metric, over all examples that both have.

One metric in two runs: means, difference, interval, test, effect, and how many examples won and lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING

from ragauge.comparison.comparability import FAILED_CALLS_NAME, FailedResponse
from ragauge.comparison.correction import MIN_SEEN, decide_verdict
from ragauge.comparison.pairs import Join, Pairs, drop_failed_calls, pair_scores
from ragauge.comparison.regressions import Regressions
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import FAILED, SCORED, Columns, ResponseIndex
from ragauge.scores.estimation import (
    ScoreSample,
    compute_difference_interval,
    compute_judged_difference,
    compute_quantile_interval,
    compute_quantiles,
    correct_mean,
    find_detectable_difference,
    run_difference_test,
)
from ragauge.scores.results.comparison import (
    SAME,
    UNKNOWN,
    WORSE,
    AmountChange,
    ChangeEffect,
    ExampleDelta,
    Failures,
    MetricChange,
)
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.summarize import NO_ERRORS, select_failures
from ragauge.stats.effects import cohens_h, standardized_difference
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.ppi_mean import LabelCorrectedMean
from ragauge.stats.sign_flips import compute_parts
from ragauge.stats.weighted import HypothesisTest, Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    import polars as pl

QUANTILES = (0.5, 0.95)
EQUAL_WITHIN = 1e-12  # differences below are none
MIN_P, N_HALVINGS = 1e-6, 20  # of p by intervals: the least, and steps that find it to one in 75,000


def compute_change(
    pairs: Pairs,
    level: float,
    moved: tuple[ExampleDelta, ...] = (),
    *,
    sized: bool = False,
    error: JudgeMeanError | None = None,
) -> MetricChange:
    """The change over some pairs. Without a pair it has no mean; with one, no interval: never a width of 0.

    Args:
        pairs: of one metric.
        level: of the interval.
        moved: the examples that got worse.
        sized: whether to say the size of the effect, and of what could have been seen, too.
        error: how far the judge errs on this metric; None = nobody judged, or not known.
    """
    import numpy as np

    metric, failed = pairs.metric, int(pairs.failed.query.size)
    if not len(pairs):
        return _build_change(metric, (None, None), MeanEstimate(None, None, 0), None, failed, UNKNOWN)
    samples = ScoreSample.from_pairs(metric, pairs.new, pairs.base, pairs.weight, pairs.cluster)
    interval = compute_difference_interval(*samples, level)
    new, base = pairs.means()
    d = pairs.new - pairs.base
    judged = compute_judged_difference(interval, new - base, error, float(np.mean(np.abs(d) > EQUAL_WITHIN)))
    estimate = MeanEstimate(new - base, interval, len(pairs), judged)
    parts = compute_parts(d, pairs.weight, pairs.cluster)[0]
    verdict = decide_verdict(metric.direction, estimate, pairs.compute_sum_bounds(), parts.size)
    if parts.size >= MIN_SEEN and not d.any():  # of amounts, that have no bounds, no interval says so
        verdict = SAME
    test = None if interval is None else run_difference_test(*samples)
    if (people := correct_change(pairs, level)) is not None:  # what people say goes before what a judge says
        verdict = _decide_by_labels(pairs, people, new - base)
        p = _find_p_value(lambda tested_level: correct_change(pairs, tested_level))
        test = HypothesisTest(p, people.interval.method, people.mean, people.n)
    wins, ties, losses = _count_outcomes(metric, d)
    decides = estimate.widest_interval if people is None else people.interval
    return replace(
        _add_label_means(_build_change(metric, (base, new), estimate, test, failed, verdict), pairs, people, level),
        effect=_compute_effect(pairs, d, level) if sized else None,
        detectable=_compute_detectable(samples, level, interval, decides) if sized else None,
        wins=wins,
        ties=ties,
        losses=losses,
        moved=moved,
        differing=int((np.abs(parts) > EQUAL_WITHIN).sum()) if people is None else None,
        rectified=people,
    )


def _decide_by_labels(pairs: Pairs, people: LabelCorrectedMean, judge_difference: float) -> str:
    """The verdict of the label-corrected difference; the bounds of the sum move with it."""
    moved_by = len(pairs) * (people.mean - judge_difference)
    min_sum, max_sum = pairs.compute_sum_bounds()
    estimate = MeanEstimate(people.mean, people.interval, people.n)
    return decide_verdict(pairs.metric.direction, estimate, (min_sum + moved_by, max_sum + moved_by), people.n)


def _compute_detectable(
    samples: tuple[ScoreSample, ScoreSample], level: float, sampled: Interval | None, decides: Interval | None
) -> float | None:
    """The least true difference that such pairs show in 80 of 100 comparisons, by the interval that decides.

    What that one is wider by on each side than the interval of the sample alone, as including judge error, a change
    must be larger by. An unbounded one shows none.
    """
    if sampled is None or decides is None:
        return None
    detectable = find_detectable_difference(*samples, level)
    extra_width = (decides.high - decides.low - (sampled.high - sampled.low)) / 2
    return None if detectable is None else detectable + max(0.0, extra_width)


def correct_change(pairs: Pairs, level: float) -> LabelCorrectedMean | None:
    """The difference that people would see, from examples labelled in both runs; None below 50 of them."""
    low, high = pairs.metric.range
    sample = ScoreSample(pairs.new - pairs.base, "mean", (low - high, high - low), pairs.weight, pairs.cluster)
    return correct_mean(sample, pairs.people, pairs.inclusion, level, change=True)


def _add_label_means(
    change: MetricChange, pairs: Pairs, people: LabelCorrectedMean | None, level: float
) -> MetricChange:
    """The change with label-corrected means where labels decide it, and with how many examples are labeled."""
    import numpy as np

    counts, means = [], []
    for values, (scores, inclusion) in zip((pairs.base, pairs.new), reversed(pairs.labels), strict=True):
        counts.append(0 if scores is None else int(np.isfinite(scores).sum()))
        sample = ScoreSample.of(pairs.metric, values, pairs.weight, pairs.cluster)
        corrected = None if people is None else correct_mean(sample, scores, inclusion, level)
        means.append(None if corrected is None else corrected.mean)
    change = replace(change, labeled=(counts[0], counts[1]))
    if None in means:
        return change
    return replace(change, base=means[0], new=means[1], judge_base=change.base, judge_new=change.new)


def _find_p_value(correct_at: Callable[[float], LabelCorrectedMean | None]) -> float:
    """The p-value of no difference: 1 less the greatest level whose interval leaves 0 out, at least LEAST_P."""
    low, high = log(MIN_P), 0.0
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        corrected_change = correct_at(1 - exp(middle))
        if corrected_change is None or corrected_change.interval.low <= 0 <= corrected_change.interval.high:
            low = middle
        else:
            high = middle
    return exp(high)


def compute_unpaired_change(
    metric: Metric, new: Columns, base: Columns, level: float, error: JudgeMeanError | None = None
) -> MetricChange:
    """The change between two samples that share too few examples, such as two stretches of traffic.

    Args:
        metric: whose scores.
        new: of the new run, one entry an example.
        base: of the baseline, likewise.
        level: of the interval.
        error: how far the judge errs on this metric; None = nobody judged, or not known.
    """
    import numpy as np

    failed = int((new.status == FAILED).sum() + (base.status == FAILED).sum())
    new_scored, base_scored = (columns.take(np.flatnonzero(columns.status == SCORED)) for columns in (new, base))
    if not new_scored.value.size or not base_scored.value.size:
        return _build_change(metric, (None, None), MeanEstimate(None, None, 0), None, failed, UNKNOWN)
    new_sample, base_sample = (
        ScoreSample.of(metric, columns.value, columns.weight, columns.cluster) for columns in (new_scored, base_scored)
    )
    interval = compute_difference_interval(new_sample, base_sample, level, paired=False)
    means = [float(np.average(columns.value, weights=columns.weight)) for columns in (new_scored, base_scored)]
    d = means[0] - means[1]
    test = None if interval is None else run_difference_test(new_sample, base_sample, paired=False)
    estimate = MeanEstimate(d, interval, int(new_scored.value.size), compute_judged_difference(interval, d, error))
    units = min(
        columns.value.size if columns.cluster is None else np.unique(columns.cluster).size
        for columns in (new_scored, base_scored)
    )
    verdict = decide_verdict(metric.direction, estimate, (d, d), units)
    return _build_change(metric, (means[1], means[0]), estimate, test, failed, verdict)


def compute_amount_change(pairs: Pairs, level: float) -> AmountChange:
    """Median and 95th percentile of each run, with the intervals of `estimation.compute_quantile_interval`.

    With weights a quantile is the least value that reaches the share, and has no interval.
    """
    return AmountChange(
        str(pairs.metric),
        _estimate_quantiles(pairs.base, pairs.weight, level),
        _estimate_quantiles(pairs.new, pairs.weight, level),
        len(pairs),
    )


def _estimate_quantiles(values: Floats, weights: Floats | None, level: float) -> dict[float, MeanEstimate]:
    return {
        q: MeanEstimate(
            quantile, compute_quantile_interval(values, q, level) if weights is None else None, int(values.size)
        )
        for q, quantile in zip(QUANTILES, compute_quantiles(values, QUANTILES, weights), strict=True)
    }


def _count_outcomes(metric: Metric, d: Floats) -> tuple[int, int, int]:
    """How many examples got better, stayed, got worse; of a metric without direction rose, stayed, fell."""
    up, down = int((d > EQUAL_WITHIN).sum()), int((d < -EQUAL_WITHIN).sum())
    stayed = int(d.size) - up - down
    return (down, stayed, up) if metric.direction == "lower" else (up, stayed, down)


def _compute_effect(pairs: Pairs, d: Floats, level: float) -> ChangeEffect | None:
    """Cohen's h of two rates, else Hedges' g of the differences; None where undefined, or with weights."""
    if pairs.metric.scale == "rate":
        new, base = pairs.means()
        return ChangeEffect("Cohen's h", cohens_h(new, base)) if min(new, base) >= 0 and max(new, base) <= 1 else None
    effect = standardized_difference(d, level) if pairs.weight is None else None
    return None if effect is None else ChangeEffect("Hedges' g of differences", effect.value, effect.interval)


def _build_change(
    metric: Metric,
    means: tuple[float | None, float | None],
    difference: MeanEstimate,
    test: HypothesisTest | None,
    failed: int,
    verdict: str,
) -> MetricChange:
    """A change without what pairs alone tell."""
    return MetricChange(
        str(metric),
        metric.measures,
        metric.direction,
        metric.scale,
        means[0],
        means[1],
        difference,
        None if test is None else test.p_value,
        "" if test is None else test.method,
        None,
        0,
        0,
        0,
        failed,
        verdict,
        verdict,
    )


class ChangeReader:
    """Takes in one metric after another, and says what changed.

    Args:
        index: the responses of the new run.
        join: of its examples with the baseline's.
        segments: a tidy segment frame, for the segment in which a metric got worse most; None = none is looked at.
        level: of the intervals.
        paired: whether the runs are compared example by example; else as two samples.
        sized: whether the size of each effect, and of what could have been seen, is wanted too.
        errors: printed name -> how far the judge errs, where known.

    Attributes:
        errors: printed name -> how far the judge errs, where known.
        found: one change a metric, in the order read, not yet corrected.
        unanswered: which calls failed in the new run and in the baseline; None where none did, or it is not known.
    """

    def __init__(
        self,
        index: ResponseIndex,
        join: Join,
        segments: pl.DataFrame | None = None,
        *,
        level: float = 0.95,
        paired: bool = True,
        sized: bool = False,
        errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
    ) -> None:
        self.errors = errors
        self.found: list[MetricChange] = []
        self._join, self._level, self._paired, self._sized = join, level, paired, sized
        self._movement = Regressions(index.query_ids, segments)
        self.unanswered: tuple[Columns, Columns] | None = None

    def read(self, metric: Metric, new: Columns, base: Columns) -> Pairs | None:
        """Takes in a metric's scores in both runs, one entry an example; its pairs, None of two samples."""
        error = self.errors.get(str(metric))
        if metric.scale == "amount" and self.unanswered is not None:
            new, base = drop_failed_calls(metric, (new, base), self.unanswered, self._join if self._paired else None)
        if not self._paired:
            self.found.append(compute_unpaired_change(metric, new, base, self._level, error))
            return None
        pairs = pair_scores(metric, new, base, self._join)
        change = compute_change(pairs, self._level, self.find_moved(pairs), sized=self._sized, error=error)
        if change.alone == WORSE:
            width = metric.range[1] - metric.range[0]
            where = self._movement.where(
                pairs.query, pairs.new - pairs.base, metric.direction, width, pairs.weight, pairs.cluster
            )
            change = replace(change, where=where)
        self.found.append(change)
        return pairs

    def set_failed_calls(self, new: Columns, base: Columns) -> None:
        """Learns which calls failed in both runs (see `unanswered`), before any metric is read."""
        self.unanswered = (new, base) if new.value.any() or base.value.any() else None

    def read_failed_calls(self) -> Pairs | None:
        """Compares which calls failed; where none did, or where that is not known, there is nothing to say."""
        return None if self.unanswered is None else self.read(FailedResponse(), *self.unanswered)

    @property
    def newly_unanswered(self) -> int:
        """How many examples have a failed call now and had none before."""
        return sum(change.losses for change in self.found if change.metric == FAILED_CALLS_NAME)

    def find_moved(self, pairs: Pairs) -> tuple[ExampleDelta, ...]:
        """The examples of these pairs that got worse; none of a metric without direction."""
        direction = pairs.metric.direction
        return (
            () if direction == "neither" else self._movement.find_moved(pairs.query, pairs.base, pairs.new, direction)
        )

    @staticmethod
    def select_shown(changes: Sequence[MetricChange]) -> tuple[MetricChange, ...]:
        """As a scorecard shows them and the diagnosis takes them, once they are corrected.

        Left out are metrics without an example to compare, failed calls, and what moved unless it clearly got worse.
        """
        comparable = (change for change in changes if change.difference.n and change.metric != FAILED_CALLS_NAME)
        return tuple(
            change if change.verdict == WORSE else replace(change, moved=(), where=None) for change in comparable
        )


def build_failures(new: pl.DataFrame, base: pl.DataFrame, among: Collection[str] | None = None) -> Failures:
    """Failed examples by cause in two runs.

    Args:
        new: cause frame of the new run.
        base: of the baseline.
        among: ids of the examples compared; None = all.
    """
    new_counts, base_counts = (_count_causes(frame, among) for frame in (new, base))
    return Failures(base_counts, new_counts, sum(base_counts.values()), sum(new_counts.values()))


def _count_causes(causes: pl.DataFrame, among: Collection[str] | None) -> Mapping[str, int]:
    import polars as pl

    counts = select_failures(causes)
    if among is not None:
        counts = counts.filter(pl.col("query_id").is_in(list(among)))
    return dict(Counter(counts["cause"].to_list()).most_common())

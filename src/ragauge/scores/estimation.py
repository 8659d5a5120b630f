"""How a mean, a rate or a difference gets its interval and its test: chosen here, for everyone who prints one.

Summaries, segments, gaps, comparisons and the gate hand over samples, and never choose a method themselves. What a
sample knows decides: whether all values are 0 and 1, weights, clusters, skew, and how far a judge errs on the metric. A
further way of estimating is a branch here, and all of them have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, Literal

from ragauge.stats.intervals import mean_interval, order_statistics, wilson_interval
from ragauge.stats.judge_error import JudgeMeanError, widen_difference_interval, widen_interval
from ragauge.stats.ppi_mean import LabelCorrectedMean, LabelSample, rectified_difference, rectified_mean
from ragauge.stats.weighted import Alternative, HypothesisTest, Interval

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from ragauge.metrics.base import Metric

    Floats = npt.NDArray[np.float64]

Kind = Literal["rate", "mean", "amount"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSample:
    """Finite values of one metric, one an example or a pair."""

    values: Floats | Sequence[float]  #: shape (n,).
    kind: Kind = "mean"  #: rate, mean or amount; an amount is never taken for a rate.
    bounds: tuple[float, float] = (-inf, inf)  #: least and greatest possible value.
    weights: npt.NDArray[Any] | None = None  #: shape (n,), not negative; None = all alike.
    #: shape (n,), labels of what values depend on; None = all independent.
    clusters: npt.NDArray[Any] | Sequence[Any] | None = None

    @classmethod
    def of(
        cls,
        metric: Metric,
        values: Floats | Sequence[float],
        weights: Floats | None = None,
        clusters: npt.NDArray[Any] | None = None,
    ) -> ScoreSample:
        """Scores of a metric, whose scale and range say the kind and, with the values, the bounds."""
        return cls(values, metric.scale, find_bounds(metric, values), weights, clusters)

    @classmethod
    def from_pairs(
        cls, metric: Metric, new: Floats, base: Floats, weights: Floats | None, clusters: npt.NDArray[Any] | None
    ) -> tuple[ScoreSample, ScoreSample]:
        """Both sides of pairs, which share their weights and clusters: the new run's and the baseline's."""
        bounds = find_bounds(metric, new) if find_bounds(metric, base) == (0.0, 1.0) else metric.range
        return cls(new, metric.scale, bounds, weights, clusters), cls(base, metric.scale, bounds, weights, clusters)


def find_bounds(metric: Metric, values: Floats | Sequence[float]) -> tuple[float, float]:
    """A metric's range; 0 and 1 where it declares none and has no other values: it says yes or no."""
    import numpy as np

    undeclared = metric.scale == "mean" and metric.range == (-inf, inf)
    return (0.0, 1.0) if undeclared and np.isin(values, (0.0, 1.0)).all() else metric.range


def compute_mean_interval(sample: ScoreSample, level: float = 0.95) -> Interval | None:
    """The interval of a mean or rate by `stats.intervals.mean_interval`; None where nothing can be said."""
    return mean_interval(
        sample.values,
        kind=sample.kind,
        weights=sample.weights,
        clusters=sample.clusters,
        level=level,
        bounds=sample.bounds,
    )


def compute_rate_interval(successes: float, n: float, level: float = 0.95) -> Interval | None:
    """The interval of a counted share of independent items, by `intervals.wilson_interval`; None of no items."""
    return wilson_interval(successes, n, level)


def compute_quantiles(values: Floats, shares: Sequence[float], weights: Floats | None = None) -> list[float]:
    """Interpolated between values, at least one; with weights the least value that reaches the share of their sum."""
    import numpy as np

    if weights is None:
        return [float(quantile) for quantile in np.quantile(values, shares)]
    return [float(quantile) for quantile in np.quantile(values, shares, weights=weights, method="inverted_cdf")]


def compute_quantile_interval(
    values: Floats | Sequence[float], share: float, level: float = 0.95, bounds: tuple[float, float] | None = None
) -> Interval | None:
    """The interval of a quantile of independent values, by `stats.intervals.order_statistics`.

    Args:
        values: shape (n,).
        share: in (0, 1), such as 0.95.
        level: in (0, 1).
        bounds: stand for an end that so few values do not hold; None = no interval then.
    """
    return order_statistics(values, share, level, bounds)


def estimate_examples_to_decide(n: int, interval: Interval, room: float) -> int:
    """About how many examples narrow an interval to `room` on either side of its estimate, were that to stay.

    ceil(n · (half / room)²), half of the interval's width being that of n examples

    >>> estimate_examples_to_decide(100, Interval(0.0, 0.2, "t", 0.95), 0.05)
    400
    """
    return ceil(n * (max(interval.high - interval.low, 2e-9) / 2 / room) ** 2)


def compute_difference_interval(
    new: ScoreSample, base: ScoreSample, level: float = 0.95, *, paired: bool = True
) -> Interval | None:
    """The interval of new − base; None where nothing can be said.

    Args:
        new: its kind and bounds hold for both; of pairs its weights and clusters, too.
        base: of pairs in the same order.
        level: in (0, 1).
        paired: by `mean_difference.paired_interval`; else of two samples, by `unpaired_interval`.
    """
    from ragauge.stats.mean_difference import paired_interval, unpaired_interval

    if paired:
        return paired_interval(
            new.values,
            base.values,
            kind=new.kind,
            weights=new.weights,
            clusters=new.clusters,
            level=level,
            bounds=new.bounds,
        )
    return unpaired_interval(
        new.values,
        base.values,
        kind=new.kind,
        weights=(new.weights, base.weights),
        clusters=(new.clusters, base.clusters),
        level=level,
        bounds=new.bounds,
    )


def compute_gap_interval(
    pairs: tuple[ScoreSample, ScoreSample], others: tuple[ScoreSample, ScoreSample], level: float = 0.95
) -> Interval | None:
    """The interval of how much more new − base is among some pairs than among others, which are independent of them.

    Args:
        pairs: both sides, new and base, as of `compute_difference_interval`.
        others: both sides of the other pairs.
        level: in (0, 1).

    Returns:
        From both intervals of pairs by `mean_difference.build_independent_interval`; None where one of them is missing.
    """
    import numpy as np

    from ragauge.stats.mean_difference import build_independent_interval

    gaps = []
    for new, base in (pairs, others):
        interval = compute_difference_interval(new, base, level)
        if interval is None:
            return None
        gaps.append((float(np.mean(new.values) - np.mean(base.values)), interval))
    return build_independent_interval(*gaps)


def compute_ratio_of_means(
    numerator: Floats, denominator: Floats, clusters: npt.NDArray[Any] | None = None, level: float = 0.95
) -> tuple[float, Interval | None] | None:
    """mean(numerator) / mean(denominator) of pairs, with its interval; None where the denominator's mean is 0.

    The interval is that of the mean of r + (a − r·b) / mean(b), whose spread is that of the ratio r to first order.

    Args:
        numerator: a, shape (n,), finite.
        denominator: b, shape (n,), finite.
        clusters: shape (n,), labels of what pairs depend on; None = all independent.
        level: in (0, 1).

    Source: Cochran, Sampling Techniques (1977), section 6.4.
    """
    denominator_mean = float(denominator.mean()) if denominator.size else 0.0
    if denominator_mean == 0.0:
        return None
    ratio = float(numerator.mean()) / denominator_mean
    linearized = ratio + (numerator - ratio * denominator) / denominator_mean
    return ratio, compute_mean_interval(ScoreSample(linearized, clusters=clusters), level)


def run_difference_test(
    new: ScoreSample, base: ScoreSample, *, paired: bool = True, alternative: Alternative = "two-sided"
) -> HypothesisTest | None:
    """The test that nothing changed, as `compute_difference_interval`; None where nothing can be tested.

    By `stats.difference.paired_test` or `unpaired_test`; "greater" asks whether new is greater.
    """
    from ragauge.stats.difference import paired_test, unpaired_test

    if paired:
        return paired_test(
            new.values, base.values, kind=new.kind, weights=new.weights, clusters=new.clusters, alternative=alternative
        )
    return unpaired_test(
        new.values,
        base.values,
        kind=new.kind,
        weights=(new.weights, base.weights),
        clusters=(new.clusters, base.clusters),
        alternative=alternative,
    )


def find_detectable_difference(new: ScoreSample, base: ScoreSample, level: float = 0.95) -> float | None:
    """The least true difference that such pairs show in 80 of 100 comparisons, by `compute_detectable_difference`.

    None where nothing tells how much pairs vary, or so few changed that no difference of them is found.
    """
    from ragauge.stats.detectable_difference import compute_detectable_difference

    return compute_detectable_difference(
        new.values, base.values, kind=new.kind, weights=new.weights, clusters=new.clusters, alpha=1 - level
    )


def estimate_examples_to_detect(effect: float, new: ScoreSample, base: ScoreSample, level: float = 0.95) -> int | None:
    """Pairs that show a true difference of this size in 80 of 100 comparisons: `stats.detectable_difference`."""
    from ragauge.stats.detectable_difference import count_pairs_to_detect

    return count_pairs_to_detect(
        effect, new.values, base.values, kind=new.kind, weights=new.weights, clusters=new.clusters, alpha=1 - level
    )


def compute_judged_mean(
    interval: Interval | None,
    mean: float | None,
    error: JudgeMeanError | None,
    values: Floats,
    weights: Floats | None = None,
) -> Interval | None:
    """The interval of the true mean, including judge error in it; None where that is not known, or nothing is."""
    if interval is None or mean is None or error is None:
        return None
    return widen_interval(interval, mean, error, values, weights)


def compute_judged_difference(
    interval: Interval | None,
    difference: float,
    error: JudgeMeanError | None,
    changed: float = 1.0,
    *,
    seen: bool = False,
) -> Interval | None:
    """The interval of the true difference, including judge error in it; None where that is not known, or nothing is.

    Args:
        interval: by sampling alone.
        difference: new − base.
        error: how far the judge errs on this metric.
        changed: share of the examples whose score differs; of two samples 1.
        seen: of the difference in points as this judge sees them, as limits of a gate are.
    """
    if interval is None or error is None:
        return None
    return widen_difference_interval(interval, difference, error, changed, is_observed=seen)


MIN_LABELS = 50  # labelled examples below which nothing is rectified


def correct_mean(
    sample: ScoreSample,
    people: Floats | None,
    inclusion: Floats | None = None,
    level: float = 0.95,
    *,
    change: bool = False,
) -> LabelCorrectedMean | None:
    """The mean that people would give, from their labels on a draw and the judge's scores of all examples.

    By `stats.ppi_mean`; where people labelled everything, their own mean with the interval of any mean. None below 50
    labelled examples, of weighted examples and of amounts, for which the method has no interval.

    Args:
        sample: the judge's scores, of a change new − base.
        people: shape (n,), people's scores of the same examples; NaN = not labelled, infinite = labelled without a
            score, which leaves the example out. None = there are no labels.
        inclusion: shape (n,), the chance that each had of being drawn; None where all had the same.
        level: in (0, 1).
        change: whether both are differences of two runs, in [−1, 1].
    """
    import numpy as np

    if people is None or sample.weights is not None or not all(map(np.isfinite, sample.bounds)):
        return None
    values, is_labeled, is_unlabeled = np.asarray(sample.values), np.isfinite(people), np.isnan(people)
    if is_labeled.sum() < MIN_LABELS:
        return None
    y, f, g = people[is_labeled], values[is_labeled], values[is_unlabeled]
    clusters = None if sample.clusters is None else np.asarray(sample.clusters)
    if g.size < 2:
        labeled_sample = ScoreSample(
            y,
            "mean" if change else sample.kind,
            sample.bounds,
            None,
            None if clusters is None else clusters[is_labeled],
        )
        interval = compute_mean_interval(labeled_sample, level)
        mean = float(y.mean())
        if interval is None:
            return None
        return LabelCorrectedMean(mean, interval, 0.0, mean, float(f.mean()), y.size, 0, y.size)
    chances = None if inclusion is None or np.ptp(inclusion[is_labeled]) == 0 else inclusion[is_labeled]
    label_sample = LabelSample(
        y, f, g, chances, clusters=None if clusters is None else (clusters[is_labeled], clusters[is_unlabeled])
    )
    if change:
        return rectified_difference(label_sample, level=level)
    return rectified_mean(label_sample, level=level, bounds=sample.bounds)

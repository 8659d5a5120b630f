"""One metric in two runs: means, difference, interval, test, effect, and how many examples won and lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.analysis.comparison.pairs import Pairs
from ragauge.analysis.estimating import (
    ScoreSample,
    detectable_difference,
    difference_test,
    interval_of_difference,
    interval_of_quantile,
    judged_difference,
    quantiles,
    rectified,
)
from ragauge.analysis.results.change import ChangeEffect, ExampleDelta, MetricChange
from ragauge.analysis.results.comparison import AmountChange
from ragauge.analysis.results.overview import MeanEstimate
from ragauge.analysis.results.verdicts import LEAST_SEEN, SAME, UNKNOWN, verdict_of
from ragauge.analysis.scores.arrays import FAILED, SCORED, Columns
from ragauge.metrics.base import Metric
from ragauge.stats.effects import cohens_h, standardized_difference
from ragauge.stats.instrument import JudgeMeanError
from ragauge.stats.rectified import Rectified
from ragauge.stats.sign_flips import parts_of
from ragauge.stats.weighted import Tested

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

QUANTILES = (0.5, 0.95)
ALIKE = 1e-12          # differences below are none


def change_of(
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
        return _change(metric, (None, None), MeanEstimate(None, None, 0), None, failed, UNKNOWN)
    sides = ScoreSample.pair(metric, pairs.new, pairs.base, pairs.weight, pairs.cluster)
    interval = interval_of_difference(*sides, level)
    new, base = pairs.means()
    d = pairs.new - pairs.base
    differs = float(np.mean(np.abs(d) > ALIKE))
    estimate = MeanEstimate(new - base, interval, len(pairs), judged_difference(interval, new - base, error, differs))
    parts = parts_of(d, pairs.weight, pairs.cluster)[0]
    unchanged = parts.size >= LEAST_SEEN and not d.any()     # of amounts, that have no bounds, no interval says so
    verdict = SAME if unchanged else verdict_of(metric.direction, estimate, pairs.sums(), parts.size)
    test = None if interval is None else difference_test(*sides)
    wins, ties, losses = _tally(metric, d)
    return replace(
        _change(metric, (base, new), estimate, test, failed, verdict),
        effect=_effect(pairs, d, level) if sized else None,
        detectable=detectable_difference(*sides, level) if sized and interval else None, wins=wins, ties=ties,
        losses=losses, moved=moved, differing=int((np.abs(parts) > ALIKE).sum()),
        rectified=rectified_change(pairs, level),
    )     # fmt: skip


def rectified_change(pairs: Pairs, level: float) -> Rectified | None:
    """The difference that people would see, from examples labelled in both runs; None below 50 of them."""
    low, high = pairs.metric.range
    given = ScoreSample(pairs.new - pairs.base, "mean", (low - high, high - low), pairs.weight, pairs.cluster)
    return rectified(given, pairs.people, pairs.inclusion, level, change=True)


def unpaired_change(
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
    here, there = (side.take(np.flatnonzero(side.status == SCORED)) for side in (new, base))
    if not here.value.size or not there.value.size:
        return _change(metric, (None, None), MeanEstimate(None, None, 0), None, failed, UNKNOWN)
    after, before = (ScoreSample.of(metric, side.value, side.weight, side.cluster) for side in (here, there))
    interval = interval_of_difference(after, before, level, paired=False)
    means = [float(np.average(side.value, weights=side.weight)) for side in (here, there)]
    d = means[0] - means[1]
    test = None if interval is None else difference_test(after, before, paired=False)
    estimate = MeanEstimate(d, interval, int(here.value.size), judged_difference(interval, d, error))
    units = min(side.value.size if side.cluster is None else np.unique(side.cluster).size for side in (here, there))
    verdict = verdict_of(metric.direction, estimate, (d, d), units)
    return _change(metric, (means[1], means[0]), estimate, test, failed, verdict)


def amount_of(pairs: Pairs, level: float) -> AmountChange:
    """Median and 95th percentile of each run, with the intervals of `estimating.interval_of_quantile`.

    With weights a quantile is the least value that reaches the share, and has no interval.
    """
    return AmountChange(
        str(pairs.metric), _quantiles(pairs.base, pairs.weight, level), _quantiles(pairs.new, pairs.weight, level),
        len(pairs),
    )     # fmt: skip


def _quantiles(values: Floats, weights: Floats | None, level: float) -> dict[float, MeanEstimate]:
    return {
        q: MeanEstimate(at, interval_of_quantile(values, q, level) if weights is None else None, int(values.size))
        for q, at in zip(QUANTILES, quantiles(values, QUANTILES, weights), strict=True)
    }


def _tally(metric: Metric, d: Floats) -> tuple[int, int, int]:
    """How many examples got better, stayed, got worse; of a metric without direction rose, stayed, fell."""
    up, down = int((d > ALIKE).sum()), int((d < -ALIKE).sum())
    stayed = int(d.size) - up - down
    return (down, stayed, up) if metric.direction == "lower" else (up, stayed, down)


def _effect(pairs: Pairs, d: Floats, level: float) -> ChangeEffect | None:
    """Cohen's h of two rates, else Hedges' g of the differences; None where undefined, or with weights."""
    if pairs.metric.scale == "rate":
        new, base = pairs.means()
        return ChangeEffect("Cohen's h", cohens_h(new, base)) if min(new, base) >= 0 and max(new, base) <= 1 else None
    effect = standardized_difference(d, level) if pairs.weight is None else None
    return None if effect is None else ChangeEffect("Hedges' g of differences", effect.value, effect.interval)


def _change(
    metric: Metric, means: tuple[float | None, float | None], difference: MeanEstimate, test: Tested | None,
    failed: int, verdict: str,
) -> MetricChange:     # fmt: skip
    """A change without what pairs alone tell."""
    return MetricChange(
        str(metric), metric.measures, metric.direction, metric.scale, means[0], means[1], difference,
        None if test is None else test.p_value, "" if test is None else test.method, None, 0, 0, 0,
        failed, verdict, verdict,
    )     # fmt: skip

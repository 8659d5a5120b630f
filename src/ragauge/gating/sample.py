"""What a check decides on: an estimate and its intervals, with failed scores wherever they might lie.

A failed score has bounds, not a value, and might have been undefined. So there are three samples: failed scores left
out, all at their least, all at their greatest; and the extremes of the estimate over every mixture of these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Literal, Protocol

from ragauge.gating.extremes import (
    compute_min_width,
    compute_min_width_of_shares,
    compute_reach,
    concatenate,
    concatenate_both,
    is_finite,
)
from ragauge.scores.estimation import (
    ScoreSample,
    compute_difference_interval,
    compute_judged_difference,
    compute_judged_mean,
    compute_mean_interval,
    compute_quantile_interval,
    compute_quantiles,
    run_difference_test,
)
from ragauge.stats.intervals import compute_quantile_reach
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.weighted import Alternative, Interval, is_binary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

FailedPlacement = Literal["out", "low", "high"]  # where failed scores are put
FAILED_PLACEMENTS: tuple[FailedPlacement, ...] = ("out", "low", "high")
MIN_FLIP_P = 1e-3  # p-value from which sign flips, of which there are 10,000, always suffice
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


class Sample(Protocol):
    """What a check decides on."""

    @property
    def error(self) -> JudgeMeanError | None:
        """How far the judge errs; None where nobody judged, or it is not known."""

    @property
    def scored(self) -> int:
        """Examples (of differences: pairs) with a value."""

    @property
    def failed(self) -> int:
        """Examples that would have one had nothing failed."""

    @property
    def size(self) -> int:
        """Examples that have a value, or would have one had nothing failed; of two samples those of the smaller."""

    @property
    def n_applicable(self) -> int:
        """Examples that the metric applies to; a failure never changes this number."""

    @property
    def estimate(self) -> float | None:
        """Over what is scored; None where nothing is."""

    def reach(self) -> tuple[float, float]:
        """The least and greatest estimate that the failed scores allow; infinite where nothing bounds it."""

    def interval(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """The two-sided interval of the estimate, including judge error where that is known."""

    def sampled(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """The two-sided interval by sampling alone."""

    def compute_min_width(self, level: float) -> float:
        """What the interval, had nothing failed, reaches at least to either side of the estimate; 0 is always true."""

    def supported(self, alpha: float, *, worse_is_less: bool) -> bool:
        """Whether a test that assumes less than the interval does also sees a change for the worse."""


@dataclass(frozen=True, eq=False)
class MeanDifference:
    """The mean difference new − base of one metric over pairs."""

    pairs: Pairs  #: of both runs.
    error: JudgeMeanError | None = None  #: how far the judge errs; None = nobody judged, or not known.
    _intervals: dict[tuple[float, FailedPlacement], Interval | None] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        """Pairs."""
        return len(self.pairs)

    @property
    def failed(self) -> int:
        """Examples that would be pairs."""
        return int(self.pairs.failed.query.size)

    @property
    def size(self) -> int:
        """Pairs, and examples that would be some."""
        return self.scored + self.failed

    @property
    def n_applicable(self) -> int:
        """Examples that the metric applies to in both runs."""
        return self.size + int(self.pairs.undefined.size)

    @cached_property
    def means(self) -> tuple[float, float] | None:
        """Of the new run and of the baseline, over the pairs."""
        return self.pairs.means() if len(self.pairs) else None

    @property
    def estimate(self) -> float | None:
        """Mean difference."""
        return None if self.means is None else self.means[0] - self.means[1]

    @property
    def is_unchanged(self) -> bool:
        """Every example has the same score in both runs, and none failed."""
        return not self.failed and bool(len(self.pairs)) and bool((self.pairs.new == self.pairs.base).all())

    def reach(self) -> tuple[float, float]:
        """The least and greatest mean difference."""
        failed = self.pairs.failed
        return compute_reach(
            self.pairs.new - self.pairs.base, self.pairs.weight, failed.least, failed.most, failed.weight
        )

    def compute_base_reach(self) -> tuple[float, float]:
        """The least and greatest mean of the baseline over the same examples."""
        failed = self.pairs.failed
        return compute_reach(self.pairs.base, self.pairs.weight, *failed.base, failed.weight)

    def interval(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """By `sampled`, with what the judge sees between two systems where there is nothing to see.

        The limits of a drop are in points as this judge sees them: what it does not see of a true one is no part.
        """
        sampled = self.sampled(level, where)
        if sampled is None or self.error is None:
            return sampled
        d = self.pairs.new - self.pairs.base
        changed = (int((d != 0).sum()) + self.failed) / max(1, d.size + self.failed)
        middle = self.estimate if where == "out" else None
        middle = (sampled.low + sampled.high) / 2 if middle is None else min(sampled.high, max(sampled.low, middle))
        return compute_judged_difference(sampled, middle, self.error, changed, seen=True)

    def sampled(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """By `estimation.compute_difference_interval`."""
        key = (level, where)
        if key not in self._intervals:
            self._intervals[key] = self._compute_sampling_interval(level, where)
        return self._intervals[key]

    def _compute_sampling_interval(self, level: float, where: FailedPlacement) -> Interval | None:
        pairs, failed = self.pairs, self.pairs.failed
        new, base, weights, clusters = pairs.new, pairs.base, pairs.weight, pairs.cluster
        if where != "out":
            bounds = (failed.new[0], failed.base[1]) if where == "low" else (failed.new[1], failed.base[0])
            new, base = concatenate(new, bounds[0]), concatenate(base, bounds[1])
            weights, clusters = concatenate_both(weights, failed.weight), concatenate_both(clusters, failed.cluster)
            if not is_finite(new, base):
                return None
        if not new.size:
            return None
        return compute_difference_interval(*ScoreSample.from_pairs(pairs.metric, new, base, weights, clusters), level)

    def compute_min_width(self, level: float) -> float:
        """Squares about a mean only grow as values are added, so at least those of the pairs remain.

        width on either side >= standard error of the pairs · (n / (n + failed)) · sqrt((n − 1) / n) · least_reach

        least_reach is the shortest that a side of the interval can be. Pairs of 0 and 1 might be such with what failed
        too, so for them Agresti and Min's interval must reach as far (`_least_of_zero_one`). Weighted or clustered
        pairs, and pairs that are all alike, are not covered by this: 0.
        """
        interval = self.sampled(level)
        if interval is None or self.pairs.weight is not None or self.pairs.cluster is not None:
            return 0.0
        if interval.method.endswith("alike"):
            return 0.0
        d = self.pairs.new - self.pairs.base
        min_width = compute_min_width(d, self.failed, level)
        if is_binary(self.pairs.new, self.pairs.base):
            return min(min_width, compute_min_width_of_shares(d, self.failed, level))
        return min_width

    def supported(self, alpha: float, *, worse_is_less: bool) -> bool:
        """Whether `estimation.run_difference_test` sees a change for the worse too: it asks sign flips as well.

        Where few pairs differ, an interval by any t is too sure on one side. Of fewer than six pairs, or clusters, that
        test is t alone, so sign flips are asked here: five that all got worse are 1 in 32.
        """
        from ragauge.stats.sign_flips import MIN_FLIPPED, compute_parts, sign_flip

        pairs, sure = self.pairs, max(alpha, MIN_FLIP_P)
        weights, clusters = pairs.weight, pairs.cluster
        alternative: Alternative = "less" if worse_is_less else "greater"
        samples = ScoreSample.from_pairs(pairs.metric, pairs.new, pairs.base, weights, clusters)
        tested = run_difference_test(*samples, alternative=alternative)
        if tested is None or tested.p_value > sure:
            return False
        d = pairs.new - pairs.base
        if compute_parts(d, weights, clusters)[0].size >= MIN_FLIPPED or tested.method.endswith("McNemar"):
            return True
        flipped = sign_flip(d, weights=weights, clusters=clusters, alternative=alternative)
        return flipped is not None and flipped.p_value <= sure


@dataclass(frozen=True, eq=False)
class MetricLevel:
    """The mean or a quantile of one metric over some examples of a run."""

    metric: Metric  #: whose scores.
    values: Floats  #: of the scored examples.
    weight: Floats | None  #: of them; None = all alike.
    cluster: Codes | None  #: of them; None = every example stands alone.
    low: Floats  #: least values of the failed ones.
    high: Floats  #: greatest values of the failed ones.
    failed_weight: Floats | None  #: of the failed ones.
    failed_cluster: Codes | None  #: of the failed ones.
    undefined: int  #: how many are undefined.
    statistic: str = "mean"  #: mean, p50, p95 or p99.
    error: JudgeMeanError | None = None  #: how far the judge errs; None = nobody judged, or not known.

    @classmethod
    def of(
        cls, metric: Metric, columns: Columns, statistic: str = "mean", error: JudgeMeanError | None = None
    ) -> MetricLevel:
        """From a metric's scores, one entry an example."""
        import numpy as np

        from ragauge.scores.arrays import FAILED, SCORED, UNDEFINED

        scored, has_failed = columns.status == SCORED, columns.status == FAILED
        weight, cluster = columns.weight, columns.cluster
        return cls(
            metric,
            columns.value[scored],
            None if weight is None else weight[scored],
            None if cluster is None else cluster[scored],
            np.nan_to_num(columns.low[has_failed], nan=metric.range[0], posinf=inf, neginf=-inf),
            np.nan_to_num(columns.high[has_failed], nan=metric.range[1], posinf=inf, neginf=-inf),
            None if weight is None else weight[has_failed],
            None if cluster is None else cluster[has_failed],
            int((columns.status == UNDEFINED).sum()),
            statistic,
            error,
        )

    @property
    def scored(self) -> int:
        """Examples with a value."""
        return int(self.values.size)

    @property
    def failed(self) -> int:
        """Examples whose score failed."""
        return int(self.low.size)

    @property
    def size(self) -> int:
        """Examples that have a value, or would have one."""
        return self.scored + self.failed

    @property
    def n_applicable(self) -> int:
        """Examples that the metric applies to."""
        return self.size + self.undefined

    @property
    def estimate(self) -> float | None:
        """The mean, or the quantile."""
        import numpy as np

        if not self.values.size:
            return None
        if self.statistic == "mean":
            return float(np.average(self.values, weights=self.weight))
        return compute_quantiles(self.values, (QUANTILES[self.statistic],))[0]

    def reach(self) -> tuple[float, float]:
        """The least and greatest mean or quantile."""
        return self._cached_reach

    @cached_property
    def _cached_reach(self) -> tuple[float, float]:
        if self.statistic != "mean":
            return compute_quantile_reach(self.values, self.low, self.high, QUANTILES[self.statistic])
        return compute_reach(self.values, self.weight, self.low, self.high, self.failed_weight)

    def interval(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """By `sampled`; of a mean including judge error, where that is known."""
        sampled = self.sampled(level, where)
        if sampled is None or self.error is None or self.statistic != "mean":
            return sampled
        middle = self.estimate if where == "out" else (sampled.low + sampled.high) / 2
        if middle is None or not self.values.size:
            return sampled
        return compute_judged_mean(
            sampled, min(sampled.high, max(sampled.low, middle)), self.error, self.values, self.weight
        )

    def place_failed(self, where: FailedPlacement) -> tuple[Floats, Floats | None, Codes | None]:
        """Values, weights and clusters with the failed scores left out, all at their least, or at their greatest."""
        if where == "out":
            return self.values, self.weight, self.cluster
        values = concatenate(self.values, self.low if where == "low" else self.high)
        return (
            values,
            concatenate_both(self.weight, self.failed_weight),
            concatenate_both(self.cluster, self.failed_cluster),
        )

    def sampled(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """By `estimation.compute_mean_interval`; of quantiles by `compute_quantile_interval`."""
        values, weights, clusters = self.place_failed(where)
        if not values.size:
            return None
        if self.statistic != "mean":
            return compute_quantile_interval(values, QUANTILES[self.statistic], level, self.metric.range)
        if where != "out" and not is_finite(values):
            return None
        return compute_mean_interval(ScoreSample.of(self.metric, values, weights, clusters), level)

    def compute_min_width(self, level: float) -> float:
        """As of a difference; Wilson's interval is not centred on the estimate, so a rate has none."""
        interval = self.sampled(level) if self.statistic == "mean" else None
        is_unweighted = self.weight is None and self.cluster is None
        if interval is None or not is_unweighted or not interval.method.startswith("skew-corrected t"):
            return 0.0
        return compute_min_width(self.values, self.failed, level)

    def supported(self, alpha: float, *, worse_is_less: bool) -> bool:  # noqa: ARG002 - as a difference is asked
        """Nothing further is asked of a level."""
        return True

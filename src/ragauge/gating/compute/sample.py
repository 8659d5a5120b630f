"""What a check decides on: an estimate and its intervals, with failed scores wherever they might lie.

A failed score has bounds, not a value, and might have been undefined. So there are three samples: failed scores left
out, all at their least, all at their greatest; and the extremes of the estimate over every mixture of these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Literal, TypeVar

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
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.intervals import compute_quantile_reach
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.skew_corrected_t import compute_least_reach
from ragauge.stats.weighted import Alternative, Interval, estimate_mean, is_binary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

Entry = TypeVar("Entry", bound="np.generic")
FailedPlacement = Literal["out", "low", "high"]  # where failed scores are put
FAILED_PLACEMENTS: tuple[FailedPlacement, ...] = ("out", "low", "high")
MIN_FLIP_P = 1e-3  # p-value from which sign flips, of which there are 10,000, always suffice
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleDifference:
    """What is alike of a difference over pairs and of one between two samples."""

    error: JudgeMeanError | None = None  #: how far the judge errs; None = nobody judged, or not known.
    _intervals: dict[tuple[float, FailedPlacement], Interval | None] = field(default_factory=dict)

    @property
    def means(self) -> tuple[float, float] | None:
        """Of the new run and of the baseline; None where one has no value."""
        raise NotImplementedError

    @property
    def changed(self) -> float:
        """Share of the examples whose score may have changed."""
        return 1.0

    @property
    def estimate(self) -> float | None:
        """Difference of the means."""
        return None if self.means is None else self.means[0] - self.means[1]

    def interval(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """By `sampled`, with what the judge sees between two systems where there is nothing to see.

        The limits of a drop are in points as this judge sees them: what it does not see of a true one is no part. A
        baseline's mean of which the limit is a share is taken as it is, though it is a sample's too where the runs are
        two samples. That errs on the wide side: x − (1 − r)·b varies less than x − b.
        """
        sampled = self.sampled(level, where)
        if sampled is None or self.error is None:
            return sampled
        middle = self.estimate if where == "out" else None
        middle = (sampled.low + sampled.high) / 2 if middle is None else min(sampled.high, max(sampled.low, middle))
        return compute_judged_difference(sampled, middle, self.error, self.changed, seen=True)

    def sampled(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """By `estimation.compute_difference_interval`, kept."""
        key = (level, where)
        if key not in self._intervals:
            self._intervals[key] = self._compute_sampling_interval(level, where)
        return self._intervals[key]

    def _compute_sampling_interval(self, level: float, where: FailedPlacement) -> Interval | None:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class MeanDifference(SampleDifference):
    """The mean difference new − base of one metric over pairs."""

    pairs: Pairs  #: of both runs.

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

    @property
    def changed(self) -> float:
        """Share of the pairs that differ, and of the examples that would be pairs."""
        differing = int((self.pairs.new != self.pairs.base).sum())
        return (differing + self.failed) / max(1, self.size)

    def _compute_sampling_interval(self, level: float, where: FailedPlacement) -> Interval | None:
        import numpy as np

        pairs, failed = self.pairs, self.pairs.failed
        new, base, weights, clusters = pairs.new, pairs.base, pairs.weight, pairs.cluster
        if where != "out":
            bounds = (failed.new[0], failed.base[1]) if where == "low" else (failed.new[1], failed.base[0])
            new, base = np.concatenate([new, bounds[0]]), np.concatenate([base, bounds[1]])
            weights, clusters = concatenate(weights, failed.weight), concatenate(clusters, failed.cluster)
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
        import numpy as np

        if where == "out":
            return self.values, self.weight, self.cluster
        values = np.concatenate([self.values, self.low if where == "low" else self.high])
        return values, concatenate(self.weight, self.failed_weight), concatenate(self.cluster, self.failed_cluster)

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


def compute_reach(
    scored: Floats, weight: Floats | None, low: Floats, high: Floats, failed_weight: Floats | None
) -> tuple[float, float]:
    """The least and greatest mean over all mixtures of failed scores at their ends or left out."""
    from ragauge.scores.summarize import bound_mean

    total = float(scored.sum() if weight is None else (weight * scored).sum())
    size = float(scored.size if weight is None else weight.sum())
    lowest = bound_mean(low, failed_weight, -inf, total, size)
    highest = bound_mean(high, failed_weight, inf, total, size, sign=-1.0)
    return (-inf if lowest is None else lowest), (inf if highest is None else highest)


def compute_min_width(values: Floats, failed: int, level: float) -> float:
    """What the interval of the mean of these and of `failed` more reaches at least to either side."""
    spread = estimate_mean(values)
    if spread is None:
        return 0.0
    kept_share = spread.units / (spread.units + failed) * sqrt((spread.units - 1) / spread.units)
    return spread.error * kept_share * compute_least_reach(level, spread.units + failed)


def compute_min_width_of_shares(d: Floats, failed: int, level: float) -> float:
    """What Agresti and Min's interval reaches at least to either side of D/N, had nothing failed; N = n + failed.

    z · sqrt((N·Q + N + 2) / (N + 2)³) − 2(|D| + failed) / (N(n + 2)),  Q = S − D²/n,  S = Σ dᵢ²,  D = Σ dᵢ

    The half-width is z·sqrt(((S + 1)(N + 2) − D²) / (N + 2)³) of all N pairs, of which N·Q + N + 2 is the least; the
    second term is how far its middle, D/(N + 2), may lie from D/N. Not above 0 where only few pairs are known: 0.
    """
    n, total = d.size, float(d.sum())
    every, spread = n + failed, float((d * d).sum()) - total * total / n
    half = normal_quantile(level) * sqrt((every * spread + every + 2) / (every + 2) ** 3)
    return max(0.0, half - 2 * (abs(total) + failed) / (every * (n + 2)))


def concatenate(entry: npt.NDArray[Entry] | None, other: npt.NDArray[Entry] | None) -> npt.NDArray[Entry] | None:
    """Both, one after the other; None where one is."""
    import numpy as np

    return None if entry is None or other is None else np.concatenate([entry, other])


def is_finite(*values: Floats) -> bool:
    """Whether no value is infinite."""
    return all(isfinite(float(abs(x).max())) if x.size else True for x in values)

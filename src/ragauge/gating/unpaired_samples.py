"""What a check decides on where two runs have different examples, such as two stretches of traffic."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import hypot
from typing import TYPE_CHECKING

from ragauge.gating.extremes import is_finite
from ragauge.gating.sample import FailedPlacement, MetricLevel
from ragauge.scores.estimation import (
    ScoreSample,
    compute_difference_interval,
    compute_judged_difference,
    run_difference_test,
)
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.weighted import Alternative, Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from ragauge.gating.rules import Slices
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns

    Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class UnpairedRuns:
    """Two runs on different examples, for the rules that hold one against the other."""

    #: metric -> scores of the run and of its baseline, one entry an example; None where one has none.
    columns: Callable[[Metric], tuple[Columns, Columns] | None]
    slices: Slices  #: of the examples of both, the run's first (`rules.combine_slices`).
    n: int  #: examples of the run.

    def make_sampler(self, metric: Metric, error: JudgeMeanError | None) -> Callable[[Mask], UnpairedDifference] | None:
        """Examples of both, as a mask in the numbering of `slices` -> the difference over them."""
        columns = self.columns(metric)
        if columns is None:
            return None
        new, base = columns

        def build_sample(mask: Mask) -> UnpairedDifference:
            """The two samples of one scope."""
            own_columns, baseline_columns = (
                new.take(mask[new.query].nonzero()[0]),
                base.take(mask[self.n + base.query].nonzero()[0]),
            )
            return UnpairedDifference(
                MetricLevel.of(metric, own_columns), MetricLevel.of(metric, baseline_columns), error
            )

        return build_sample


@dataclass(frozen=True, eq=False)
class UnpairedDifference:
    """The difference of the means of two independent samples, new − base.

    Nothing matches one example to another, so the spread between examples counts in full, on both sides.
    """

    new: MetricLevel  #: this run's mean.
    base: MetricLevel  #: the baseline's.
    error: JudgeMeanError | None = None  #: how far the judge errs; None = nobody judged, or not known.
    _intervals: dict[tuple[float, FailedPlacement], Interval | None] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        """Examples of this run with a value."""
        return self.new.scored

    @property
    def failed(self) -> int:
        """Examples of either run whose score failed."""
        return self.new.failed + self.base.failed

    @property
    def size(self) -> int:
        """Examples of the smaller side that have a value, or would have one had nothing failed."""
        return min(self.new.size, self.base.size)

    @property
    def n_applicable(self) -> int:
        """Examples of the smaller side that the metric applies to."""
        return min(self.new.n_applicable, self.base.n_applicable)

    @cached_property
    def means(self) -> tuple[float, float] | None:
        """Of the new run and of the baseline."""
        new, base = self.new.estimate, self.base.estimate
        return None if new is None or base is None else (new, base)

    @property
    def estimate(self) -> float | None:
        """Difference of the means."""
        return None if self.means is None else self.means[0] - self.means[1]

    def reach(self) -> tuple[float, float]:
        """The least and greatest difference."""
        (low, high), (base_low, base_high) = self.new.reach(), self.base.reach()
        return low - base_high, high - base_low

    def compute_base_reach(self) -> tuple[float, float]:
        """The least and greatest mean of the baseline."""
        return self.base.reach()

    def interval(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """By `sampled`, with what the judge sees between two systems where there is nothing to see.

        Of a share of the baseline's mean as a limit: that mean is a sample's too, and is taken as it is. That errs on
        the wide side: x − (1 − r)·b varies less than x − b.
        """
        sampled = self.sampled(level, where)
        if sampled is None or self.error is None:
            return sampled
        middle = self.estimate if where == "out" else None
        middle = (sampled.low + sampled.high) / 2 if middle is None else min(sampled.high, max(sampled.low, middle))
        return compute_judged_difference(sampled, middle, self.error, 1.0, seen=True)

    def sampled(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """By `estimation.compute_difference_interval`."""
        key = (level, where)
        if key not in self._intervals:
            self._intervals[key] = self._compute_sampling_interval(level, where)
        return self._intervals[key]

    def _compute_sampling_interval(self, level: float, where: FailedPlacement) -> Interval | None:
        other: FailedPlacement = "high" if where == "low" else "low" if where == "high" else "out"
        own_values, baseline_values = self.new.place_failed(where), self.base.place_failed(other)
        if not own_values[0].size or not baseline_values[0].size or not is_finite(own_values[0], baseline_values[0]):
            return None
        new, base = (ScoreSample.of(self.new.metric, *sample_values) for sample_values in (own_values, baseline_values))
        return compute_difference_interval(new, base, level, paired=False)

    def compute_min_width(self, level: float) -> float:
        """sqrt(w² + v²), w and v the least that the intervals of the two means reach: so are theirs put together."""
        return hypot(self.new.compute_min_width(level), self.base.compute_min_width(level))

    def supported(self, alpha: float, *, worse_is_less: bool) -> bool:
        """Whether `estimation.run_difference_test` sees a change for the worse too: of rates it counts."""
        new, base = self.new, self.base
        alternative: Alternative = "less" if worse_is_less else "greater"
        own_sample, baseline_sample = (
            ScoreSample.of(level.metric, level.values, level.weight, level.cluster) for level in (new, base)
        )
        tested = run_difference_test(own_sample, baseline_sample, paired=False, alternative=alternative)
        return tested is not None and tested.p_value <= alpha

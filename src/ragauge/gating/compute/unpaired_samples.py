"""What a check decides on where two runs have different examples, such as two stretches of traffic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot
from typing import TYPE_CHECKING

from ragauge.gating.compute.sample import FailedPlacement, MeanDifference, MetricLevel, SampleDifference, is_finite
from ragauge.scores.estimation import ScoreSample, compute_difference_interval, run_difference_test
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.weighted import Alternative, Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from ragauge.gating.compute.slices import Slices
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns

    Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class UnpairedRuns:
    """Two runs on different examples, for the rules that hold one against the other."""

    #: metric -> scores of the run and of its baseline, one entry an example; None where one has none.
    columns: Callable[[Metric], tuple[Columns, Columns] | None]
    slices: Slices  #: of the examples of both, the run's first (`slices.combine_slices`).
    n: int  #: examples of the run.

    def make_sampler(self, metric: Metric, error: JudgeMeanError | None) -> Callable[[Mask], UnpairedDifference] | None:
        """Examples of both, as a mask in the numbering of `slices` -> the difference over them."""
        columns = self.columns(metric)
        if columns is None:
            return None
        new, base = columns

        def build_sample(mask: Mask) -> UnpairedDifference:
            """The two samples of one scope."""
            own = MetricLevel.of(metric, new.take(mask[new.query].nonzero()[0]))
            of_base = MetricLevel.of(metric, base.take(mask[self.n + base.query].nonzero()[0]))
            return UnpairedDifference(own, of_base, error=error)

        return build_sample


@dataclass(frozen=True, eq=False)
class UnpairedDifference(SampleDifference):
    """The difference of the means of two independent samples, new − base.

    Nothing matches one example to another, so the spread between examples counts in full, on both sides.
    """

    new: MetricLevel  #: this run's mean.
    base: MetricLevel  #: the baseline's.

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

    def reach(self) -> tuple[float, float]:
        """The least and greatest difference."""
        (low, high), (base_low, base_high) = self.new.reach(), self.base.reach()
        return low - base_high, high - base_low

    def compute_base_reach(self) -> tuple[float, float]:
        """The least and greatest mean of the baseline."""
        return self.base.reach()

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


AnySample = MeanDifference | UnpairedDifference | MetricLevel  # what a check decides on

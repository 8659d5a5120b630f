"""What a check decides on where people's labels rectify: their mean where they looked, the judge's elsewhere.

Where scores failed the whole interval is moved to where they might lie, as far as the judge's mean moves with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.gating.compute.sample import FailedPlacement, MeanDifference, MetricLevel
from ragauge.scores.estimation import ScoreSample, correct_mean
from ragauge.stats.ppi_mean import LabelCorrectedMean
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns

    Floats = npt.NDArray[np.float64]

ANY_LEVEL = 0.95  # a level: the rectified mean does not depend on it


class LabeledSample:
    """What is alike of a mean and a difference that people's labels rectify."""

    def _get_labels(self) -> Floats | None:
        """People's scores, NaN where there is none."""
        raise NotImplementedError

    def _correct_by_labels(self, level: float) -> LabelCorrectedMean | None:
        """The rectified mean with its interval; None below 50 labels."""
        raise NotImplementedError

    def interval(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """The rectified interval."""
        raise NotImplementedError

    @property
    def scored(self) -> int:
        """Examples, or pairs in both runs, that people labelled."""
        return count_labels(self._get_labels())

    size = scored  # the same: what the judge failed on is no label
    n_applicable = scored  # the same: labels decide, and examples without one are none

    @property
    def estimate(self) -> float | None:
        """The rectified mean or difference; None below 50 labels."""
        corrected = self._correct_by_labels(ANY_LEVEL)
        return None if corrected is None else corrected.mean

    def sampled(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """The same: there is no interval by sampling alone."""
        return self.interval(level, where)

    def compute_min_width(self, level: float) -> float:  # noqa: ARG002 - as a sample is asked
        """0 is always true."""
        return 0.0


@dataclass(frozen=True, eq=False)
class RectifiedLevel(LabeledSample, MetricLevel):
    """The mean of a metric as people would give it."""

    people: Floats | None = None  #: people's scores of the scored examples; see `estimation.correct_mean`.
    inclusion: Floats | None = None  #: the chance that each had of being drawn; None where all had the same.

    @classmethod
    def from_labeled_columns(cls, metric: Metric, columns: Columns) -> RectifiedLevel:
        """From a metric's scores, one entry an example, with people's beside them."""
        from ragauge.scores.arrays import SCORED

        uncorrected, scored = MetricLevel.of(metric, columns), columns.status == SCORED
        people, inclusion = (
            None if values is None else values[scored] for values in (columns.people, columns.inclusion)
        )
        fields = {name: value for name, value in vars(uncorrected).items() if name in MetricLevel.__dataclass_fields__}
        return cls(**fields, people=people, inclusion=inclusion)

    def _get_labels(self) -> Floats | None:
        return self.people

    def reach(self) -> tuple[float, float]:
        """The rectified mean, moved as far as the failed scores can move the judge's."""
        return shift_reach(self.estimate, self._judge_mean, super().reach())

    def interval(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """The rectified interval."""
        corrected, mean = self._correct_by_labels(level), self._judge_mean
        values, weights, _ = self.place_failed(where)
        if corrected is None or mean is None:
            return None
        return shift_interval(corrected.interval, compute_mean(values, weights) - mean)

    @property
    def _judge_mean(self) -> float | None:
        return compute_mean(self.values, self.weight) if self.values.size else None

    def _correct_by_labels(self, level: float) -> LabelCorrectedMean | None:
        sample = ScoreSample.of(self.metric, self.values, self.weight, self.cluster)
        return correct_mean(sample, self.people, self.inclusion, level)


@dataclass(frozen=True, eq=False)
class RectifiedDifference(LabeledSample, MeanDifference):
    """The mean difference new − base as people would see it, over pairs of which some are labelled in both runs."""

    def _get_labels(self) -> Floats | None:
        return self.pairs.people

    @property
    def is_unchanged(self) -> bool:
        """That the judge sees no change says nothing of what people see."""
        return False

    def reach(self) -> tuple[float, float]:
        """The rectified difference, moved as far as the failed scores can move the judge's."""
        return shift_reach(self.estimate, self._judge_mean, super().reach())

    def interval(self, level: float, where: FailedPlacement = "out") -> Interval | None:
        """The rectified interval."""
        corrected, judge_mean = self._correct_by_labels(level), self._judge_mean
        if corrected is None or judge_mean is None:
            return None
        lowest, highest = super().reach()
        return shift_interval(
            corrected.interval, {"out": judge_mean, "low": lowest, "high": highest}[where] - judge_mean
        )

    def supported(self, alpha: float, *, worse_is_less: bool) -> bool:  # noqa: ARG002 - as a difference is asked
        """Nothing further is asked: sign flips of the judge's scores say nothing of people's."""
        return True

    @property
    def _judge_mean(self) -> float | None:
        return None if self.means is None else self.means[0] - self.means[1]

    def _correct_by_labels(self, level: float) -> LabelCorrectedMean | None:
        pairs: Pairs = self.pairs
        low, high = pairs.metric.range
        differences = ScoreSample(pairs.new - pairs.base, "mean", (low - high, high - low), pairs.weight, pairs.cluster)
        return correct_mean(differences, pairs.people, pairs.inclusion, level, change=True)


def count_labels(people: Floats | None) -> int:
    """How many examples people gave a score."""
    import numpy as np

    return 0 if people is None else int(np.isfinite(people).sum())


def compute_mean(values: Floats, weights: Floats | None) -> float:
    """A mean, perhaps weighted."""
    import numpy as np

    return float(np.average(values, weights=weights))


def shift_reach(mean: float | None, judge_mean: float | None, reach: tuple[float, float]) -> tuple[float, float]:
    """A rectified mean's reach, from the judge's mean and its reach."""
    if mean is None or judge_mean is None:
        return reach
    return mean + min(0.0, reach[0] - judge_mean), mean + max(0.0, reach[1] - judge_mean)


def shift_interval(interval: Interval, by: float) -> Interval:
    """An interval elsewhere."""
    return Interval(interval.low + by, interval.high + by, interval.method, interval.level)

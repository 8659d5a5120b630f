"""What a check decides on where people's labels rectify: their mean where they looked, the judge's elsewhere.

Where scores failed the whole interval is moved to where they might lie, as far as the judge's mean moves with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.gating.sample import MeanDifference, MetricLevel, Where
from ragauge.scores.estimation import ScoreSample, rectified
from ragauge.stats.ppi_mean import Rectified
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns

    Floats = npt.NDArray[np.float64]

ANY = 0.95  # a level: the rectified mean does not depend on it


class LabelledSample:
    """What is alike of a mean and a difference that people's labels rectify."""

    def _labels(self) -> Floats | None:
        """People's scores, NaN where there is none."""
        raise NotImplementedError

    def _rectified(self, level: float) -> Rectified | None:
        """The rectified mean with its interval; None below 50 labels."""
        raise NotImplementedError

    def interval(self, level: float, where: Where = "out") -> Interval | None:
        """The rectified interval."""
        raise NotImplementedError

    @property
    def scored(self) -> int:
        """Examples, or pairs in both runs, that people labelled."""
        return labels_in(self._labels())

    @property
    def size(self) -> int:
        """The same: what the judge failed on is no label."""
        return self.scored

    @property
    def applies(self) -> int:
        """The same: labels decide, and examples without one are none."""
        return self.scored

    @property
    def estimate(self) -> float | None:
        """The rectified mean or difference; None below 50 labels."""
        found = self._rectified(ANY)
        return None if found is None else found.mean

    def sampled(self, level: float, where: Where = "out") -> Interval | None:
        """The same: there is no interval by sampling alone."""
        return self.interval(level, where)

    def least_width(self, level: float) -> float:  # noqa: ARG002 - as a sample is asked
        """0 is always true."""
        return 0.0


@dataclass(frozen=True, eq=False)
class RectifiedLevel(LabelledSample, MetricLevel):
    """The mean of a metric as people would give it.

    Attributes:
        people: people's scores of the scored examples; see `estimating.rectified`.
        inclusion: the chance that each had of being drawn; None where all had the same.
    """

    people: Floats | None = None
    inclusion: Floats | None = None

    @classmethod
    def by_labels(cls, metric: Metric, columns: Columns) -> RectifiedLevel:
        """From a metric's scores, one entry an example, with people's beside them."""
        from ragauge.scores.arrays import SCORED

        plain, scored = MetricLevel.of(metric, columns), columns.status == SCORED
        people, inclusion = (None if one is None else one[scored] for one in (columns.people, columns.inclusion))
        given = {name: value for name, value in vars(plain).items() if name in MetricLevel.__dataclass_fields__}
        return cls(**given, people=people, inclusion=inclusion)

    def _labels(self) -> Floats | None:
        return self.people

    def reach(self) -> tuple[float, float]:
        """The rectified mean, moved as far as the failed scores can move the judge's."""
        return moved(self.estimate, self._judged, super().reach())

    def interval(self, level: float, where: Where = "out") -> Interval | None:
        """The rectified interval."""
        found, mean = self._rectified(level), self._judged
        values, weights, _ = self.placed(where)
        if found is None or mean is None:
            return None
        return shifted(found.interval, average(values, weights) - mean)

    @property
    def _judged(self) -> float | None:
        return average(self.values, self.weight) if self.values.size else None

    def _rectified(self, level: float) -> Rectified | None:
        sample = ScoreSample.of(self.metric, self.values, self.weight, self.cluster)
        return rectified(sample, self.people, self.inclusion, level)


@dataclass(frozen=True, eq=False)
class RectifiedDifference(LabelledSample, MeanDifference):
    """The mean difference new − base as people would see it, over pairs of which some are labelled in both runs."""

    def _labels(self) -> Floats | None:
        return self.pairs.people

    @property
    def unchanged(self) -> bool:
        """That the judge sees no change says nothing of what people see."""
        return False

    def reach(self) -> tuple[float, float]:
        """The rectified difference, moved as far as the failed scores can move the judge's."""
        return moved(self.estimate, self._judged, super().reach())

    def interval(self, level: float, where: Where = "out") -> Interval | None:
        """The rectified interval."""
        found, judged = self._rectified(level), self._judged
        if found is None or judged is None:
            return None
        least, most = super().reach()
        return shifted(found.interval, {"out": judged, "low": least, "high": most}[where] - judged)

    def supported(self, alpha: float, *, worse_is_less: bool) -> bool:  # noqa: ARG002 - as a difference is asked
        """Nothing further is asked: sign flips of the judge's scores say nothing of people's."""
        return True

    @property
    def _judged(self) -> float | None:
        return None if self.means is None else self.means[0] - self.means[1]

    def _rectified(self, level: float) -> Rectified | None:
        pairs: Pairs = self.pairs
        low, high = pairs.metric.range
        given = ScoreSample(pairs.new - pairs.base, "mean", (low - high, high - low), pairs.weight, pairs.cluster)
        return rectified(given, pairs.people, pairs.inclusion, level, change=True)


def labels_in(people: Floats | None) -> int:
    """How many examples people gave a score."""
    import numpy as np

    return 0 if people is None else int(np.isfinite(people).sum())


def average(values: Floats, weights: Floats | None) -> float:
    """A mean, perhaps weighted."""
    import numpy as np

    return float(np.average(values, weights=weights))


def moved(mean: float | None, judged: float | None, reach: tuple[float, float]) -> tuple[float, float]:
    """A rectified mean's reach, from the judge's mean and its reach."""
    if mean is None or judged is None:
        return reach
    return mean + min(0.0, reach[0] - judged), mean + max(0.0, reach[1] - judged)


def shifted(found: Interval, by: float) -> Interval:
    """An interval elsewhere."""
    return Interval(found.low + by, found.high + by, found.method, found.level)

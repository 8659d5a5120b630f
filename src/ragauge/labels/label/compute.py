"""How many labels it takes: for an interval of a width, or to detect a difference.

se²(n) = s² · ((1 − ρ²) (1/n + (D − 1)/T) + ρ² D/T)

s²  variance of people's scores, by the labels that there are; below 20 of them the greatest that scores within
    the metric's range can have, as of as many at one end as at the other
ρ   correlation of judge and people; below 20 labels 0, as if the judge told nothing
T   scored examples of the run
D   how much wider clusters make the interval of the judge's mean, squared, at least 1; without clusters 1

width   least n with t(n − 2) · se ≤ width
detect  the least n with (z(level) + z(0.8)) · se ≤ detect, s² that of differences: taken to be s² itself, which is
        right where the scores of two runs on the same examples correlate at one half
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.scores.estimation import MIN_LABELS
from ragauge.stats.distributions import normal_quantile, t_quantile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LEVEL = 0.95
MIN_KNOWN_LABELS = 20  # labels from which variance and correlation are taken from them
POWER_LEVEL = 0.6  # two-sided level whose quantile is that of a power of 80 %
MAX_RESPONSES = 1_000_000


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """Labels that are needed."""

    metric: str  #: printed name.
    goal: str  #: what for: width or detect.
    amount: float  #: how far the interval may reach to each side, or the change to be seen, in the metric's unit.
    labels: int | None  #: needed in all, of each run; None where labelling everything does not reach the goal.
    alone: int | None  #: without a judge; None likewise.
    there: int  #: labelled examples that there are.
    responses: int  #: scored examples of the run.
    needed: int | None  #: responses that it takes at least, all of them labelled, where these are too few; else None.
    reached: float  #: with every response labelled, how far the interval reaches, or the least change that is seen.
    #: of judge and people, by the labels that there are; None below 20: the judge is taken for useless.
    correlation: float | None


def label_plan(
    metric: str,
    judge_scores: Floats,
    people: Floats | None,
    *,
    width: float | None,
    detect: float | None,
    bounds: tuple[float, float] = (0.0, 1.0),
    clusters: npt.NDArray[np.int64] | None = None,
) -> LabelPlan:
    """The least number of labels, drawn at random, with which a corrected mean reaches a goal; 50 or more.

    Args:
        metric: printed name.
        judge_scores: shape (T,), the judge's scores.
        people: shape (T,), people's, NaN where there is none; None = no labels.
        width: how far the interval may reach to each side, above 0; None where `detect` is given.
        detect: the difference of two runs that is to be seen in 80 of 100 comparisons, above 0.
        bounds: least and greatest value of the metric.
        clusters: shape (T,), what each example depends on; None = all independent.

    Raises:
        UsageError: neither or both of width and detect, one that is not above 0, or fewer than 2 scores.

    Source: variance of PPI++'s mean at its best weight, Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453.
    """
    import numpy as np

    amount = _select_goal(width, detect)
    if judge_scores.size < 2:
        raise UsageError(f"label plan: {metric} has {judge_scores.size} scores in this run; planning needs at least 2.")
    labeled = np.isfinite(people) if people is not None else np.zeros(judge_scores.size, dtype=bool)
    n_labeled, total = int(labeled.sum()), judge_scores.size
    has_labels = n_labeled >= MIN_KNOWN_LABELS and people is not None
    y = people[labeled] if has_labels and people is not None else np.asarray(bounds)
    spread = float(np.std(y, ddof=1 if has_labels else 0))
    varies = has_labels and spread > 0 and np.std(judge_scores[labeled]) > 0
    rho = float(np.corrcoef(y, judge_scores[labeled])[0, 1]) if varies else 0.0
    planned = _LabelPower(spread, total, LEVEL, detect is not None, _compute_design_effect(judge_scores, clusters))
    labels = planned.least(amount, rho)
    goal, alone = "width" if detect is None else "detect", planned.least(amount, 0.0)
    needed = planned.responses(amount) if labels is None else None
    reached, correlation = planned.reach(max(3, total), rho), rho if has_labels else None
    return LabelPlan(metric, goal, amount, labels, alone, n_labeled, total, needed, reached, correlation)


def _select_goal(width: float | None, detect: float | None) -> float:
    """The one goal of both that is given."""
    amount = width if detect is None else detect
    if (width is None) == (detect is None) or amount is None or not (isfinite(amount) and amount > 0):
        raise UsageError("label plan: give either width or detect, above 0, such as --width 0.05 or --detect 3%.")
    return amount


def _compute_design_effect(judge_scores: Floats, clusters: npt.NDArray[np.int64] | None) -> float:
    """How many times the variance of a mean clusters make it, by the judge's scores; at least 1."""
    import numpy as np

    d = judge_scores - judge_scores.mean()
    if clusters is None or not d.any():
        return 1.0
    sums = np.bincount(np.unique(clusters, return_inverse=True)[1], weights=d)
    return max(1.0, float(sums @ sums) / float(d @ d))


class _LabelPower(NamedTuple):
    """What a number of labels reaches.

    Standard deviation of people's scores, size of the run, level, the goal, and what clusters do to a variance.
    """

    spread: float
    total: int
    level: float
    change: bool
    design: float = 1.0

    def reach(self, n: int, correlation: float) -> float:
        """How far the interval reaches with n labels, or the least change that is seen."""
        shared = correlation**2
        alone, among = 1 / n + (self.design - 1) / self.total, self.design / self.total
        error = self.spread * sqrt((1 - shared) * alone + shared * among)
        if self.change:
            return (normal_quantile(self.level) + normal_quantile(POWER_LEVEL)) * error
        return t_quantile(n - 2, self.level) * error

    def responses(self, amount: float) -> int:
        """How many responses, all of them labelled, reach an amount."""
        return max(
            MIN_LABELS,
            ceil((self._replace(total=MAX_RESPONSES).reach(MAX_RESPONSES, 0.0) * sqrt(MAX_RESPONSES) / amount) ** 2),
        )

    def least(self, amount: float, correlation: float) -> int | None:
        """The least n that reaches an amount; None where none does."""
        if self.total < MIN_LABELS or self.reach(self.total, correlation) > amount:
            return None
        every = range(MIN_LABELS, self.total + 1)
        return every[bisect_left(every, True, key=lambda n: self.reach(n, correlation) <= amount)]

"""The decision of one check, whatever the failed scores might have been.

Many checks at once: at most 5 % that even one of them fails when nothing got worse.

What a number of examples can decide: so many that a change which leaves the mean alone passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from ragauge.gating.compute.sample import FAILED_PLACEMENTS, QUANTILES, FailedPlacement, MeanDifference
from ragauge.gating.compute.unpaired_samples import AnySample
from ragauge.gating.result import FAIL, PASS, UNKNOWN, Because, Verdict
from ragauge.scores.estimation import ScoreSample, compute_difference_interval, compute_quantile_interval
from ragauge.stats.weighted import Interval

ALPHA = 0.05  # one-sided: of a check, and of a family of checks
TOLERANCE = 1e-12  # rounding: a mean of exactly the limit meets it


@dataclass(frozen=True, slots=True, eq=False)
class CheckCell:
    """What one check decides: on which side of a limit an estimate lies.

    The check fails when the whole interval lies beyond the limit, passes when the whole interval meets it, and knows
    neither otherwise. With `point` the estimate alone decides. Each must hold with the failed scores left out, all at
    their least and all at their greatest, and for the extreme estimates that any mixture of these allows.
    """

    sample: AnySample  #: the estimate and its intervals.
    limit: float  #: what the estimate is held against.
    above: bool  #: the estimate must not lie below the limit; otherwise not above it.
    min_n: int  #: fewest examples to decide on.
    point: bool = False  #: the estimate alone decides.
    strict: float | None = None  #: the limit that is hardest to meet of those that failed scores of the baseline allow.
    lax: float | None = None  #: the one that is easiest to meet.
    same: bool = False  #: both runs are one and the same, so that nothing is compared and nothing decided.

    @property
    def has_enough(self) -> bool:
        """Whether there are examples enough; a failure never changes the answer from yes to no."""
        return self.sample.size >= self.min_n

    @property
    def tested(self) -> bool:
        """Whether it counts in its family: decided by an interval, on enough examples that the metric applies to."""
        return not self.point and self.sample.n_applicable >= self.min_n

    def fails(self, alpha: float = ALPHA) -> bool:
        """Whether it fails at a one-sided level, whatever the failed scores might have been."""
        if self.same or not self.has_enough or self.sample.estimate is None:
            return False
        limit = self.limit if self.lax is None else self.lax
        lowest, highest = self.sample.reach()
        if not self._is_beyond(highest if self.above else lowest, limit):
            return False
        if self.point:
            return True
        intervals = [self._get_interval(alpha, where) for where in self._failure_bounds]
        return all(
            interval is not None and self._is_beyond(self._nearest_end(interval), limit) for interval in intervals
        ) and (self.sample.supported(alpha, worse_is_less=self.above))

    def could_fail(self, alpha: float = ALPHA) -> bool:
        """Whether it might have failed at a one-sided level had nothing failed; true where that cannot be ruled out."""
        if not self.sample.failed or not self.has_enough:
            return self.fails(alpha)
        limit = self.limit if self.strict is None else self.strict
        lowest, highest = self.sample.reach()
        width = 0.0 if self.point else self.sample.compute_min_width(1 - 2 * alpha)
        return self._is_beyond(lowest + width if self.above else highest - width, limit)

    def passes(self) -> bool:
        """Whether it passes at the one-sided level of 5 %, whatever the failed scores might have been."""
        if self.same or not self.has_enough or self.sample.estimate is None:
            return False
        if isinstance(self.sample, MeanDifference) and self.sample.is_unchanged:
            return True
        limit = self.limit if self.strict is None else self.strict
        lowest, highest = self.sample.reach()
        if self._is_beyond(lowest if self.above else highest, limit):
            return False
        if self.point:
            return True
        intervals = [self._get_interval(ALPHA, where) for where in self._failure_bounds]
        return all(
            interval is not None and not self._is_beyond(self._farthest_end(interval), limit) for interval in intervals
        )

    def verdict(self, alpha: float = ALPHA) -> tuple[Verdict, Because]:
        """The verdict with what decided; it fails at the level `alpha`, and passes at 5 %."""
        by: Because = "point" if self.point else "interval"
        if self.fails(alpha):
            return FAIL, by
        if self.passes():
            unchanged = isinstance(self.sample, MeanDifference) and self.sample.is_unchanged
            return PASS, "unchanged" if unchanged and not self.point else by
        return UNKNOWN, self._find_reason(alpha)

    def _find_reason(self, alpha: float) -> Because:
        if self.same:
            return "itself"
        if not self.has_enough:
            return "few"
        if self.sample.estimate is None:
            return "failed" if self.sample.failed else "nothing"
        interval, interval_at_alpha = self._get_interval(ALPHA, "out"), self._get_interval(alpha, "out")
        if self.point or (self.sample.failed and interval is not None and self._is_decided(interval)):
            return "failed"
        if interval is None:
            return "nothing"
        if self._is_beyond(self._nearest_end(interval), self.limit):
            far = interval_at_alpha is not None and self._is_beyond(self._nearest_end(interval_at_alpha), self.limit)
            return "unsupported" if far else "corrected"
        sampled = None if self.sample.error is None else self.sample.sampled(1 - 2 * ALPHA)
        return "judge" if sampled is not None and self._is_decided(sampled) else "interval"

    def _is_decided(self, interval: Interval) -> bool:
        return self._is_beyond(self._nearest_end(interval), self.limit) or not self._is_beyond(
            self._farthest_end(interval), self.limit
        )

    @property
    def _failure_bounds(self) -> tuple[FailedPlacement, ...]:
        return FAILED_PLACEMENTS if self.sample.failed else ("out",)

    def _get_interval(self, alpha: float, where: FailedPlacement) -> Interval | None:
        return self.sample.interval(1 - 2 * alpha, where)

    def _nearest_end(self, interval: Interval) -> float:
        """The end of the interval that is nearest to meeting the limit."""
        return interval.high if self.above else interval.low

    def _farthest_end(self, interval: Interval) -> float:
        return interval.low if self.above else interval.high

    def _is_beyond(self, value: float, limit: float) -> bool:
        return value < limit - TOLERANCE if self.above else value > limit + TOLERANCE


def split_alpha(segment: Sequence[bool]) -> list[float]:
    """The share of the family's 5 % that each check gets: half for the whole run, half for the segments.

    So that looking into many segments costs the checks on the whole run only half of their level.

    Args:
        segment: whether each check is one in a segment.

    Returns:
        Shares that sum to 1.

    >>> split_alpha([False, True, True])
    [0.5, 0.25, 0.25]
    """
    segments = sum(segment)
    n_whole = len(segment) - segments
    halves = 0.5 if n_whole and segments else 1.0
    return [halves / (segments if in_segment else n_whole) for in_segment in segment]


def step_down(
    weights: Sequence[float], fails: Callable[[int, float], bool], alpha: float = ALPHA
) -> tuple[frozenset[int], list[float]]:
    """Holm's procedure with weights, by repeating Bonferroni over what has not failed.

    check i fails when it does at the level  alpha · wᵢ / Σ wⱼ over the checks j that have not failed yet

    With equal weights it is Holm's: the smallest p-value is held against alpha/m, the next against alpha/(m−1).

    Args:
        weights: of the checks, above 0.
        fails: (number of a check, one-sided level) -> whether it fails.
        alpha: greatest chance of even one false failure, however the checks depend on each other.

    Returns:
        The checks that fail, and the level at which each was looked at last.

    Source: Holm (1979), Scandinavian Journal of Statistics 6, 65.

    >>> p_values = [0.01, 0.04, 0.02]
    >>> step_down([1, 1, 1], lambda i, level: p_values[i] <= level)[0] == {0, 2, 1}
    True
    """
    levels = [0.0] * len(weights)
    failed: set[int] = set()
    while remaining := [i for i in range(len(weights)) if i not in failed]:
        total = sum(weights[i] for i in remaining)
        for i in remaining:
            levels[i] = alpha * weights[i] / total
        newly_failed = {i for i in remaining if fails(i, levels[i])}
        if not newly_failed:
            break
        failed |= newly_failed
    return frozenset(failed), levels


CHANGED_SHARE = 0.1  # share of the examples whose score a usual change turns over, half of them for the better
USUAL_DROP_POINTS = 3  # points of a drop, where there are examples enough for it
MIN_EXAMPLES = 10  # examples; below, the least that is decided of these
DROPS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
SIZES = (10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000)


@cache
def compute_uncertainty(n: int) -> float:
    """How far the interval of a difference reaches below 0 where CHANGED of n scores turn over and the mean stays.

    Scores of 0 and 1, an even number of them turned over, at least two; the interval is the gate's own.

    >>> round(compute_uncertainty(20), 2), round(compute_uncertainty(500), 3)
    (0.13, 0.023)
    """
    import numpy as np

    turned = max(1, round(n * CHANGED_SHARE / 2))
    base, new = np.ones(n), np.ones(n)
    base[:turned], new[-turned:] = 0.0, 0.0
    interval = compute_difference_interval(ScoreSample(new, "rate"), ScoreSample(base, "rate"), 1 - 2 * ALPHA)
    return 1.0 if interval is None else max(0.0, -interval.low)


def find_min_drop(n: int) -> float:
    """The least max_drop, as a share, that n examples decide of a usual change; see `compute_uncertainty`.

    >>> find_min_drop(20), find_min_drop(300)
    (0.15, 0.04)
    """
    needed = compute_uncertainty(max(n, MIN_EXAMPLES))
    return next((drop for drop in DROPS if drop >= needed), DROPS[-1])


def suggest_max_drop(n: int) -> int:
    """The drop, in points, that a rule may ask of n examples: the usual one, or the least that so many decide.

    >>> suggest_max_drop(20), suggest_max_drop(1_000)
    (15, 3)
    """
    return max(USUAL_DROP_POINTS, round(100 * find_min_drop(n)))


def find_n_examples(drop: float, sizes: Sequence[int] = SIZES) -> int | None:
    """How many examples decide a drop; None where more than 10,000 would."""
    return next((n for n in sizes if compute_uncertainty(n) <= drop), None)


def find_n_for_quantile(statistic: str) -> int:
    """How many examples it takes for a quantile to have an upper end at all, and so to pass.

    >>> find_n_for_quantile("p95")
    59
    """
    import numpy as np

    n, q = 1, QUANTILES[statistic]
    while compute_quantile_interval(np.arange(float(n)), q, 1 - 2 * ALPHA) is None:
        n += 1
    return n

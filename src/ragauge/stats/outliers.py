"""Where a few values carry most of the spread: the ends of a mean's interval, and its test, by sign flips.

t compares a mean with its standard error. Where a few values lie far off they make up both: the mean follows them, the
error grows with them, and t hardly leaves ±1, whatever the others say. Its distribution is then nothing like Student's,
and no correction for skewness mends that: with 5 % of the values a hundred times as wide as the others a corrected t
cries wolf in 2 % of samples of 20 and in 11 % of samples of 100. Signs are right for any size: if a value is as likely
above the mean as it is as far below, flips of the sign are exact (nearly so here, since the sample itself tells whether
they are taken). They are taken on both sides where the far values balance, and where they lie on one side for the end
away from them: the other end is the one that skewness makes long, and sign flips know nothing of skewness.

The interval of a sign-flip test has a closed form: its ends are quantiles of the means of random subsets (Hartigan).
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ragauge.stats.permutation import LEAST_FLIPPED, ROUNDING, signed_sums
from ragauge.stats.proportions import SMALLEST
from ragauge.stats.weighted import group_numbers, mean_of, summed_up, weighted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.result import Interval, Tested
    from ragauge.stats.weighted import Clusters, Estimate, Values

    Array = npt.NDArray[np.float64]

FEW = 0.6            # times sqrt(n): fewer carriers than that, and t is not Student's
ONE_SIDED = 0.4      # κ² over kurtosis from which the far values lie on one side; 0 where they balance, 1 for one alone
PATTERNS = 9_999
ONE, BOTH = " with one end by sign flips", " with both ends by sign flips"
MOST_BLOCKS = 1_000  # what flips its sign as one; of more values neighbours flip together, which is as exact


class Sides(NamedTuple):
    """At which ends signs decide."""

    low: bool
    high: bool


def by_signs(found: Estimate) -> Sides:
    """At which ends signs decide: fewer than 0.6 · sqrt(N) of at least 6 values carry the spread.

    At both where κ² <= 0.4 / carriers, else at the lower one where κ > 0 and at the upper one where κ < 0.

    >>> from ragauge.stats.weighted import estimate
    >>> by_signs(estimate([1, 2, 3, 4, 5, 6, 7, 8, 90]))
    Sides(low=True, high=False)
    """
    if found.units < LEAST_FLIPPED or found.carriers >= FEW * sqrt(found.parts):
        return Sides(low=False, high=False)
    balanced = found.skewness**2 * found.carriers <= ONE_SIDED
    return Sides(low=balanced or found.skewness > 0, high=balanced or found.skewness < 0)


class Subsets:
    """Means of random subsets of values: where a sign-flip test of the mean begins to reject.

    p(μ) = (#{m_S <= μ} + 1) / (patterns + 1) is the p-value of sign flips of x − μ for a mean above μ, S what flips its
    sign, an empty S always counted; where all 2ⁿ patterns are taken, p = #{m_S <= μ} / 2ⁿ. Below, of S alike with
    m_S >= μ.

    Args:
        values: shape (n,), at least 6 that are independent.
        weights: shape (n,), not negative; None = all alike.
        clusters: shape (n,), labels; all values of a cluster flip together.

    Assumes what sign flips assume. Of more than 1,000 values or clusters neighbours flip together, which is exact too.
    Source: Hartigan (1969), Journal of the American Statistical Association 64, 1303.
    """

    def __init__(self, values: Values, weights: Values | None, clusters: Clusters | None) -> None:
        import numpy as np

        x, w = weighted(values, weights)
        self._mean = mean_of(x, w)
        groups = None if clusters is None else group_numbers(values, weights, clusters)
        rows = np.stack(summed_up(x - self._mean, w, groups))
        if rows.shape[1] > MOST_BLOCKS:
            width = -(-rows.shape[1] // MOST_BLOCKS)
            rows = np.add.reduceat(rows, np.arange(0, rows.shape[1], width), axis=1)
        sums, every = signed_sums(rows, PATTERNS, 0)
        parts, size = (rows.sum(axis=1)[:, None] - sums) / 2
        empty = size < 0.5 * rows[1].min()
        self._found = np.sort(parts[~empty] / size[~empty])     # about the mean
        self._certain = int(empty.sum()) + (not every)          # patterns that reach every μ
        self._patterns: int = sums.shape[1] + (not every)
        self._slack = ROUNDING * float(np.abs(rows[0]).sum() / rows[1].sum())

    @property
    def least(self) -> float:
        """The smallest p there can be."""
        return self._certain / self._patterns

    def p_value(self, *, above: bool) -> float:
        """Of the test that the mean is 0, against one above it, or below."""
        import numpy as np

        if above:
            beyond = int(np.searchsorted(self._found, self._slack - self._mean, side="right"))
        else:
            beyond = self._found.size - int(np.searchsorted(self._found, -self._slack - self._mean, side="left"))
        return (self._certain + beyond) / self._patterns

    def end(self, alpha: float, otherwise: float, *, low: bool) -> float:
        """The end of the interval that leaves out alpha on its side.

        Where no pattern is as rare as that it is `otherwise`, if that lies further out than every subset.
        """
        place = min(int(alpha * self._patterns + 1e-9) - self._certain, self._found.size - 1)
        if low:
            end = min(self._mean, self._mean + float(self._found[max(0, place)]))
            return min(end, otherwise) if place < 0 else end
        end = max(self._mean, self._mean + float(self._found[-1 - max(0, place)]))
        return max(end, otherwise) if place < 0 else end


def signed(interval: Interval, signs: Sides, subsets: Subsets) -> Interval:
    """The interval with those of its ends replaced that signs decide."""
    alpha = (1 - interval.level) / 2
    low = subsets.end(alpha, interval.low, low=True) if signs.low else interval.low
    high = subsets.end(alpha, interval.high, low=False) if signs.high else interval.high
    return replace(interval, low=low, high=high, method=interval.method + (BOTH if all(signs) else ONE))


def signed_test(by_t: Tested, tail: float, subsets: Subsets) -> Tested:
    """The test with the p-value of sign flips; of t (one-sided: tail) where that is below what patterns can tell."""
    above = by_t.estimate > 0
    p = subsets.p_value(above=above)
    p = p if p > subsets.least else min(p, tail)
    if by_t.alternative == "two-sided":
        p = min(1.0, 2 * p)
    elif above != (by_t.alternative == "greater"):
        p = 1 - p
    return replace(by_t, p_value=max(SMALLEST, p), method=f"{by_t.method} with p by sign flips")


def least_by_signs(alpha: float, n: int) -> float:
    """The least number of standard errors from the mean to an end that signs decide, alpha on its side.

    1 up to an alpha of 0.08: whatever the values, 6/64 of all patterns of signs carry their sum as far as the root of
    the sum of their squares, and 9,999 of them hardly err by more. 0 above, and where neighbours flip together.

    Source: Dvořák and Tiwari (2021), arXiv 2104.10005.

    >>> least_by_signs(0.05, 100), least_by_signs(0.2, 100)
    (1.0, 0.0)
    """
    return 1.0 if alpha <= 0.08 and n <= MOST_BLOCKS else 0.0

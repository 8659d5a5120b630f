"""t, corrected for skewness, under random signs: the default for means of amounts and for differences of pairs.

Where a few examples gain much and most lose a little, a small sample that happens to miss the few is low *and* seems
sure: mean and standard error fall together, and Student's t is too sure on that side. How much is seen in the third
moment, and Hall's transformation takes that out of t. Two things are added. What is seen of the skewness leans with the
mean: of values with heavy tails the one that carried the mean away also skews them, of values with light tails it is
the other way; the fourth moment says how much, less what skewness itself brings with it. And a small sample shows too
little of its skewness, so its long side gets more.

What the corrected t is held against is its own distribution under random signs (`signed`): exact for every n from 6 on
if nothing changed, whatever the values look like. From 300 values on, if a hundred carry the spread, Student's
distribution says the same at once. Of fewer than 6 no pattern of signs is rare, and Student's stands there too.

An interval and a test of the same statistic, so that they always agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import cbrt, inf
from typing import TYPE_CHECKING, TypeVar

from ragauge.stats.distributions import normal_quantile, student_cdf, t_quantile
from ragauge.stats.sign_flips import MAX_BLOCKS, MIN_FLIPPED, Shape, SignFlips
from ragauge.stats.textbook_tests import MIN_P, build_t_test
from ragauge.stats.weighted import (
    Alternative,
    Estimate,
    HypothesisTest,
    Interval,
    compute_mean,
    estimate_mean,
    number_groups,
    read_weighted,
    sum_parts,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]

T = TypeVar("T", float, "Array")
FULL_CORRECTION_N = (
    18  # values (or clusters) from which the correction counts in full: of fewer, skewness is mostly noise
)
LEANING_FACTOR = (
    3.5  # times what theory says for large samples: a small one shows only a part of how heavy its tails are
)
SETTLED_N = 45  # values at which half of what skewness itself adds to the tails is believed
LONG_SIDE_FACTOR = 12  # of the long side 1 + 12/n times the skewness seen: small samples miss what makes it long
MAX_CORRECTION = 0.5  # of k: beyond, one far value would say all
MAX_STRETCH = 1.9  # times what it would be without skewness: no end by Student's distribution is further out
MIN_STUDENT_N = 300  # values, a third of them carriers of the spread, from which Student's distribution serves
BY_SIGNS = " by sign flips"
FEW_CLUSTERS = 9  # 1 / (clusters + 9) is added to the error of clusters that are too few for signs
TINY = 1e-9  # t is above 0
N_STEPS = 45  # halvings of the interval in which an end is sought


def skew_corrected_t(
    values: Values,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
    *,
    shorten: bool = True,
) -> Interval | None:
    """The means μ that t corrected for skewness does not reject: longer on the side of the long tail.

    T(t) = t + k·t²/3 + k²·t³/27 + k/6, at least t/1.9;  t = |m − μ| / se,  m and se as in `weighted.estimate`

    k is the skewness of the mean less what of it is chance (`bend_t`). From 6 values (or clusters) up to 300, and where
    fewer than 100 carry the spread ((Σ p²)² / Σ p⁴, a third of n for normal values), T is held against what it is under
    9,999 patterns of signs of the values less μ (`SignFlips`). Else against Student's t with df of the estimate;
    of G clusters with se · (1 + 1/(G + 9)). The numbers are ours, by simulation (docs/decisions/0008).

    Args:
        values: shape (n,), any unit.
        weights: shape (n,), not negative; None = all alike.
        clusters: shape (n,), labels; values that share one are not independent.
        level: confidence, in (0, 1).
        shorten: False where many values repeat: k only where that makes a side longer, and no signs.

    Returns:
        The interval, not clipped; None for fewer than two values or clusters. Constant values give width 0.

    Assumes independent values or clusters. In simulation it holds 95.0 % of normal, 95.4 % of exponential and 94.2 % of
    log-normal means at n = 20, Student's 95.1, 91.8 and 87.1 %; from n of about 200 on the two agree.
    Source: Hall (1992), Journal of the Royal Statistical Society B 54, 221.

    >>> result = skew_corrected_t([1, 1, 2, 2, 3])
    >>> round(result.low, 2), round(result.high, 2)
    (0.82, 2.87)
    """
    if (sample := estimate_mean(values, weights, clusters)) is None:
        return None
    method = "skew-corrected t" if clusters is None else "skew-corrected clustered t"
    x, alpha = t_quantile(sample.df, level), (1 - level) / 2
    if not sample.error or not is_decided_by_signs(sample, shorten):
        return Interval(*_find_ends(x, sample, shorten), method, level)
    signed = _build_sign_flips(values, weights, clusters)
    low, high = (signed.end(alpha, sample.mean + direction * x * sample.error) for direction in (-1, 1))
    if alpha < signed.least:  # what patterns cannot tell Student's t does
        below, above = _find_ends(x, sample, shorten)
        low, high = min(low, below), max(high, above)
    return Interval(low, high, method + BY_SIGNS, level)


def skew_corrected_test(
    differences: Values,
    *,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    alternative: Alternative = "two-sided",
    shorten: bool = True,
) -> HypothesisTest | None:
    """The test that a mean difference is 0 whose answer is that of `skew_corrected_t`: p <= α where 0 lies outside.

    T of t = m / se is held against what it is under 9,999 patterns of signs, or Student's distribution, as there.

    Args:
        differences: shape (n,), new − base, any unit.
        weights: shape (n,), not negative; None = all alike.
        clusters: shape (n,), labels; differences that share one are not independent.
        alternative: "greater" asks whether the mean is above 0, "less" whether it is below.
        shorten: as of the interval.

    Returns:
        The test, its statistic T with the sign of the mean; None for fewer than two pairs, or two clusters, and for
        differences that are all alike but not 0. All 0: p = 1.

    Assumes independent pairs or clusters. If nothing changed it rejects in 5 %, by signs for any differences (of 6
    pairs in 3.1, of 7 to 9 in 4.7 to 4.9 %); if the mean alone stayed in 4.6 % (exponential) and 5.7 % (log-normal) at
    n = 20, where Student's t does in 8.2 and 12.9 %. Of values that repeat it rejects less often than that;
    `difference.paired_test` then asks otherwise.
    Source: Hall (1992), Journal of the Royal Statistical Society B 54, 221; the factors as in `skew_corrected_t`.

    >>> round(skew_corrected_test([1, 2, 3, 0]).p_value, 4)
    0.0998
    """
    sample = estimate_mean(differences, weights, clusters)
    if sample is None:
        return None
    method = "paired skew-corrected t" if sample.units == sample.values else "paired skew-corrected clustered t"
    x = correct_t(sample, shorten) if sample.error else inf
    by_t = build_t_test(sample.mean, sample.error, x, sample.df, method, sample.values, alternative)
    if by_t is None or sample.mean == 0 or not is_decided_by_signs(sample, shorten):
        return by_t
    signed = _build_sign_flips(differences, weights, clusters)
    p = signed.p_value()
    if p <= signed.least:  # what patterns cannot tell Student's t does
        p = min(p, student_cdf(sample.df, -abs(x)))
    if alternative == "two-sided":
        p = 2 * p
    elif (sample.mean > 0) != (alternative == "greater"):
        p = 1 - p
    return replace(by_t, p_value=min(1.0, max(MIN_P, p)), method=method + BY_SIGNS)


def is_decided_by_signs(estimate: Estimate, shorten: bool = True) -> bool:
    """Whether random signs tell how large the corrected t may be by chance, and not Student's distribution."""
    return shorten and estimate.units >= MIN_FLIPPED and min(estimate.parts, 3 * estimate.carriers) < MIN_STUDENT_N


def correct_t(estimate: Estimate, shorten: bool = True) -> float:
    """T of the test that the mean is 0, with the sign of the mean."""
    direction = -1.0 if estimate.mean < 0 else 1.0
    t = abs(estimate.mean) / (estimate.error * _compute_widening(estimate))
    if t in (0.0, inf):
        return direction * t
    return direction * bend_t(t, direction * estimate.skewness, estimate.excess, estimate.parts, shorten)


def compute_least_reach(level: float, n: int) -> float:
    """The least number of standard errors from the mean of n values to an end, whatever they are; for bounds.

    By Student's distribution the t whose T is the quantile, with the largest k that there is, 0.5. By signs, up to an
    alpha of 0.08 on a side, the t whose T is the least of t = 1: 6/64 of all patterns carry the sum of values as far as
    the root of the sum of their squares, where t is 1. Nothing for larger alphas, and where neighbours flip together.

    Source: Dvořák and Tiwari (2021), arXiv 2104.10005.

    >>> round(compute_least_reach(0.9, 100), 3), compute_least_reach(0.5, 100)
    (0.611, 0.0)
    """
    if 1 - level > 0.16 or n > MAX_BLOCKS:
        return 0.0
    return min(_solve_least_t(_transform_hall(1.0, -MAX_CORRECTION)), _solve_least_t(normal_quantile(level)))


def bend_t(t: T, skewness: T, excess: T, n: float, shorten: bool = True) -> T:
    """T of `skew_corrected_t`, of one t or of many.

    k  where b < 0: s·κ − s²·b·t; else s·κ, of which, where κ > 0, s²·b·t is taken, as far as it reaches; times
       1 + 12s/n where it is below 0; at last within ±0.5.  Without shortening s·κ where that is below 0, else 0
    b  3.5 · (ε − 3n / (2n + 90) · κ²): by how much κ leans with the mean
    s  min(1, n/18)

    Args:
        t: at least 0.
        skewness: κ = Σ p³ / (Σ p²)^1.5, the skewness over sqrt(n); above 0 where the mean lies on the side of the long
            tail.
        excess: ε, the excess kurtosis over n: Σ p⁴ / (Σ p²)² less what normal values have.
        n: of the values.
        shorten: False where many values repeat.
    """
    share = min(1.0, n / FULL_CORRECTION_N)
    k = share * skewness
    if shorten:
        leaning = share**2 * LEANING_FACTOR * (excess - 1.5 * n / (n + SETTLED_N) * skewness**2) * t
        k = _keep_positive(_keep_positive(k) - _keep_positive(leaning)) - _keep_positive(-k) + _keep_positive(-leaning)
        k = _keep_positive(k) - (1 + LONG_SIDE_FACTOR * share / n) * _keep_positive(-k)
    else:
        k = -_keep_positive(-k)
    k = k - _keep_positive(k - MAX_CORRECTION) + _keep_positive(-k - MAX_CORRECTION)
    bent_t = _transform_hall(t, k)
    return bent_t + _keep_positive(t / MAX_STRETCH - bent_t)


def _keep_positive(x: T) -> T:
    """What lies above 0, else 0: of a number, or of each of many."""
    return (x + abs(x)) / 2


def _transform_hall(t: T, k: T) -> T:
    return t + k * (t * t / 3 + k * t * t * t / 27 + 1 / 6)


def _compute_statistic(n: int, shape: Shape) -> Array:
    return bend_t(shape.t, shape.skewness, shape.kurtosis - 3 * (n - 1) / (n + 1) / n, n)


def _build_sign_flips(values: Values, weights: Values | None, clusters: Clusters | None) -> SignFlips:
    x, w = read_weighted(values, weights)
    mean, groups = compute_mean(x, w), None if clusters is None else number_groups(values, weights, clusters)
    parts, sizes = sum_parts(x - mean, w, groups)
    return _cache_sign_flips(mean, parts.tobytes(), sizes.tobytes())


@lru_cache(maxsize=4)
def _cache_sign_flips(mean: float, parts: bytes, sizes: bytes) -> SignFlips:
    """An interval and its tests, one-sided and two-sided, are often asked of the same values."""
    import numpy as np

    return SignFlips(mean, np.frombuffer(parts), np.frombuffer(sizes), _compute_statistic, _solve_least_t)


def _solve_least_t(x: float) -> float:
    """The least t whose T can be x, that with the largest k: Hall's T is ((1 + kt/3)³ − 1) / k + k/6."""
    return max(TINY, 3 / MAX_CORRECTION * (cbrt(1 + MAX_CORRECTION * (x - MAX_CORRECTION / 6)) - 1))


def _compute_widening(estimate: Estimate) -> float:
    """What the standard error is multiplied by."""
    return 1.0 if estimate.units == estimate.values else 1 + 1 / (estimate.units + FEW_CLUSTERS)


def _find_ends(x: float, estimate: Estimate, shorten: bool) -> tuple[float, float]:
    """Where T is x, below the mean and above it."""

    def find_end(direction: int) -> float:
        t = _solve_statistic(
            x, lambda t: bend_t(t, -direction * estimate.skewness, estimate.excess, estimate.parts, shorten)
        )
        return estimate.mean + direction * estimate.error * _compute_widening(estimate) * t

    return find_end(-1), find_end(1)


def _solve_statistic(x: float, statistic: Callable[[float], float]) -> float:
    """The t at which a statistic of it passes x."""
    low, high = 0.0, x
    while statistic(high) < x:
        low, high = high, 2 * high
    for _ in range(N_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if statistic(middle) < x else (low, middle)
    return high

"""Student's t as a test of two samples, clustered and weighted as the intervals are."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ragauge.stats.proportions import SMALLEST
from ragauge.stats.result import Alternative, Tested
from ragauge.stats.tails import student_below
from ragauge.stats.weighted import Estimate, estimate

if TYPE_CHECKING:
    from ragauge.stats.weighted import Clusters, Values


def welch_t(
    new: Values,
    base: Values,
    *,
    weights: tuple[Values | None, Values | None] = (None, None),
    clusters: tuple[Clusters | None, Clusters | None] = (None, None),
    alternative: Alternative = "two-sided",
) -> Tested | None:
    """Welch's t test that two independent samples have one mean, whatever their variances.

    t = (m₁ − m₂) / sqrt(se₁² + se₂²),  df = (se₁² + se₂²)² / (se₁⁴/df₁ + se₂⁴/df₂)

    mᵢ, seᵢ and dfᵢ as in `weighted.estimate`, so weights and clusters count as they do in the intervals.

    Args:
        new: shape (n₁,), any unit.
        base: shape (n₂,).
        weights: of new and of base; None = all alike.
        clusters: of new and of base; None = all independent.
        alternative: "greater" asks whether the mean of new is greater.

    Returns:
        The test, its statistic t; None where a sample has fewer than two values or clusters, and for two constant
        samples that differ.

    Assumes independent samples whose means are about normal; for skewed samples of very unequal size it needs about 100
    values in the smaller.
    Source: Welch (1947); equals scipy.stats.ttest_ind with equal_var=False.

    >>> round(welch_t([1, 2, 3], [2, 4, 6]).p_value, 4)
    0.2209
    """
    one, two = (estimate(x, w, g) for x, w, g in zip((new, base), weights, clusters, strict=True))
    if one is None or two is None:
        return None
    alone = one.units == one.values and two.units == two.values
    method = "Welch's t" if alone else "clustered Welch's t"
    variances = (one.error**2, two.error**2)
    error = sum(variances) ** 0.5
    df = _satterthwaite((one, two)) if error else 1.0
    mean = one.mean - two.mean
    return tested(mean, error, mean / error if error else inf, df, method, one.values + two.values, alternative)


def _satterthwaite(sides: tuple[Estimate, Estimate]) -> float:
    largest = max(side.error for side in sides)
    shares = [(side.error / largest) ** 2 for side in sides]     # squares of very small errors would vanish
    return sum(shares) ** 2 / sum(share**2 / side.df for share, side in zip(shares, sides, strict=True))


def tested(
    mean: float, error: float, t: float, df: float, method: str, n: int, alternative: Alternative
) -> Tested | None:
    """The p-value of t by Student's distribution; None for values that are all alike but not 0."""
    if error <= 1e-12 * abs(mean):     # rounding of values that are all alike
        return Tested(1.0, method, 0.0, n, alternative, 0.0) if mean == 0 else None
    if alternative == "two-sided":
        p = 2 * student_below(df, -abs(t))
    else:
        p = student_below(df, -t if alternative == "greater" else t)
    return Tested(min(1.0, max(SMALLEST, p)), method, mean, n, alternative, t)

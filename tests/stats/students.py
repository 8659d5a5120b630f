"""Student's t as textbooks have it, of one sample and of pairs: what the chosen methods are measured against."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ragauge.stats.distributions import t_quantile
from ragauge.stats.textbook_tests import build_t_test
from ragauge.stats.weighted import Alternative, Estimate, HypothesisTest, Interval, estimate_mean

if TYPE_CHECKING:
    from ragauge.stats.weighted import Clusters, Values


def student_t(values: Values, weights: Values | None = None, level: float = 0.95) -> Interval | None:
    """Student's t interval of a mean.

    m ± t(df) · se,  se² = c · Σ wᵢ²(xᵢ−m)² / (Σ wᵢ)²,  m = Σ wᵢxᵢ / Σ wᵢ

    c   as in `weighted.estimate`, so that se² is right on average; n/(n−1) for equal weights
    df  n_eff − 1, at least 1; n_eff = (Σ wᵢ)² / Σ wᵢ², Kish's effective number, is n for equal weights

    Without weights this is the textbook interval with s²/n and n−1 degrees of freedom. A weight says how many
    requests a sampled one stands for; only the ratios of the weights matter.

    Args:
        values: shape (n,), any unit.
        weights: shape (n,), not negative; None = all alike.
        level: confidence, in (0, 1).

    Returns:
        The interval, not clipped; None for n < 2. Constant values give width 0: `mean_interval` does better.

    Assumes independent values whose mean is about normal; exact for normal values, good from n of about 15 unless
    the values are strongly skewed.
    Source: Student (1908); variance of a weighted mean by linearisation, Cochran, Sampling Techniques (1977), 6.8.

    >>> found = student_t([1, 2, 3])
    >>> round(found.low, 3), round(found.high, 3)
    (-0.484, 4.484)
    """
    return _around(estimate_mean(values, weights), "t", level)


def clustered_t(
    values: Values, clusters: Clusters, weights: Values | None = None, level: float = 0.95
) -> Interval | None:
    """Student's t interval of a mean of values that depend on each other within clusters.

    m ± t(df) · se,  se² = G/(G−1) · Σ_g (Σ_{i in g} wᵢ(xᵢ−m))² / (Σ wᵢ)²

    G   clusters
    df  G − 1, or the n_eff − 1 of unequal weights where that is smaller; at least 1

    With one value in each cluster it equals `student_t`.

    Args:
        values: shape (n,).
        clusters: shape (n,), labels; values that share one are not independent.
        weights: shape (n,), not negative; None = all alike.
        level: confidence, in (0, 1).

    Returns:
        The interval, not clipped; None for G < 2.

    Assumes independent clusters; few clusters of very unequal size make it too narrow.
    Source: Liang and Zeger (1986); small-sample factor and degrees of freedom as CR1 in Cameron and Miller (2015).

    >>> found = clustered_t([1, 1, 2, 3], ["a", "a", "b", "c"])
    >>> round(found.low, 3), round(found.high, 3)
    (-0.843, 4.343)
    """
    return _around(estimate_mean(values, weights, clusters), "clustered t", level)


def paired_t(
    differences: Values,
    *,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    alternative: Alternative = "two-sided",
) -> HypothesisTest | None:
    """Student's t test that a mean difference is 0; with clusters, from the clustered standard error.

    t = m / se against Student's distribution; m, se and the degrees of freedom as in `weighted.estimate`

    Args:
        differences: shape (n,), new − base, any unit.
        weights: shape (n,), not negative; None = all alike.
        clusters: shape (n,), labels; differences that share one are not independent.
        alternative: "greater" asks whether the mean is above 0, "less" whether it is below.

    Returns:
        The test, its statistic t; None for fewer than two pairs, or two clusters, and for differences that are all
        alike but not 0, where the data do not say how far the next may lie. All 0: p = 1.

    Assumes independent pairs or clusters and a mean that is about normal: exact for normal differences. Where few
    pairs differ it is too sure (four of any number, all one way, are below 0.05; sign flips say 0.125), and so it is
    for few clusters of unequal size.
    Source: Student (1908); clustered: as `clustered_t`.

    >>> round(paired_t([1, 2, 3, 0]).p_value, 4)
    0.1027
    """
    found = estimate_mean(differences, weights, clusters)
    if found is None:
        return None
    method = "paired t" if found.units == found.values else "paired clustered t"
    t = found.mean / found.error if found.error else inf
    return build_t_test(found.mean, found.error, t, found.df, method, found.values, alternative)


def _around(found: Estimate | None, method: str, level: float) -> Interval | None:
    if found is None:
        return None
    half = t_quantile(found.df, level) * found.error
    return Interval(found.mean - half, found.mean + half, method, level)

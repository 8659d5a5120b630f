"""Textbook tests: of counts, Student's t of two samples, and Wilcoxon's signed ranks of pairs."""

from __future__ import annotations

from math import ceil, inf, lgamma, sqrt
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import binomial_cdf, student_cdf
from ragauge.stats.weighted import Alternative, Estimate, HypothesisTest, estimate_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]


MIN_P = 5e-324  # a p-value is never 0
MAX_MID_P_SHARE = 0.9  # share of the pairs beyond which mid-p is above its level


def fisher_greater(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Fisher's exact test that a rate is greater than another one; one-sided p-value.

    p = Σ_{x >= hits} C(n, x) C(other_n, K − x) / C(n + other_n, K),  K = hits + other_hits

    Args:
        hits: in the first group, 0 to n.
        n: size of the first group.
        other_hits: in the other group.
        other_n: its size.

    Returns:
        The chance, in (0, 1], of so many hits or more in the first group if the rates are equal; 1 where a group is
        empty. Exact for any counts.

    Source: Fisher (1935); equals scipy.stats.fisher_exact with alternative="greater".

    >>> round(fisher_greater(8, 10, 1, 10), 4)
    0.0027
    """
    greater, _ = _compute_hypergeometric(hits, n, other_hits, other_n)
    return greater


def fisher_mid_p(
    hits: int, n: int, other_hits: int, other_n: int, alternative: Alternative = "two-sided"
) -> HypothesisTest | None:
    """Fisher's test of two rates, with mid-p: what was seen counts half.

    p = P(X > hits) + P(X = hits)/2,  X hypergeometric given K = hits + other_hits;  two-sided twice the smaller tail

    Fisher's own test is nearly always below its level, for small groups at half of it or less; mid-p is near it.

    Args:
        hits: in new, 0 to n.
        n: size of new.
        other_hits: in base.
        other_n: its size.
        alternative: "greater" asks whether the rate of new is greater.

    Returns:
        The test; None where a group is empty.

    Assumes independent trials. Holds its level on average over rates; a few tenths of a percent above it at worst.
    Source: Lancaster (1961); Agresti, Categorical Data Analysis (2013), 3.5.

    >>> round(fisher_mid_p(8, 10, 1, 10, "greater").p_value, 4)
    0.0014
    """
    if not n or not other_n:
        return None
    tails = []
    for first, size, two, other_size in ((hits, n, other_hits, other_n), (other_hits, other_n, hits, n)):
        greater, equal = _compute_hypergeometric(first, size, two, other_size)
        tails.append(max(0.0, greater - equal / 2))
    estimate = hits / n - other_hits / other_n
    return HypothesisTest(
        _combine_tails(tails[0], tails[1], alternative), "mid-p Fisher", estimate, n + other_n, alternative
    )


def mcnemar_test(gained: int, lost: int, n: int, alternative: Alternative = "two-sided") -> HypothesisTest | None:
    """McNemar's test of two rates of the same examples, with mid-p: what was seen counts half.

    p = P(X < m) + P(X = m)/2, X ~ binomial(gained + lost, 1/2);  two-sided twice that for m = min(gained, lost)

    Only the pairs that differ say anything. For "greater" m = lost, for "less" m = gained. Where more than nine of ten
    pairs differ what was seen counts in full: mid-p is right on average over how many differ, which then hardly varies.

    Args:
        gained: pairs that are 1 now and were 0.
        lost: pairs that are 0 now and were 1.
        n: pairs, at least gained + lost.
        alternative: "greater" asks whether the rate rose, "less" whether it fell.

    Returns:
        The test; None for n < 2; p = 1 where no pair differs.

    Assumes independent pairs. The exact test is below its level, most of all for few pairs; mid-p stays near it. Over
    all outcomes it is at most at 5.2 %, however many differ. Below 0.05 it needs five pairs that all went one way of
    six or more.
    Source: McNemar (1947); mid-p: Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13, 91.

    >>> round(mcnemar_test(2, 8, 50).p_value, 4)
    0.0654
    """
    if not (gained >= 0 and lost >= 0 and gained + lost <= n):
        raise UsageError(f"mcnemar: gained and lost must be 0 to n={n} together, got {gained} and {lost}.")
    if n < 2:
        return None
    differ = gained + lost
    mid = differ <= MAX_MID_P_SHARE * n

    def compute_tail(m: int) -> float:
        return (binomial_cdf(m, differ, 0.5) + binomial_cdf(m - mid, differ, 0.5)) / 2

    p = _combine_tails(compute_tail(lost), compute_tail(gained), alternative)
    return HypothesisTest(p, "mid-p McNemar" if mid else "exact McNemar", (gained - lost) / n, n, alternative)


def _combine_tails(greater: float, less: float, alternative: Alternative) -> float:
    """The p-value from the chances of the two tails."""
    both = {"greater": greater, "less": less, "two-sided": 2 * min(greater, less)}
    return min(1.0, max(MIN_P, both[alternative]))


def _compute_hypergeometric(hits: int, n: int, other_hits: int, other_n: int) -> tuple[float, float]:
    """The chances of so many hits or more, and of exactly so many."""
    import numpy as np

    for count, size in ((hits, n), (other_hits, other_n)):
        if not 0 <= count <= size:
            raise UsageError(f"hits must be between 0 and the group's size {size}, got {count}.")
    total, every_n = hits + other_hits, n + other_n
    if not n or not other_n:
        return 1.0, 1.0
    expected = n * total / every_n
    spread = sqrt(expected * (other_n / every_n) * (1 - total / every_n))
    top = min(n, total, ceil(max(hits, expected) + 40 * spread) + 40)  # what lies beyond is below any float
    x = np.arange(hits, top + 1, dtype=float)
    every = _compute_log_choose(every_n, np.array([float(total)]))
    logs = _compute_log_choose(n, x) + _compute_log_choose(other_n, total - x) - every
    chances = np.exp(logs)
    return min(1.0, float(chances.sum())), float(chances[0])


def _compute_log_choose(n: int, k: Array) -> Array:
    import numpy as np

    log_factorial = lgamma(n + 1.0)  # some dozens of numbers: SciPy's takes longer to load than they take
    return np.array([log_factorial - lgamma(count + 1) - lgamma(n - count + 1) for count in k.tolist()])


def welch_t(
    new: Values,
    base: Values,
    *,
    weights: tuple[Values | None, Values | None] = (None, None),
    clusters: tuple[Clusters | None, Clusters | None] = (None, None),
    alternative: Alternative = "two-sided",
) -> HypothesisTest | None:
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
    first, two = (estimate_mean(x, w, g) for x, w, g in zip((new, base), weights, clusters, strict=True))
    if first is None or two is None:
        return None
    alone = first.units == first.values and two.units == two.values
    method = "Welch's t" if alone else "clustered Welch's t"
    variances = (first.error**2, two.error**2)
    error = sum(variances) ** 0.5
    df = _compute_satterthwaite_df((first, two)) if error else 1.0
    mean = first.mean - two.mean
    return build_t_test(mean, error, mean / error if error else inf, df, method, first.values + two.values, alternative)


def _compute_satterthwaite_df(samples: tuple[Estimate, Estimate]) -> float:
    largest = max(sample.error for sample in samples)
    shares = [(sample.error / largest) ** 2 for sample in samples]  # squares of very small errors would vanish
    return sum(shares) ** 2 / sum(share**2 / sample.df for share, sample in zip(shares, samples, strict=True))


def build_t_test(
    mean: float, error: float, t: float, df: float, method: str, n: int, alternative: Alternative
) -> HypothesisTest | None:
    """The p-value of t by Student's distribution; None for values that are all alike but not 0."""
    if error <= 1e-12 * abs(mean):  # rounding of values that are all alike
        return HypothesisTest(1.0, method, 0.0, n, alternative, 0.0) if mean == 0 else None
    if alternative == "two-sided":
        p = 2 * student_cdf(df, -abs(t))
    else:
        p = student_cdf(df, -t if alternative == "greater" else t)
    return HypothesisTest(min(1.0, max(MIN_P, p)), method, mean, n, alternative, t)


def wilcoxon(
    differences: Values,
    *,
    alternative: Alternative = "two-sided",
    zeros: Literal["wilcox", "pratt", "zsplit"] = "wilcox",
) -> HypothesisTest | None:
    """Wilcoxon's signed-rank test that differences lie evenly around 0.

    W₊ = Σ_{dᵢ > 0} rank(|dᵢ|),  W₋ likewise; the statistic is the smaller of the two, for one-sided tests W₊

    It asks about the middle of the differences, not their mean: many small losses against few large gains can be
    significant the other way round than the mean says. So it is not chosen by `difference.paired_test`, whose question
    is the mean that the interval is about; it stands beside it where a few outliers should not decide (latency, cost).

    Args:
        differences: shape (n,), new − base, any unit.
        alternative: "greater" asks whether they lie above 0.
        zeros: differences of 0 are left out ("wilcox"), ranked and then left out ("pratt"), or their ranks split
            between both sides ("zsplit").

    Returns:
        The test, its estimate the mean difference; None for fewer than two pairs; p = 1 where all are 0.

    Assumes independent pairs and differences as likely as their opposites if nothing changed. Without ties and zeros
    exact up to n = 50; with them every pattern of signs is taken up to n = 13, beyond that the normal distribution
    with its variance corrected for ties.
    Source: Wilcoxon (1945); computed by scipy.stats.wilcoxon with method="auto".

    >>> wilcoxon([1, 2, 3, 4, 5, 6]).p_value
    0.03125
    """
    import numpy as np

    d = np.asarray(differences, dtype=float)
    if d.size and not bool(np.isfinite(d).all()):
        raise UsageError("wilcoxon: differences must be finite. Leave out pairs in which one side has no score.")
    if d.size < 2:
        return None
    method, mean = "Wilcoxon signed rank", float(d.mean())
    if not d.any():
        return HypothesisTest(1.0, method, mean, d.size, alternative, 0.0)
    from scipy.stats import wilcoxon as signed_rank

    ranked = signed_rank(d, zero_method=zeros, alternative=alternative)
    return HypothesisTest(min(1.0, float(ranked.pvalue)), method, mean, d.size, alternative, float(ranked.statistic))

"""Tests of counts."""

from __future__ import annotations

from math import ceil, lgamma, sqrt
from typing import TYPE_CHECKING

from ragauge.errors import UsageError
from ragauge.stats.result import Alternative, Tested
from ragauge.stats.tails import binomial_below

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

SMALLEST = 5e-324     # a p-value is never 0
NEARLY_ALL = 0.9      # share of the pairs beyond which mid-p is above its level


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
    greater, _ = _hypergeometric(hits, n, other_hits, other_n)
    return greater


def fisher_mid_p(
    hits: int, n: int, other_hits: int, other_n: int, alternative: Alternative = "two-sided"
) -> Tested | None:
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
    for one, size, two, other_size in ((hits, n, other_hits, other_n), (other_hits, other_n, hits, n)):
        greater, equal = _hypergeometric(one, size, two, other_size)
        tails.append(max(0.0, greater - equal / 2))
    estimate = hits / n - other_hits / other_n
    return Tested(_tail(tails[0], tails[1], alternative), "mid-p Fisher", estimate, n + other_n, alternative)


def mcnemar(gained: int, lost: int, n: int, alternative: Alternative = "two-sided") -> Tested | None:
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

    >>> round(mcnemar(2, 8, 50).p_value, 4)
    0.0654
    """
    if not (gained >= 0 and lost >= 0 and gained + lost <= n):
        raise UsageError(f"mcnemar: gained and lost must be 0 to n={n} together, got {gained} and {lost}.")
    if n < 2:
        return None
    differ = gained + lost
    mid = differ <= NEARLY_ALL * n

    def below(m: int) -> float:
        return (binomial_below(m, differ, 0.5) + binomial_below(m - mid, differ, 0.5)) / 2

    p = _tail(below(lost), below(gained), alternative)
    return Tested(p, "mid-p McNemar" if mid else "exact McNemar", (gained - lost) / n, n, alternative)


def _tail(greater: float, less: float, alternative: Alternative) -> float:
    """The p-value from the chances of the two tails."""
    both = {"greater": greater, "less": less, "two-sided": 2 * min(greater, less)}
    return min(1.0, max(SMALLEST, both[alternative]))


def _hypergeometric(hits: int, n: int, other_hits: int, other_n: int) -> tuple[float, float]:
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
    top = min(n, total, ceil(max(hits, expected) + 40 * spread) + 40)     # what lies beyond is below any float
    x = np.arange(hits, top + 1, dtype=float)
    every = _log_choose(every_n, np.array([float(total)]))
    logs = _log_choose(n, x) + _log_choose(other_n, total - x) - every
    chances = np.exp(logs)
    return min(1.0, float(chances.sum())), float(chances[0])


def _log_choose(n: int, k: Array) -> Array:
    import numpy as np

    whole = lgamma(n + 1.0)     # some dozens of numbers: SciPy's takes longer to load than they take
    return np.array([whole - lgamma(one + 1) - lgamma(n - one + 1) for one in k.tolist()])

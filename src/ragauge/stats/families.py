"""Many tests at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: the chance of even one false alarm among all of them stays below the level.

    adjusted p of rank i (smallest first, of m) = max over j <= i of min(1, (m − j + 1) p_(j))

    Args:
        p_values: of one family, in any order; they may depend on each other.

    Returns:
        The adjusted ones in the order given.

    Source: Holm (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = least
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p-values: of what stays below the level, that share is false on average.

    adjusted p of rank i (smallest first, of m) = min over j >= i of min(1, m p_(j) / j)

    Milder than `holm`: it bounds the share of false alarms among the alarms, not the chance of a single one. For
    looking over many metrics and segments; a verdict that blocks a release takes `holm`.

    Args:
        p_values: of one family, in any order; independent, or positively dependent as metrics of the same examples are.

    Returns:
        The adjusted ones in the order given; never below p, never above Holm's.

    Source: Benjamini and Hochberg (1995); dependence: Benjamini and Yekutieli (2001).

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    m, adjusted, least = len(p_values), [0.0] * len(p_values), 1.0
    for rank, index in zip(range(m, 0, -1), sorted(range(m), key=p_values.__getitem__, reverse=True), strict=True):
        least = min(least, p_values[index] * (m / rank))     # not below p by rounding
        adjusted[index] = least
    return adjusted

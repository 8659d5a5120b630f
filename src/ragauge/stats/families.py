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
    for place, index in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = least
    return adjusted

"""Many checks at once: at most 5 % that even one of them fails when nothing got worse."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragauge.gating.decide import ALPHA


def shares(segment: Sequence[bool]) -> list[float]:
    """The share of the family's 5 % that each check gets: half for the whole run, half for the segments.

    So that looking into many segments costs the checks on the whole run only half of their level.

    Args:
        segment: whether each check is one in a segment.

    Returns:
        Shares that sum to 1.

    >>> shares([False, True, True])
    [0.5, 0.25, 0.25]
    """
    segments = sum(segment)
    whole = len(segment) - segments
    halves = 0.5 if whole and segments else 1.0
    return [halves / (segments if one else whole) for one in segment]


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
    while left := [i for i in range(len(weights)) if i not in failed]:
        total = sum(weights[i] for i in left)
        for i in left:
            levels[i] = alpha * weights[i] / total
        now = {i for i in left if fails(i, levels[i])}
        if not now:
            break
        failed |= now
    return frozenset(failed), levels

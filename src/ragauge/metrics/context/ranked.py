"""Precision of a ranking, rewarded for what comes first."""

from __future__ import annotations

from collections.abc import Sequence


def ranked_precision(useful: Sequence[bool]) -> float:
    """Mean, over the useful ranks i, of the share of useful among the first i; 0 when none is useful.

    >>> ranked_precision([True, False, False]), ranked_precision([False, True]), ranked_precision([False])
    (1.0, 0.5, 0.0)
    """
    hits, total = 0, 0.0
    for rank, mark in enumerate(useful, 1):
        if mark:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0

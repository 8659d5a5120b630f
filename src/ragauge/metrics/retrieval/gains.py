"""Gains of a ranking, each discounted by the logarithm of its rank: their sum, and how it is written out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log2
from operator import itemgetter

from ragauge.metrics.base import format_number

Gains = Sequence[tuple[float, int]]  # (gain, rank)
MAX_TERMS = 6  # gains that are written out


def rank_ideally(items: Iterable[tuple[float, int | None]], k: int | None) -> Gains:
    """The best possible order of some gains, cut at k.

    >>> rank_ideally([(1, 4), (3, None), (2, 1)], 2)
    [(3, 1), (2, 2)]
    """
    return [(gain, rank) for rank, gain in enumerate(sorted([gain for gain, _ in items], reverse=True)[:k], 1)]


def sum_discounted(gains: Gains) -> float:
    """The sum of gain / log2(rank + 1)."""
    return sum([gain / log2(rank + 1) for gain, rank in gains])


def write_gains(gains: Gains) -> str:
    """That sum written out, its first few terms; 0 without any.

    >>> write_gains([(1, 3), (2, 1)])
    '2/log2(2) + 1/log2(4)'
    """
    terms = [f"{format_number(gain)}/log2({rank + 1})" for gain, rank in sorted(gains, key=itemgetter(1))]
    return f"{' + '.join(terms[:MAX_TERMS]) or 0}{' + …' if len(terms) > MAX_TERMS else ''}"


def write_share(gains: Gains, best: Gains) -> str:
    """DCG / IDCG, in full and as two numbers."""
    numbers = f"{format_number(sum_discounted(gains))} / {format_number(sum_discounted(best))}"
    return f"({write_gains(gains)}) / ({write_gains(best)}) = {numbers}"

"""Precision of a ranking, rewarded for what comes first."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.metrics.base import ComputedNumber, format_number


def compute_ranked_precision(useful: Sequence[float]) -> float:
    """Mean, over the useful ranks i, of the share of useful among the first i; 0 when none is useful.

    Of probabilities v: the expected sum of those shares, Σ v[i] (1 + Σ_{j<i} v[j]) / i, over the expected number of
    useful ranks, Σ v[i]. With 0 and 1 that is the same mean.

    >>> (compute_ranked_precision([True, False, False]), compute_ranked_precision([False, True]),
    ...     compute_ranked_precision([False]))
    (1.0, 0.5, 0.0)
    """
    hits = total = 0.0
    terms = []
    for rank, v in enumerate(useful, 1):
        total += v * (1 + hits) / rank
        terms.append((v, 1 + hits, rank))
        hits += v
    return ComputedNumber(total / hits, lambda: f"({_write_terms(terms)}) / {format_number(hits)}") if hits else 0.0


def _write_terms(terms: Sequence[tuple[float, float, int]]) -> str:
    """The share at each useful rank, times what is useful there where that is only probable."""
    certain = all(v in (0.0, 1.0) for v, _, _ in terms)
    return " + ".join(
        f"{'' if certain else f'{format_number(v)} · '}{format_number(n)}/{rank}" for v, n, rank in terms if v
    )

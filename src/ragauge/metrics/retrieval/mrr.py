"""Reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import ComputedNumber, Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class Mrr(Metric):
    """One over the rank of the first relevant document.

    mrr@k = 1 / min(r), 0 if no r <= k

    r  ranks at which items of L were found
    L  judged items whose grade is at least rel

    Its mean over examples is the mean reciprocal rank. Without k every rank counts.
    Not applicable when L is empty; 0 when nothing was returned.
    Source: trec_eval recip_rank.

    >>> Mrr().value(Ranking(4, ((1, 4), (1, 2), (0, 1)), (1, 2, 4)))
    0.5
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}

    rel: float = 1.0
    k: int | None = None

    def value(self, ranking: Ranking) -> float | NotApplicable:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        first = min((rank for rank in ranks if rank is not None), default=None)
        return (
            0.0 if first is None or (self.k and first > self.k) else ComputedNumber(1.0 / first, lambda: f"1 / {first}")
        )

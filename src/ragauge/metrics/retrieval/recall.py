"""Recall at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.data.ranking import Ranking
from ragauge.metrics.base import Metric, NotApplicable, Ratio


@dataclass(frozen=True, slots=True)
class Recall(Metric):
    """Share of the relevant documents that are among the first k returned.

    recall@k = #(top_k and L) / #L

    top_k  the first k returned; everything returned where no k is given
    L      judged items whose grade is at least rel; a group of documents counts once

    Not applicable when L is empty; 0 when nothing was returned.
    Source: trec_eval recall.k; without k, set_recall.

    >>> Recall(k=2).value(Ranking(3, ((1, 1), (1, 3), (0, 2)), (1, 2, 3)))
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}
    separable: ClassVar = True

    rel: float = 1.0
    k: int | None = None

    def value(self, ranking: Ranking) -> Ratio | NotApplicable:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        cutoff = self.k or ranking.n_returned
        return Ratio(sum(rank is not None and rank <= cutoff for rank in ranks), len(ranks))

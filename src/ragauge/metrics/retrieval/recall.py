"""Recall at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import Metric, Needs, NotApplicable, Ratio


@dataclass(frozen=True, slots=True)
class Recall(Metric):
    """Share of the relevant documents that are among the first k returned.

    recall@k = #(top_k and L) / #L

    top_k  the first k returned; everything returned where no k is given
    L      judged items whose grade is at least rel; a group of documents counts once

    unit=chunk counts chunks that are labelled themselves (relevant_chunks).
    Not applicable when L is empty; 0 when nothing was returned.
    Source: trec_eval recall.k; without k, set_recall.

    >>> Recall(k=2).value(Ranking(3, ((1, 1), (1, 3), (0, 2)), (1, 2, 3)))
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "retrieval"
    separable: ClassVar = True

    rel: float = 1.0
    unit: Literal["document", "chunk"] = "document"
    k: int | None = None

    @property
    def needs(self) -> Needs:
        """Which labels are counted."""
        return {"ranking": "labels.ranking" if self.unit == "document" else "labels.chunks"}

    def value(self, ranking: Ranking) -> Ratio | NotApplicable:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        cutoff = self.k or ranking.n_returned
        return Ratio(sum(rank is not None and rank <= cutoff for rank in ranks), len(ranks))

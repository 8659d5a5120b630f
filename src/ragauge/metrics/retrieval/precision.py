"""Precision at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import Metric, Needs, NotApplicable, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class Precision(Metric):
    """Share of the first k places that hold a relevant document.

    precision@k = #(top_k and L) / k, even if fewer than k came back

    top_k  the first k returned; everything returned where no k is given, which is then also the denominator
    L      judged items whose grade is at least rel; a group of documents counts once

    Each chunk of a relevant document is a place that holds one; the same chunk twice is not.
    unit=chunk counts chunks that are labelled themselves (relevant_chunks).
    Not applicable when L is empty; precision@k is 0 and precision undefined when nothing was returned.
    Source: trec_eval P.k; without k, set_P.

    >>> Precision(k=5).value(Ranking(3, ((1, 1), (1, 3), (0, 2)), (1, 2, 3)))
    Ratio(numerator=2, denominator=5)
    >>> Precision(k=5).value(Ranking(3, ((1, 1),), (1,), again=((1, 3),)))
    Ratio(numerator=2, denominator=5)
    >>> Precision().value(Ranking(3, ((1, 1), (1, 3), (0, 2)), (1, 2, 3)))
    Ratio(numerator=2, denominator=3)
    """

    measures: ClassVar = "retrieval"
    separable: ClassVar = True
    version: ClassVar = 2

    rel: float = 1.0
    unit: Literal["document", "chunk"] = "document"
    k: int | None = None

    @property
    def needs(self) -> Needs:
        """Which labels are counted."""
        return {"ranking": "labels.ranking" if self.unit == "document" else "labels.chunks"}

    def value(self, ranking: Ranking) -> Ratio | NotApplicable | Undefined:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        cutoff = self.k or ranking.n_returned
        if not cutoff:
            return Undefined("nothing was returned")
        ranks += [rank for grade, rank in ranking.again if grade >= self.rel]
        return Ratio(sum(rank is not None and rank <= cutoff for rank in ranks), cutoff)

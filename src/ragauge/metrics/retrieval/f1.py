"""F1 at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import Metric, NotApplicable, Ratio


@dataclass(frozen=True, slots=True)
class F1(Metric):
    """Harmonic mean of precision and recall at a cutoff.

    f1@k = 2 P R / (P + R)

    P, R   precision@k and recall@k
    top_k  the first k returned; everything returned where no k is given, and k is then its length
    L      judged items whose grade is at least rel; a group of documents counts once

    Where no document came back in several chunks, it is 2 #(top_k and L) / (k + #L).
    Not applicable when L is empty; 0 when both are 0, so also when nothing was returned.
    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; without k, trec_eval set_F.

    >>> F1(k=5).value(Ranking(3, ((1, 1), (1, 3), (0, 2)), (1, 2, 3)))
    Ratio(numerator=4, denominator=7)
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}
    version: ClassVar = 2

    rel: float = 1.0
    k: int | None = None

    def value(self, ranking: Ranking) -> Ratio | NotApplicable:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        cutoff = self.k or ranking.n_returned
        hits = sum(rank is not None and rank <= cutoff for rank in ranks)
        n_places = hits + sum(grade >= self.rel and rank <= cutoff for grade, rank in ranking.again)
        if not hits:
            return Ratio(0, cutoff + len(ranks))
        # 2 / (1/P + 1/R), times the hits: with one chunk a document, 2 hits over k + #L
        size = cutoff if n_places == hits else cutoff * hits / n_places
        return Ratio(2 * hits, size + len(ranks))

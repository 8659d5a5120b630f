"""Average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import ComputedNumber, Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class Map(Metric):
    """Precision at the rank of each relevant document, averaged over all relevant documents.

    map@k = (1 / #L) sum over the ranks r <= k of items of L: #(top_r and L) / r

    top_r  the first r returned
    L      judged items whose grade is at least rel; a group of documents counts once

    A relevant document that was not returned adds 0, so #L is the denominator and not the number found.
    Its mean over examples is the mean average precision. Without k every rank counts.
    Not applicable when L is empty; 0 when nothing was returned.
    Source: trec_eval map, map_cut.k.

    >>> round(Map().value(Ranking(4, ((1, 2), (1, 4), (1, None)), (2, 4))), 4)
    0.3333
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}

    rel: float = 1.0
    k: int | None = None

    def value(self, ranking: Ranking) -> float | NotApplicable:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        relevant = sorted(rank for rank in ranks if rank is not None and (not self.k or rank <= self.k))
        terms = list(enumerate(relevant, 1))
        return ComputedNumber(
            sum([n / rank for n, rank in terms]) / len(ranks),
            lambda: f"({' + '.join(f'{n}/{rank}' for n, rank in terms) or 0}) / {len(ranks)}",
        )

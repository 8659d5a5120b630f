"""R-precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import Metric, NotApplicable, Ratio


@dataclass(frozen=True, slots=True)
class RPrecision(Metric):
    """Precision after as many documents as are relevant.

    r_precision = #(top_R and L) / R

    L      judged items whose grade is at least rel; a group of documents counts once
    R      #L
    top_R  the first R returned

    Precision and recall are equal there. Not applicable when L is empty; 0 when nothing was returned.
    Source: trec_eval Rprec.

    >>> RPrecision().value(Ranking(3, ((1, 1), (1, 3), (0, 2)), (1, 2, 3)))
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}
    separable: ClassVar = True

    rel: float = 1.0

    def value(self, ranking: Ranking) -> Ratio | NotApplicable:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        return Ratio(sum(rank is not None and rank <= len(ranks) for rank in ranks), len(ranks))

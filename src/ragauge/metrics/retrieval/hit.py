"""Whether anything relevant is among the first k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class Hit(Metric):
    """Whether at least one relevant document is among the first k returned.

    hit@k = 1 if #(top_k and L) > 0, else 0

    top_k  the first k returned; everything returned where no k is given
    L      judged items whose grade is at least rel

    Its mean is the hit rate. Not applicable when L is empty; 0 when nothing was returned.
    Source: trec_eval success.k.

    >>> Hit(k=2).value(Ranking(3, ((1, None), (1, 3), (0, 2)), (2, 3)))
    0.0
    >>> Hit(k=3).value(Ranking(3, ((1, None), (1, 3), (0, 2)), (2, 3)))
    1.0
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}
    scale: ClassVar = "rate"
    aliases: ClassVar = {"success": {}, "hit_rate": {}}

    rel: float = 1.0
    k: int | None = None

    def value(self, ranking: Ranking) -> float | NotApplicable:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        cutoff = self.k or ranking.n_returned
        return float(any(rank is not None and rank <= cutoff for rank in ranks))

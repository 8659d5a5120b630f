"""Normalised discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import ComputedNumber, Metric, NotApplicable
from ragauge.metrics.retrieval.gains import rank_ideally, sum_discounted, write_share


@dataclass(frozen=True, slots=True)
class Ndcg(Metric):
    """Graded relevance of the first k, each place discounted by its logarithm, against the best possible order.

    ndcg@k = DCG / IDCG, DCG = sum over ranks i <= k of gain(g_i) / log2(i + 1)

    g_i   grade of the judged item found at rank i; a group of documents counts once, at its best member's rank
    gain  g (gain=linear) or 2^g - 1 (gain=exp) for a grade above 0, else 0
    IDCG  the DCG of all labelled grades in descending order, cut at k too

    Without k every rank counts. Not applicable when no grade is above 0; 0 when nothing was returned.
    Source: Järvelin and Kekäläinen, doi:10.1145/582415.582418; trec_eval ndcg and ndcg_cut.k (linear gain).

    >>> round(Ndcg(k=5).value(Ranking(1, ((1, 1), (1, None)), (1,))), 4)
    0.6131
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}

    gain: Literal["linear", "exp"] = "linear"
    k: int | None = None

    def value(self, ranking: Ranking) -> float | NotApplicable:
        positive = [item for item in ranking.items if item[0] > 0]
        if not positive:
            return NotApplicable("no relevant labels")
        if self.gain == "exp":
            positive = [(2.0**grade - 1.0, rank) for grade, rank in positive]
        k = self.k
        gains = [(gain, rank) for gain, rank in positive if rank is not None and (not k or rank <= k)]
        dcg = sum_discounted(gains)
        ideal = sum_discounted(rank_ideally(positive, k)) if dcg else 1.0
        return ComputedNumber(dcg / ideal, lambda: write_share(gains, rank_ideally(positive, k)))

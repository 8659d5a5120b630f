"""Share of what was returned that was ever judged."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class Judged(Metric):
    """Share of the first k returned that carry a label of any grade.

    judged@k = #(top_k and J) / min(k, n)

    J      documents that were judged, relevant or not; a second copy of one does not count again
    top_k  the first k returned; everything returned where no k is given
    n      documents returned

    Low means that the other retrieval metrics rest on guesses: they take what was not judged for not relevant.
    Undefined when nothing was returned; not applicable without labels.
    Source: ir_measures Judged@k.

    >>> Judged(k=2).value(Ranking(3, ((1, 1), (1, 3)), (1, 3)))
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}

    k: int | None = None

    def value(self, ranking: Ranking) -> Ratio | Undefined:
        if not ranking.n_returned:
            return Undefined("nothing was returned")
        cutoff = min(self.k or ranking.n_returned, ranking.n_returned)
        return Ratio(bisect_right(ranking.judged_ranks, cutoff), cutoff)

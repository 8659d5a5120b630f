"""Recall of an index against exact search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ragauge.core.errors import UsageError
from ragauge.core.ranking import FoundNeighbors
from ragauge.metrics.base import Metric, Needs, Ratio, Undefined

TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class AnnRecall(Metric):
    """Share of the k nearest vectors that an approximate index finds.

    ann_recall@k = #{i in A[k] : d[i] <= d_k + 1e-6 |d_k|} / min(k, n)

    A[k]  the first k ids found, each counted once
    d[i]  exact distance of vector i to the query
    d_k   exact distance of the k-th nearest vector
    n     vectors that may be found

    A vector as near as the k-th counts, whichever of equals the index took.
    Undefined where nothing may be found, or a query of zeros has no direction.
    Source: Aumüller et al., ANN-Benchmarks, 2020, with a relative tolerance.

    >>> AnnRecall(k=2).value(FoundNeighbors((4, 4, 7), (0.1, 0.1, 0.2), (0.1, 0.2, 0.3)))
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "retrieval"

    k: int = field(metadata={"sample": 10})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"ann_recall: k must be an integer of at least 1, got {self.k}. Write ann_recall@10.")

    @property
    def needs(self) -> Needs:
        """What was found and what is nearest."""
        return {"found": "labels.neighbours"}

    def value(self, found: FoundNeighbors) -> Ratio | Undefined:
        nearest = found.nearest[: self.k]
        if not nearest:
            return Undefined(found.why or "the filter matches no vector")
        limit = nearest[-1] + TOLERANCE * abs(nearest[-1])
        first = dict(zip(found.ids[: self.k], found.distances[: self.k], strict=True))
        return Ratio(min(sum(distance <= limit for distance in first.values()), len(nearest)), len(nearest))

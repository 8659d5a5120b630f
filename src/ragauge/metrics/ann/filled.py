"""Whether an index returns as many as were asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import ClassVar

from ragauge.core.errors import UsageError
from ragauge.core.ranking import FoundNeighbors
from ragauge.metrics.base import Metric, Needs, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class Filled(Metric):
    """Share of the k places that a search fills.

    filled@k = |A[k]| / min(k, n)

    A[k]  the first k ids found, each counted once; under a filter those that pass
    n     vectors that may be found

    A filter that is applied after the search leaves places empty, and so do inverted lists of which few are read.
    Undefined where nothing may be found, or a query of zeros has no direction.
    Source: ours; under filters, pgvector documents results that come up short (https://github.com/pgvector/pgvector).

    >>> Filled(k=3).value(FoundNeighbors((4, 7), (0.1, 0.9), (0.1, 0.2, 0.3)))
    Ratio(numerator=2, denominator=3)
    """

    measures: ClassVar = "retrieval"

    k: int = field(metadata={"sample": 10})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"filled: k must be an integer of at least 1, got {self.k}. Write filled@10.")

    @property
    def needs(self) -> Needs:
        """What was found and what is nearest."""
        return {"found": "labels.neighbours"}

    def value(self, found: FoundNeighbors) -> Ratio | Undefined:
        n_places = len(found.nearest[: self.k])
        if not n_places:
            return Undefined(found.why or "the filter matches no vector")
        pairs = zip(found.ids[: self.k], found.distances[: self.k], strict=True)
        return Ratio(
            min(len({neighbor_id for neighbor_id, distance in pairs if not isnan(distance)}), n_places), n_places
        )

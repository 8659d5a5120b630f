"""Rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.errors import UsageError
from ragauge.core.ranking import Ranking
from ragauge.metrics.base import ComputedNumber, Metric, NotApplicable, format_parameter


@dataclass(frozen=True, slots=True)
class Rbp(Metric):
    """Relevant documents met by a reader who goes on from each place to the next with probability p.

    rbp = (1 - p) sum over the ranks r of items of L: p^(r - 1)

    p  persistence, between 0 and 1: 0.5 looks at the first few, 0.95 at some twenty
    L  judged items whose grade is at least rel; a group of documents counts once

    It reaches 1 only when every place of an endless list is relevant.
    Not applicable when L is empty; 0 when nothing was returned.
    Source: Moffat and Zobel, doi:10.1145/1416950.1416952.

    >>> round(Rbp(p=0.8).value(Ranking(3, ((1, 1), (1, 3), (0, 2)), (1, 2, 3))), 4)
    0.328
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}

    p: float
    rel: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise UsageError(
                f"rbp: p must be a number between 0 and 1, got {format_parameter(self.p)}. Write rbp:p=0.8."
            )

    def value(self, ranking: Ranking) -> float | NotApplicable:
        ranks = [rank for grade, rank in ranking.items if grade >= self.rel]
        if not ranks:
            return NotApplicable("no relevant labels")
        hits, p = sorted(rank for rank in ranks if rank is not None), self.p
        return ComputedNumber(
            (1.0 - p) * sum([p ** (rank - 1) for rank in hits]),
            lambda: f"(1 - {p:g}) · ({' + '.join(f'{p:g}^{rank - 1}' for rank in hits) or 0})",
        )

"""Binary preference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.ranking import Ranking
from ragauge.metrics.base import ComputedNumber, Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class Bpref(Metric):
    """How often relevant documents are preferred to judged non-relevant ones; what was never judged is ignored.

    bpref = (1 / #L) sum over returned items of L: 1 - min(above, #L) / min(N, #L), 1 where above = 0

    L      judged items whose grade is at least rel; a group of documents counts once
    above  judged non-relevant items ranked higher
    N      judged non-relevant items, returned or not: grade at least 0 and below rel

    A negative grade says that the document was pooled but not judged, and is ignored.
    Not applicable when L is empty; 0 when nothing was returned.
    Source: Buckley and Voorhees, doi:10.1145/1008992.1009000; trec_eval bpref.

    >>> round(Bpref().value(Ranking(3, ((3, 1), (1, 3), (2, None), (0, 2)), (1, 2, 3))), 4)
    0.3333
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"ranking": "labels.ranking"}

    rel: float = 1.0

    def value(self, ranking: Ranking) -> float | NotApplicable:
        n_relevant = sum(grade >= self.rel for grade, _ in ranking.items)
        if not n_relevant:
            return NotApplicable("no relevant labels")
        n_other = sum(0 <= grade < self.rel for grade, _ in ranking.items)
        min_grade = min(0.0, self.rel)
        returned = sorted((rank, grade < self.rel) for grade, rank in ranking.items if rank and grade >= min_grade)
        above, total, aboves = 0, 0.0, []
        for _, other in returned:
            above += other
            if not other:
                aboves.append(min(above, n_relevant))
                total += 1.0 - aboves[-1] / min(n_other, n_relevant) if above else 1.0
        most = min(n_other, n_relevant)
        return ComputedNumber(
            total / n_relevant,
            lambda: f"({' + '.join(f'(1 - {n}/{most})' if n else '1' for n in aboves) or 0}) / {n_relevant}",
        )

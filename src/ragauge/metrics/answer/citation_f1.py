"""Citation precision and recall in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import Claim
from ragauge.core.response import Citation, Passage
from ragauge.metrics.answer.citation_precision import CitationPrecision
from ragauge.metrics.answer.citation_recall import CitationRecall
from ragauge.metrics.base import Metric, Ratio, Undefined, compute_harmonic_mean


@dataclass(frozen=True, slots=True)
class CitationF1(Metric):
    """Harmonic mean of citation precision and citation recall.

    citation_f1 = 2 P R / (P + R)

    P  citation_precision
    R  citation_recall

    0 when no claim has a citation, or no citation is right.
    Undefined when the answer makes no claims. Not applicable when the system does not cite or passages were not
    recorded.
    Source: ALCE, arXiv:2305.14627, whose two parts it joins.

    >>> passages = [Passage("p1", "d1"), Passage("p2", "d2")]
    >>> claim = Claim(1, "a", end=9, supporting=(2,))
    >>> round(CitationF1().value([claim], [Citation(0, 9, "d2"), Citation(0, 9, "d7")], passages), 4)
    0.6667
    """

    measures: ClassVar = "generation"
    needs: ClassVar = CitationRecall.needs
    separable: ClassVar = True

    def value(
        self, claims: Sequence[Claim], citations: Sequence[Citation], passages: Sequence[Passage]
    ) -> float | Undefined:
        recall = CitationRecall().value(claims, citations, passages)
        if isinstance(recall, Undefined):
            return recall
        precision = CitationPrecision().value(claims, citations, passages)
        if not isinstance(precision, Ratio) or not recall.numerator:
            return 0.0
        return compute_harmonic_mean(precision, recall)

"""Context recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import ReferenceClaim
from ragauge.metrics.base import Metric, NotApplicable, Ratio


@dataclass(frozen=True, slots=True)
class ContextRecall(Metric):
    """Share of the reference's claims that the passages support.

    context_recall = #{h : T[h] is not empty} / m; Σ t[h] / m where the judge has probabilities

    m     claims of the reference answer; the clauses of its sentences where the set is unprepared
    T[h]  passages that support reference claim h
    t[h]  probability that the passages support it

    0 when nothing was retrieved. Not applicable when there is no reference, it makes no claims, or the passages were
    not recorded. With labelled documents, recall says the same without a judge.
    Source: RAGAS, arXiv:2309.15217; claim recall of RAGChecker, arXiv:2408.08067.

    >>> ContextRecall().value([ReferenceClaim(1, "a", (2, 3)), ReferenceClaim(2, "b", ())])
    Ratio(numerator=1.0, denominator=2)
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"claims": "verify_reference.claims"}
    aliases: ClassVar = {"claim_recall": {}, "contextual_recall": {}}
    separable: ClassVar = True
    version: ClassVar = 2

    def value(self, claims: Sequence[ReferenceClaim]) -> Ratio | NotApplicable:
        if not claims:
            return NotApplicable("the reference makes no claims")
        return Ratio.count_items([claim.chance for claim in claims])

"""How much of the evidence that was retrieved reached the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import ReferenceClaim
from ragauge.metrics.base import Metric, Ratio


@dataclass(frozen=True, slots=True)
class EvidenceUtilization(Metric):
    """Share of the reference's claims in the passages that the answer states.

    evidence_utilization = #{h : T[h] is not empty, B[h]} / #{h : T[h] is not empty}; Σ t[h] b[h] / Σ t[h] where the
    judge has probabilities

    T[h]  passages that support reference claim h
    B[h]  the answer states reference claim h
    t[h]  probability that the passages support reference claim h
    b[h]  probability that the answer states it

    A refusal is 0.
    Undefined when no passage supports any reference claim. Not applicable when there is no reference or passages
    were not recorded.
    Source: context utilization of RAGChecker, arXiv:2408.08067.

    >>> result = [ReferenceClaim(1, "a", (1,)), ReferenceClaim(2, "b", (1, 2)), ReferenceClaim(3, "c", ())]
    >>> EvidenceUtilization().value(result, [1.0, 0.0, 1.0], refuse=False)
    Ratio(numerator=1.0, denominator=2.0)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_reference.claims", "stated": "agree.states", "refuse": "verify_answer.refuse"}
    separable: ClassVar = True
    version: ClassVar = 2

    def value(self, claims: Sequence[ReferenceClaim], stated: Sequence[float], refuse: bool) -> Ratio:
        used = [0.0 if refuse else claim.chance * chance for claim, chance in zip(claims, stated, strict=True)]
        return Ratio.count_items(used, [claim.chance for claim in claims])

"""How much of the evidence that was retrieved reached the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.data.facts import ReferenceClaim
from ragauge.metrics.base import Metric, Ratio


@dataclass(frozen=True, slots=True)
class EvidenceUtilization(Metric):
    """Share of the reference's claims in the passages that the answer states.

    evidence_utilization = #{h : T[h] is not empty, B[h]} / #{h : T[h] is not empty}

    T[h]  passages that support reference claim h
    B[h]  the answer states reference claim h

    A refusal is 0.
    Undefined when no passage supports any reference claim. Not applicable when there is no reference or passages
    were not recorded.
    Source: context utilization of RAGChecker, arXiv:2408.08067.

    >>> found = [ReferenceClaim(1, "a", (1,)), ReferenceClaim(2, "b", (1, 2)), ReferenceClaim(3, "c", ())]
    >>> EvidenceUtilization().value(found, [True, False, True], refuse=False)
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {
        "found": "verify_reference.claims",
        "stated": "agree.reference",
        "refuse": "verify_answer.refuse",
    }
    separable: ClassVar = True

    def value(self, found: Sequence[ReferenceClaim], stated: Sequence[bool], refuse: bool) -> Ratio:
        used = [said and not refuse for claim, said in zip(found, stated, strict=True) if claim.supporting]
        return Ratio(sum(used), len(used))

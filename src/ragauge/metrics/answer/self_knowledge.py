"""Right answers from the model's own knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.data.facts import Agreement, Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class SelfKnowledge(Metric):
    """Share of the answer's claims that the reference confirms although no passage supports them.

    self_knowledge = #{i : S[i] is empty, R[i] = agrees} / c

    c     claims in the answer
    S[i]  passages that together support claim i
    R[i]  whether claim i agrees with the reference, contradicts it or is absent from it

    Neither direction is better: such claims are right, but the next one may not be.
    Undefined when c = 0. Not applicable when there is no reference or passages were not recorded.
    faithfulness + hallucination:by=reference + self_knowledge = 1.
    Source: RAGChecker, arXiv:2408.08067.

    >>> SelfKnowledge().value([Claim(1, "a"), Claim(2, "b", supporting=(1,))], ["agrees", "agrees"])
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support", "agreement": "agree.answer"}
    direction: ClassVar = "neither"
    separable: ClassVar = True

    def value(self, claims: Sequence[Claim], agreement: Sequence[Agreement]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        pairs = zip(claims, agreement, strict=True)
        return Ratio(sum(not claim.supporting and agrees == "agrees" for claim, agrees in pairs), len(claims))

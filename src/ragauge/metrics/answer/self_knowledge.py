"""Right answers from the model's own knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class SelfKnowledge(Metric):
    """Share of the answer's claims that the reference confirms although no passage supports them.

    self_knowledge = #{i : S[i] is empty, R[i] = agrees} / c; Σ (1 - p[i]) r[i] / c where the judge has probabilities

    c     claims in the answer
    S[i]  passages that together support claim i
    R[i]  whether claim i agrees with the reference, contradicts it or is absent from it
    p[i]  probability that the passages support claim i
    r[i]  probability that claim i agrees

    Neither direction is better: such claims are right, but the next one may not be.
    Undefined when c = 0. Not applicable when there is no reference or passages were not recorded.
    faithfulness + hallucination:by=reference + self_knowledge = 1.
    Source: RAGChecker, arXiv:2408.08067.

    >>> SelfKnowledge().value([Claim(1, "a"), Claim(2, "b", supporting=(1,))], [1.0, 1.0])
    Ratio(numerator=1.0, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support", "agrees": "agree.agrees"}
    direction: ClassVar = "neither"
    separable: ClassVar = True
    version: ClassVar = 2

    def value(self, claims: Sequence[Claim], agrees: Sequence[float]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        pairs = zip(claims, agrees, strict=True)
        return Ratio.count_items([(1 - claim.chance) * r for claim, r in pairs])

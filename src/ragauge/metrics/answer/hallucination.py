"""Hallucination by RAGChecker's definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.facts import Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class Hallucination(Metric):
    """Share of the answer's claims that neither the passages support nor the reference confirms.

    hallucination:by=reference = #{i : S[i] is empty, R[i] is not agrees} / c; Σ (1 - p[i]) (1 - r[i]) / c where the
    judge has probabilities

    c     claims in the answer
    S[i]  passages that together support claim i
    R[i]  whether claim i agrees with the reference, contradicts it or is absent from it
    p[i]  probability that the passages support claim i
    r[i]  probability that claim i agrees

    by=reference is required: plain hallucination is another name of unsupported, which needs no reference.
    Undefined when c = 0. Not applicable when there is no reference or passages were not recorded.
    faithfulness + hallucination:by=reference + self_knowledge = 1.
    Source: RAGChecker, arXiv:2408.08067.

    >>> two = [Claim(1, "a"), Claim(2, "b")]
    >>> Hallucination(by="reference").value(two, [1.0, 0.0])
    Ratio(numerator=1.0, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support", "agrees": "agree.agrees"}
    direction: ClassVar = "lower"
    separable: ClassVar = True
    version: ClassVar = 2

    by: Literal["reference"]

    def value(self, claims: Sequence[Claim], agrees: Sequence[float]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        pairs = zip(claims, agrees, strict=True)
        return Ratio.count_items([(1 - claim.chance) * (1 - r) for claim, r in pairs])

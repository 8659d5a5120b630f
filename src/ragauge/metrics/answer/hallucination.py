"""Hallucination by RAGChecker's definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.data.facts import Agreement, Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class Hallucination(Metric):
    """Share of the answer's claims that neither the passages support nor the reference confirms.

    hallucination:by=reference = #{i : S[i] is empty, R[i] is not agrees} / c

    c     claims in the answer
    S[i]  passages that together support claim i
    R[i]  whether claim i agrees with the reference, contradicts it or is absent from it

    by=reference is required: plain hallucination is another name of unsupported, which needs no reference.
    Undefined when c = 0. Not applicable when there is no reference or passages were not recorded.
    faithfulness + hallucination:by=reference + self_knowledge = 1.
    Source: RAGChecker, arXiv:2408.08067.

    >>> two = [Claim(1, "a"), Claim(2, "b")]
    >>> Hallucination(by="reference").value(two, ["agrees", "absent"])
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support", "agreement": "agree.answer"}
    direction: ClassVar = "lower"
    separable: ClassVar = True

    by: Literal["reference"]

    def value(self, claims: Sequence[Claim], agreement: Sequence[Agreement]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        pairs = zip(claims, agreement, strict=True)
        return Ratio(sum(not claim.supporting and agrees != "agrees" for claim, agrees in pairs), len(claims))

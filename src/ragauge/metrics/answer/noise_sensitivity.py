"""Wrong claims that the passages led to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.data.facts import Agreement, Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class NoiseSensitivity(Metric):
    """Share of the answer's claims that the passages support although the reference does not confirm them.

    noise_sensitivity:source=relevant   = #{i : R[i] is not agrees, S[i] meets E} / c
    noise_sensitivity:source=irrelevant = #{i : R[i] is not agrees, S[i] is not empty, S[i] does not meet E} / c

    c     claims in the answer
    S[i]  passages that together support claim i
    R[i]  whether claim i agrees with the reference, contradicts it or is absent from it
    E     passages that support some reference claim

    source=relevant counts claims from passages that also hold part of the right answer.
    source=irrelevant counts claims from other passages only.
    Undefined when c = 0. Not applicable when there is no reference or passages were not recorded.
    Source: RAGChecker, arXiv:2408.08067.

    >>> claims = [Claim(1, "a", supporting=(1,)), Claim(2, "b", supporting=(2,)), Claim(3, "c", supporting=(2,))]
    >>> NoiseSensitivity(source="irrelevant").value(claims, ["agrees", "absent", "agrees"], [True, False])
    Ratio(numerator=1, denominator=3)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {
        "claims": "verify_answer.support",
        "agreement": "agree.answer",
        "useful": "verify_reference.useful",
    }
    direction: ClassVar = "lower"
    separable: ClassVar = True

    source: Literal["relevant", "irrelevant"]

    def value(
        self, claims: Sequence[Claim], agreement: Sequence[Agreement], useful: Sequence[bool]
    ) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        evidence = {n for n, mark in enumerate(useful, 1) if mark}
        misled = [
            claim.supporting
            for claim, agrees in zip(claims, agreement, strict=True)
            if agrees != "agrees" and claim.supporting
        ]
        from_relevant = sum(not evidence.isdisjoint(passages) for passages in misled)
        return Ratio(from_relevant if self.source == "relevant" else len(misled) - from_relevant, len(claims))

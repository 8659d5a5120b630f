"""Wrong claims that the passages led to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.facts import Claim
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
    p[i]  probability that the passages support claim i
    r[i]  probability that claim i agrees

    source=relevant counts claims from passages that also hold part of the right answer.
    source=irrelevant counts claims from other passages only.
    Where the judge has probabilities claim i counts p[i] (1 - r[i]); one that is in no S[i] for certain counts by the
    passage that comes closest.
    Undefined when c = 0. Not applicable when there is no reference or passages were not recorded.
    Source: RAGChecker, arXiv:2408.08067.

    >>> claims = [Claim(1, "a", supporting=(1,)), Claim(2, "b", supporting=(2,)), Claim(3, "c", supporting=(2,))]
    >>> NoiseSensitivity(source="irrelevant").value(claims, [1.0, 0.0, 1.0], [True, False])
    Ratio(numerator=1.0, denominator=3)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support", "agrees": "agree.agrees", "useful": "verify_reference.useful"}
    direction: ClassVar = "lower"
    separable: ClassVar = True
    version: ClassVar = 2

    source: Literal["relevant", "irrelevant"]

    def value(self, claims: Sequence[Claim], agrees: Sequence[float], useful: Sequence[bool]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        is_irrelevant = self.source == "irrelevant"
        evidence = {n for n, mark in enumerate(useful, 1) if mark}
        misled = [
            claim.chance * (1 - r) if evidence.isdisjoint(_list_sources(claim)) is is_irrelevant else 0.0
            for claim, r in zip(claims, agrees, strict=True)
        ]
        return Ratio.count_items(misled)


def _list_sources(claim: Claim) -> Sequence[int]:
    """The passages that support a claim; where none does for certain, the one that comes closest."""
    return claim.supporting or ((claim.window.passage,) if claim.window is not None else ())

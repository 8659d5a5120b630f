"""Unsupported claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class Unsupported(Metric):
    """Share of the answer's claims that no passage supports.

    unsupported = #{i : S[i] is empty} / c; Σ (1 - p[i]) / c where the judge has probabilities
                = contradicted + not_in_context = 1 - faithfulness

    c     claims in the answer
    S[i]  passages that together support claim i
    p[i]  probability that the passages support claim i

    It needs no reference, so a claim from the model's own knowledge counts even where it is true;
    hallucination:by=reference leaves those out.
    Undefined when c = 0: a refusal claims nothing. Not applicable when passages were not recorded; with claims and
    no passages at all it is 1.
    Source: RAGAS, arXiv:2309.15217, as its complement.

    >>> Unsupported().value([Claim(1, "a", supporting=(1,)), Claim(2, "b", contradicting=(1,)), Claim(3, "c")])
    Ratio(numerator=2.0, denominator=3)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support"}
    aliases: ClassVar = {"hallucination": {}}
    direction: ClassVar = "lower"
    separable: ClassVar = True
    version: ClassVar = 2

    def value(self, claims: Sequence[Claim]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        return Ratio.count_items([1 - claim.chance for claim in claims])

"""Faithfulness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.facts import Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class Faithfulness(Metric):
    """Share of the answer's claims that the passages support.

    faithfulness = #{i : S[i] is not empty} / c; Σ p[i] / c where the judge has probabilities

    c     claims in the answer
    S[i]  passages that together support claim i
    p[i]  probability that the passages support claim i

    support=direct leaves out what is only implied.
    Undefined when c = 0: a refusal claims nothing. Not applicable when passages were not recorded; with claims
    and no passages at all it is 0.
    Source: RAGAS, arXiv:2309.15217.

    >>> sample, two = Claim(1, "a", supporting=(1, 2), strength="direct"), Claim(2, "b")
    >>> three = Claim(3, "c", supporting=(1,), strength="implied")
    >>> Faithfulness().value([sample, two, three])
    Ratio(numerator=2.0, denominator=3)
    >>> Faithfulness(support="direct").value([sample, two, three])
    Ratio(numerator=1.0, denominator=3)
    >>> Faithfulness().value([Claim(1, "a", supporting=(1,), p=0.75), Claim(2, "b", p=0.25)])
    Ratio(numerator=1.0, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support"}
    aliases: ClassVar = {"groundedness": {}, "response_groundedness": {}}
    separable: ClassVar = True
    version: ClassVar = 2

    support: Literal["any", "direct"] = "any"

    def value(self, claims: Sequence[Claim]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        is_any = self.support == "any"
        return Ratio.count_items([claim.chance if is_any or claim.strength != "implied" else 0.0 for claim in claims])

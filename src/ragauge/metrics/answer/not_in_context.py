"""Claims that the passages say nothing about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class NotInContext(Metric):
    """Share of the answer's claims that the passages neither support nor contradict.

    not_in_context = #{i : S[i] is empty, X[i] is empty} / c; Σ (1 - p[i]) / c over the i with X[i] empty
    where the judge has probabilities

    c     claims in the answer
    S[i]  passages that together support claim i
    X[i]  passages that contradict it
    p[i]  probability that the passages support claim i

    Undefined when c = 0: a refusal claims nothing. Not applicable when passages were not recorded; with claims and
    no passages at all it is 1.
    faithfulness + contradicted + not_in_context = 1.
    Source: RAGTruth's baseless information, arXiv:2401.00396.

    >>> NotInContext().value([Claim(1, "a", supporting=(1,)), Claim(2, "b", contradicting=(1,)), Claim(3, "c")])
    Ratio(numerator=1.0, denominator=3)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support"}
    direction: ClassVar = "lower"
    separable: ClassVar = True
    version: ClassVar = 2

    def value(self, claims: Sequence[Claim]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        return Ratio.count_items([0.0 if claim.contradicting else 1 - claim.chance for claim in claims])

"""Claims on which the passages disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import Claim
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class SourceConflict(Metric):
    """Share of the answer's claims that some passages support and others contradict.

    source_conflict = #{i : S[i] is not empty, X[i] is not empty} / c; Σ p[i] / c over the i with X[i] not empty
    where the judge has probabilities

    c     claims in the answer
    S[i]  passages that together support claim i
    X[i]  passages that contradict it
    p[i]  probability that the passages support claim i

    Such claims count as supported in faithfulness; the corpus disagrees with itself on them.
    Undefined when c = 0: a refusal claims nothing. Not applicable when passages were not recorded.
    Source: conflicts between passages, survey arXiv:2403.08319.

    >>> SourceConflict().value([Claim(1, "a", supporting=(1,), contradicting=(2,)), Claim(2, "b", supporting=(1,))])
    Ratio(numerator=1.0, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support"}
    direction: ClassVar = "lower"
    separable: ClassVar = True
    version: ClassVar = 2

    def value(self, claims: Sequence[Claim]) -> Ratio | Undefined:
        if not claims:
            return Undefined("the answer makes no claims")
        return Ratio.count_items([claim.chance if claim.contradicting else 0.0 for claim in claims])

"""Answer precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class AnswerPrecision(Metric):
    """Share of the answer's claims that agree with the reference.

    answer_precision = #{i : R[i] = agrees} / c; Σ r[i] / c where the judge has probabilities

    c     claims in the answer
    R[i]  whether claim i agrees with the reference, contradicts it or is absent from it
    r[i]  probability that claim i agrees

    It needs no passages.
    Undefined when c = 0: a refusal claims nothing. Not applicable when there is no reference or the answer was not
    recorded.
    Source: precision of RAGChecker, arXiv:2408.08067.

    >>> AnswerPrecision().value([1.0, 0.0])
    Ratio(numerator=1.0, denominator=2)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"agrees": "agree.agrees"}
    separable: ClassVar = True
    version: ClassVar = 2

    def value(self, agrees: Sequence[float]) -> Ratio | Undefined:
        if not agrees:
            return Undefined("the answer makes no claims")
        return Ratio.count_items(agrees)

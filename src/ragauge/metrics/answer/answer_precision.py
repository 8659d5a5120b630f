"""Answer precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.data.facts import Agreement
from ragauge.metrics.base import Metric, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class AnswerPrecision(Metric):
    """Share of the answer's claims that agree with the reference.

    answer_precision = #{i : R[i] = agrees} / c

    c     claims in the answer
    R[i]  whether claim i agrees with the reference, contradicts it or is absent from it

    It needs no passages.
    Undefined when c = 0: a refusal claims nothing. Not applicable when there is no reference or the answer was not
    recorded.
    Source: precision of RAGChecker, arXiv:2408.08067.

    >>> AnswerPrecision().value(["agrees", "contradicts"])
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"agreement": "agree.answer"}
    separable: ClassVar = True

    def value(self, agreement: Sequence[Agreement]) -> Ratio | Undefined:
        if not agreement:
            return Undefined("the answer makes no claims")
        return Ratio(sum(agrees == "agrees" for agrees in agreement), len(agreement))

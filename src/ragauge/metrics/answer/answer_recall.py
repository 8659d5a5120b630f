"""Answer recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable, Ratio


@dataclass(frozen=True, slots=True)
class AnswerRecall(Metric):
    """Share of the reference's claims that the answer states.

    answer_recall = #{h : B[h]} / m; Σ b[h] / m where the judge has probabilities

    m     claims of the reference answer; the clauses of its sentences where the set is unprepared
    B[h]  the answer states reference claim h
    b[h]  probability that it does

    A refusal is 0, unless the question is known to be unanswerable and the reference declines too. It needs no
    passages.
    Not applicable when there is no reference, it makes no claims, or the answer was not recorded. Never undefined.
    Source: recall of RAGChecker, arXiv:2408.08067.

    >>> AnswerRecall().value([1.0, 0.0, 1.0], refuse=False)
    Ratio(numerator=2.0, denominator=3)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"stated": "agree.states", "refuse": "verify_answer.refuse", "expected": "set.expected"}
    separable: ClassVar = True
    version: ClassVar = 2

    def value(self, stated: Sequence[float], refuse: bool, expected: bool = True) -> Ratio | NotApplicable:
        if not stated:
            return NotApplicable("the reference makes no claims")
        return Ratio.count_items([0.0] * len(stated) if refuse and expected else stated)

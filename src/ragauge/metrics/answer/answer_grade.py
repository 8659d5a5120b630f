"""A grade for the answer in three steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import Agreement
from ragauge.metrics.base import Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class AnswerGrade(Metric):
    """1 for a right and complete answer, 0 for one that states nothing of the reference, 0.5 in between.

    answer_grade = 1 if every B[h] and no R[i] = contradicts; 0 if no B[h]; else 0.5

    B[h]  the answer states reference claim h
    R[i]  whether answer claim i agrees with the reference, contradicts it or is absent from it

    A refusal is 0, unless the question is known to be unanswerable and the reference declines too. It needs no
    passages.
    Not applicable when there is no reference, it makes no claims, or the answer was not recorded. Never undefined.
    Source: the three-step correctness grade of human review, read from RAGChecker's facts, arXiv:2408.08067.

    >>> AnswerGrade().value(["agrees"], stated=[True, True], refuse=False)
    1.0
    >>> AnswerGrade().value(["contradicts"], stated=[True, True], refuse=False)
    0.5
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {
        "agreement": "agree.answer",
        "stated": "agree.reference",
        "refuse": "verify_answer.refuse",
        "expected": "set.expected",
    }
    separable: ClassVar = True
    version: ClassVar = 2

    def value(
        self, agreement: Sequence[Agreement], stated: Sequence[bool], refuse: bool, expected: bool = True
    ) -> float | NotApplicable:
        if not stated:
            return NotApplicable("the reference makes no claims")
        if (refuse and expected) or not any(stated):
            return 0.0
        return 1.0 if all(stated) and "contradicts" not in agreement else 0.5

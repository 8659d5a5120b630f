"""Answer correctness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.answer.answer_precision import AnswerPrecision
from ragauge.metrics.answer.answer_recall import AnswerRecall
from ragauge.metrics.base import Metric, NotApplicable, Ratio, compute_harmonic_mean


@dataclass(frozen=True, slots=True)
class AnswerCorrectness(Metric):
    """Harmonic mean of answer precision and answer recall.

    answer_correctness = 2 P R / (P + R)

    P  answer_precision: share of the answer's claims that agree with the reference
    R  answer_recall: share of the reference's claims that the answer states

    0 when R = 0, so a refusal is 0 unless the reference declines too. R where the answer makes no claims and states
    the reference all the same, such as a bare "Yes.". It needs no passages.
    Not applicable when there is no reference, it makes no claims, or the answer was not recorded. Never undefined.
    Source: F1 of RAGChecker, arXiv:2408.08067.

    >>> round(AnswerCorrectness().value([1.0, 0.0], stated=[1.0], refuse=False), 4)
    0.6667
    """

    aliases: ClassVar = {"factual_correctness": {}, "correctness": {}}
    measures: ClassVar = "end_to_end"
    needs: ClassVar = {**AnswerPrecision.needs, **AnswerRecall.needs}
    separable: ClassVar = True
    version: ClassVar = 2

    def value(
        self, agrees: Sequence[float], stated: Sequence[float], refuse: bool, expected: bool = True
    ) -> float | NotApplicable:
        recall = AnswerRecall().value(stated, refuse, expected)
        if isinstance(recall, NotApplicable):
            return recall
        precision = AnswerPrecision().value(agrees)
        if not isinstance(precision, Ratio) or not recall.numerator:
            return recall.numerator / recall.denominator
        return compute_harmonic_mean(precision, recall)

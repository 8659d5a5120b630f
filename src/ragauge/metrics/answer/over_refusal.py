"""Refusing what could be answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class OverRefusal(Metric):
    """1 if the answer declines an answerable question.

    over_refusal = 1 if refuse, else 0; only where the question is answerable

    refuse  the answer declines to answer

    Not applicable when the question is unanswerable or it is not known, or the answer was not recorded. Never
    undefined.
    Source: over-refusal, XSTest, arXiv:2308.01263, here by the corpus instead of safety.

    >>> OverRefusal().value(refuse=True, answerable=True), OverRefusal().value(refuse=False, answerable=True)
    (1.0, 0.0)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"refuse": "verify_answer.refuse", "answerable": "set.answerable"}
    version: ClassVar = 2
    direction: ClassVar = "lower"
    scale: ClassVar = "rate"
    separable: ClassVar = True

    def value(self, refuse: bool, answerable: bool) -> float | NotApplicable:
        return float(refuse) if answerable else NotApplicable("the question is unanswerable")

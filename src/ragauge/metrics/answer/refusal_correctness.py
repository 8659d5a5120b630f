"""Refusing exactly what cannot be answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class RefusalCorrectness(Metric):
    """1 if the answer declines an unanswerable question, or does not decline an answerable one.

    refusal_correctness = 1 if refuse = not answerable, else 0

    refuse      the answer declines to answer
    answerable  the corpus holds the answer: as the set says, else where it has gold documents or a reference answer

    A reference that declines leaves it open. Not applicable when it is not known whether the question is answerable,
    or the answer was not recorded. Never undefined.
    Source: rejection rate of unanswerable questions, RGB, arXiv:2309.01431, extended to both kinds.

    >>> RefusalCorrectness().value(refuse=True, answerable=False), RefusalCorrectness().value(True, answerable=True)
    (1.0, 0.0)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"refuse": "verify_answer.refuse", "answerable": "set.answerable"}
    version: ClassVar = 2
    scale: ClassVar = "rate"
    separable: ClassVar = True

    def value(self, refuse: bool, answerable: bool) -> float:
        return float(refuse is not answerable)

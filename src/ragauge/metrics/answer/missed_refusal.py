"""Answering what cannot be answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class MissedRefusal(Metric):
    """1 if an unanswerable question is answered instead of declined.

    missed_refusal = 1 if not refuse, else 0; only where the question is unanswerable

    refuse  the answer declines to answer

    Not applicable when the question is answerable or it is not known, or the answer was not recorded. Never
    undefined.
    Source: complement of the rejection rate of RGB, arXiv:2309.01431.

    >>> MissedRefusal().value(refuse=False, answerable=False), MissedRefusal().value(refuse=True, answerable=False)
    (1.0, 0.0)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"refuse": "verify_answer.refuse", "answerable": "set.answerable"}
    direction: ClassVar = "lower"
    scale: ClassVar = "rate"
    separable: ClassVar = True

    def value(self, refuse: bool, answerable: bool) -> float | NotApplicable:
        return NotApplicable("the question is answerable") if answerable else float(not refuse)

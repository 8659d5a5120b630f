"""Acceptance criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable, Ratio


@dataclass(frozen=True, slots=True)
class CriteriaMet(Metric):
    """Share of the example's own pass or fail statements that the answer meets.

    criteria_met = #{criteria met} / #{criteria}

    criteria  statements such as "names the form to fill in", written with the example

    A refusal is judged by the criteria as any answer: "says that it does not know" can be one.
    Not applicable when the example has no criteria or the answer was not recorded. Never undefined.
    Source: acceptance criteria; the same arithmetic as rubric scores in arXiv:2411.09607.

    >>> CriteriaMet().value([True, False, True, True])
    Ratio(numerator=3, denominator=4)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"met": "cover_criteria.met"}
    separable: ClassVar = True

    def value(self, met: Sequence[bool]) -> Ratio | NotApplicable:
        return Ratio.count_items(met) if met else NotApplicable("no criteria")

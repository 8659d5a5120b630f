"""Completeness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable, Ratio, Undefined


@dataclass(frozen=True, slots=True)
class Completeness(Metric):
    """Share of the question's aspects that the answer addresses.

    completeness = #{aspects met} / #{aspects}

    aspects  what a complete answer has to address, prepared with the eval set

    A refusal is 0, unless the question is known to be unanswerable.
    Undefined when an unanswerable question is refused. Not applicable when no aspects are prepared or the answer was
    not recorded.
    Source: coverage of required aspects, as in TREC RAG nuggets, arXiv:2411.09607.

    >>> Completeness().value([True, False, True], refuse=False, expected=True)
    Ratio(numerator=2, denominator=3)
    >>> Completeness().value([True, False, True], refuse=True, expected=True)
    Ratio(numerator=0, denominator=3)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"met": "cover_aspects.met", "refuse": "verify_answer.refuse", "expected": "set.expected"}
    separable: ClassVar = True

    def value(self, met: Sequence[bool], refuse: bool, expected: bool) -> Ratio | Undefined | NotApplicable:
        if not met:
            return NotApplicable("no aspects prepared")
        if refuse and not expected:
            return Undefined("an unanswerable question was refused")
        return Ratio.count_items([False] * len(met) if refuse else met)

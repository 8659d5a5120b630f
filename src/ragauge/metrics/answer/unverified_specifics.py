"""Unverified specifics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.response import Passage
from ragauge.metrics.base import Metric, Ratio, Undefined
from ragauge.metrics.specifics import find_unfounded


@dataclass(frozen=True, slots=True)
class UnverifiedSpecifics(Metric):
    """Share of the answer's numbers, dates, names and quotes that stand in no passage and not in what the user said.

    unverified_specifics = #{s in A : s stands in no passage nor what the user said} / #A

    A  specifics of the answer, each once, in normal form: 1,000 = 1000, 20% = 20 percent, 3 Jan 2024 = 2024-01-03;
       those of citation marks and of a list of sources at its end are left out

    What the user said is the question and the user's earlier turns. kind counts only one kind. Its difference to
    fabricated_specifics (derived sums, a lenient judge) is for review. Undefined when the answer has no specifics.
    Not applicable when the answer or the passages' texts were not recorded. Asks nothing.
    Source: entity precision against the source, Nan et al., arXiv:2102.09130; here of numbers, dates and quotes too.

    >>> UnverifiedSpecifics().value("It costs 30 euros in 2024.", "How much?", [Passage("a#1", "a", "30 euros")])
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"answer": "response.answer", "query": "set.turns", "passages": "response.texts"}
    direction: ClassVar = "lower"
    version: ClassVar = 2
    separable: ClassVar = True

    kind: Literal["any", "number", "date", "name", "percent", "quote"] = "any"

    def value(self, answer: str, query: str, passages: Sequence[Passage]) -> Ratio | Undefined:
        supported, missing = find_unfounded(answer, query, passages, self.kind)
        if not supported:
            return Undefined("the answer has no specifics")
        return Ratio.count_items([marks in missing for marks in supported])

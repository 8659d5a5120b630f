"""Fabricated specifics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.core.facts import Claim
from ragauge.core.response import Passage
from ragauge.metrics.base import Metric, Ratio, Undefined
from ragauge.metrics.specifics import find_unfounded


@dataclass(frozen=True, slots=True)
class FabricatedSpecifics(Metric):
    """Share of the answer's numbers, dates, names and quotes that are made up.

    fabricated_specifics = #{s in A : s stands in no passage nor what the user said, inside an unsupported claim} / #A

    A  specifics of the answer, each once, in normal form: 1,000 = 1000, 20% = 20 percent, 3 Jan 2024 = 2024-01-03;
       those of citation marks and of a list of sources at its end are left out

    What the user said is the question and the user's earlier turns. kind counts only one kind. A specific is inside a
    claim where it stands in the claim's sentence. Undefined when the answer has no specifics. Not applicable when the
    answer or the passages' texts were not recorded.
    Source: entity precision against the source, Nan et al., arXiv:2102.09130; here of numbers, dates and quotes too,
    and only inside unsupported claims.

    >>> claims = [Claim(1, "It costs 30 euros.", 0, 18, supporting=(1,)), Claim(2, "It weighs 90 kg.", 19, 35)]
    >>> answer = "It costs 30 euros. It weighs 90 kg."
    >>> FabricatedSpecifics().value(claims, answer, "How much?", [Passage("a#1", "a", "30 euros")])
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {
        "claims": "verify_answer.support",
        "answer": "response.answer",
        "query": "set.turns",
        "passages": "response.texts",
    }
    direction: ClassVar = "lower"
    version: ClassVar = 2
    separable: ClassVar = True

    kind: Literal["any", "number", "date", "name", "percent", "quote"] = "any"

    def value(self, claims: Sequence[Claim], answer: str, query: str, passages: Sequence[Passage]) -> Ratio | Undefined:
        supported, missing = find_unfounded(answer, query, passages, self.kind)
        if not supported:
            return Undefined("the answer has no specifics")
        weak = [claim for claim in claims if not claim.supporting]
        made_up = {marks for marks in missing if any(c.start <= mark.start < c.end for mark in marks for c in weak)}
        return Ratio.count_items([marks in made_up for marks in supported])

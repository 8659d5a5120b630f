"""Exact match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric
from ragauge.text.tokens import normalize_answer as normalised


@dataclass(frozen=True, slots=True)
class ExactMatch(Metric):
    """1 where the answer equals an accepted reference after normalising, else 0.

    exact_match = max over references of [normal(answer) = normal(reference)]

    normal  lower case, no punctuation, no English articles, single spaces

    Not applicable when there is no reference or the answer was not recorded.
    Source: SQuAD, arXiv:1606.05250; ragas compares without normalising.

    >>> ExactMatch().value("The Eiffel tower.", ["Eiffel Tower", "Paris"])
    1.0
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"answer": "response.answer", "references": "set.references"}
    scale: ClassVar = "rate"

    def value(self, answer: str, references: Sequence[str]) -> float:
        normalized_answer = normalised(answer)
        return float(any(normalized_answer == normalised(reference) for reference in references))

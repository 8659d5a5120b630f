"""Answer contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric
from ragauge.text.tokens import split_answer_tokens


@dataclass(frozen=True, slots=True)
class AnswerContains(Metric):
    """1 where an accepted reference stands in the answer word for word, else 0.

    answer_contains = max over references of [tokens(reference) are a run of tokens(answer)]

    tokens  whole words after normalising; characters for scripts written without spaces

    A reference of no word, such as "!", is contained in nothing. Not applicable when there is no reference or the
    answer was not recorded.
    Source: a gold answer as a substring of the answer, Mallen et al., arXiv:2212.10511; here on whole tokens: "US" is
    not in "USAGE".

    >>> AnswerContains().value("It is the Eiffel Tower in Paris.", ["eiffel tower"])
    1.0
    >>> AnswerContains().value("Read the USAGE notes.", ["US"])
    0.0
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"answer": "response.answer", "references": "set.references"}
    scale: ClassVar = "rate"

    def value(self, answer: str, references: Sequence[str]) -> float:
        answer_text = " ".join(["", *split_answer_tokens(answer), ""])
        reference_tokens = (split_answer_tokens(reference) for reference in references)
        return float(any(tokens and " ".join(["", *tokens, ""]) in answer_text for tokens in reference_tokens))

"""Answer tokens."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from ragauge.metrics.base import Metric
from ragauge.text.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class AnswerTokens(Metric):
    """Length of the answer in tokens; summarised as quantiles.

    answer_tokens = #t

    t  tokens of the answer in the cl100k vocabulary

    Not applicable when the answer was not recorded.
    Source: judges prefer longer answers: Length-Controlled AlpacaEval, arXiv:2404.04475.

    >>> AnswerTokens().value("hello world")
    2.0
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"answer": "response.answer"}
    range: ClassVar = (0.0, inf)
    direction: ClassVar = "neither"
    scale: ClassVar = "amount"

    def value(self, answer: str) -> float:
        return float(count_tokens(answer))

"""Context tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from ragauge.core.response import Passage
from ragauge.metrics.base import Metric
from ragauge.text.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class ContextTokens(Metric):
    """Tokens of the passages handed to the generator; summarised as quantiles.

    context_tokens = sum over passages of #t

    t  tokens of a passage in the cl100k vocabulary

    0 for an empty retrieval. Not applicable when a passage's text was not recorded.
    Source: answers get worse as the context grows: Liu et al., Lost in the Middle, arXiv:2307.03172.

    >>> ContextTokens().value([Passage("a#1", "a", "hello world"), Passage("b#1", "b", "hello")])
    3.0
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"passages": "response.texts"}
    range: ClassVar = (0.0, inf)
    direction: ClassVar = "lower"
    scale: ClassVar = "amount"

    def value(self, passages: Sequence[Passage]) -> float:
        return float(sum(count_tokens(passage.text or "") for passage in passages))

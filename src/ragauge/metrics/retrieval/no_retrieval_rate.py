"""No retrieval rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ragauge.core.response import Passage
from ragauge.metrics.base import Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class NoRetrievalRate(Metric):
    """1 where no passage scores at least min_score, else 0; its mean is the share of questions without support.

    no_retrieval_rate = 1 if max score < min_score, else 0

    min_score  least score that counts as a find; it has no default, since scores of retrievers are not comparable

    An empty retrieval counts as 1. Not applicable when passages, or the score of one, were not recorded.
    Source: "How to Evaluate Your RAG Pipeline", https://dev.to/benchwright/how-to-evaluate-your-rag-pipeline-3kk7.

    >>> NoRetrievalRate(0.5).value([Passage("a#1", "a", score=0.4)])
    1.0
    >>> NoRetrievalRate(0.5).value([Passage("a#1", "a", score=0.4), Passage("b#1", "b", score=0.5)])
    0.0
    """

    measures: ClassVar = "retrieval"
    needs: ClassVar = {"passages": "response.passages"}
    direction: ClassVar = "lower"
    scale: ClassVar = "rate"

    min_score: float = field(metadata={"sample": 0.5})

    def value(self, passages: Sequence[Passage]) -> float | NotApplicable:
        scores = [passage.score for passage in passages if passage.score is not None]
        if len(scores) < len(passages):
            return NotApplicable("scores of the passages not recorded")
        return float(max(scores, default=float("-inf")) < self.min_score)

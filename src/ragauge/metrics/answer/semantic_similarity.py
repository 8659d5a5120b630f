"""Semantic similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.core.facts import SimilarityFacts
from ragauge.metrics.base import Metric, Undefined


@dataclass(frozen=True, slots=True)
class SemanticSimilarity(Metric):
    """Cosine of the answer's embedding with that of the main reference.

    semantic_similarity = a . b / (|a| |b|)

    a  vector of the answer
    b  vector of the reference

    The judge says which embedder makes the vectors: the one in the package, or `embed=` in a model judge's spec. Values
    of two embedders are not comparable, and runs of two judges are never compared.
    The range is [-1, 1], unclipped. A wrong number or name hardly moves it: read it beside answer_correctness.
    Undefined when a text is blank. Not applicable when there is no reference or the answer was not recorded.
    Source: cosine similarity; answer similarity of RAGAS, arXiv:2309.15217.

    >>> SemanticSimilarity().value(SimilarityFacts(0.6))
    0.6
    """

    aliases: ClassVar = {"answer_similarity": {}}
    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"similar": "similarity.cosine"}
    range: ClassVar = (-1.0, 1.0)
    separable: ClassVar = True

    def value(self, similar: SimilarityFacts) -> float | Undefined:
        return Undefined("a text is blank") if similar.cosine is None else similar.cosine

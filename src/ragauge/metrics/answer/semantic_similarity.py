"""Semantic similarity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from operator import mul
from typing import ClassVar

from ragauge.errors import UsageError
from ragauge.metrics.base import Metric, NotApplicable, Undefined
from ragauge.metrics.facts import Vectors


@dataclass(frozen=True, slots=True)
class SemanticSimilarity(Metric):
    """Cosine of the answer's embedding with that of the reference.

    semantic_similarity = a . b / (|a| |b|)

    a  vector of the answer
    b  vector of the reference

    model=NAME says which embedding model the vectors are from, and is required: models are not comparable.
    The range is [-1, 1], unclipped. A wrong number or name hardly moves it: read it beside answer_correctness.
    Undefined when a vector is all zeros. Not applicable when no vectors of that model were supplied, there is no
    reference or the answer was not recorded.
    Source: cosine similarity; answer similarity of RAGAS, arXiv:2309.15217.

    >>> SemanticSimilarity(model="wordllama").value({"wordllama": ([1.0, 0.0], [3.0, 4.0])})
    0.6
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"vectors": "embedding.cosine"}
    range: ClassVar = (-1.0, 1.0)
    separable: ClassVar = True

    model: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9._/+-]+", self.model):
            raise UsageError(
                f"semantic_similarity: model must be of letters, digits and ._/+- so that the name can be written, "
                f"got {self.model!r}. Give the model a short name in the configuration."
            )

    def value(self, vectors: Mapping[str, Vectors]) -> float | Undefined | NotApplicable:
        if self.model not in vectors:
            return NotApplicable(f"no vectors of {self.model} were supplied")
        answer, reference = vectors[self.model]
        if len(answer) != len(reference):
            raise UsageError(
                f"semantic_similarity: the vectors of {self.model} must be equally long, "
                f"got {len(answer)} and {len(reference)}. Embed answer and reference with one model."
            )
        size: float = sqrt(sum(map(mul, answer, answer))) * sqrt(sum(map(mul, reference, reference)))
        if size == 0:
            return Undefined("a vector is all zeros")
        cosine: float = sum(map(mul, answer, reference)) / size
        return max(-1.0, min(1.0, cosine))     # takes back rounding only

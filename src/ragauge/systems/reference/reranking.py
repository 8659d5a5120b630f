"""Candidates put into a better order before the generator sees the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ragauge.data.response import Passage
from ragauge.systems.reference.terms import TermWeights, terms

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.systems.reference.ranking import Embed

RerankName = Literal["none", "overlap", "mmr"]
LEXICAL, SIMILAR = 0.5, 0.5     # of an overlap score
RELEVANT, NEW = 0.7, 0.3        # of a marginal relevance
DECIMALS = 6                    # what differs between processors lies beyond, so that they rank alike


class Reranker:
    """Orders candidates by their texts; no cross-encoder: no model reads question and passage together.

    overlap: score(p) = 0.5 x lexical + 0.5 x cosine of question and passage. Lexical is the share of the question's
    idf weight whose terms the passage holds.

    mmr: maximal marginal relevance. Passages are taken one by one, each time that with the most
    0.7 x overlap score - 0.3 x the greatest cosine with a passage taken already, so that near copies of one text do
    not fill the first places. The first is the best by overlap.

    The weights are plain choices, fitted to nothing. Both see what the retrievers saw, terms and vectors, weighed
    together over few passages: expect little on top of hybrid retrieval, more on top of one retriever alone.
    Source of mmr: Carbonell, Goldstein, SIGIR 1998.

    Args:
        name: none, overlap or mmr.
        weights: idf of the corpus.
        embed: texts to rows of length 1, or 0 for a text without content.
    """

    def __init__(self, name: RerankName, weights: TermWeights, embed: Embed) -> None:
        self._name, self._weights, self._embed = name, weights, embed

    def order(self, query: str, candidates: Sequence[Passage]) -> tuple[Passage, ...]:
        """All candidates, the best first, each with its score here; of equal scores, the earlier. none: as they are."""
        if self._name == "none" or not candidates:
            return tuple(candidates)
        import numpy as np

        texts = [passage.text or "" for passage in candidates]
        vectors = np.asarray(self._embed([query, *texts]), dtype=np.float64)
        scores = self._scores(query, texts, vectors)
        if self._name == "mmr":
            chosen = _marginal(scores, vectors[1:])
        else:
            chosen = sorted(enumerate(scores), key=lambda one: (-one[1], one[0]))
        return tuple(replace(candidates[n], score=score) for n, score in chosen)

    def _scores(self, query: str, texts: Sequence[str], vectors: npt.NDArray[np.float64]) -> list[float]:
        asked = {term: self._weights[term] for term in dict.fromkeys(terms(query))}
        total = sum(asked.values())
        cosines = vectors[1:] @ vectors[0]
        return [
            round(LEXICAL * _share(asked, text, total) + SIMILAR * float(cosine), DECIMALS)
            for text, cosine in zip(texts, cosines, strict=True)
        ]


def _share(asked: dict[str, float], text: str, total: float) -> float:
    """The share of the question's weight that a text holds; 0 for a question without terms."""
    held = set(terms(text))
    return sum(weight for term, weight in asked.items() if term in held) / total if total else 0.0


def _marginal(scores: Sequence[float], vectors: npt.NDArray[np.float64]) -> list[tuple[int, float]]:
    """Places and marginal relevances in the order in which they are taken."""
    alike = vectors @ vectors.T
    nearest: dict[int, float] = dict.fromkeys(range(len(scores)), 0.0)
    taken: list[tuple[int, float]] = []
    while nearest:
        worth = {n: round(RELEVANT * scores[n] - NEW * near, DECIMALS) for n, near in nearest.items()}
        best = max(worth, key=lambda n: (worth[n], -n))
        taken.append((best, worth[best]))
        del nearest[best]
        nearest = {n: max(near, float(alike[n, best])) for n, near in nearest.items()}
    return taken

"""What a retriever is, and the one order that all of them rank in.

A text as index terms, and how much each term says.

Lexical retrieval.

Retrieval by vectors, searched exactly.

Several retrievers as one.

Candidates put into a better order before the generator sees the first of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ragauge.core.errors import UsageError
from ragauge.core.response import Passage
from ragauge.text.tokens import ENGLISH, split_words, stem_word

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage found for a query, and its score; higher is better."""

    passage_id: str
    score: float


class Retriever(Protocol):
    """Ranks passages for a query."""

    def search(self, query: str, k: int) -> list[RankedPassage]:
        """The k best passages, best first; of equal scores, the smaller passage_id first."""


def select_best(passage_ids: Sequence[str], scores: npt.NDArray[np.floating[Any]], k: int) -> list[RankedPassage]:
    """The k highest scores as hits: score descending, then passage_id ascending.

    Raises:
        UsageError: k below 1.
    """
    import numpy as np

    if k < 1:
        raise UsageError(f"search: k must be at least 1, got {k}.")
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        selected = np.flatnonzero(scores >= threshold)  # ties with the last one stay in until the ids decide
    else:
        selected = np.arange(len(scores))
    order = sorted(selected.tolist(), key=lambda n: (-float(scores[n]), passage_ids[n]))
    return [RankedPassage(passage_ids[n], float(scores[n])) for n in order[:k]]


# words that shape a question and say nothing about its subject
ASKING_WORDS = """
    anybody anyone anything cannot does else get gets getting give go going got happen happens if kind let like make
    makes many much need needs nobody nothing one ones please possible say says somebody someone something sort still
    take takes tell thing things use used uses using via want wants way yes
"""
STOP_TERMS = ENGLISH.union(ASKING_WORDS.split())


def extract_terms(text: str) -> list[str]:
    """The index terms of a text, in order, repeats kept: its words without stop words, stemmed.

    >>> extract_terms("How many of the computers were paired?")
    ['computer', 'pair']
    """
    return [stem_word(word) for word in split_words(text) if word not in STOP_TERMS]


class TermWeights:
    """How much a term says: idf(t) = ln(1 + (n - n_t + 0.5) / (n_t + 0.5)), the weight of BM25.

    n is the number of texts and n_t the number that hold t; a term that no text holds has the greatest weight.
    """

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        counts: Counter[str] = Counter()
        n = 0
        for text in texts:
            counts.update(set(text))
            n += 1
        self._weights = {term: log(1 + (n - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
        self._unseen = log(1 + (n + 0.5) / 0.5)

    def __getitem__(self, term: str) -> float:
        return self._weights.get(term, self._unseen)

    def __contains__(self, term: str) -> bool:
        return term in self._weights


class Bm25:
    """BM25 in Lucene's form (k1 = 1.5, b = 0.75) over stemmed terms, by the bm25s library.

    A passage that shares no term with the query is not a hit, so a search may return fewer than k, or none.

    Args:
        passage_ids: one a text.
        texts: what is searched.
    """

    def __init__(self, passage_ids: Sequence[str], texts: Sequence[str]) -> None:
        self._ids = tuple(passage_ids)
        self._index = _build_index([extract_terms(text) for text in texts])

    @property
    def bytes(self) -> int:
        """What its postings take, terms not counted."""
        postings = () if self._index is None else self._index.scores.values()
        return sum(int(getattr(posting, "nbytes", 0)) for posting in postings)

    def search(self, query: str, k: int) -> list[RankedPassage]:
        """The k best passages, best first; of equal scores, the smaller passage_id first."""
        import numpy as np

        token_ids = [] if self._index is None else self._index.get_tokens_ids(extract_terms(query))
        scores = self._index.get_scores_from_ids(token_ids) if token_ids else np.zeros(len(self._ids))
        return [hit for hit in select_best(self._ids, scores, k) if hit.score > 0]


def _build_index(texts: list[list[str]]) -> Any:
    """None where there is no term to search."""
    if not any(texts):
        return None
    import bm25s

    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(texts, show_progress=False)
    return index


class Dense:
    """Cosine of the query's vector with every passage's.

    A query without content (a vector of zeros) finds nothing.

    Args:
        passage_ids: one a row.
        vectors: array of shape (passages, dimensions), rows of length 1 (or 0).
        embed: texts to such rows; the one that made the vectors.
    """

    def __init__(self, passage_ids: Sequence[str], vectors: npt.NDArray[np.float32], embed: Embed) -> None:
        if len(passage_ids) != len(vectors):
            raise UsageError(
                f"Dense: {len(passage_ids)} passage ids for {len(vectors)} vectors; expected one id per vector."
            )
        self._ids = tuple(passage_ids)
        self._vectors = vectors
        self._embed = embed

    def search(self, query: str, k: int) -> list[RankedPassage]:
        """The k best passages, best first; of equal scores, the smaller passage_id first."""
        import numpy as np

        vector = np.asarray(self._embed([query])[0])
        if not vector.any() or not self._ids:
            return []
        scores = np.round((self._vectors @ vector).astype(np.float64), DECIMALS)
        return select_best(self._ids, scores, k)


RANK_OFFSET = 60


class Hybrid:
    """Reciprocal rank fusion: score(p) = sum over the retrievers that found p of 1 / (60 + rank of p there).

    Source: Cormack, Clarke, Büttcher, SIGIR 2009, which sets 60.

    Args:
        retrievers: at least one.
        depth: how far down each ranking counts, at least; a search for more goes as deep as it asks.
    """

    def __init__(self, retrievers: Sequence[Retriever], depth: int = 100) -> None:
        if not retrievers:
            raise UsageError("Hybrid: retrievers must not be empty. Pass at least one.")
        self._retrievers = tuple(retrievers)
        self._depth = depth

    def search(self, query: str, k: int) -> list[RankedPassage]:
        """The k best passages, best first; of equal scores, the smaller passage_id first."""
        if k < 1:
            raise UsageError(f"search: k must be at least 1, got {k}.")
        fused: dict[str, float] = {}
        for retriever in self._retrievers:
            for rank, hit in enumerate(retriever.search(query, max(k, self._depth)), start=1):
                fused[hit.passage_id] = fused.get(hit.passage_id, 0.0) + 1 / (RANK_OFFSET + rank)
        order = sorted(fused.items(), key=lambda item: (-item[1], item[0]))
        return [RankedPassage(passage_id, score) for passage_id, score in order[:k]]


RerankName = Literal["none", "overlap", "mmr"]
LEXICAL_WEIGHT, SIMILARITY_WEIGHT = 0.5, 0.5  # of an overlap score
RELEVANCE_WEIGHT, NOVELTY_WEIGHT = 0.7, 0.3  # of a marginal relevance
DECIMALS = 6  # what differs between processors lies beyond, so that they rank alike


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

    def rank_candidates(self, query: str, candidates: Sequence[Passage]) -> tuple[Passage, ...]:
        """All candidates, the best first, each with its score here; of equal scores, the earlier. none: as they are."""
        if self._name == "none" or not candidates:
            return tuple(candidates)
        import numpy as np

        texts = [passage.text or "" for passage in candidates]
        vectors = np.asarray(self._embed([query, *texts]), dtype=np.float64)
        scores = self._compute_scores(query, texts, vectors)
        if self._name == "mmr":
            ranked = _rank_by_marginal_relevance(scores, vectors[1:])
        else:
            ranked = sorted(enumerate(scores), key=lambda pair: (-pair[1], pair[0]))
        return tuple(replace(candidates[n], score=score) for n, score in ranked)

    def _compute_scores(self, query: str, texts: Sequence[str], vectors: npt.NDArray[np.float64]) -> list[float]:
        query_weights = {term: self._weights[term] for term in dict.fromkeys(extract_terms(query))}
        total = sum(query_weights.values())
        cosines = vectors[1:] @ vectors[0]
        return [
            round(
                LEXICAL_WEIGHT * _compute_weight_share(query_weights, text, total) + SIMILARITY_WEIGHT * float(cosine),
                DECIMALS,
            )
            for text, cosine in zip(texts, cosines, strict=True)
        ]


def _compute_weight_share(query_weights: dict[str, float], text: str, total: float) -> float:
    """The share of the question's weight that a text holds; 0 for a question without terms."""
    text_terms = set(extract_terms(text))
    return sum(weight for term, weight in query_weights.items() if term in text_terms) / total if total else 0.0


def _rank_by_marginal_relevance(scores: Sequence[float], vectors: npt.NDArray[np.float64]) -> list[tuple[int, float]]:
    """Places and marginal relevances in the order in which they are taken."""
    similarities = vectors @ vectors.T
    nearest: dict[int, float] = dict.fromkeys(range(len(scores)), 0.0)
    taken: list[tuple[int, float]] = []
    while nearest:
        worth = {
            n: round(RELEVANCE_WEIGHT * scores[n] - NOVELTY_WEIGHT * near, DECIMALS) for n, near in nearest.items()
        }
        best = max(worth, key=lambda n: (worth[n], -n))
        taken.append((best, worth[best]))
        del nearest[best]
        nearest = {n: max(near, float(similarities[n, best])) for n, near in nearest.items()}
    return taken

"""Lexical retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragauge.systems.reference.ranking import RankedPassage, best
from ragauge.systems.reference.terms import terms


class Bm25:
    """BM25 in Lucene's form (k1 = 1.5, b = 0.75) over stemmed terms, by the bm25s library.

    A passage that shares no term with the query is not a hit, so a search may return fewer than k, or none.

    Args:
        passage_ids: one a text.
        texts: what is searched.
    """

    def __init__(self, passage_ids: Sequence[str], texts: Sequence[str]) -> None:
        self._ids = tuple(passage_ids)
        self._index = _index([terms(text) for text in texts])

    def search(self, query: str, k: int) -> list[RankedPassage]:
        """The k best passages, best first; of equal scores, the smaller passage_id first."""
        import numpy as np

        known = [] if self._index is None else self._index.get_tokens_ids(terms(query))
        scores = self._index.get_scores_from_ids(known) if known else np.zeros(len(self._ids))
        return [hit for hit in best(self._ids, scores, k) if hit.score > 0]


def _index(texts: list[list[str]]) -> Any:
    """None where there is no term to search."""
    if not any(texts):
        return None
    import bm25s

    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(texts, show_progress=False)
    return index

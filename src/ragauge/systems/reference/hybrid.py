"""Several retrievers as one."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.errors import UsageError
from ragauge.systems.reference.ranking import RankedPassage, Retriever

K = 60


class Hybrid:
    """Reciprocal rank fusion: score(p) = sum over the retrievers that found p of 1 / (60 + rank of p there).

    Source: Cormack, Clarke, Büttcher, SIGIR 2009, which sets 60.

    Args:
        retrievers: at least one.
        depth: how far down each ranking counts, at least; a search for more goes as deep as it asks.
    """

    def __init__(self, retrievers: Sequence[Retriever], depth: int = 100) -> None:
        if not retrievers:
            raise UsageError("Hybrid: retrievers must not be empty. Hand in at least one.")
        self._retrievers = tuple(retrievers)
        self._depth = depth

    def search(self, query: str, k: int) -> list[RankedPassage]:
        """The k best passages, best first; of equal scores, the smaller passage_id first."""
        if k < 1:
            raise UsageError(f"search: k must be at least 1, got {k}.")
        fused: dict[str, float] = {}
        for retriever in self._retrievers:
            for rank, hit in enumerate(retriever.search(query, max(k, self._depth)), start=1):
                fused[hit.passage_id] = fused.get(hit.passage_id, 0.0) + 1 / (K + rank)
        order = sorted(fused.items(), key=lambda item: (-item[1], item[0]))
        return [RankedPassage(passage_id, score) for passage_id, score in order[:k]]

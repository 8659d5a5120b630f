"""Retrieval by vectors, searched exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.errors import UsageError
from ragauge.systems.reference.ranking import RankedPassage, best

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.systems.reference.ranking import Embed

DECIMALS = 6     # what differs between processors lies beyond, so that they rank alike


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
            raise UsageError(f"Dense: {len(passage_ids)} passage ids for {len(vectors)} vectors, must be one each.")
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
        return best(self._ids, scores, k)

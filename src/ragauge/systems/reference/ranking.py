"""What a retriever is, and the one order that all of them rank in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ragauge.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    # texts to an array of shape (texts, dimensions), rows of length 1, or 0 for a text without content
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


def best(passage_ids: Sequence[str], scores: npt.NDArray[np.floating[Any]], k: int) -> list[RankedPassage]:
    """The k highest scores as hits: score descending, then passage_id ascending.

    Raises:
        UsageError: k below 1.
    """
    import numpy as np

    if k < 1:
        raise UsageError(f"search: k must be at least 1, got {k}.")
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        chosen = np.flatnonzero(scores >= least)     # ties with the last one stay in until the ids decide
    else:
        chosen = np.arange(len(scores))
    order = sorted(chosen.tolist(), key=lambda n: (-float(scores[n]), passage_ids[n]))
    return [RankedPassage(passage_ids[n], float(scores[n])) for n in order[:k]]

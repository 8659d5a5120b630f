"""similarity: how near two texts are, by their vectors; no judge reads them.

Asking for the vectors of texts, and their cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.data.ask import Ask, Reply
from ragauge.data.facts import SimilarityFacts
from ragauge.judging.inputs import Similarity
from ragauge.judging.judge import Asking

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def embed(question: str, version: int, texts: Sequence[str], judge_repeat: int) -> Ask:
    """The one request for vectors that a question makes."""
    return Ask("embed", question, version, tuple(("text", text) for text in texts), judge_repeat=judge_repeat)


def cosines(reply: Reply, n: int) -> list[float | None]:
    """Cosine of the first text with each of the n others, to 6 decimals; None for all where the call failed."""
    return cosine_table(reply, 1, n)[0]


def cosine_table(reply: Reply, first: int, others: int) -> list[list[float | None]]:
    """Cosine of each of the first texts with each of the others; None everywhere where the call failed."""
    rows = _vectors(reply, first + others)
    if rows is None:
        return [[None] * others for _ in range(first)]
    return [[round(float(vector @ other), 6) for other in rows[first:]] for vector in rows[:first]]


def _vectors(reply: Reply, n: int) -> npt.NDArray[np.float64] | None:
    """The reply's vectors scaled to length 1 (zeros stay zeros); None where they are not n rows of numbers."""
    import numpy as np

    if reply.status != "ok" or reply.vectors is None:
        return None
    try:
        rows = np.asarray(reply.vectors, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if rows.ndim != 2 or len(rows) != n or not np.isfinite(rows).all():
        return None
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float64)


VERSION = 1


def similarity(inputs: Similarity, judge_repeat: int = 0) -> Asking:
    """One ask for both vectors; a blank text has none, and is not asked about."""
    texts = (inputs.answer, inputs.reference)
    if not all(text.strip() for text in texts):
        return SimilarityFacts(None, blank=True)
    (reply,) = yield [embed("similarity", VERSION, texts, judge_repeat)]
    (cosine,) = cosines(reply, 1)
    return SimilarityFacts(None if cosine is None else max(-1.0, min(1.0, cosine)))     # takes back rounding only

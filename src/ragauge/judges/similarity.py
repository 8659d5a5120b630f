"""similarity: how near two texts are, by their vectors; no judge reads them.

Asking for the vectors of texts, their cosines, and what a cosine means in a language: unrelated sentences have .02 in
English, .45 in Spanish and .92 in Hindi. `cosine_scales.json` beside this file is written by bench/language_scales.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import SimilarityFacts
from ragauge.judges.inputs import Similarity
from ragauge.judges.judge import AskGenerator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SCALES_FILE = Path(__file__).parent / "cosine_scales.json"


class CosineScale(NamedTuple):
    """How the embedder's cosine is read in one language."""

    #: mean vector of the language's sentences, which is taken away from both texts first; None where the vectors of
    #: unrelated sentences point apart anyhow, as in English.
    center: npt.NDArray[np.float64] | None
    factor: float  #: what the cosine is multiplied with, so that those of unrelated texts are spread as in English.


@cache
def read_scales() -> Mapping[str, Any]:
    """The whole file: language -> center, spread, and mean cosine of unrelated sentences."""
    scales: Mapping[str, Any] = json.loads(SCALES_FILE.read_text(encoding="utf-8"))
    return scales


@cache
def find_scale(language: str) -> CosineScale | None:
    """The scale of a language by its ISO 639-1 code; None of one that was not measured: there no cosine is read."""
    import numpy as np

    scales = read_scales()
    if language not in scales:
        return None
    center = np.asarray(scales[language]["center"], dtype=np.float64)
    return CosineScale(center if center.size else None, scales["en"]["spread"] / scales[language]["spread"])


def build_embed_ask(question: str, version: int, texts: Sequence[str], judge_repeat: int) -> Ask:
    """The one request for vectors that a question makes."""
    return Ask("embed", question, version, tuple(("text", text) for text in texts), judge_repeat=judge_repeat)


def compute_cosines(reply: Reply, n: int) -> list[float | None]:
    """Cosine of the first text with each of the n others, to 6 decimals; None for all where the call failed."""
    rows = _normalize_vectors(reply, n + 1)
    return [None] * n if rows is None else [round(float(rows[0] @ other), 6) for other in rows[1:]]


def compute_standard_table(reply: Reply, first: int, scales: Sequence[CosineScale | None]) -> list[list[float | None]]:
    """Cosine of each of the first texts with each of the others as it would be in English, by the other's scale.

    About 0 for unrelated texts of any language; beyond 1 where they spread less than in English. None for a text
    without a scale, for all where the call failed, and where the embedder is another one.
    """
    rows = _normalize_vectors(reply, first + len(scales))
    if rows is None:
        return [[None] * len(scales) for _ in range(first)]
    pairs = list(zip(rows[first:], scales, strict=True))
    return [
        [None if scale is None else _compute_standard_cosine(row, other, scale) for other, scale in pairs]
        for row in rows[:first]
    ]


def _compute_standard_cosine(
    first: npt.NDArray[np.float64], other: npt.NDArray[np.float64], scale: CosineScale
) -> float | None:
    """The cosine of two vectors of length 1 or 0 on a scale, to 6 decimals."""
    if scale.center is None:
        return round(float(first @ other) * scale.factor, 6)
    if scale.center.shape != first.shape:
        return None
    left, right = first - scale.center, other - scale.center
    lengths = float((left @ left) * (right @ right)) ** 0.5
    return round(float(left @ right) / lengths * scale.factor, 6) if lengths else 0.0


def _normalize_vectors(reply: Reply, n: int) -> npt.NDArray[np.float64] | None:
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


def measure_similarity(inputs: Similarity, judge_repeat: int = 0) -> AskGenerator:
    """One ask for both vectors; a blank text has none, and is not asked about."""
    texts = (inputs.answer, inputs.reference)
    if not all(text.strip() for text in texts):
        return SimilarityFacts(None, blank=True)
    (reply,) = yield [build_embed_ask("similarity", VERSION, texts, judge_repeat)]
    (cosine,) = compute_cosines(reply, 1)
    return SimilarityFacts(None if cosine is None else max(-1.0, min(1.0, cosine)))  # takes back rounding only

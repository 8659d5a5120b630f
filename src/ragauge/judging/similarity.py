"""similarity: how near two texts are, by their vectors; no judge reads them."""

from __future__ import annotations

from ragauge.data.facts import SimilarityFacts
from ragauge.judging.cosines import cosines, embed
from ragauge.judging.inputs import Similarity
from ragauge.judging.judge import Asking

VERSION = 1


def similarity(inputs: Similarity, judge_repeat: int = 0) -> Asking:
    """One ask for both vectors; a blank text has none, and is not asked about."""
    texts = (inputs.answer, inputs.reference)
    if not all(text.strip() for text in texts):
        return SimilarityFacts(None, blank=True)
    (reply,) = yield [embed("similarity", VERSION, texts, judge_repeat)]
    (cosine,) = cosines(reply, 1)
    return SimilarityFacts(None if cosine is None else max(-1.0, min(1.0, cosine)))     # takes back rounding only

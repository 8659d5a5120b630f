"""similarity: how near two texts are, by their vectors; no judge reads them."""

from __future__ import annotations

from ragauge.data.ask import Ask
from ragauge.data.facts import SimilarityFacts
from ragauge.judging.cosines import cosines
from ragauge.judging.inputs import Similarity
from ragauge.judging.judge import Asking

VERSION = 1


def similarity(inputs: Similarity, judge_repeat: int = 0) -> Asking:
    """One ask for both vectors; a blank text has none, and is not asked about."""
    texts = (inputs.answer, inputs.reference)
    if not all(text.strip() for text in texts):
        return SimilarityFacts(None, blank=True)
    messages = tuple(("text", text) for text in texts)
    (reply,) = yield [Ask("embed", "similarity", VERSION, messages, judge_repeat=judge_repeat)]
    (cosine,) = cosines(reply, 1)
    return SimilarityFacts(None if cosine is None else max(-1.0, min(1.0, cosine)))     # takes back rounding only

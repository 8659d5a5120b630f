"""cover_aspects: which aspects of the question the answer addresses."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.data.ask import Reply
from ragauge.data.facts import CoverFacts
from ragauge.judging.cosines import cosine_table
from ragauge.judging.inputs import CoverAspects
from ragauge.judging.judge import Asking
from ragauge.judging.local.index import Mode, mode_of
from ragauge.judging.local.relevance import Asked, chosen, embed
from ragauge.judging.local.statements import bare, statements

VERSION = 1
MOST_SENTENCES = 200     # of an answer that are compared with each aspect


def cover_aspects(inputs: CoverAspects, judge_repeat: int = 0) -> Asking:
    """An aspect is met when some sentence of the answer is relevant to it; a refusal meets none.

    Relevance is that of rate_passages. Criteria are not answered: whether a statement about an answer holds cannot be
    seen from shared words.
    """
    said = statements(inputs.answer)
    if not said.claims:
        return CoverFacts((False,) * len(inputs.aspects))
    texts = [bare(sentence.text) for sentence in said.claims[:MOST_SENTENCES]]
    (reply,) = yield [embed("cover_aspects", VERSION, (*inputs.aspects, *texts), judge_repeat)]
    mode = mode_of((inputs.query, inputs.answer))
    return CoverFacts(_met(inputs.aspects, texts, reply, mode))


def _met(aspects: Sequence[str], texts: Sequence[str], reply: Reply, mode: Mode) -> tuple[bool, ...]:
    table = cosine_table(reply, len(aspects), len(texts))
    met = []
    for aspect, angles in zip(aspects, table, strict=True):
        asked = Asked(aspect, mode)
        found = False
        for text, angle in zip(texts, angles, strict=True):
            judge = chosen("relevance", angle)
            found = found or judge.p(asked.features(text, angle)) >= judge.threshold
        met.append(found and bool(asked.distinct))
    return tuple(met)

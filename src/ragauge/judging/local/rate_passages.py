"""rate_passages, rate_sentences, rate_answer: which passages, or sentences of them or of the answer, are relevant."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.data.facts import Rating, RelevanceFacts
from ragauge.judging.inputs import Rate, RatePassages
from ragauge.judging.judge import Asking
from ragauge.judging.local.index import mode_of
from ragauge.judging.local.relevance import PreparedQuestion, chosen, embed, language_of
from ragauge.judging.similarity import cosine_scale, standard_table
from ragauge.text.sentences import split

VERSION = 1


def rate_passages(inputs: Rate, judge_repeat: int = 0) -> Asking:
    """Relevance from the words that question and text share and from the cosine of their embeddings.

    An empty text is not relevant. Without vectors, and in a language whose cosines were not measured, the words alone
    decide.
    """
    whole = isinstance(inputs, RatePassages)
    pieces = [(n, None, text) for n, text in enumerate(inputs.passages, 1)] if whole else _sentences(inputs.passages)
    angles: list[float | None] = [None] * len(pieces)
    if inputs.query.strip() and any(text.strip() for _, _, text in pieces):
        texts = [inputs.query, *(text for _, _, text in pieces)]
        (reply,) = yield [embed(inputs.question, VERSION, texts, judge_repeat)]
        scales = [cosine_scale(language_of(inputs.query, text)) for _, _, text in pieces]
        (angles,) = standard_table(reply, 1, scales)
    mode = mode_of((inputs.query, *inputs.passages))
    asked = PreparedQuestion(inputs.query, mode)
    ratings = []
    for (passage, sentence, text), angle in zip(pieces, angles, strict=True):
        judge = chosen("relevance", angle, mode)
        p = judge.p(asked.features(text, angle)) if text.strip() and asked.distinct else 0.0
        ratings.append(Rating(passage, p >= judge.threshold, sentence, p))
    return RelevanceFacts(tuple(ratings), "passage" if whole else "sentence")


def _sentences(passages: Sequence[str]) -> list[tuple[int, int | None, str]]:
    return [(n, sentence.n, sentence.text) for n, text in enumerate(passages, 1) for sentence in split(text)]

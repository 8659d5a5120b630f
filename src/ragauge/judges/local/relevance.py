"""How likely a text is about a question: word overlap, and the cosine of the two embeddings where it can be read.

A cosine is read on the scale of the text's language (`similarity.cosine_scale`). In a language without a scale the
words alone decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log1p

from ragauge.core.ask import Ask
from ragauge.core.facts import Rating, RelevanceFacts
from ragauge.judges import similarity
from ragauge.judges.inputs import Rate, RatePassages
from ragauge.judges.judge import Asking
from ragauge.judges.local.index import SAMPLE, Mode, carries_content, indexed, mode_of, pieces, units_of
from ragauge.judges.local.weights import Scorer, scorer
from ragauge.judges.similarity import cosine_scale, standard_table
from ragauge.text.language import guess
from ragauge.text.sentences import split
from ragauge.text.tokens import words

LEXICAL = ("coverage", "bigrams", "grams", "query_length", "text_length")
FEATURES = ("cosine", *LEXICAL)
FEWEST_UNITS: Mapping[Mode, int] = {"words": 0, "grams": 20}  # of a text: shorter ones were not trained on
LONGEST_QUERY = 128  # units with content that are looked at
FEWEST_WORDS = 20  # of a text in plain letters that tells its language; a shorter one is taken for English
EMBEDDED = 4_000  # characters of a text that are embedded: its vector is a mean, and hardly moves after that


class PreparedQuestion:
    """A question made ready to be compared with many texts."""

    def __init__(self, query: str, mode: Mode) -> None:
        content = [unit for unit in units_of(query, mode) if carries_content(unit, mode)][:LONGEST_QUERY]
        self.mode = mode
        self.distinct = tuple(dict.fromkeys(content))
        self.pairs = frozenset(pairwise(self.distinct))
        self.grams = tuple(dict.fromkeys(piece for unit in self.distinct for piece in pieces(unit)))

    def features(self, text: str, cosine: float | None) -> tuple[float, ...]:
        """Features of a text, in the order of FEATURES, or of LEXICAL where there is no cosine."""
        held = indexed(text, self.mode)
        hits = sum(unit in held.places for unit in self.distinct)
        texts_grams = {piece for unit in held.places for piece in pieces(unit)}
        content = ([u for u in segment.units if carries_content(u, self.mode)] for segment in held.segments)
        pairs_held = {pair for units in content for pair in pairwise(units) if pair in self.pairs}
        lexical = (
            hits / (len(self.distinct) or 1),
            len(pairs_held) / (len(self.pairs) or 1),
            sum(gram in texts_grams for gram in self.grams) / (len(self.grams) or 1),
            log1p(len(self.distinct)),
            log1p(max(held.size, FEWEST_UNITS[self.mode])),
        )
        return lexical if cosine is None else (cosine, *lexical)


def chosen(kind: str, cosine: float | None, mode: Mode) -> Scorer:
    """The scorer of a kind by how texts are compared, or its lexical form where there is no cosine."""
    kind = kind if mode == "words" else f"{kind}_{mode}"
    return scorer(kind, FEATURES) if cosine is not None else scorer(f"{kind}_lexical", LEXICAL)


def language_of(query: str, text: str) -> str:
    """ISO 639-1 code of the language that a text is compared with a question in; "und" where nothing tells.

    The text tells, or the two together. A few words in plain letters are English: names, numbers, phrases.

    >>> [language_of("", text) for text in ("Der Turm ist 90 m hoch.", "Anna Stone, 1931", "Żółty dom", "Kule")]
    ['de', 'en', 'und', 'en']
    """
    language = guess(text[:SAMPLE])
    if language == "und":
        both = f"{query[:SAMPLE]}\n{text[:SAMPLE]}"
        language = guess(both)
        if language == "und" and both.isascii() and len(words(both)) < FEWEST_WORDS:
            return "en"
    return language


def embed(question: str, version: int, texts: Sequence[str], judge_repeat: int) -> Ask:
    """The one request for vectors that a question makes, with the beginnings of its texts."""
    return similarity.embed(question, version, [text[:EMBEDDED] for text in texts], judge_repeat)


VERSION = 1


def rate_passages(inputs: Rate, judge_repeat: int = 0) -> Asking:
    """Relevance from the words that question and text share and from the cosine of their embeddings.

    An empty text is not relevant. Without vectors, and in a language whose cosines were not measured, the words alone
    decide.
    """
    whole = isinstance(inputs, RatePassages)
    parts: list[tuple[int, int | None, str]] = [(n, None, text) for n, text in enumerate(inputs.passages, 1)]
    if not whole:
        parts = [(n, sentence.n, sentence.text) for n, _, text in parts for sentence in split(text)]
    angles: list[float | None] = [None] * len(parts)
    if inputs.query.strip() and any(text.strip() for _, _, text in parts):
        texts = [inputs.query, *(text for _, _, text in parts)]
        (reply,) = yield [embed(inputs.question, VERSION, texts, judge_repeat)]
        scales = [cosine_scale(language_of(inputs.query, text)) for _, _, text in parts]
        (angles,) = standard_table(reply, 1, scales)
    mode = mode_of((inputs.query, *inputs.passages))
    asked = PreparedQuestion(inputs.query, mode)
    ratings = []
    for (passage, sentence, text), angle in zip(parts, angles, strict=True):
        judge = chosen("relevance", angle, mode)
        p = judge.p(asked.features(text, angle)) if text.strip() and asked.distinct else 0.0
        ratings.append(Rating(passage, p >= judge.threshold, sentence, p))
    return RelevanceFacts(tuple(ratings), "passage" if whole else "sentence")

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
from ragauge.judges.judge import AskGenerator
from ragauge.judges.local.index import (
    SAMPLE_CHARS,
    Mode,
    detect_mode,
    has_content,
    index_text,
    split_pieces,
    split_units,
)
from ragauge.judges.local.weights import Scorer, read_scorer
from ragauge.judges.similarity import compute_standard_table, find_scale
from ragauge.text.language import guess_language
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import split_words

LEXICAL = ("coverage", "bigrams", "grams", "query_length", "text_length")
FEATURES = ("cosine", *LEXICAL)
MIN_UNITS: Mapping[Mode, int] = {"words": 0, "grams": 20}  # of a text: shorter ones were not trained on
MAX_QUERY_UNITS = 128  # units with content that are looked at
MIN_LANGUAGE_WORDS = 20  # of a text in plain letters that tells its language; a shorter one is taken for English
MAX_EMBEDDED_CHARS = 4_000  # characters of a text that are embedded: its vector is a mean, and hardly moves after that


class PreparedQuestion:
    """A question made ready to be compared with many texts."""

    def __init__(self, query: str, mode: Mode) -> None:
        content = [unit for unit in split_units(query, mode) if has_content(unit, mode)][:MAX_QUERY_UNITS]
        self.mode = mode
        self.distinct = tuple(dict.fromkeys(content))
        self.pairs = frozenset(pairwise(self.distinct))
        self.grams = tuple(dict.fromkeys(gram for unit in self.distinct for gram in split_pieces(unit)))

    def compute_features(self, text: str, cosine: float | None) -> tuple[float, ...]:
        """Features of a text, in the order of FEATURES, or of LEXICAL where there is no cosine."""
        indexed_text = index_text(text, self.mode)
        hits = sum(unit in indexed_text.places for unit in self.distinct)
        texts_grams = {gram for unit in indexed_text.places for gram in split_pieces(unit)}
        content = ([u for u in segment.units if has_content(u, self.mode)] for segment in indexed_text.segments)
        pairs_held = {pair for units in content for pair in pairwise(units) if pair in self.pairs}
        lexical = (
            hits / (len(self.distinct) or 1),
            len(pairs_held) / (len(self.pairs) or 1),
            sum(gram in texts_grams for gram in self.grams) / (len(self.grams) or 1),
            log1p(len(self.distinct)),
            log1p(max(indexed_text.size, MIN_UNITS[self.mode])),
        )
        return lexical if cosine is None else (cosine, *lexical)


def select_scorer(kind: str, cosine: float | None, mode: Mode) -> Scorer:
    """The scorer of a kind by how texts are compared, or its lexical form where there is no cosine."""
    kind = kind if mode == "words" else f"{kind}_{mode}"
    return read_scorer(kind, FEATURES) if cosine is not None else read_scorer(f"{kind}_lexical", LEXICAL)


def detect_language(query: str, text: str) -> str:
    """ISO 639-1 code of the language that a text is compared with a question in; "und" where nothing tells.

    The text tells, or the two together. A few words in plain letters are English: names, numbers, phrases.

    >>> [detect_language("", text) for text in ("Der Turm ist 90 m hoch.", "Anna Stone, 1931", "Żółty dom", "Kule")]
    ['de', 'en', 'und', 'en']
    """
    language = guess_language(text[:SAMPLE_CHARS])
    if language == "und":
        both = f"{query[:SAMPLE_CHARS]}\n{text[:SAMPLE_CHARS]}"
        language = guess_language(both)
        if language == "und" and both.isascii() and len(split_words(both)) < MIN_LANGUAGE_WORDS:
            return "en"
    return language


def build_embed_ask(question: str, version: int, texts: Sequence[str], judge_repeat: int) -> Ask:
    """The one request for vectors that a question makes, with the beginnings of its texts."""
    return similarity.build_embed_ask(question, version, [text[:MAX_EMBEDDED_CHARS] for text in texts], judge_repeat)


VERSION = 1


def rate_passages(inputs: Rate, judge_repeat: int = 0) -> AskGenerator:
    """Relevance from the words that question and text share and from the cosine of their embeddings.

    An empty text is not relevant. Without vectors, and in a language whose cosines were not measured, the words alone
    decide.
    """
    of_passages = isinstance(inputs, RatePassages)
    rated_texts: list[tuple[int, int | None, str]] = [(n, None, text) for n, text in enumerate(inputs.passages, 1)]
    if not of_passages:
        rated_texts = [
            (n, sentence.n, sentence.text) for n, _, text in rated_texts for sentence in split_sentences(text)
        ]
    angles: list[float | None] = [None] * len(rated_texts)
    if inputs.query.strip() and any(text.strip() for _, _, text in rated_texts):
        texts = [inputs.query, *(text for _, _, text in rated_texts)]
        (reply,) = yield [build_embed_ask(inputs.question, VERSION, texts, judge_repeat)]
        scales = [find_scale(detect_language(inputs.query, text)) for _, _, text in rated_texts]
        (angles,) = compute_standard_table(reply, 1, scales)
    mode = detect_mode((inputs.query, *inputs.passages))
    question = PreparedQuestion(inputs.query, mode)
    ratings = []
    for (passage, sentence, text), angle in zip(rated_texts, angles, strict=True):
        judge = select_scorer("relevance", angle, mode)
        p = judge.p(question.compute_features(text, angle)) if text.strip() and question.distinct else 0.0
        ratings.append(Rating(passage, p >= judge.threshold, sentence, p))
    return RelevanceFacts(tuple(ratings), "passage" if of_passages else "sentence")

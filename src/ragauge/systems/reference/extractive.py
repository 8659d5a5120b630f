"""A generator without a language model: it answers with sentences of the passages, or not at all.

What a question asks for, as far as its words show it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ragauge.core.response import Citation, Passage
from ragauge.systems.reference.retrievers import TermWeights, extract_terms
from ragauge.text.sentences import build_outline

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.systems.reference.retrievers import Embed


# English question words after which a number or a date is expected
AMOUNT_QUESTION = re.compile(
    r"\bhow (?:many|much|long|fast|quickly|soon|often|far|big|large|high|old)\b"
    r"|\bwhen\b|\bat what\b|\buntil\b|\bsince\b"
    r"|\bwhat (?:date|price|percentage|time|temperature|year)\b|\bwhich (?:date|port|version|year)\b"
    r"|\bcosts?\b|\bprice\b|\bbiggest\b|\blargest\b|\bdiffer\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|once|twice)\b", re.IGNORECASE
)

# A name: a word with a capital (not a sentence's first), a word with digits and letters, a version number.
# A number behind it belongs to it: ISO 27001.
NAME = re.compile(r"\b(?:[a-z]*[A-Z]\w*(?:-\d+)?(?: \d+(?:\.\d+)*)?|[A-Za-z]*\d+[A-Za-z]\w*|\d+(?:\.\d+)+)\b")
SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|[\"'“‘(])$")
# written with a capital, and no name of a thing that a page would have to mention
CAPITALIZED_WORDS = """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday i ok pc pcs tv id ids faq
"""
NOT_NAMES = frozenset(CAPITALIZED_WORDS.split())


def asks_for_amount(query: str) -> bool:
    """Whether a number or a date is expected in the answer."""
    return AMOUNT_QUESTION.search(query) is not None


def has_amount(text: str) -> bool:
    """Whether a text holds a number, in digits or as an English word from two to twelve."""
    return NUMBER.search(text) is not None


def find_names(query: str) -> tuple[str, ...]:
    """The names in a question: capitalised words within a sentence, codes, versions; no months and days.

    >>> find_names("Is Brindle certified according to ISO 27001 since March 2024?")
    ('Brindle', 'ISO 27001')
    """
    matches = []
    for match in NAME.finditer(query):
        first = match.group().split()[0]
        opens = first.istitle() and SENTENCE_START.search(query[: match.start()]) is not None
        if first.casefold() not in NOT_NAMES and not opens:
            matches.append(match.group())
    return tuple(dict.fromkeys(matches))


def find_unmentioned_names(query: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The names in a question that open no word of any of the texts.

    A plural counts as its singular. Capitals matter for abbreviations only: US is not us.
    """
    joined = "\n".join(texts)
    return tuple(name for name in find_names(query) if not _is_mentioned(name, joined))


def _is_mentioned(name: str, text: str) -> bool:
    singular = name[:-1] if len(name) > 2 and name.endswith("s") else name
    ending = r"(?!\d|\.\d)" if singular[-1].isdigit() else ""
    flags = re.NOFLAG if singular.isupper() and singular.isalpha() else re.IGNORECASE
    return re.search(rf"(?<!\w){re.escape(singular)}{ending}", text, flags) is not None


REFUSAL = "The documents do not say."

LEXICAL, SIMILAR, AMOUNT = 0.5, 0.5, 0.1  # weights in a sentence's score
HEADING_WEIGHT = 0.5  # what a term counts that only the sentence's headings hold
REPETITION_PENALTY = 0.15  # taken off a further sentence for saying the question's terms over again
MIN_SHARE_OF_BEST = 0.8  # a further sentence needs this share of the best one's score
UNKNOWN_NAME_PENALTY = 0.4  # taken off when the question names something that no passage mentions


@dataclass(frozen=True, slots=True)
class Extract:
    """What the generator made of a question and its passages."""

    answer: str  #: the chosen sentences with spaces between, or REFUSAL.
    citations: tuple[Citation, ...]  #: one a sentence, by offset in the answer; () for a refusal.
    confidence: float | None  #: what was compared with the threshold; None without a sentence to choose from.


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a passage with all that does not depend on the question."""

    text: str
    terms: frozenset[str]
    above: frozenset[str]
    has_amount: bool
    vectors: npt.NDArray[np.float32]  # of the sentence alone, and of it under its headings


class ExtractiveGenerator:
    """Answers with the one to `max_sentences` sentences that answer the question best, in passage order.

    A sentence's score is 0.5 x lexical + 0.5 x similarity + 0.1 where the question asks for an amount and the sentence
    holds one. Lexical is the share of the question's idf weight whose terms the sentence holds; a term that only its
    headings hold counts half. Similarity is the mean cosine of the question with the sentence alone and with the
    sentence under its headings. A further sentence loses 0.15 x the share of the question's weight that is said
    already, and is taken only with at least 0.8 of the best score.

    The confidence is the best score, less 0.4 when the question names something (a capitalised word, a code, a
    version) that no passage mentions. Below `refuse_below` the answer is a refusal.

    Where the numbers come from: the weights 0.5, 0.5, 0.1 and the half for headings are a listwise fit on a seeded half
    of the demo's questions (56 of 113, the first after `random.Random(7).shuffle`), rounded. The default threshold is
    the highest, in steps of 0.05, that refuses fewer than 5 % of that half's answerable questions. The other three were
    set by trial on all of the demo's questions, so figures on these questions are no forecast for another corpus.

    Args:
        weights: idf of the corpus.
        embed: texts to rows of length 1.
        max_sentences: at least 1.
        refuse_below: least confidence of an answer.
    """

    def __init__(self, weights: TermWeights, embed: Embed, max_sentences: int = 3, refuse_below: float = 0.3) -> None:
        self._weights = weights
        self._embed = embed
        self._max_sentences = max_sentences
        self._refuse_below = refuse_below
        self._read = lru_cache(maxsize=8_192)(self._read_sentences)

    def generate(self, query: str, passages: Sequence[Passage], *, may_refuse: bool = True) -> Extract:
        """The answer to a question from the passages; `may_refuse=False` answers however low the confidence is."""
        owners, pool = self._collect_sentences(passages)
        if not pool:
            return Extract(REFUSAL, (), None)
        query_weights = self._compute_query_weights(query)
        scores = self._compute_scores(query, query_weights, pool)
        unmentioned_names = find_unmentioned_names(query, [passage.text or "" for passage in passages])
        confidence = round(max(scores) - (UNKNOWN_NAME_PENALTY if unmentioned_names else 0.0), 6)
        if may_refuse and confidence < self._refuse_below:
            return Extract(REFUSAL, (), confidence)
        return _join_sentences(
            [(pool[n].text, owners[n]) for n in sorted(self._select_sentences(query_weights, pool, scores))], confidence
        )

    def _collect_sentences(self, passages: Sequence[Passage]) -> tuple[list[str], list[_Sentence]]:
        """Every different sentence of the passages in order, and beside it the passage where it stands first."""
        owners: list[str] = []
        pool: list[_Sentence] = []
        visited: set[str] = set()
        for passage in passages:
            for sentence in self._read(passage.text or ""):
                if sentence.text.casefold() not in visited:
                    visited.add(sentence.text.casefold())
                    owners.append(passage.passage_id)
                    pool.append(sentence)
        return owners, pool

    def _read_sentences(self, text: str) -> tuple[_Sentence, ...]:
        """The sentences of one passage; headings give context and are no sentences."""
        units = [unit for unit in build_outline(text) if not unit.level]
        texts = [" ".join(unit.text.split()) for unit in units]
        above = [" ".join(unit.headings) for unit in units]
        under = [f"{heading}. {words}" if heading else words for heading, words in zip(above, texts, strict=True)]
        vectors = self._embed([*texts, *under])
        return tuple(
            _Sentence(
                sentence,
                frozenset(extract_terms(sentence)),
                frozenset(extract_terms(heading)),
                has_amount(sentence),
                vectors[[n, n + len(texts)]],
            )
            for n, (sentence, heading) in enumerate(zip(texts, above, strict=True))
        )

    def _compute_query_weights(self, query: str) -> dict[str, float]:
        """The question's terms with the share of its weight that each has; the shares sum to 1."""
        weights = {term: self._weights[term] for term in dict.fromkeys(extract_terms(query))}
        total = sum(weights.values())
        return {term: weight / total for term, weight in weights.items()}

    def _compute_scores(self, query: str, query_weights: dict[str, float], pool: Sequence[_Sentence]) -> list[float]:
        import numpy as np

        vector = np.asarray(self._embed([query])[0], dtype=np.float64)
        similar = np.stack([sentence.vectors for sentence in pool]).astype(np.float64) @ vector
        bonus = AMOUNT if asks_for_amount(query) else 0.0
        return [
            LEXICAL * sum(_compute_term_share(term, sentence) * weight for term, weight in query_weights.items())
            + SIMILAR * round(float(cosines.mean()), 6)
            + bonus * sentence.has_amount
            for sentence, cosines in zip(pool, similar, strict=True)
        ]

    def _select_sentences(
        self, query_weights: dict[str, float], pool: Sequence[_Sentence], scores: Sequence[float]
    ) -> list[int]:
        """Numbers of the chosen sentences, the best first; of equals, the earlier."""
        selected = [max(range(len(pool)), key=lambda n: (scores[n], -n))]
        min_score = MIN_SHARE_OF_BEST * scores[selected[0]]
        while len(selected) < self._max_sentences:
            covered = {
                term: weight for term, weight in query_weights.items() if any(term in pool[n].terms for n in selected)
            }
            worth = {
                n: scores[n]
                - REPETITION_PENALTY * sum(weight for term, weight in covered.items() if term in sentence.terms)
                for n, sentence in enumerate(pool)
                if n not in selected
            }
            further = max(worth, key=lambda n: (worth[n], -n), default=None)
            if further is None or worth[further] < min_score:
                break
            selected.append(further)
        return selected


def _compute_term_share(term: str, sentence: _Sentence) -> float:
    return 1.0 if term in sentence.terms else HEADING_WEIGHT if term in sentence.above else 0.0


def _join_sentences(sentences: Sequence[tuple[str, str]], confidence: float) -> Extract:
    answer, citations = "", []
    for text, passage_id in sentences:
        start = len(answer) + bool(answer)
        answer = f"{answer} {text}" if answer else text
        citations.append(Citation(start, len(answer), passage_id))
    return Extract(answer, tuple(citations), confidence)

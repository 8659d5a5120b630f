"""Faults of a written question that are found at no call.

A test takes a draft and what is known beside it, and returns what is wrong; "" where nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragauge.core.example import Span
from ragauge.core.identity import folded
from ragauge.engine.retrievers import STOP_WORDS
from ragauge.testsets.check.contracts import broken
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.generate.draft import CONTRACTS, Draft
from ragauge.testsets.quote_match import shows_little
from ragauge.testsets.shingles import placed_words
from ragauge.text.language import guess
from ragauge.text.tokens import words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RUN = 10  # words in a row that are copied
SHARE, LEAST = 0.7, 8  # of a question's words in one row, and the words of a row for that to count
SAME = 0.92  # cosine from which two questions with overlapping gold are one
SHORT = 3  # words of an answer that tell nothing unless they stand in a row
TELLING = 0.3  # share of a short answer's words that are not frequent ones, for it to be told by them
MOST_WORDS = 80  # of a question
SOURCE = (
    "passage|passages|text|excerpt|paragraph|document|documents|article|author|authors|context|snippet|extract|"
    "section|writer|abstract"
)
# what follows names the document: a title in quotation marks or with a capital, or that it is called something
NAMED = r"(?! (?:[\"“‘'«]|(?:en)?titled\b|called\b|named\b|(?-i:[A-Z])))"
BETWEEN = "above|given|provided|following|first|second|two|same|present"
TOLD = "documentation|docs|information|material|page|guide|manual|source|report|details"
CASE = "case|example|instance|scenario|situation|setting|configuration|code|table|list|figure"
SPOKEN_OF = re.compile(
    rf"\b(?:(?:according to|in|by|from|of|does|do|did|based on|per|under|on) (?:the|this|these|that|given)"
    rf"(?: (?:{BETWEEN}))* (?:{SOURCE})\b(?! of\b| for\b| in\b){NAMED}"
    rf"|(?:this|these|both|provided|above|given) (?:{SOURCE})\b"
    rf"|(?:mentioned|described|given|stated) (?:above|here|below)"
    rf"|(?:passage|document|text) (?:\d|p\d|one|two|[ab])\b(?! (?-i:[A-Z]))"
    rf"|the (?:{SOURCE}) (?:says?|mentions?|states?|describes?|claims?)"
    rf"|according to (?:the|this|these|that|given)(?: (?:{BETWEEN}))* (?:{TOLD})\b(?! of\b| for\b| in\b| on\b){NAMED}"
    rf"|(?:{TOLD}) (?:provided|given|above)\b"
    rf"|in (?:this|that|(?:the |this )?(?:given|above|provided|following)) (?:{CASE})\b)",
    re.IGNORECASE,
)
BE = "is|are|was|were|did|does|do|has|had|will|can"
POINTING = re.compile(  # "When was it built?", "What does this mean?": but "How is it that …", "this year"
    rf"^(?:what|who|when|where|why|how|which)?\s*(?:{BE})?\s*"
    rf"(?:it\b(?!.*\b(?:to|that|when|if|for|called|mean|take|determined|decided|possible)\b"
    r"|\s(?:say|state|read)s? (?:in|on|under) \S.*(?-i:[A-Z0-9]))"
    rf"|(?:this|these|those)\b(?! (?:year|day|time|month|week))"
    r"|that\b(?= (?:about|based|called|caused|for|from|made|mean|used)\b|\W*$)"
    rf"|(?:many|much)?\s*(?:{BE})?\s*(?:the )?(?:\w+ )?(?:about|for|from|in|of|on|to|with) it\b)",
    re.IGNORECASE,
)
PRONOUNS = frozenset({"he", "she", "they", "him", "her", "them", "his", "their", "hers", "theirs", "its"})
BESIDE = re.compile(  # what is named later
    r"(?:other than|besides|apart from|in|during|after|before|despite) (?:his|her|its|their)\b", re.IGNORECASE
)
_ASKING = """
what who whom whose when where why how which many much long old often far year did does do was were is are had has have
could would will can should kind type name
"""
ASKING = frozenset(_ASKING.split())  # words that a question may open with before it names anything


@dataclass
class Known:
    """What a draft is held against.

    Attributes:
        corpus: all documents.
        ranks: question -> best rank of its gold by BM25 and by embeddings; None = below 100.
        asked: questions kept or given before, folded -> where their gold stands.
        vectors: of those questions, in their order.
    """

    corpus: CorpusView
    ranks: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    asked: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    vectors: list[npt.NDArray[np.float32]] = field(default_factory=list)

    def add(self, question: str, gold: Sequence[Span]) -> None:
        """Takes in a question that was kept, once."""
        if same(question) not in self.asked:
            self.asked[same(question)] = tuple(gold)
            self.vectors.append(self.vector(question))

    def vector(self, question: str) -> npt.NDArray[np.float32]:
        """Of a question, by the embedder in the package."""
        return self.corpus.embedded(question)


def same(question: str) -> str:
    """A question for comparing: case, white space and closing marks aside."""
    return folded(question).casefold().rstrip(" ?.!")


def schema(draft: Draft, _known: Known) -> str:
    """A question without an answer, of one word or of more than 80."""
    if not 2 <= len(words(draft.question)) <= MOST_WORDS:
        return f"a question of {len(words(draft.question))} words"
    return "no answer" if not draft.answer and draft.type != "unanswerable" else ""


def quote(draft: Draft, _known: Known) -> str:
    """A quotation that its passage does not hold or that shows too little, or none where one is needed."""
    for given, anchor in zip(draft.quotes, draft.anchors, strict=True):
        if anchor is None and shows_little(given.text):
            return f"{given.text!r} is too little to show where passage {given.passage} says it"
        if anchor is None:
            return f"passage {given.passage} does not say {given.text!r}"
    needed = CONTRACTS[draft.type].quotes
    found = sum(anchor is not None for anchor in draft.anchors)
    return f"{found} quotations, expected {needed}" if found < needed else ""


def self_contained(draft: Draft, _known: Known) -> str:
    """An English question that speaks of its passage, or whose pronoun stands for nothing in it."""
    question = draft.question
    if (match := SPOKEN_OF.search(question)) is not None:
        return f"speaks of {match[0]!r}"
    if not _english(question):
        return ""
    if (match := POINTING.search(question)) is not None:
        return f"what {match[0].split()[-1]!r} stands for is not said"
    own = words(question)
    place = next((n for n, word in enumerate(own) if word in PRONOUNS), len(own))
    named = any(word not in STOP_WORDS and word not in ASKING for word in own[:place])
    if place == len(own) or named or BESIDE.match(question):
        return ""
    return f"whom {own[place]!r} stands for is not said"


def _english(question: str) -> bool:
    return guess(question) in ("en", "")


def copied(draft: Draft, _known: Known) -> str:
    """Ten words in a row of the passage, or eight that are more than 70 % of the question; a name is one word."""
    placed = placed_words(draft.question)
    capital = [draft.question[start].isupper() for _, start, _ in placed]
    weights = [not (n and capital[n] and capital[n - 1]) for n in range(len(placed))]
    own = [word for word, _, _ in placed]
    texts = ([word for word, _, _ in placed_words(one.text)] for one in draft.passages)
    longest, whole = max((_longest(own, weights, text) for text in texts), default=0), sum(weights)
    if longest >= RUN or (longest >= LEAST and longest > SHARE * whole):
        return f"{longest} of {whole} words stand in a row in its passage"
    return ""


def _longest(own: Sequence[str], weights: Sequence[bool], text: Sequence[str]) -> int:
    """Words of the longest row that both hold, each by its weight."""
    places: dict[str, list[int]] = {}
    for n, word in enumerate(text):
        places.setdefault(word, []).append(n)
    best = 0
    before: dict[int, int] = {}
    for word, weight in zip(own, weights, strict=True):
        rows = {n: before.get(n - 1, 0) + weight for n in places.get(word, ())}
        best = max([best, *rows.values()])
        before = rows
    return best


def leaks_answer(draft: Draft, _known: Known) -> str:
    """A question that holds its answer's words, three or fewer in a row, and is no choice between things it names."""
    if CONTRACTS[draft.type].answerable is not True or draft.type in ("comparison", "ambiguous"):
        return ""
    own = words(draft.question)
    answer = [word for word in words(draft.answer) if word not in STOP_WORDS]
    if not answer or answer[0] in ("yes", "no", "maybe") or {"or", "between"} & set(own):
        return ""
    content = [word for word in own if word not in STOP_WORDS]
    rows = [content[n : n + len(answer)] for n in range(len(content))]
    if len(answer) <= SHORT and len(answer) < TELLING * len(words(draft.answer)):
        return ""  # "by default": what it tells lies in its other words
    held = answer in rows if len(answer) <= SHORT else set(answer) <= set(own)
    return f"the question holds the answer {draft.answer!r}" if held else ""


def duplicate(draft: Draft, known: Known) -> str:
    """A question that was asked before, or one as alike as cosine 0.92 whose gold overlaps."""
    if same(draft.question) in known.asked:
        return "asked before"
    if not known.vectors:
        return ""
    vector, gold = known.vector(draft.question), draft.stretches
    for (earlier, theirs), other in zip(known.asked.items(), known.vectors, strict=True):
        if float(vector @ other) >= SAME and (_overlap(gold, theirs) or not (gold or theirs)):
            return f"much like {earlier!r}"
    return ""


def _overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(
        one.doc_id == other.doc_id and one.start < other.end and other.start < one.end
        for one in some
        for other in others
    )


def type_kept(draft: Draft, known: Known) -> str:
    """A question that breaks what its type promises: its gold documents, its place, its date."""
    texts = {doc_id: known.corpus.documents[doc_id].text for doc_id in draft.gold}
    return broken(draft.type, draft.example(), texts)


def unreachable(draft: Draft, known: Known) -> str:
    """A question whose gold neither BM25 nor embeddings find among the first hundred documents."""
    if not draft.gold or known.ranks.get(draft.question, (1, 1)) != (None, None):
        return ""
    return "its gold is beyond the first 100 documents by BM25 and by embeddings"


Test = Callable[[Draft, Known], str]
FREE: Mapping[str, Test] = {
    "schema": schema,
    "quote": quote,
    "self_contained": self_contained,
    "copied": copied,
    "leaks_answer": leaks_answer,
    "duplicate": duplicate,
    "type": type_kept,
    "unreachable": unreachable,
}


def fault_of(draft: Draft, known: Known) -> tuple[str, str] | None:
    """The first test that a draft fails, and what is wrong; None where it passes all."""
    for name, test in FREE.items():
        if told := test(draft, known):
            return name, told
    return None

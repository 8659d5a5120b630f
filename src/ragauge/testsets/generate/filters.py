"""Faults of a generated question, found without a call or by a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.ask import Ask, Reply
from ragauge.core.example import Span
from ragauge.core.facts import ReferenceFacts
from ragauge.core.identity import normalize_text
from ragauge.engine.retrievers import STOP_WORDS
from ragauge.testsets.check.contracts import describe_breach
from ragauge.testsets.corpus_view import CorpusView, is_weak_quotation
from ragauge.testsets.generate.draft import CONTRACTS, Draft
from ragauge.testsets.generate.question_writer import (
    DATA_NOTICE,
    TEXT,
    Block,
    Judge,
    ModelJudge,
    RequestTexts,
    ask_retry,
    ask_support,
    build_enum,
    build_object,
    build_question_spec,
    fence_blocks,
    parse_text,
    parse_word,
)
from ragauge.testsets.unspaced_words import locate_words
from ragauge.text.language import guess_language
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import split_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


COPIED_ROW_WORDS = 10  # words in a row that are copied
MAX_ROW_SHARE, MIN_ROW_WORDS = 0.7, 8  # of a question's words in one row, and the words of a row for that to count
DUPLICATE_COSINE = 0.92  # cosine from which two questions with overlapping gold are one
SHORT_ANSWER_WORDS = 3  # words of an answer that tell nothing unless they stand in a row
MIN_CONTENT_SHARE = 0.3  # share of a short answer's words that are not frequent ones, for it to be told by them
MAX_QUESTION_WORDS = 80  # of a question
SOURCE = (
    "passage|passages|text|excerpt|paragraph|document|documents|article|author|authors|context|snippet|extract|"
    "section|writer|abstract"
)
# what follows names the document: a title in quotation marks or with a capital, or that it is called something
TITLE_AHEAD = r"(?! (?:[\"“‘'«]|(?:en)?titled\b|called\b|named\b|(?-i:[A-Z])))"
BETWEEN = "above|given|provided|following|first|second|two|same|present"
SOURCE_NOUNS = "documentation|docs|information|material|page|guide|manual|source|report|details"
CASE = "case|example|instance|scenario|situation|setting|configuration|code|table|list|figure"
PASSAGE_REFERENCE = re.compile(
    rf"\b(?:(?:according to|in|by|from|of|does|do|did|based on|per|under|on) (?:the|this|these|that|given)"
    rf"(?: (?:{BETWEEN}))* (?:{SOURCE})\b(?! of\b| for\b| in\b){TITLE_AHEAD}"
    rf"|(?:this|these|both|provided|above|given) (?:{SOURCE})\b"
    rf"|(?:mentioned|described|given|stated) (?:above|here|below)"
    rf"|(?:passage|document|text) (?:\d|p\d|one|two|[ab])\b(?! (?-i:[A-Z]))"
    rf"|the (?:{SOURCE}) (?:says?|mentions?|states?|describes?|claims?)"
    rf"|according to (?:the|this|these|that|given)(?: (?:{BETWEEN}))* (?:{SOURCE_NOUNS})\b(?! of\b| for\b| in\b| "
    rf"on\b){TITLE_AHEAD}"
    rf"|(?:{SOURCE_NOUNS}) (?:provided|given|above)\b"
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
NAMED_LATER = re.compile(  # what is named later
    r"(?:other than|besides|apart from|in|during|after|before|despite) (?:his|her|its|their)\b", re.IGNORECASE
)
_ASKING = """
what who whom whose when where why how which many much long old often far year did does do was were is are had has have
could would will can should kind type name
"""
ASKING = frozenset(_ASKING.split())  # words that a question may open with before it names anything


@dataclass
class DraftContext:
    """What a draft is held against."""

    corpus: CorpusView  #: all documents.
    #: question -> best rank of its gold by BM25 and by embeddings; None = below 100.
    ranks: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    #: questions kept or given before, folded -> where their gold stands.
    gold_by_question: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    vectors: list[npt.NDArray[np.float32]] = field(default_factory=list)  #: of those questions, in their order.

    def add(self, question: str, gold: Sequence[Span]) -> None:
        """Takes in a question that was kept, once."""
        if normalize_question(question) not in self.gold_by_question:
            self.gold_by_question[normalize_question(question)] = tuple(gold)
            self.vectors.append(self.embed_question(question))

    def embed_question(self, question: str) -> npt.NDArray[np.float32]:
        """Of a question, by the embedder in the package."""
        return self.corpus.embed_query(question)


def normalize_question(question: str) -> str:
    """A question for comparing: case, white space and closing marks aside."""
    return normalize_text(question).casefold().rstrip(" ?.!")


def find_schema_fault(draft: Draft, _context: DraftContext) -> str:
    """A question without an answer, of one word or of more than 80."""
    if not 2 <= len(split_words(draft.question)) <= MAX_QUESTION_WORDS:
        return f"the question has {len(split_words(draft.question))} words"
    return "no answer" if not draft.answer and draft.type != "unanswerable" else ""


def find_quote_fault(draft: Draft, _context: DraftContext) -> str:
    """A quotation that its passage does not hold or that shows too little, or none where one is needed."""
    for quotation, anchor in zip(draft.quotes, draft.anchors, strict=True):
        if anchor is None and is_weak_quotation(quotation.text):
            return f"{quotation.text!r} is too short to locate in passage {quotation.passage}"
        if anchor is None:
            return f"passage {quotation.passage} does not contain {quotation.text!r}"
    needed = CONTRACTS[draft.type].quotes
    n_found = sum(anchor is not None for anchor in draft.anchors)
    return f"{n_found} quotations, expected {needed}" if n_found < needed else ""


def find_context_fault(draft: Draft, _context: DraftContext) -> str:
    """An English question that speaks of its passage, or whose pronoun stands for nothing in it."""
    question = draft.question
    if (match := PASSAGE_REFERENCE.search(question)) is not None:
        return f"refers to {match[0]!r}"
    if guess_language(question) not in ("en", ""):
        return ""
    if (match := POINTING.search(question)) is not None:
        return f"it is unclear what {match[0].split()[-1]!r} refers to"
    question_words = split_words(question)
    index = next((n for n, word in enumerate(question_words) if word in PRONOUNS), len(question_words))
    is_named = any(word not in STOP_WORDS and word not in ASKING for word in question_words[:index])
    if index == len(question_words) or is_named or NAMED_LATER.match(question):
        return ""
    return f"it is unclear whom {question_words[index]!r} refers to"


def find_copy_fault(draft: Draft, _context: DraftContext) -> str:
    """Ten words in a row of the passage, or eight that are more than 70 % of the question; a name is one word."""
    placed = locate_words(draft.question)
    capital = [draft.question[start].isupper() for _, start, _ in placed]
    weights = [not (n and capital[n] and capital[n - 1]) for n in range(len(placed))]
    question_words = [word for word, _, _ in placed]
    texts = ([word for word, _, _ in locate_words(passage.text)] for passage in draft.passages)
    longest, total = max((_count_longest_row(question_words, weights, text) for text in texts), default=0), sum(weights)
    if longest >= COPIED_ROW_WORDS or (longest >= MIN_ROW_WORDS and longest > MAX_ROW_SHARE * total):
        return f"{longest} of {total} words are copied in a row from its passage"
    return ""


def _count_longest_row(question_words: Sequence[str], weights: Sequence[bool], text: Sequence[str]) -> int:
    """Words of the longest row that both hold, each by its weight."""
    positions: dict[str, list[int]] = {}
    for n, word in enumerate(text):
        positions.setdefault(word, []).append(n)
    best = 0
    previous: dict[int, int] = {}
    for word, weight in zip(question_words, weights, strict=True):
        rows = {n: previous.get(n - 1, 0) + weight for n in positions.get(word, ())}
        best = max([best, *rows.values()])
        previous = rows
    return best


def find_leak_fault(draft: Draft, _context: DraftContext) -> str:
    """A question that holds its answer's words, three or fewer in a row, and is no choice between things it names."""
    if CONTRACTS[draft.type].answerable is not True or draft.type in ("comparison", "ambiguous"):
        return ""
    question_words = split_words(draft.question)
    answer = [word for word in split_words(draft.answer) if word not in STOP_WORDS]
    if not answer or answer[0] in ("yes", "no", "maybe") or {"or", "between"} & set(question_words):
        return ""
    content = [word for word in question_words if word not in STOP_WORDS]
    rows = [content[n : n + len(answer)] for n in range(len(content))]
    if len(answer) <= SHORT_ANSWER_WORDS and len(answer) < MIN_CONTENT_SHARE * len(split_words(draft.answer)):
        return ""  # "by default": what it tells lies in its other words
    is_leaked = answer in rows if len(answer) <= SHORT_ANSWER_WORDS else set(answer) <= set(question_words)
    return f"the question contains the answer {draft.answer!r}" if is_leaked else ""


def find_duplicate_fault(draft: Draft, context: DraftContext) -> str:
    """A question that was asked before, or one as alike as cosine 0.92 whose gold overlaps."""
    if normalize_question(draft.question) in context.gold_by_question:
        return "duplicate of an earlier question"
    if not context.vectors:
        return ""
    vector, gold = context.embed_question(draft.question), draft.stretches
    for (earlier, theirs), other in zip(context.gold_by_question.items(), context.vectors, strict=True):
        if float(vector @ other) >= DUPLICATE_COSINE and (_has_overlap(gold, theirs) or not (gold or theirs)):
            return f"too similar to {earlier!r}"
    return ""


def _has_overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(
        span.doc_id == other.doc_id and span.start < other.end and other.start < span.end
        for span in some
        for other in others
    )


def find_type_fault(draft: Draft, context: DraftContext) -> str:
    """A question that breaks what its type promises: its gold documents, its place, its date."""
    texts = {doc_id: context.corpus.documents[doc_id].text for doc_id in draft.gold}
    return describe_breach(draft.type, draft.example(), texts)


def find_reach_fault(draft: Draft, context: DraftContext) -> str:
    """A question whose gold neither BM25 nor embeddings find among the first hundred documents."""
    if not draft.gold or context.ranks.get(draft.question, (1, 1)) != (None, None):
        return ""
    return "its gold document is ranked below 100 by both BM25 and embeddings"


Test = Callable[[Draft, DraftContext], str]
FREE_TESTS: Mapping[str, Test] = {
    "schema": find_schema_fault,
    "quote": find_quote_fault,
    "self_contained": find_context_fault,
    "copied": find_copy_fault,
    "leaks_answer": find_leak_fault,
    "duplicate": find_duplicate_fault,
    "type": find_type_fault,
    "unreachable": find_reach_fault,
}


def find_fault(draft: Draft, context: DraftContext) -> tuple[str, str] | None:
    """The first test that a draft fails, and what is wrong; None where it passes all."""
    for name, test in FREE_TESTS.items():
        if problem := test(draft, context):
            return name, problem
    return None


QUESTION, VERSION = "answerable", 1
MAX_PASSAGES = 10  # passages that an unanswerable question is held against
DEGREES = ("yes", "partly", "no")
ANSWERABLE = f"""You check whether passages answer a question. {DATA_NOTICE}
answers: yes if the passages state what the question asks for, partly if they state a part of it, no if they do not. \
Being about the same subject is no answer.
sentence: the sentence that answers it, word for word; "" if none does.
Reply with JSON only."""
SCHEMA = build_object(answers=build_enum(*DEGREES), sentence=TEXT)
FaultGenerator = Generator[list[Ask], list[Reply], "tuple[str, str] | None"]


class AnswerDegree(NamedTuple):
    """Whether passages answer a question, and the sentence that does; "" = no verdict."""

    answers: str
    sentence: str


def find_gold_fault(draft: Draft, judge: Judge) -> FaultGenerator:
    """The test that a draft with gold fails, and why: `unsupported`, then for two documents `hop_not_needed`."""
    is_supported = yield from _ask_support(draft, judge, list_gold_sentences(draft))
    if is_supported is not True:
        problem = "the judge gave no verdict" if is_supported is None else "the gold does not support the whole answer"
        return "unsupported", problem
    for left_out in _list_hops(draft):
        alone = yield from _ask_support(draft, judge, _select_other_texts(draft, left_out))
        if alone is not False:
            return ("hop_not_needed", f"the answer needs no {left_out!r}" if alone else "the judge gave no verdict")
    return None


def list_checks(draft: Draft, judge: Judge) -> Iterator[Generator[list[Ask], list[Reply], bool | None]]:
    """Each check that `find_gold_fault` makes where every one is passed."""
    yield _ask_support(draft, judge, list_gold_sentences(draft))
    for left_out in _list_hops(draft):
        yield _ask_support(draft, judge, _select_other_texts(draft, left_out))


def _list_hops(draft: Draft) -> tuple[str, ...]:
    return draft.gold if draft.type in ("multi_hop", "comparison") else ()


def _select_other_texts(draft: Draft, left_out: str) -> tuple[str, ...]:
    gold = [doc_id for doc_id in draft.gold if doc_id != left_out]
    return tuple(passage.text for passage in draft.passages if passage.doc_id in gold)


def list_gold_sentences(draft: Draft) -> tuple[str, ...]:
    """The sentences that its evidence stands in, each once: those of a passage together, in their order."""
    texts = []
    for passage in draft.passages:
        spans = [span for span in draft.stretches if span.doc_id == passage.doc_id]
        placed = [
            (passage.start + span.start, passage.start + span.end, span.text) for span in split_sentences(passage.text)
        ]
        matching = [text for start, end, text in placed if any(span.start < end and start < span.end for span in spans)]
        if matching:
            texts.append(" ".join(matching))
    return tuple(texts)


def _ask_support(
    draft: Draft, judge: Judge, passages: tuple[str, ...]
) -> Generator[list[Ask], list[Reply], bool | None]:
    """Whether passages state the whole answer; None where that is not known."""
    # criteria and segments are not seen: the judge sees question, answer and passages
    facts = yield from ask_support(judge, replace(draft.example(), references=(draft.answer,)), passages)
    if not isinstance(facts, ReferenceFacts):
        return None
    states = [claim.supporting for claim in facts.claims]
    return False if () in states else None if None in states or not states else True


def ask_answerable(
    question: str, passages: Sequence[str], judge: ModelJudge
) -> Generator[list[Ask], list[Reply], AnswerDegree]:
    """Whether the best passages of the corpus answer a question; asked twice where no verdict comes."""
    block = Block("passages", [(f"P{n}", text) for n, text in enumerate(passages, 1)])
    worded = RequestTexts(ANSWERABLE, "\n".join(fence_blocks([Block.of("question", question), block])))
    degrees, _ = yield from ask_retry(
        build_question_spec(judge, QUESTION, VERSION),
        worded,
        SCHEMA,
        _parse_degree,
        lambda degree: bool(degree.answers),
    )
    return degrees[-1]


def _parse_degree(value: Mapping[str, Any]) -> AnswerDegree:
    return AnswerDegree(parse_word(value.get("answers"), DEGREES) or "", parse_text(value.get("sentence")))


def find_answerable_fault(draft: Draft, passages: Sequence[str], judge: ModelJudge) -> FaultGenerator:
    """`answerable`, and the sentence, where the best passages answer a question that nothing should answer."""
    degree = yield from ask_answerable(draft.question, passages, judge)
    if degree.answers == "no":
        return None
    problem = f"answered {degree.answers}: {degree.sentence}" if degree.answers else "the judge gave no verdict"
    return "answerable", problem

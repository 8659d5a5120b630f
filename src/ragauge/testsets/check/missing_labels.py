"""Holes in labels: documents without a label that state the whole reference, so that finding them counts as a miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ragauge.core.document import Document, chunk_document
from ragauge.core.example import Example, Relevant
from ragauge.core.facts import ReferenceFacts
from ragauge.engine.caller import CallCounts
from ragauge.engine.retrievers import STOP_WORDS, Bm25
from ragauge.testsets.check.copies import LabelCopies, list_labeled_ids, select_gold_groups
from ragauge.testsets.check.freshness import ExampleState, SetFreshness
from ragauge.testsets.generate.question_writer import Judge, Session, ask_support, can_ask_models
from ragauge.testsets.generate.source_samples import CHUNK_TOKENS
from ragauge.testsets.lock import list_gold_ids
from ragauge.text.sentences import split_sentences
from ragauge.text.tokens import split_words, stem_word

MAX_SEARCHED_DOCUMENTS = 20  # best documents by BM25 that are looked at
MAX_JUDGED_PASSAGES = 3  # passages of an example that the judge sees, at most
MIN_REFERENCE_SHARE, MIN_TOTAL_SHARE = (
    0.6,
    0.75,
)  # share of a reference's words, and of question and reference together, in a passage
SHORT_REFERENCE_WORDS = (
    4  # words of a reference that stand in many passages: without a model one sentence has to hold them all
)


@dataclass(frozen=True)
class StatingPassage:
    """A passage of a document without a label that states a whole reference."""

    doc_id: str  #: the document.
    start: int  #: first character of the passage.
    end: int  #: after its last character.
    quote: str  #: the sentences of it that say most of the reference.


@dataclass(frozen=True)
class LabelHole:
    """An example whose reference documents without a label state."""

    query_id: str  #: of the example.
    query: str  #: its question.
    passages: tuple[StatingPassage, ...]  #: one of each document, the most words of the reference first.
    #: the labels with the documents, and copies of the gold, as ones that will do in place of each other.
    relevant: tuple[Relevant, ...]


@dataclass(frozen=True)
class LabelHoles:
    """What was found."""

    judge: str  #: who looked.
    holes: tuple[LabelHole, ...]  #: in the order of the set.
    examples: int  #: with a reference and gold documents.
    judged: int  #: of them, with a passage that might state it, which the judge looked at.
    undecided: int = 0  #: of those, without a verdict.
    stopped: str = ""  #: why the judge looked no further; "" = it saw all.
    calling: CallCounts | None = None  #: calls to models; None = no model was asked.


@dataclass(frozen=True)
class CandidatePassage:
    """A passage that might state a reference: characters [start, end) of a document."""

    doc_id: str
    start: int
    end: int
    text: str


async def find_label_holes(
    fresh: SetFreshness, texts: Mapping[str, str], judge: Judge, session: Session, copies: Sequence[LabelCopies] = ()
) -> LabelHoles:
    """Has a judge look at unlabelled passages that hold most of a reference's words.

    Examples that were rejected, are not answerable, or have no reference or no gold document are passed by, and
    documents with any label, 0 too, or that hold the gold evidence now: they moved.

    Args:
        fresh: the set, held against the corpus.
        texts: doc_id -> text of every document.
        judge: who says whether a passage states all of the reference.
        session: asks it.
        copies: examples with copies of their gold, which are no holes beside.

    Raises:
        JudgeError: a model cannot be asked at all.
    """
    states = [
        item
        for item in fresh.examples
        if item.line.example.answerable is not False and item.line.example.references and list_gold_ids(item.line)
    ]
    search = _PassageSearch(texts, strict=not can_ask_models(judge))
    copies_by_id = {item.query_id: item for item in copies}
    candidates = [
        (item.line.example, passages)
        for item in states
        if (passages := search.passages(item, copies_by_id.get(item.line.example.query_id)))
    ]
    todo = [
        partial(ask_support, judge, example, tuple(item.text for item in passages)) for example, passages in candidates
    ]
    verdicts = await session.drive_all(judge, todo)
    holes, undecided = [], 0
    for n, (example, passages) in enumerate(candidates):
        facts = verdicts.get(n)
        supporting = [claim.supporting for claim in facts.claims] if isinstance(facts, ReferenceFacts) else [None]
        undecided += None in supporting
        complete = set.intersection(*(set(item or ()) for item in supporting)) if supporting else set()
        if complete:
            stating = tuple(_quote_passage(example, passages[number - 1]) for number in sorted(complete))
            copied = copies_by_id.get(example.query_id)
            groups = select_gold_groups(example) if copied is None else copied.relevant
            ids = tuple(item.doc_id for item in stating)
            offered = tuple(replace(item, doc_ids=(*item.doc_ids, *ids)) for item in groups)
            holes.append(LabelHole(example.query_id, example.query, stating, offered))
    return LabelHoles(
        judge.judge_id, tuple(holes), len(states), len(candidates), undecided, session.stopped, session.counts
    )


class _PassageSearch:
    """Finds the passages of a corpus that hold most words of a reference.

    Args:
        texts: doc_id -> text.
        strict: of a reference of up to four words, one sentence has to hold all, and three in four of these and the
            question's together.
    """

    def __init__(self, texts: Mapping[str, str], *, strict: bool) -> None:
        self._texts, self._strict = texts, strict
        self._bm25 = Bm25(list(texts), list(texts.values()))
        self._terms: dict[str, frozenset[str]] = {}
        self._pieces: dict[str, list[tuple[CandidatePassage, frozenset[str]]]] = {}

    def passages(self, state: ExampleState, copies: LabelCopies | None = None) -> tuple[CandidatePassage, ...]:
        """The best passage of each unlabelled document that has one, the most words first."""
        example = state.line.example
        labeled_ids = list_labeled_ids(state).union(item.doc_id for item in (copies.copies if copies else ()))
        reference, query_terms = _extract_terms(example.references[0]), _extract_terms(example.query)
        ranked = []
        for hit in self._bm25.search(f"{example.query} {example.references[0]}", MAX_SEARCHED_DOCUMENTS):
            if hit.passage_id not in labeled_ids and _has_enough_terms(
                self._read_terms(hit.passage_id), reference, query_terms
            ):
                pieces = (
                    item
                    for item in self._cut_passages(hit.passage_id)
                    if _has_enough_terms(item[1], reference, query_terms)
                )
                best = max(pieces, key=lambda item: len(item[1] & (reference | query_terms)), default=None)
                if best is not None and self._is_in_one_sentence(best[0].text, reference, query_terms):
                    ranked.append((len(best[1] & reference), best[0]))
        return tuple(item for _, item in sorted(ranked, key=lambda item: -item[0])[:MAX_JUDGED_PASSAGES])

    def _is_in_one_sentence(self, text: str, reference: frozenset[str], query_terms: frozenset[str]) -> bool:
        """Whether a passage holds the words of a short reference together."""
        if not self._strict or len(reference) > SHORT_REFERENCE_WORDS:
            return True
        sentence_terms = (_extract_terms(sentence.text) for sentence in split_sentences(text))
        return any(reference <= words and _has_enough_terms(words, reference, query_terms) for words in sentence_terms)

    def _read_terms(self, doc_id: str) -> frozenset[str]:
        if doc_id not in self._terms:
            self._terms[doc_id] = _extract_terms(self._texts[doc_id])
        return self._terms[doc_id]

    def _cut_passages(self, doc_id: str) -> Sequence[tuple[CandidatePassage, frozenset[str]]]:
        if doc_id not in self._pieces:
            pieces = chunk_document(Document(doc_id, "", self._texts[doc_id]), CHUNK_TOKENS, overlap=2)
            self._pieces[doc_id] = [
                (
                    CandidatePassage(doc_id, document_chunk.start, document_chunk.end, document_chunk.body),
                    _extract_terms(document_chunk.body),
                )
                for document_chunk in pieces
            ]
        return self._pieces[doc_id]


def _extract_terms(text: str) -> frozenset[str]:
    return frozenset(stem_word(word) for word in split_words(text) if word not in STOP_WORDS)


def _has_enough_terms(text_terms: frozenset[str], reference: frozenset[str], query_terms: frozenset[str]) -> bool:
    """Whether a text holds so many of the words that it might state the reference."""
    both = reference | query_terms
    return (
        bool(reference)
        and len(text_terms & reference) >= MIN_REFERENCE_SHARE * len(reference)
        and (len(text_terms & both) >= MIN_TOTAL_SHARE * len(both))
    )


def _quote_passage(example: Example, passage: CandidatePassage) -> StatingPassage:
    quoted = " … ".join(_select_sentences(example, passage.text))
    return StatingPassage(passage.doc_id, passage.start, passage.end, quoted)


def _select_sentences(example: Example, text: str) -> Iterator[str]:
    """For each sentence of the reference the sentence of a passage that shares most of its words, in their order.

    Of several the one that shares most with the question, then the shortest.
    """
    sentences, query_terms = split_sentences(text), _extract_terms(example.query)
    terms = [_extract_terms(sentence.text) for sentence in sentences]
    best = {
        max(
            range(len(sentences)),
            key=lambda n: (len(terms[n] & reference_terms), len(terms[n] & query_terms), -len(terms[n])),
        )
        for reference_terms in [_extract_terms(sentence.text) for sentence in split_sentences(example.references[0])]
    }
    yield from (sentences[n].text for n in sorted(best))

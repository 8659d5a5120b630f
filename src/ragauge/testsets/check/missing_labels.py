"""Holes in labels: documents without a label that state the whole reference, so that finding them counts as a miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ragauge.core.document import Document, chunk
from ragauge.core.example import Example, Relevant
from ragauge.core.facts import ReferenceFacts
from ragauge.engine.caller import CallCounts
from ragauge.engine.retrievers import STOP_WORDS, Bm25
from ragauge.testsets.check.copies import LabelCopies, gold_groups, labelled
from ragauge.testsets.check.freshness import ExampleState, SetFreshness
from ragauge.testsets.generate.question_writer import Judge, Session, asks_models, supports
from ragauge.testsets.generate.source_samples import TOKENS
from ragauge.testsets.lock import gold_ids
from ragauge.text.sentences import split
from ragauge.text.tokens import stem, words

SEARCHED = 20  # best documents by BM25 that are looked at
JUDGED = 3  # passages of an example that the judge sees, at most
REFERENCE, WHOLE = 0.6, 0.75  # share of a reference's words, and of question and reference together, in a passage
SHORT = 4  # words of a reference that stand in many passages: without a model one sentence has to hold them all


@dataclass(frozen=True)
class StatingPassage:
    """A passage of a document without a label that states a whole reference.

    Attributes:
        doc_id: the document.
        start: first character of the passage.
        end: after its last character.
        quote: the sentences of it that say most of the reference.
    """

    doc_id: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class LabelHole:
    """An example whose reference documents without a label state.

    Attributes:
        query_id: of the example.
        query: its question.
        passages: one of each document, the most words of the reference first.
        relevant: the labels with the documents, and copies of the gold, as ones that will do in place of each other.
    """

    query_id: str
    query: str
    passages: tuple[StatingPassage, ...]
    relevant: tuple[Relevant, ...]


@dataclass(frozen=True)
class LabelHoles:
    """What was found.

    Attributes:
        judge: who looked.
        holes: in the order of the set.
        examples: with a reference and gold documents.
        judged: of them, with a passage that might state it, which the judge looked at.
        undecided: of those, without a verdict.
        stopped: why the judge looked no further; "" = it saw all.
        calling: calls to models; None = no model was asked.
    """

    judge: str
    holes: tuple[LabelHole, ...]
    examples: int
    judged: int
    undecided: int = 0
    stopped: str = ""
    calling: CallCounts | None = None


@dataclass(frozen=True)
class SeenPassage:
    """A passage that might state a reference: characters [start, end) of a document."""

    doc_id: str
    start: int
    end: int
    text: str


async def label_holes(
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
        one
        for one in fresh.examples
        if one.line.example.answerable is not False and one.line.example.references and gold_ids(one.line)
    ]
    search = _Search(texts, strict=not asks_models(judge))
    known = {one.query_id: one for one in copies}
    seen = [
        (one.line.example, passages)
        for one in states
        if (passages := search.passages(one, known.get(one.line.example.query_id)))
    ]
    todo = [partial(supports, judge, example, tuple(one.text for one in passages)) for example, passages in seen]
    verdicts = await session.drive(judge, todo)
    holes, undecided = [], 0
    for n, (example, passages) in enumerate(seen):
        facts = verdicts.get(n)
        said = [claim.supporting for claim in facts.claims] if isinstance(facts, ReferenceFacts) else [None]
        undecided += None in said
        whole = set.intersection(*(set(one or ()) for one in said)) if said else set()
        if whole:
            stating = tuple(_stating(example, passages[place - 1]) for place in sorted(whole))
            copied = known.get(example.query_id)
            groups = gold_groups(example) if copied is None else copied.relevant
            ids = tuple(one.doc_id for one in stating)
            offered = tuple(replace(one, doc_ids=(*one.doc_ids, *ids)) for one in groups)
            holes.append(LabelHole(example.query_id, example.query, stating, offered))
    return LabelHoles(judge.judge_id, tuple(holes), len(states), len(seen), undecided, session.stopped, session.counts)


class _Search:
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
        self._pieces: dict[str, list[tuple[SeenPassage, frozenset[str]]]] = {}

    def passages(self, state: ExampleState, copies: LabelCopies | None = None) -> tuple[SeenPassage, ...]:
        """The best passage of each unlabelled document that has one, the most words first."""
        example = state.line.example
        known = labelled(state).union(one.doc_id for one in (copies.copies if copies else ()))
        reference, asked = _terms(example.references[0]), _terms(example.query)
        found = []
        for hit in self._bm25.search(f"{example.query} {example.references[0]}", SEARCHED):
            if hit.passage_id not in known and _enough(self._of(hit.passage_id), reference, asked):
                pieces = (one for one in self._cut(hit.passage_id) if _enough(one[1], reference, asked))
                best = max(pieces, key=lambda one: len(one[1] & (reference | asked)), default=None)
                if best is not None and self._told(best[0].text, reference, asked):
                    found.append((len(best[1] & reference), best[0]))
        return tuple(one for _, one in sorted(found, key=lambda one: -one[0])[:JUDGED])

    def _told(self, text: str, reference: frozenset[str], asked: frozenset[str]) -> bool:
        """Whether a passage holds the words of a short reference together."""
        if not self._strict or len(reference) > SHORT:
            return True
        held = (_terms(one.text) for one in split(text))
        return any(reference <= words and _enough(words, reference, asked) for words in held)

    def _of(self, doc_id: str) -> frozenset[str]:
        if doc_id not in self._terms:
            self._terms[doc_id] = _terms(self._texts[doc_id])
        return self._terms[doc_id]

    def _cut(self, doc_id: str) -> Sequence[tuple[SeenPassage, frozenset[str]]]:
        if doc_id not in self._pieces:
            pieces = chunk(Document(doc_id, "", self._texts[doc_id]), TOKENS, overlap=2)
            self._pieces[doc_id] = [
                (SeenPassage(doc_id, one.start, one.end, one.body), _terms(one.body)) for one in pieces
            ]
        return self._pieces[doc_id]


def _terms(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


def _enough(held: frozenset[str], reference: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether a text holds so many of the words that it might state the reference."""
    both = reference | asked
    return (
        bool(reference)
        and len(held & reference) >= REFERENCE * len(reference)
        and (len(held & both) >= WHOLE * len(both))
    )


def _stating(example: Example, passage: SeenPassage) -> StatingPassage:
    quoted = " … ".join(_sentences(example, passage.text))
    return StatingPassage(passage.doc_id, passage.start, passage.end, quoted)


def _sentences(example: Example, text: str) -> Iterator[str]:
    """For each sentence of the reference the sentence of a passage that shares most of its words, in their order.

    Of several the one that shares most with the question, then the shortest.
    """
    there, asked = split(text), _terms(example.query)
    terms = [_terms(one.text) for one in there]
    best = {
        max(range(len(there)), key=lambda n: (len(terms[n] & wanted), len(terms[n] & asked), -len(terms[n])))
        for wanted in [_terms(one.text) for one in split(example.references[0])]
    }
    yield from (there[n].text for n in sorted(best))

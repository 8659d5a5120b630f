"""A question as a model wrote it, what its type promises, and the passages it is written from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from ragauge.core.curation import Anchor, Curation, Origin
from ragauge.core.document import Chunk, Document, chunk_document
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Example, Relevant, Span
from ragauge.core.identity import derive_query_id
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.set_file import SetLine, build_line
from ragauge.testsets.unspaced_words import find_word_around
from ragauge.text import specifics

if TYPE_CHECKING:
    from collections.abc import Collection


QuestionType = Literal[
    "single", "boundary", "multi_hop", "comparison", "temporal", "unanswerable", "false_premise", "ambiguous"
]
TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
Unwritten = Literal["", "declined", "unreadable", "call_failed"]
METHOD = "model"
MAX_HEARD_CHARS = 2_000  # characters of an unreadable reply that are kept with the request


class Contract(NamedTuple):
    """What a type of question promises."""

    asks: str  #: what the model is told to write.
    documents: tuple[int, int] = (1, 1)  #: fewest and most gold documents.
    #: one passage, one in a place that is hard to find, one with a date, or two that are linked or alike.
    draws: Literal["one", "edge", "dated", "linked", "alike"] = "one"
    quotes: int = 1  #: fewest quotations.
    answerable: bool | None = True  #: of the example; None = there is no answer to give and none to refuse.
    criterion: str = ""  #: of a good answer, before the reference; "" = none.


CONTRACTS: Mapping[QuestionType, Contract] = {
    "single": Contract("is answered by one passage"),
    "boundary": Contract(
        "is answered by the passage; where there are two, by the end of the first and the beginning of the second "
        "together, a quotation of each",
        draws="edge",
    ),
    "multi_hop": Contract(
        "can only be answered by facts of both passages together; quote the fact of each", (2, 3), "linked", 2
    ),
    "comparison": Contract(
        "compares something that each passage says about its own subject; quote the fact of each", (2, 3), "alike", 2
    ),
    "temporal": Contract("asks when something was, or whose answer depends on a date or year", draws="dated"),
    "unanswerable": Contract(
        "sounds as if the passage answered it, on its subject, but asks for a fact that the passage does not hold; "
        "answer and evidence stay empty",
        (0, 0),
        quotes=0,
        answerable=False,
    ),
    "false_premise": Contract(
        "takes for granted something that the passage says is otherwise; the answer corrects it, the evidence is the "
        "sentence that shows it",
        answerable=None,
        criterion="Corrects the false premise of the question: ",
    ),
    "ambiguous": Contract(
        "can be read in two ways, each answered by one of the passages; the answer gives both readings with their "
        "answers, the evidence both sentences",
        (1, 3),
        "alike",
        2,
        criterion="Asks which reading is meant, or answers every reading: ",
    ),
}
DEFAULT_SHARES: Mapping[QuestionType, float] = {
    "single": 40,
    "boundary": 10,
    "multi_hop": 15,
    "comparison": 10,
    "temporal": 5,
    "unanswerable": 10,
    "false_premise": 5,
    "ambiguous": 5,
}


def parse_shares(text: str | Mapping[str, float]) -> dict[QuestionType, float]:
    """Types with their shares.

    Raises:
        UnknownName: no such type.
        UsageError: a share that is no number above 0.

    >>> parse_shares("single=3,multi_hop=1")
    {'single': 3.0, 'multi_hop': 1.0}
    """
    if isinstance(text, str):
        pairs = [entry.partition("=")[::2] for entry in text.replace(" ", "").split(",") if entry]
    else:
        pairs = [(str(name), str(share)) for name, share in text.items()]
    shares: dict[QuestionType, float] = {}
    for name, share in pairs:
        kind = next((known_type for known_type in TYPES if known_type == name), None)
        if kind is None:
            raise UnknownName("type of question", name, TYPES)
        try:
            shares[kind] = float(share)
        except ValueError:
            shares[kind] = 0.0
        if not 0 < shares[kind] < float("inf"):
            raise UsageError(f"types: expected {name}=SHARE, a number above 0, got {name}={share}.")
    return shares


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """Characters [start, end) of a document, which a question is written from."""

    doc_id: str
    start: int
    text: str

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Brief:
    """What one call is to write."""

    type: QuestionType  #: of its questions.
    passages: tuple[SourcePassage, ...]  #: numbered from 1 in the prompt.
    #: of each question, how it is put: persona, style, length, language -> what was drawn.
    manners: tuple[Mapping[str, str], ...]
    earlier: tuple[str, ...] = ()  #: questions that were written from these passages before.


class Quote(NamedTuple):
    """What a model says that a passage says."""

    passage: int
    text: str


@dataclass(frozen=True)
class Draft:
    """A question as it was written."""

    type: QuestionType  #: what was asked for. question, answer: as written; "" where a reply held none.
    question: str
    answer: str
    passages: tuple[SourcePassage, ...]  #: what it was written from.
    quotes: tuple[Quote, ...] = ()  #: the evidence as the model gave it.
    anchors: tuple[Anchor | None, ...] = ()  #: where each quote stands; None = nowhere.
    manner: Mapping[str, str] | None = None  #: how it was to be put.
    #: why there is no question: the model finds the passages allow none, no reply can be read, or the call failed; "" =
    #: there is one.
    unwritten: Unwritten = ""
    fault: str = ""  #: the same in words; "" = none.
    heard: str = ""  #: of an unreadable reply the last text that came.

    @property
    def fault_message(self) -> str:
        """Why there is no question, with the reply that cannot be read as it came."""
        cut = f" … ({len(self.heard):,} characters)" if len(self.heard) > MAX_HEARD_CHARS else ""
        return f"{self.fault}; the last reply was: {self.heard[:MAX_HEARD_CHARS]}{cut}" if self.heard else self.fault

    @cached_property
    def gold(self) -> tuple[str, ...]:
        """The documents that its evidence stands in; none of a question without an answer."""
        if self.type == "unanswerable":
            return ()
        return tuple(dict.fromkeys(anchor.doc_id for anchor in self.anchors if anchor is not None))

    @property
    def stretches(self) -> tuple[Span, ...]:
        """Where its evidence stands; nowhere for a question without an answer."""
        placed = [anchor for anchor in self.anchors if anchor is not None and self.gold]
        return tuple(Span(quote_anchor.doc_id, quote_anchor.start, quote_anchor.end) for quote_anchor in placed)

    def example(self, more: Mapping[str, str] | None = None) -> Example:
        """What the set holds of it.

        Args:
            more: segments beside type and manner.
        """
        contract = CONTRACTS[self.type]
        return Example(
            derive_query_id(self.question),
            self.question,
            references=() if contract.answerable is False else (self.answer,),
            criteria=(contract.criterion + self.answer,) if contract.criterion else None,
            relevant=tuple(Relevant((doc_id,)) for doc_id in self.gold),
            gold_spans=self.stretches,
            answerable=contract.answerable,
            segments={"type": self.type, **(self.manner or {}), **(more or {})},
        )

    def line(self, model: str, seed: int, more: Mapping[str, str] | None = None, rejected: str = "") -> SetLine:
        """Its line of the set; of a rejected one, with the reason."""
        origin = Origin(
            METHOD,
            model,
            self.type,
            (self.manner or {}).get("persona", ""),
            seed,
            tuple(dict.fromkeys(passage.doc_id for passage in self.passages)),
        )
        anchors = tuple(anchor for anchor in self.anchors if anchor is not None)
        made = Curation(origin=origin, anchors=anchors)
        return build_line(self.example(more), replace(made, state="rejected", note=rejected) if rejected else made)


WINDOW_CHARS = 4_000  # characters of a document in one call
CHUNK_TOKENS = 256  # of a chunk whose edges `boundary` is about
LONG_DOCUMENT_TOKENS = 1_500  # tokens of a document whose last third is hard to find
MAX_RARE_DOCUMENTS = 8  # documents that hold a name or number which links them, at most
MAX_NEIGHBORS = 5  # nearest documents that may be asked about together
COPY_COSINE = 0.95  # cosine from which two documents say the same
BATCH_SIZE_ROWS = 1_024  # vectors compared with all others at a time
LINKING_TERM = re.compile(r"\b(?:[^\W\d_]*[A-Z]\w{2,}|\d[\d.,:/-]*\d)\b")  # words with a capital, and numbers


class PassageSampler:
    """Draws passages for each type of question; equal seeds draw equal ones, whatever else is drawn.

    Args:
        corpus: what is drawn from.
        seed: of the drawing.
        only: doc_ids that may be drawn (the first of a pair); None = all.
    """

    def __init__(self, corpus: CorpusView, seed: int, only: Collection[str] | None = None) -> None:
        self._corpus, self._seed = corpus, seed
        self._only = None if only is None else frozenset(only)

    def passages(self, kind: QuestionType, key: str = "") -> Iterator[tuple[SourcePassage, ...]]:
        """Passages for one call each, without end; none at all where no document will do."""
        rng = Random(f"{self._seed}:{kind}:{key}")  # noqa: S311 - draws documents, no secret
        vain = 0
        for document in self._corpus.sample_documents(rng):
            source = (
                self._sample_for_kind(kind, document, rng)
                if self._only is None or document.doc_id in self._only
                else ()
            )
            if source:
                vain = 0
                yield source
            elif (vain := vain + 1) > 2 * len(self._corpus.ids):
                return  # every document came by since the last that would do

    def _sample_for_kind(self, kind: QuestionType, document: Document, rng: Random) -> tuple[SourcePassage, ...]:
        draws = CONTRACTS[kind].draws
        if draws == "edge":
            return self._sample_edge(document, rng)
        first = _sample_window(document, rng)
        if draws == "one":
            return (first,)
        if draws == "dated":
            return (first,) if specifics.find_specifics(first.text, {"date"}) else ()
        others = (self.linked_documents if draws == "linked" else self.nearest_documents).get(document.doc_id, ())
        if not others:
            return ()
        return first, _sample_window(self._corpus.documents[rng.choice(others)], rng)

    @staticmethod
    def _sample_edge(document: Document, rng: Random) -> tuple[SourcePassage, ...]:
        """A passage of the last third of a long document, or two on both sides of an edge of a chunk."""
        pieces = chunk_document(document, CHUNK_TOKENS)
        if len(pieces) < 2:
            return ()
        if len(pieces) >= LONG_DOCUMENT_TOKENS / CHUNK_TOKENS:
            late = [document_chunk for document_chunk in pieces if document_chunk.start >= 2 * len(document.text) / 3]
            if late:
                return (_build_passage(rng.choice(late)),)
        n = rng.randrange(len(pieces) - 1)
        return _build_passage(pieces[n]), _build_passage(pieces[n + 1])

    @cached_property
    def linked_documents(self) -> Mapping[str, Sequence[str]]:
        """doc_id -> documents that share rare names or numbers with it, else its neighbours; never copies."""
        holders: dict[str, list[str]] = defaultdict(list)
        for doc_id, document in self._corpus.documents.items():
            for term in sorted(set(LINKING_TERM.findall(document.text))):
                holders[term].append(doc_id)
        weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for names in holders.values():
            if 2 <= len(names) <= MAX_RARE_DOCUMENTS:
                for first, other in combinations(names, 2):
                    weights[first][other] += 1 / len(names)
                    weights[other][first] += 1 / len(names)
        row_by_id = {doc_id: n for n, doc_id in enumerate(self._corpus.ids)}
        vectors = self._corpus.vectors
        links: dict[str, Sequence[str]] = {}
        for doc_id in self._corpus.ids:
            ranked = sorted(weights[doc_id].items(), key=lambda item: (-item[1], item[0]))[: 2 * MAX_NEIGHBORS]
            vector = vectors[row_by_id[doc_id]]
            others = [other for other, _ in ranked if float(vector @ vectors[row_by_id[other]]) < COPY_COSINE]
            links[doc_id] = others[:MAX_NEIGHBORS] or self.nearest_documents[doc_id]
        return links

    @cached_property
    def nearest_documents(self) -> Mapping[str, Sequence[str]]:
        """doc_id -> the nearest documents by embedding that are no copies."""
        import numpy as np

        ids, vectors = self._corpus.ids, self._corpus.vectors
        nearest: dict[str, Sequence[str]] = {}
        for begin in range(0, len(ids), BATCH_SIZE_ROWS):
            scores = vectors[begin : begin + BATCH_SIZE_ROWS] @ vectors.T
            scores[scores >= COPY_COSINE] = -1  # itself and its copies
            n_nearest = min(MAX_NEIGHBORS, len(ids) - 1)
            best = (
                np.argsort(-scores, axis=1, kind="stable")[:, :n_nearest]
                if n_nearest
                else np.empty((len(scores), 0), int)
            )
            for row, near in enumerate(best.tolist()):
                nearest[ids[begin + row]] = [ids[n] for n in near if scores[row, n] > 0]
        return nearest


def _sample_window(document: Document, rng: Random) -> SourcePassage:
    """A document whole, or whole chunks of it in a row where it is long."""
    if len(document.text) <= WINDOW_CHARS:
        return SourcePassage(document.doc_id, 0, document.text)
    pieces = chunk_document(document, CHUNK_TOKENS)
    n = rng.randrange(len(pieces))
    start, end = pieces[n].start, pieces[n].end
    for document_chunk in pieces[n + 1 :]:
        if document_chunk.end - start > WINDOW_CHARS:
            break
        end = document_chunk.end
    end = min(end, start + 2 * WINDOW_CHARS)
    cut = find_word_around(document.text, end)
    return SourcePassage(document.doc_id, start, document.text[start : end if cut is None else max(cut[0], start + 1)])


def _build_passage(document_chunk: Chunk) -> SourcePassage:
    return SourcePassage(document_chunk.doc_id, document_chunk.start, document_chunk.body)

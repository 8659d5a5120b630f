"""The demo's corpus as a retriever sees it: pieces of pages, and their ranking for a question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache

from tests.planted.topics import Part, Topic, pages

from ragauge.core.document import chunk_document
from ragauge.core.example import Span
from ragauge.core.response import Passage
from ragauge.systems.reference.retrievers import Bm25, extract_terms
from ragauge.text.sentences import split_sentences

TOKENS = 90  # of a piece
SAYS_TOO = 0.7  # share of a claim's terms that a sentence of another page must hold to count as saying it


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage, and what it states beyond the page that it comes from.

    Attributes:
        passage: as it is handed on.
        states: altered statements that this text holds.
    """

    passage: Passage
    states: tuple[str, ...] = ()

    @property
    def doc_id(self) -> str:
        """Its page."""
        return self.passage.doc_id

    def holds(self, span: Span) -> bool:
        """Whether all of a stretch of a page stands in it."""
        mine = self.passage.span
        return mine is not None and mine.doc_id == span.doc_id and mine.start <= span.start and span.end <= mine.end


@cache
def pieces() -> tuple[Piece, ...]:
    """Every page cut at sentence boundaries."""
    found = []
    for page in pages().values():
        for one in chunk_document(page, TOKENS):
            span = Span(page.doc_id, one.start, one.end)
            passage = Passage(
                one.passage_id,
                page.doc_id,
                one.text,
                span=span,
                updated_at=page.updated_at,
                superseded_by=page.superseded_by,
            )
            found.append(Piece(passage))
    return tuple(found)


def holding(span: Span) -> Piece:
    """The piece that a stretch of a page stands in."""
    return next(piece for piece in pieces() if piece.holds(span))


def cut_through(span: Span) -> Piece:
    """The piece up to the middle of a stretch of its page, as a chunker of fixed size leaves it."""
    whole = holding(span).passage
    text, mine = whole.text or "", whole.span
    if mine is None:
        raise ValueError(f"{whole.passage_id} has no span")
    gone = mine.end - (span.start + (span.end - span.start) * 2 // 5)
    return Piece(replace(whole, text=text[:-gone], span=replace(mine, end=mine.end - gone)))


@lru_cache(maxsize=256)
def distractors(topic: Topic) -> tuple[Piece, ...]:
    """Pieces of other pages that a search for the question brings, best first; none says what the answer says."""
    by_id = {piece.passage.passage_id: piece for piece in pieces()}
    hits = _index().search(topic.query, len(by_id))
    rest = sorted(by_id.keys() - {hit.passage_id for hit in hits})
    ranked = [by_id[name] for name in (*(hit.passage_id for hit in hits), *rest)]
    return tuple(piece for piece in ranked if not _family(piece, topic) and not _says(piece, topic))


@cache
def _index() -> Bm25:
    return Bm25([piece.passage.passage_id for piece in pieces()], [piece.passage.text or "" for piece in pieces()])


def _family(piece: Piece, topic: Topic) -> bool:
    """Whether the piece is of a page of the answer, of another version of one, or of one that says the same."""
    family = {_stem(doc_id) for doc_id in topic.docs}
    return _stem(piece.doc_id) in family or piece.doc_id in topic.besides


def _stem(doc_id: str) -> str:
    """A page's name without its year: versions of one page share it."""
    name, _, year = doc_id.rpartition("-")
    return name if year.isdigit() and len(year) == 4 else doc_id


def _says(piece: Piece, topic: Topic) -> bool:
    return any(_close(part, sentence) for part in topic.parts for sentence in _sentences(piece.passage.text or ""))


def _close(part: Part, sentence: frozenset[str]) -> bool:
    wanted = frozenset(extract_terms(part.claim))
    return len(wanted & sentence) >= SAYS_TOO * len(wanted)


@lru_cache(maxsize=1024)
def _sentences(text: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(extract_terms(sentence.text)) for sentence in split_sentences(text))

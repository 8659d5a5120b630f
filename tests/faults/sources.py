"""Faults of what stands in the index: documents cut in the wrong places, and versions that have been replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tests.faults.reference_faults import Fault, FaultTarget, answer_from_ranking, list_gold_documents

from ragauge.core.document import Document, chunk_document
from ragauge.core.example import Example, Span
from ragauge.core.response import Passage, Response
from ragauge.systems.reference.retrievers import extract_terms


@dataclass(frozen=True, slots=True)
class CutEvidence(Fault):
    """The labelled evidence is cut through the middle: no passage or candidate holds the whole of it.

    Every passage that holds a labelled span whole becomes two pieces, cut at the white space nearest to the middle of
    the span. The piece up to the cut stays where it was; what follows ranks right behind the first k, as the half
    sentence that it opens with is no longer found. So the labelled documents stay, and half of the evidence is handed
    on. Of several spans in one passage, the first is cut.

    Nothing to spoil where no labelled span stands whole in what the generator sees.
    """

    name: ClassVar[str] = "cut_evidence"
    causes: ClassVar[tuple[str, ...]] = ("span_cut",)

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The answer from the ranking with the evidence cut."""
        spans, k = example.gold_spans or (), len(honest.passages or ())
        opened: list[Passage] = []
        rest: list[Passage] = []
        struck = False
        for rank, passage in enumerate(honest.candidates or ()):
            held = sorted((span for span in spans if _holds(passage, span)), key=lambda span: span.start)
            if not held:
                opened.append(passage)
                continue
            struck = struck or rank < k
            first, second = _cut(passage, held[0])
            opened.append(first)
            rest.append(second)
        # a piece that follows may hold a later span whole
        again_cut = [piece for passage in rest for piece in _in_pieces(passage, spans)]
        return answer_from_ranking(example, honest, [*opened[:k], *again_cut, *opened[k:]], system) if struck else None


@dataclass(frozen=True, slots=True)
class ServeSuperseded(Fault):
    """The index holds the version of a labelled page that was replaced, and not the current one.

    Each passage of the current page gives its place to the passage of the old page that shares most terms with it
    (once; of equals, the earlier), with the old page's `updated_at` and `superseded_by`. Where the old page is found
    as well, only those passages of it are kept that took a place.

    Nothing to spoil where no labelled page that the generator sees has an older version among `pages`.

    Attributes:
        pages: the corpus, old versions included. Of several versions replaced by the same page, the newest is served.
        chunk_tokens: most tokens in a passage, as the index was cut.
    """

    pages: tuple[Document, ...] = ()
    chunk_tokens: int = 128

    name: ClassVar[str] = "serve_superseded"
    causes: ClassVar[tuple[str, ...]] = ("stale_source",)

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The answer from the ranking with the old version in the place of the current one."""
        ranking, gold = honest.candidates or (), list_gold_documents(example)
        seen = {passage.doc_id for passage in honest.passages or ()} & gold
        old = {doc_id: page for doc_id in sorted(seen) for page in [self._before(doc_id)] if page is not None}
        return answer_from_ranking(example, honest, list(self._served(ranking, old)), system) if old else None

    def _before(self, doc_id: str) -> Document | None:
        """The newest version that a page replaced."""
        versions = [page for page in self.pages if page.superseded_by == doc_id]
        return max(versions, key=lambda page: page.updated_at or "", default=None)

    def _served(self, ranking: Sequence[Passage], old: dict[str, Document]) -> Iterator[Passage]:
        left = {doc_id: self._pieces(page) for doc_id, page in old.items()}
        gone = {page.doc_id for page in old.values()}
        for passage in ranking:
            if passage.doc_id in left:
                pieces = left[passage.doc_id]
                if pieces:
                    likest = max(pieces, key=lambda piece: _shared(piece, passage))
                    pieces.remove(likest)
                    yield replace(likest, score=passage.score)
            elif passage.doc_id not in gone:
                yield passage

    def _pieces(self, page: Document) -> list[Passage]:
        return [
            Passage(
                one.passage_id,
                page.doc_id,
                one.text,
                span=Span(page.doc_id, one.start, one.end),
                updated_at=page.updated_at,
                superseded_by=page.superseded_by,
            )
            for one in chunk_document(page, self.chunk_tokens)
        ]


def _holds(passage: Passage, span: Span) -> bool:
    mine = passage.span
    return mine is not None and mine.doc_id == span.doc_id and mine.start <= span.start and span.end <= mine.end


def _in_pieces(passage: Passage, spans: Sequence[Span]) -> Iterator[Passage]:
    """The passage, cut through every span that it holds whole."""
    held = sorted((span for span in spans if _holds(passage, span)), key=lambda span: span.start)
    if not held:
        yield passage
        return
    first, second = _cut(passage, held[0])
    yield first
    yield from _in_pieces(second, spans)


def _cut(passage: Passage, span: Span) -> tuple[Passage, Passage]:
    """A passage in two pieces, cut within a span that it holds; both stand under its headings."""
    mine = passage.span
    text = passage.text or ""
    if mine is None:
        raise ValueError(f"{passage.passage_id} has no span")
    head = len(text) - (mine.end - mine.start)  # the headings in front of the body
    middle = head + (span.start + span.end) // 2 - mine.start
    start = head + span.start - mine.start
    at = text.rfind(" ", start + 1, middle)
    at = middle if at < 0 else at
    place = mine.start + at - head
    first = replace(passage, passage_id=f"{passage.passage_id}a", text=text[:at], span=replace(mine, end=place))
    second = replace(
        passage,
        passage_id=f"{passage.passage_id}b",
        text=text[:head] + text[at:].lstrip(" "),
        span=replace(mine, start=place + 1 if text[at] == " " else place),
    )
    return first, second


def _shared(piece: Passage, passage: Passage) -> int:
    """Terms that two passages share, repeats counted."""
    mine, theirs = Counter(extract_terms(piece.text or "")), Counter(extract_terms(passage.text or ""))
    return (mine & theirs).total()

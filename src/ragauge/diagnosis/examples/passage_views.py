"""The passages of one example, with what the judge and the labels mark in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragauge.core.example import Span
from ragauge.core.facts import Claim
from ragauge.core.response import REDACTED, Passage
from ragauge.diagnosis.examples.tables import build_cause_context, get_answer_facts, label_claims
from ragauge.scores.results.scorecard import ExampleView

MAX_TEXT_CHARS = 900  # characters of a passage shown beside those around its marks
CONTEXT_CHARS = 160  # characters kept on each side of a mark
MAX_WORD_CHARS = 24  # characters of a word that a cut goes around


@dataclass(frozen=True, slots=True)
class PassageMark:
    """Characters [start, end) of a passage that decided a claim, or that are labelled as evidence (claim None)."""

    start: int
    end: int
    claim: Claim | None = None
    label: str = ""  # of the claim


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A piece of a passage under the same marks."""

    text: str  #: as recorded.
    claims: tuple[Claim, ...] = ()  #: those that it decided.
    begins: tuple[Claim, ...] = ()  #: those whose mark begins here, which links land on.
    gold: bool = False  #: it lies in a labelled span.
    gap: bool = False  #: it stands for characters left out.
    label: str = ""  #: of the claims decided here, how the first stands to the passages.


@dataclass(frozen=True, slots=True)
class PassageView:
    """One passage as handed to the generator."""

    rank: int  #: from 1.
    passage: Passage  #: as recorded.
    stretches: tuple[TextSegment, ...]  #: its text with marks, long parts without any left out.
    shown: int  #: characters shown; fewer than its length = cut.
    gold: bool  #: its document is labelled relevant.
    used: bool  #: it supports or is cited for a claim.
    relevant: bool | None  #: the judge's rating; None when not rated, and where it denies what a label says.
    against: bool  #: it contradicts a claim.
    stale: bool  #: a newer version of its document exists.

    @property
    def text(self) -> str:
        """Its text as shown."""
        return "".join(stretch.text for stretch in self.stretches)


def build_passage_views(view: ExampleView, *, is_whole: bool = False) -> tuple[PassageView, ...]:
    """The passages in rank order with their marks; `is_whole` leaves nothing of a long text out."""
    context, facts, verdicts = build_cause_context(view), get_answer_facts(view), label_claims(view)
    claims = facts.claims if facts else ()
    gold = {doc_id for item in context.relevant for doc_id in item.doc_ids}
    against = {number for claim in claims for number in claim.contradicting}
    ratings = context.relevance_by_passage or {}
    views = []
    for rank, passage in enumerate(view.response.passages or (), 1):
        text = passage.text if passage.text is not None else "(no text recorded)"
        marks = (
            [*_list_claim_marks(claims, verdicts, rank, text), *_list_gold_marks(passage, context.gold_spans)]
            if passage.text
            else []
        )
        stretches = tuple(_cut_at_marks(text, 0, len(text), marks) if is_whole else _shorten_text(text, marks))
        n_shown = sum(len(stretch.text) for stretch in stretches if not stretch.gap)
        labelled, rated = passage.doc_id in gold, ratings.get(rank)
        relevant = rated or None if labelled else rated
        views.append(
            PassageView(
                rank,
                passage,
                stretches,
                n_shown,
                labelled,
                rank in context.used,
                relevant,
                rank in against,
                rank in context.stale,
            )
        )
    return tuple(views)


def _list_claim_marks(
    claims: Iterable[Claim], labels: Mapping[int, str], rank: int, text: str
) -> Iterator[PassageMark]:
    for claim in claims:
        if claim.window is not None and claim.window.passage == rank and text != REDACTED:
            start, end = max(0, claim.window.start), min(len(text), claim.window.end)
            if start < end:
                yield PassageMark(start, end, claim, labels[claim.n])


def _list_gold_marks(passage: Passage, spans: Sequence[Span]) -> Iterator[PassageMark]:
    """Labelled spans inside the passage; only where its place in the document fits its text."""
    passage_span = passage.span
    if passage_span is None or passage.text is None or passage_span.end - passage_span.start != len(passage.text):
        return
    for span in spans:
        start, end = (
            max(span.start, passage_span.start) - passage_span.start,
            min(span.end, passage_span.end) - passage_span.start,
        )
        if span.doc_id == passage.doc_id and start < end:
            yield PassageMark(start, end)


def _shorten_text(text: str, marks: Sequence[PassageMark]) -> Iterator[TextSegment]:
    """The text cut at its marks; of a long one the beginning and what stands around the marks."""
    around = [
        (_find_word_edge(text, mark.start - CONTEXT_CHARS, -1), _find_word_edge(text, mark.end + CONTEXT_CHARS, 1))
        for mark in marks
    ]
    fits = len(text) <= MAX_TEXT_CHARS + CONTEXT_CHARS
    kept_ranges = [(0, len(text))] if fits else _merge_ranges([(0, _find_word_edge(text, MAX_TEXT_CHARS, 1)), *around])
    position = 0
    for start, end in kept_ranges:
        if start > position:
            yield TextSegment(" … ", gap=True)
        yield from _cut_at_marks(text, start, end, marks)
        position = end
    if position < len(text):
        yield TextSegment(" … ", gap=True)


def _find_word_edge(text: str, position: int, step: int) -> int:
    """The nearest place in the direction of `step` that cuts no word, unless the word is very long."""
    position = min(len(text), max(0, position))
    for end in range(position, position + MAX_WORD_CHARS * step, step):
        if end <= 0 or end >= len(text):
            return min(len(text), max(0, end))
        if text[end - 1].isspace() or text[end].isspace():
            return end
    return position


def _merge_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1] + CONTEXT_CHARS:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _cut_at_marks(text: str, first: int, last: int, marks: Sequence[PassageMark]) -> Iterator[TextSegment]:
    """Characters [first, last) in pieces under the same marks."""
    inner_edges = {edge for mark in marks for edge in (mark.start, mark.end) if first < edge < last}
    edges = sorted({first, last} | inner_edges)
    for start, end in pairwise(edges):
        over = [mark for mark in marks if mark.start <= start and end <= mark.end]
        claims = tuple(mark.claim for mark in over if mark.claim is not None)
        begins = tuple(mark.claim for mark in over if mark.claim is not None and mark.start == start)
        label = next((mark.label for mark in over if mark.claim is not None), "")
        yield TextSegment(text[start:end], claims, begins, any(mark.claim is None for mark in over), label=label)

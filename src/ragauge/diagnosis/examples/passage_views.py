"""The passages of one example, with what the judge and the labels mark in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragauge.core.example import Span
from ragauge.core.facts import Claim
from ragauge.core.response import REDACTED, Passage
from ragauge.diagnosis.examples.tables import answer_facts, labels, seen
from ragauge.scores.results.scorecard import ExampleView

MOST_TEXT = 900  # characters of a passage shown beside those around its marks
AROUND = 160  # characters kept on each side of a mark
LONGEST = 24  # characters of a word that a cut goes around


@dataclass(frozen=True, slots=True)
class PassageMark:
    """Characters [start, end) of a passage that decided a claim, or that are labelled as evidence (claim None)."""

    start: int
    end: int
    claim: Claim | None = None
    label: str = ""  # of the claim


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A piece of a passage under the same marks.

    Attributes:
        text: as recorded.
        claims: those that it decided.
        begins: those whose mark begins here, which links land on.
        gold: it lies in a labelled span.
        gap: it stands for characters left out.
        label: of the claims decided here, how the first stands to the passages.
    """

    text: str
    claims: tuple[Claim, ...] = ()
    begins: tuple[Claim, ...] = ()
    gold: bool = False
    gap: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class PassageView:
    """One passage as handed to the generator.

    Attributes:
        rank: from 1.
        passage: as recorded.
        stretches: its text with marks, long parts without any left out.
        shown: characters shown; fewer than its length = cut.
        gold: its document is labelled relevant.
        used: it supports or is cited for a claim.
        relevant: the judge's rating; None when not rated, and where it denies what a label says.
        against: it contradicts a claim.
        stale: a newer version of its document exists.
    """

    rank: int
    passage: Passage
    stretches: tuple[TextSegment, ...]
    shown: int
    gold: bool
    used: bool
    relevant: bool | None
    against: bool
    stale: bool

    @property
    def text(self) -> str:
        """Its text as shown."""
        return "".join(stretch.text for stretch in self.stretches)


def shelves(view: ExampleView, *, whole: bool = False) -> tuple[PassageView, ...]:
    """The passages in rank order with their marks; `whole` leaves nothing of a long text out."""
    known, facts, verdicts = seen(view), answer_facts(view), labels(view)
    claims = facts.claims if facts else ()
    gold = {doc_id for item in known.relevant for doc_id in item.doc_ids}
    against = {number for claim in claims for number in claim.contradicting}
    ratings = known.marks or {}
    views = []
    for rank, passage in enumerate(view.response.passages or (), 1):
        text = passage.text if passage.text is not None else "(no text recorded)"
        marks = [*_windows(claims, verdicts, rank, text), *_gold(passage, known.spans)] if passage.text else []
        stretches = tuple(_cut(text, 0, len(text), marks) if whole else _shorten(text, marks))
        shown = sum(len(stretch.text) for stretch in stretches if not stretch.gap)
        labelled, rated = passage.doc_id in gold, ratings.get(rank)
        relevant = rated or None if labelled else rated
        views.append(
            PassageView(
                rank,
                passage,
                stretches,
                shown,
                labelled,
                rank in known.used,
                relevant,
                rank in against,
                rank in known.stale,
            )
        )
    return tuple(views)


def _windows(claims: Iterable[Claim], labels: Mapping[int, str], rank: int, text: str) -> Iterator[PassageMark]:
    for claim in claims:
        if claim.window is not None and claim.window.passage == rank and text != REDACTED:
            start, end = max(0, claim.window.start), min(len(text), claim.window.end)
            if start < end:
                yield PassageMark(start, end, claim, labels[claim.n])


def _gold(passage: Passage, spans: Sequence[Span]) -> Iterator[PassageMark]:
    """Labelled spans inside the passage; only where its place in the document fits its text."""
    own = passage.span
    if own is None or passage.text is None or own.end - own.start != len(passage.text):
        return
    for span in spans:
        start, end = max(span.start, own.start) - own.start, min(span.end, own.end) - own.start
        if span.doc_id == passage.doc_id and start < end:
            yield PassageMark(start, end)


def _shorten(text: str, marks: Sequence[PassageMark]) -> Iterator[TextSegment]:
    """The text cut at its marks; of a long one the beginning and what stands around the marks."""
    around = [(_word(text, mark.start - AROUND, -1), _word(text, mark.end + AROUND, 1)) for mark in marks]
    whole = len(text) <= MOST_TEXT + AROUND
    kept = [(0, len(text))] if whole else _merged([(0, _word(text, MOST_TEXT, 1)), *around])
    at = 0
    for start, end in kept:
        if start > at:
            yield TextSegment(" … ", gap=True)
        yield from _cut(text, start, end, marks)
        at = end
    if at < len(text):
        yield TextSegment(" … ", gap=True)


def _word(text: str, at: int, step: int) -> int:
    """The nearest place in the direction of `step` that cuts no word, unless the word is very long."""
    at = min(len(text), max(0, at))
    for end in range(at, at + LONGEST * step, step):
        if end <= 0 or end >= len(text):
            return min(len(text), max(0, end))
        if text[end - 1].isspace() or text[end].isspace():
            return end
    return at


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1] + AROUND:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _cut(text: str, first: int, last: int, marks: Sequence[PassageMark]) -> Iterator[TextSegment]:
    """Characters [first, last) in pieces under the same marks."""
    ends = {edge for mark in marks for edge in (mark.start, mark.end) if first < edge < last}
    edges = sorted({first, last} | ends)
    for start, end in pairwise(edges):
        over = [mark for mark in marks if mark.start <= start and end <= mark.end]
        claims = tuple(mark.claim for mark in over if mark.claim is not None)
        begins = tuple(mark.claim for mark in over if mark.claim is not None and mark.start == start)
        label = next((mark.label for mark in over if mark.claim is not None), "")
        yield TextSegment(text[start:end], claims, begins, any(mark.claim is None for mark in over), label=label)

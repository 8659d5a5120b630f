"""Where quality is lost, for the reports: a sentence for one metric, and a bar for every metric and segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragauge.core.messages import number, plural, signed
from ragauge.metrics.catalogue import parse
from ragauge.rendering.lists import Anchors
from ragauge.rendering.words import ARROWS, between, estimate, line
from ragauge.scores.results.gap_rows import ClosedBook, Gaps, MetricGaps, Oracle
from ragauge.scores.results.overview import MeanEstimate

FIRST = ("answer_correctness", "correctness", "exact_match", "answer_recall", "token_f1")  # that stand for all
HEADS = ("own", "lost to retrieval", "lost to generation", "knew alone", "retrieval buys", "pairs")
MEANING = (
    "lost to retrieval: oracle_gap, labelled passages less own retrieval. lost to generation: the best value less "
    "labelled passages. knew alone: without passages. retrieval buys: closed_book_gap, own less without passages. "
    "Brackets: 95 % intervals, paired on examples."
)


@dataclass(frozen=True, slots=True)
class Cut:
    """A metric's range cut into what is there and what is lost, as shares of the range, the best value at 1.

    `retrieval` reaches from own to oracle where retrieval loses, `worse` from oracle to own where the labelled
    passages do; `alone` is a mark; each None where it is not known.
    """

    own: float
    retrieval: tuple[float, float] | None
    worse: tuple[float, float] | None
    generation: tuple[float, float] | None
    alone: float | None


@dataclass(frozen=True, slots=True)
class LossRow:
    """One metric or segment: its name, what it leads to, its bar, and the columns of HEADS: (mean, interval) each."""

    name: str
    link: str
    cut: Cut
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """What the page shows: the sentence, all metrics, `first` by segment column, and what to mind."""

    sentence: str
    against: str
    first: str
    rows: tuple[LossRow, ...]
    segments: Mapping[str, tuple[LossRow, ...]]
    notes: tuple[str, ...]


def losses(gaps: Gaps | None, anchors: Anchors) -> Losses | None:
    """The page's section; None without gaps."""
    if gaps is None:
        return None
    first = leading(gaps)[0].metric
    by_segment = {
        line(column): tuple(
            LossRow(line(value), anchors.link("seg", column, value), _cut(gap), cells(gap))
            for value, gaps_of in values.items()
            for gap in gaps_of
            if gap.metric == first
        )
        for column, values in gaps.segments.items()
    }
    rows = tuple(LossRow(named(gap), anchors.link("def", gap.metric), _cut(gap), cells(gap)) for gap in leading(gaps))
    return Losses(sentence(gaps), against(gaps), first, rows, by_segment, tuple(minded(gaps)))


def leading(gaps: Gaps) -> list[MetricGaps]:
    """The metrics, those first that stand for the whole answer."""
    return sorted(gaps.metrics, key=lambda gap: FIRST.index(gap.metric) if gap.metric in FIRST else len(FIRST))


def sentence(gaps: Gaps) -> str:
    """What is lost where, of the metric that stands for all."""
    if not gaps.metrics:
        return ""
    first = leading(gaps)[0]
    oracle, alone = first.oracle, first.closed_book
    words = [f"{first.metric} is {number(own_of(first))} on own retrieval."]
    if oracle is not None:
        words.append(
            f"On the labelled passages it is {number(oracle.oracle)}: {_said(oracle.gap)} is lost to retrieval, "
            f"and {_said(oracle.rest)} to generation."
        )
    if alone is not None:
        words.append(f"Without passages it is {estimate(alone.alone)}.")
    return " ".join(words)


def against(gaps: Gaps) -> str:
    """The runs that the gaps are held against."""
    named = (("labelled passages", gaps.oracle), ("no passages", gaps.closed_book))
    return ", ".join(f"{line(name)} ({what})" for what, name in named if name)


def minded(gaps: Gaps) -> Iterator[str]:
    """What the reader must know before believing a number."""
    yield from gaps.notes
    sides = [side for gap in gaps.metrics for side in sides_of(gap)]
    if left := max((side.undefined for side in sides), default=0):
        yield f"Up to {plural(left, 'example')} in no pair: a score is undefined on one side, as for a refusal."
    if left := max((side.failed for side in sides), default=0):
        yield f"Up to {plural(left, 'example')} in no pair: a score failed on one side."


def sides_of(gap: MetricGaps) -> list[Oracle | ClosedBook]:
    """The sides that there are."""
    return [side for side in (gap.oracle, gap.closed_book) if side is not None]


def own_of(gap: MetricGaps) -> float:
    """The mean on own retrieval, over the pairs with the labelled passages where there are any."""
    return sides_of(gap)[0].own


def named(gap: MetricGaps) -> str:
    """The metric, with an arrow where lower is better."""
    return gap.metric + ARROWS[gap.direction]


def cells(gap: MetricGaps) -> tuple[tuple[str, str], ...]:
    """The columns of HEADS, each with its interval."""
    oracle, alone = gap.oracle, gap.closed_book
    none = ("–", "")
    return (
        (number(own_of(gap)), ""),
        none if oracle is None else _difference(oracle.gap),
        none if oracle is None else _difference(oracle.rest),
        none if alone is None else (number(alone.alone.mean), between(alone.alone.interval)),
        none if alone is None else _difference(alone.gap),
        (" to ".join(f"{count:,}" for count in sorted({side.gap.n for side in sides_of(gap)})), ""),
    )


def _difference(estimate: MeanEstimate) -> tuple[str, str]:
    ends = estimate.interval
    return signed(estimate.mean), "" if ends is None else f"[{signed(ends.low)}, {signed(ends.high)}]"


def _said(estimate: MeanEstimate) -> str:
    return " ".join(_difference(estimate)).strip()


def _cut(gap: MetricGaps) -> Cut:
    low, high = parse(gap.metric).range

    def place(value: float) -> float:
        share = (value - low) / (high - low)
        return 1 - share if gap.direction == "lower" else share

    own = place(own_of(gap))
    alone = None if gap.closed_book is None or gap.closed_book.alone.mean is None else place(gap.closed_book.alone.mean)
    if gap.oracle is None:
        return Cut(own, None, None, None, alone)
    there = place(gap.oracle.oracle)
    lost, worse = ((own, there), None) if there >= own else (None, (there, own))
    return Cut(own, lost, worse, (max(own, there), 1.0), alone)

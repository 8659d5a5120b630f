"""Where quality is lost, for the reports: a sentence for one metric, and a bar for every metric and segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragauge.analysis.results.gap_rows import ClosedBook, Gaps, MetricGaps, Oracle
from ragauge.analysis.results.overview import MeanEstimate
from ragauge.metrics.catalogue import parse
from ragauge.reporting.anchors import Anchors
from ragauge.reporting.words import ARROWS, between, estimate, line
from ragauge.text.messages import number, plural, signed

FIRST = ("answer_correctness", "correctness", "exact_match", "answer_recall", "token_f1")     # that stand for all
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
            LossRow(line(value), anchors.link("seg", column, value), _cut(one), cells(one))
            for value, found in values.items() for one in found if one.metric == first
        )
        for column, values in gaps.segments.items()
    }     # fmt: skip
    rows = tuple(
        LossRow(named(one), anchors.link("def", one.metric), _cut(one), cells(one)) for one in leading(gaps)
    )
    return Losses(sentence(gaps), against(gaps), first, rows, by_segment, tuple(minded(gaps)))


def leading(gaps: Gaps) -> list[MetricGaps]:
    """The metrics, those first that stand for the whole answer."""
    return sorted(gaps.metrics, key=lambda one: FIRST.index(one.metric) if one.metric in FIRST else len(FIRST))


def sentence(gaps: Gaps) -> str:
    """What is lost where, of the metric that stands for all."""
    if not gaps.metrics:
        return ""
    one = leading(gaps)[0]
    oracle, alone = one.oracle, one.closed_book
    said = [f"{one.metric} is {number(own_of(one))} on own retrieval."]
    if oracle is not None:
        said.append(
            f"On the labelled passages it is {number(oracle.oracle)}: {_said(oracle.gap)} is lost to retrieval, "
            f"and {_said(oracle.rest)} to generation."
        )
    if alone is not None:
        said.append(f"Without passages it is {estimate(alone.alone)}.")
    return " ".join(said)


def against(gaps: Gaps) -> str:
    """The runs that the gaps are held against."""
    named = (("labelled passages", gaps.oracle), ("no passages", gaps.closed_book))
    return ", ".join(f"{line(name)} ({what})" for what, name in named if name)


def minded(gaps: Gaps) -> Iterator[str]:
    """What the reader must know before believing a number."""
    yield from gaps.notes
    sides = [side for one in gaps.metrics for side in sides_of(one)]
    if left := max((side.undefined for side in sides), default=0):
        yield f"Up to {plural(left, 'example')} in no pair: a score is undefined on one side, as for a refusal."
    if left := max((side.failed for side in sides), default=0):
        yield f"Up to {plural(left, 'example')} in no pair: a score failed on one side."


def sides_of(one: MetricGaps) -> list[Oracle | ClosedBook]:
    """The sides that there are."""
    return [side for side in (one.oracle, one.closed_book) if side is not None]


def own_of(one: MetricGaps) -> float:
    """The mean on own retrieval, over the pairs with the labelled passages where there are any."""
    return sides_of(one)[0].own


def named(one: MetricGaps) -> str:
    """The metric, with an arrow where lower is better."""
    return one.metric + ARROWS[one.direction]


def cells(one: MetricGaps) -> tuple[tuple[str, str], ...]:
    """The columns of HEADS, each with its interval."""
    oracle, alone = one.oracle, one.closed_book
    none = ("–", "")
    return (
        (number(own_of(one)), ""),
        none if oracle is None else _difference(oracle.gap),
        none if oracle is None else _difference(oracle.rest),
        none if alone is None else (number(alone.alone.mean), between(alone.alone.interval)),
        none if alone is None else _difference(alone.gap),
        (" to ".join(f"{count:,}" for count in sorted({side.gap.n for side in sides_of(one)})), ""),
    )


def _difference(found: MeanEstimate) -> tuple[str, str]:
    ends = found.interval
    return signed(found.mean), "" if ends is None else f"[{signed(ends.low)}, {signed(ends.high)}]"


def _said(found: MeanEstimate) -> str:
    return " ".join(_difference(found)).strip()


def _cut(one: MetricGaps) -> Cut:
    low, high = parse(one.metric).range

    def place(value: float) -> float:
        share = (value - low) / (high - low)
        return 1 - share if one.direction == "lower" else share

    own = place(own_of(one))
    alone = None if one.closed_book is None or one.closed_book.alone.mean is None else place(one.closed_book.alone.mean)
    if one.oracle is None:
        return Cut(own, None, None, None, alone)
    there = place(one.oracle.oracle)
    lost, worse = ((own, there), None) if there >= own else (None, (there, own))
    return Cut(own, lost, worse, (max(own, there), 1.0), alone)

"""Where quality is lost, for the reports: a sentence for one metric, and a bar for every metric and segment.

The gaps of a run as sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragauge.core.messages import format_count, format_signed, format_value
from ragauge.metrics.catalogue import parse_metric
from ragauge.rendering.lists import Anchors
from ragauge.rendering.sections import ReportSection, ReportTable, build_columns
from ragauge.rendering.words import ARROWS, between, estimate, make_safe, to_line
from ragauge.scores.results.overview import ClosedBook, Gaps, MeanEstimate, MetricGaps, Oracle

WHOLE_ANSWER_METRICS = (
    "answer_correctness",
    "correctness",
    "exact_match",
    "answer_recall",
    "token_f1",
)  # that stand for all
HEADERS = ("own", "lost to retrieval", "lost to generation", "without passages", "retrieval gain", "pairs")
COLUMNS_NOTE = (
    "lost to retrieval: oracle_gap, gold passages minus own retrieval. lost to generation: the best value minus "
    "gold passages. retrieval gain: closed_book_gap, own retrieval minus no passages. "
    "Brackets: 95 % intervals, paired by example."
)


@dataclass(frozen=True, slots=True)
class RangeSplit:
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
    cut: RangeSplit
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


def build_losses(gaps: Gaps | None, anchors: Anchors) -> Losses | None:
    """The page's section; None without gaps."""
    if gaps is None:
        return None
    first = order_metrics(gaps)[0].metric
    by_segment = {
        to_line(column): tuple(
            LossRow(to_line(value), anchors.link("seg", column, value), _split_range(gap), format_cells(gap))
            for value, gaps_of in values.items()
            for gap in gaps_of
            if gap.metric == first
        )
        for column, values in gaps.segments.items()
    }
    rows = tuple(
        LossRow(format_metric(gap), anchors.link("def", gap.metric), _split_range(gap), format_cells(gap))
        for gap in order_metrics(gaps)
    )
    return Losses(describe_losses(gaps), describe_other_runs(gaps), first, rows, by_segment, tuple(list_caveats(gaps)))


def order_metrics(gaps: Gaps) -> list[MetricGaps]:
    """The metrics, those first that stand for the whole answer."""
    places = {name: place for place, name in enumerate(WHOLE_ANSWER_METRICS)}
    return sorted(gaps.metrics, key=lambda gap: places.get(gap.metric, len(places)))


def describe_losses(gaps: Gaps) -> str:
    """What is lost where, of the metric that stands for all."""
    if not gaps.metrics:
        return ""
    first = order_metrics(gaps)[0]
    oracle, alone = first.oracle, first.closed_book
    words = [f"{first.metric} is {format_value(get_own_mean(first))} with the system's own retrieval."]
    if oracle is not None:
        lost = f"{_format_gap(oracle.gap)} is lost to retrieval, and {_format_gap(oracle.rest)} to generation."
        words.append(f"With the gold passages, it is {format_value(oracle.oracle)}: {lost}")
    if alone is not None:
        words.append(f"Without passages, it is {estimate(alone.alone)}.")
    return " ".join(words)


def describe_other_runs(gaps: Gaps) -> str:
    """The runs that the gaps are held against."""
    runs = (("gold passages", gaps.oracle), ("no passages", gaps.closed_book))
    return ", ".join(f"{to_line(name)} ({what})" for what, name in runs if name)


def list_caveats(gaps: Gaps) -> Iterator[str]:
    """What the reader must know before believing a number."""
    yield from gaps.notes
    gaps_of_metrics = [gap_estimate for gap in gaps.metrics for gap_estimate in list_gaps(gap)]
    if n_left_out := max((gap_estimate.undefined for gap_estimate in gaps_of_metrics), default=0):
        reason = "a score is undefined in one of the runs, as for a refusal."
        yield f"Up to {format_count(n_left_out, 'example')} left out: {reason}"
    if n_left_out := max((gap_estimate.failed for gap_estimate in gaps_of_metrics), default=0):
        yield f"Up to {format_count(n_left_out, 'example')} left out: a score failed in one of the runs."


def list_gaps(gap: MetricGaps) -> list[Oracle | ClosedBook]:
    """The sides that there are."""
    return [gap_estimate for gap_estimate in (gap.oracle, gap.closed_book) if gap_estimate is not None]


def get_own_mean(gap: MetricGaps) -> float:
    """The mean on own retrieval, over the pairs with the labelled passages where there are any."""
    return list_gaps(gap)[0].own


def format_metric(gap: MetricGaps) -> str:
    """The metric, with an arrow where lower is better."""
    return gap.metric + ARROWS[gap.direction]


def format_cells(gap: MetricGaps) -> tuple[tuple[str, str], ...]:
    """The columns of HEADS, each with its interval."""
    oracle, alone = gap.oracle, gap.closed_book
    none = ("–", "")
    return (
        (format_value(get_own_mean(gap)), ""),
        none if oracle is None else _format_difference(oracle.gap),
        none if oracle is None else _format_difference(oracle.rest),
        none if alone is None else (format_value(alone.alone.mean), between(alone.alone.interval)),
        none if alone is None else _format_difference(alone.gap),
        (" to ".join(f"{count:,}" for count in sorted({gap_estimate.gap.n for gap_estimate in list_gaps(gap)})), ""),
    )


def _format_difference(estimate: MeanEstimate) -> tuple[str, str]:
    interval = estimate.interval
    return format_signed(
        estimate.mean
    ), "" if interval is None else f"[{format_signed(interval.low)}, {format_signed(interval.high)}]"


def _format_gap(estimate: MeanEstimate) -> str:
    return " ".join(_format_difference(estimate)).strip()


def _split_range(gap: MetricGaps) -> RangeSplit:
    low, high = parse_metric(gap.metric).range

    def to_position(value: float) -> float:
        share = (value - low) / (high - low)
        return 1 - share if gap.direction == "lower" else share

    own_position = to_position(get_own_mean(gap))
    alone_mean = None if gap.closed_book is None else gap.closed_book.alone.mean
    alone = None if alone_mean is None else to_position(alone_mean)
    if gap.oracle is None:
        return RangeSplit(own_position, None, None, None, alone)
    oracle_position = to_position(gap.oracle.oracle)
    low_end, high_end = sorted((own_position, oracle_position))
    gained, lost = ((low_end, high_end), None) if oracle_position >= own_position else (None, (low_end, high_end))
    return RangeSplit(own_position, gained, lost, (high_end, 1.0), alone)


MAX_ROWS = 40  # of segments


def build_sections(gaps: Gaps) -> Iterator[ReportSection]:
    """A table overall and one by segment."""
    overall = _build_gap_table([("", gap) for gap in order_metrics(gaps)], "metric")
    yield ReportSection(
        make_safe(gaps.run), f"compared with {describe_other_runs(gaps)}", (make_safe(describe_losses(gaps)),), overall
    )
    first = order_metrics(gaps)[0].metric
    rows = [
        (f"{to_line(column)} = {to_line(value)}", gap)
        for column, values in gaps.segments.items()
        for value, gaps_of in values.items()
        for gap in gaps_of
        if gap.metric == first
    ]
    if rows:
        more = f"{len(rows) - MAX_ROWS:,} more segments and " if len(rows) > MAX_ROWS else ""
        note = f"{more}the other metrics by segment are in --json."
        yield ReportSection(f"By segment: {first}", table=_build_gap_table(rows[:MAX_ROWS], "segment"), notes=(note,))
    yield ReportSection(after=tuple(f"! {make_safe(note)}" for note in list_caveats(gaps)), notes=(COLUMNS_NOTE,))


def _build_gap_table(rows: Sequence[tuple[str, MetricGaps]], head: str) -> ReportTable:
    table_rows = (
        (label or format_metric(gap), *(" ".join(cell).strip() for cell in format_cells(gap))) for label, gap in rows
    )
    return ReportTable(build_columns(head, numbers=HEADERS), tuple(table_rows))

"""The figures of the page: each a chart, and a table with the same numbers and links for those who do not see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ragauge.core.messages import format_value
from ragauge.diagnosis.findings.cause_texts import find_words
from ragauge.rendering.charts import estimates, failures, spread
from ragauge.rendering.charts.estimates import Point
from ragauge.rendering.lists import Anchors, find_total_time, format_bin, select_distributions
from ragauge.rendering.words import UNNAMED, estimate, select_headline_metrics, share, to_line
from ragauge.scores.results.overview import Bin, Distribution, LengthBand
from ragauge.scores.results.scorecard import ScorecardData

MAX_COLUMNS = 6  # segment columns drawn
SHORT_STAGES = {"top n of the candidates": "top candidates", "handed on": "passed on"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a figure's table, with a link or none."""

    text: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with what stands around it."""

    title: str  #: what is shown.
    svg: str  #: the chart.
    head: tuple[str, ...]  #: names of the table's columns.
    rows: tuple[tuple[Cell, ...], ...]  #: the same numbers, row by row; the first cell of each names it.
    caption: str = ""  #: how to read it.
    ends: tuple[str, str] = ("", "")  #: what stands under the left and the right end of a chart without axes.
    link: str = ""  #: where the title leads.


@dataclass(frozen=True, slots=True)
class CauseMeaning:
    """A cause in plain words, with the number of its colour."""

    place: int
    cause: str
    means: str


def make_cause_link(anchors: Anchors, card: ScorecardData) -> Callable[[str], str]:
    """Where a cause leads: its listed examples, else the first one shown in full, else its finding."""
    first: dict[str, tuple[str, str, int]] = {}
    for view in card.worst:
        if view.cause is not None:
            first.setdefault(view.cause.name, ("ex", view.example.query_id, view.response.repeat))

    def find_link(cause: str) -> str:
        example_link = anchors.link(*first[cause]) if cause in first else ""
        return anchors.link("cause", cause) or example_link or anchors.link("finding", cause)

    return find_link


def build_pareto(card: ScorecardData, anchors: Anchors) -> Figure | None:
    """Failed examples by cause with the cumulative share; None when nothing failed."""
    bars = failures.build_cause_bars(card, make_cause_link(anchors, card))
    if not bars:
        return None
    head = ("cause", "failed", "share", "cumulative", *(("baseline",) if card.baseline else ()))
    rows = tuple(
        (
            Cell(bar.cause, bar.link),
            Cell(f"{bar.count:,}"),
            Cell(f"{bar.count / card.failed_examples:.0%}"),
            Cell(f"{bar.cumulative:.0%}"),
            *((Cell(f"{bar.before:,}"),) if bar.before is not None else ()),
        )
        for bar in bars
    )
    caption = "Bars count the failed examples of each cause; the line is cumulative."
    if len(bars) > failures.MAX_CAUSES:
        caption += f" Showing {failures.MAX_CAUSES} of {len(bars)} causes."
    return Figure("All failures", failures.draw_pareto(bars, card.failed_examples), head, rows, caption)


def build_segment_figures(card: ScorecardData, anchors: Anchors) -> Iterator[Figure]:
    """Failed examples by cause within each value of a segment column."""
    colors = failures.number_colors(card)
    for column, values in list(card.overview.causes_by_segment.items())[:MAX_COLUMNS]:

        def find_link(value: str, cause: str, column: str = column) -> str:
            return anchors.link("seg-c", column, value, cause) or anchors.link("seg", column, value)

        svg = failures.draw_by_segment(values, colors, find_link)
        if not svg:
            continue
        rows = tuple(
            (
                Cell(to_line(value), anchors.link("seg", column, value)),
                Cell(cause or UNNAMED, find_link(value, cause)),
                Cell(f"{count:,}"),
            )
            for value, causes in values.items()
            for cause, count in causes.items()
            if count
        )
        cut = len(values) > failures.MAX_VALUES
        caption = f"Showing {failures.MAX_VALUES} of {len(values)} values." if cut else ""
        yield Figure(f"By {to_line(column)}", svg, (to_line(column), "cause", "failed"), rows, caption)


def build_legend(card: ScorecardData) -> list[CauseMeaning]:
    """Every cause with its colour and what it means; causes beyond the colours that there are share the last one."""
    return [
        CauseMeaning(number, cause or UNNAMED, cause_words.headline if (cause_words := find_words(cause)) else "")
        for cause, number in failures.number_colors(card).items()
    ]


def build_histograms(card: ScorecardData, anchors: Anchors) -> Iterator[Figure]:
    """One small histogram a metric."""
    for distribution in select_distributions(card):
        yield _build_histogram(
            distribution, partial(anchors.link, "bin", distribution.metric), anchors.link("def", distribution.metric)
        )


def _build_histogram(distribution: Distribution, link: Callable[[int], str], leads: str = "") -> Figure:
    first, last = distribution.bins[0], distribution.bins[-1]
    rows = tuple(
        (Cell(format_bin(score_bin, distribution.kind), link(number)), Cell(f"{score_bin.count:,}"))
        for number, score_bin in enumerate(distribution.bins)
    )
    many = sum(score_bin.count for score_bin in distribution.bins)
    low, high = (0.0, 1.0) if spread.is_on_unit(distribution.bins, distribution.kind) else (first.low, last.high)
    return Figure(
        distribution.metric,
        spread.draw_histogram(distribution.bins, distribution.kind, link),
        ("score", "examples"),
        rows,
        f"{many:,} scored",
        (format_value(low, distribution.kind), format_value(high, distribution.kind)),
        leads,
    )


def build_rank_figure(card: ScorecardData, anchors: Anchors) -> Figure | None:
    """In how many answers the passage of each rank was used."""
    alignment = card.overview.alignment
    if alignment is None or not alignment.ranks:
        return None
    links = [anchors.link("rank", rank.rank) for rank in alignment.ranks]
    relevant = [anchors.link("relevant", rank.rank) for rank in alignment.ranks]
    rows = tuple(
        (
            Cell(str(rank.rank), link),
            Cell(f"{rank.n:,}"),
            Cell(share(rank.used, rank.n)),
            Cell(f"{rank.best:,}"),
            Cell("not known" if rank.relevant is None else share(rank.relevant_used or 0, rank.relevant), leads),
        )
        for rank, link, leads in zip(alignment.ranks, links, relevant, strict=True)
    )
    head = ("rank", "answers", "used", "first used", "used if relevant")
    has_relevance = any(rank.relevant for rank in alignment.ranks)
    caption = "Bar: share of the answers that use the passage at this rank."
    caption += " Diamond: the same, for relevant passages only." if has_relevance else ""
    return Figure("Use by rank", estimates.draw_rank_use(alignment, links, relevant), head, rows, caption)


def build_position_figure(card: ScorecardData, anchors: Anchors) -> Figure | None:
    """Use of relevant passages by where in the context they stand; a mark leads to the examples that have one there."""
    alignment = card.overview.alignment
    points = [
        Point(name, estimate, anchors.link("third", name))
        for name, estimate in (alignment.positions if alignment else {}).items()
    ]
    caption = "Share of the relevant passages in each third of the context that the answer used."
    return _build_points_figure(
        "Effect of position", points, "share used", caption, ("third", "share used", "passages")
    )


def build_stage_figure(card: ScorecardData, anchors: Anchors) -> Figure | None:
    """How much of the labelled evidence is left after each stage; a bar leads to the examples that lost it there."""
    points = [
        Point(SHORT_STAGES.get(stage.name, stage.name), stage.recall, anchors.link("stage", stage.name))
        for stage in card.overview.stages
    ]
    caption = (
        "Share of the labeled documents remaining at each stage: among all candidates, the top candidates (as many as "
        "the generator received), the passages the generator received, and the passages the answer uses."
    )
    head = ("stage", "recall", "examples")
    figure = _build_points_figure("Evidence through the stages", points, "recall", caption, head, bars=True)
    if figure is None or not any(point.link for point in points):
        return figure
    return replace(figure, caption=f"{caption} A bar links to the examples that lost evidence there.")


def build_length_figures(card: ScorecardData, anchors: Anchors) -> Iterator[Figure]:
    """Means by context length, a figure each headline metric."""
    bands = card.overview.lengths
    names = [name for name in select_headline_metrics(card.summaries, 6) if any(name in band.means for band in bands)]
    for name in names[:4]:
        points = [
            Point(f"{_format_range(band)} {band.unit}", band.means[name], anchors.link("length", "", number))
            for number, band in enumerate(bands)
            if name in band.means
        ]
        figure = _build_points_figure(f"{name} by length", points, name, "", ("context", name, "examples"))
        if figure is not None:
            yield replace(figure, link=anchors.link("def", name))


def _format_range(band: LengthBand) -> str:
    return f"{band.low:,}–{band.high:,}" if band.low != band.high else f"{band.low:,}"


def build_timing_figure(card: ScorecardData, anchors: Anchors) -> Figure | None:
    """Latency by stage; the median leads to all examples, the slowest first, each line to those in its range."""
    timings = card.overview.timings
    if not timings:
        return None
    links = []
    for t in timings:
        every = anchors.link("taken", t.stage)
        middle, tail = (anchors.link("taken-part", t.stage, group_index) or every for group_index in (1, 0))
        links.append((every, middle, tail))
    rows = tuple(
        (
            Cell(to_line(t.stage), every),
            Cell(format_value(t.p50, "amount")),
            Cell(format_value(t.p95, "amount"), middle),
            Cell(format_value(t.p99, "amount"), tail),
            Cell(f"{t.n:,}"),
        )
        for t, (every, middle, tail) in zip(timings, links, strict=True)
    )
    caption = "Dot: median. Thick line: up to p95. Thin line: up to p99."
    head = ("stage", "p50 ms", "p95 ms", "p99 ms", "n")
    return Figure("Latency by stage", estimates.draw_timings(timings, links), head, rows, caption)


def build_total_time_figure(card: ScorecardData, anchors: Anchors) -> Figure | None:
    """How the latency of whole answers lies."""
    timing = find_total_time(card)
    if timing is None:
        return None
    bins: Sequence[Bin] = timing.bins
    distribution = Distribution("Total latency, milliseconds", "amount", tuple(bins))
    return _build_histogram(distribution, partial(anchors.link, "time", ""))


def _build_points_figure(
    title: str, points: Sequence[Point], axis: str, caption: str, head: tuple[str, ...], *, bars: bool = False
) -> Figure | None:
    svg = estimates.draw_estimates(points, axis, bars=bars)
    if not svg:
        return None
    rows = tuple(
        (Cell(to_line(point.name), point.link), Cell(estimate(point.estimate)), Cell(f"{point.estimate.n:,}"))
        for point in points
    )
    return Figure(title, svg, head, rows, caption)

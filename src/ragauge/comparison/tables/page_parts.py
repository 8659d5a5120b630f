"""What the page of a comparison shows, section by section, and which words of an answer differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from ragauge.comparison.comparability import FAILED_CALLS_NAME, FailedResponse
from ragauge.comparison.tables import words
from ragauge.comparison.tables.notes import build_notes
from ragauge.comparison.tables.sections import (
    build_amounts_table,
    build_failures_table,
    build_metrics_table,
    build_overview_table,
    build_segment_table,
    build_settings_table,
)
from ragauge.core.messages import format_metric_value
from ragauge.evaluation.scorecard.figures import Cell, Figure
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.catalogue_entries import get_definition
from ragauge.rendering.charts.forest import ForestRow, draw_forest
from ragauge.rendering.lists import Anchors, ServedLinks
from ragauge.rendering.sections import ReportTable
from ragauge.rendering.words import difference, to_line
from ragauge.scores.results.comparison import BaselineComparison, ExampleDelta, Flip, MetricChange, RunComparison

MAX_WORD_PAIRS = 250_000  # pairs of words of two answers, beyond which their differences are not looked for


def mark_differences(text: str, other: str) -> list[tuple[str, bool]]:
    """A text in pieces: as it is, and whether the other one lacks these words there.

    >>> mark_differences("sent in 30 days", "sent in 3 days")
    [('sent in ', False), ('30 ', True), ('days', False)]
    """
    own_words, other_words = (re.findall(r"\S+\s*|\s+", source) for source in (text, other))
    if len(own_words) * len(other_words) > MAX_WORD_PAIRS:
        return [(text, False)]
    matcher = SequenceMatcher(
        None, [word.strip() for word in own_words], [word.strip() for word in other_words], autojunk=False
    )
    steps = matcher.get_opcodes()
    return [("".join(own_words[start:end]), how != "equal") for how, start, end, _, _ in steps if end > start]


MAX_SEGMENT_ROWS = 20  # rows of the segments' forest
MAX_METRICS = 4  # of one segment that got worse
MAX_TABLE_ROWS = 200  # rows of the table of all segments


@dataclass(frozen=True, slots=True)
class PageExample:
    """An example of a list, with a link to where both answers stand, or none, and its scores in words."""

    name: str
    link: str
    note: str


@dataclass(frozen=True, slots=True)
class ChangedExamples:
    """The examples behind a mark: those that lost most."""

    id: str
    title: str
    examples: tuple[PageExample, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """One run against the baseline, as the page shows it."""

    id: str
    comparison: RunComparison
    sentence: str
    verdicts: tuple[tuple[str, str, int], ...]
    notes: tuple[str, ...]
    forests: tuple[Figure, ...]
    metrics: ReportTable
    worse: ReportTable | None
    more_worse: bool
    perhaps: ReportTable | None
    cells: ReportTable | None
    of_cells: int
    amounts: ReportTable | None
    flips: tuple[tuple[str, Flip], ...]
    behind: tuple[ChangedExamples, ...]
    failed: ReportTable | None
    settings: ReportTable | None
    unmatched: tuple[tuple[str, int, tuple[str, ...]], ...]
    methods: str


def build_context(compared: BaselineComparison, served: ServedLinks | None = None) -> dict[str, Any]:
    """Every value that the templates use; `served` where metrics have pages of their own, which this one leads to."""
    anchors = Anchors(served)
    names = list(dict.fromkeys(change.metric for run in compared.runs for change in run.metrics))
    for name in names:
        anchors.add("def", name)
    return {
        "c": compared,
        "anchors": anchors,
        "parts": tuple(_build_run_view(n, run, compared, anchors) for n, run in enumerate(compared.runs, 1)),
        "overview": build_overview_table(compared) if len(compared.runs) > 1 else None,
        "method": words.describe_verdict_method(compared),
        "definitions": {
            name: get_definition(FailedResponse() if name == FAILED_CALLS_NAME else parse_metric(name))
            for name in names
        },
        "served": served is not None,
        "differing": mark_differences,
        "title": " · ".join(to_line(run.name) for run in (compared.base, *(run.run for run in compared.runs))),
    }


def _build_run_view(n: int, comparison: RunComparison, compared: BaselineComparison, anchors: Anchors) -> RunView:
    flips = tuple((anchors.add("flip", n, flip.query_id), flip) for flip in comparison.flips.shown)
    behind = tuple(_list_changed_examples(n, comparison, anchors))
    verdict_counts = Counter(change.verdict for change in words.list_measured(comparison))
    worse, perhaps, cells = (
        comparison.worse_segments,
        comparison.possible_segments,
        comparison.segments[:MAX_TABLE_ROWS],
    )
    return RunView(
        anchors.add("run", n),
        comparison,
        words.describe_comparison(comparison),
        tuple(
            (verdict, sign, verdict_counts[verdict])
            for verdict, (sign, _) in words.VERDICTS.items()
            if verdict_counts[verdict]
        ),
        build_notes(comparison),
        tuple(_build_forests(comparison, n, compared, anchors)),
        build_metrics_table(comparison, compared, n),
        build_segment_table(worse, compared, n, MAX_METRICS) if worse else None,
        any(len(changes) > MAX_METRICS for _, changes in words.group_by_segment(worse)),
        build_segment_table(perhaps, compared, n) if perhaps else None,
        build_segment_table(cells, compared, n) if cells else None,
        len(comparison.segments),
        build_amounts_table(comparison) if comparison.amounts else None,
        flips,
        behind,
        build_failures_table(comparison.failures),
        build_settings_table(comparison, compared),
        tuple(words.list_unmatched(comparison)),
        words.describe_methods(comparison),
    )


def _list_changed_examples(n: int, comparison: RunComparison, anchors: Anchors) -> Iterator[ChangedExamples]:
    """Per metric, and per segment that got worse, the examples that lost most."""
    run_id = comparison.run.run_id
    for change in comparison.metrics:
        if change.moved:
            id_ = anchors.add("moved", n, change.metric)
            yield ChangedExamples(id_, change.metric, tuple(_build_page_examples(n, run_id, change, anchors)))
    for segment in (*comparison.worse_segments, *comparison.possible_segments):
        if segment.change.moved:
            id_ = anchors.add("moved", n, segment.change.metric, segment.column, segment.value)
            yield ChangedExamples(
                id_,
                f"{segment.change.metric} where {words.format_segment(segment)}",
                tuple(_build_page_examples(n, run_id, segment.change, anchors)),
            )


def _build_page_examples(n: int, run_id: str, change: MetricChange, anchors: Anchors) -> Iterator[PageExample]:
    def describe_delta(delta: ExampleDelta) -> str:
        return (
            f"{format_metric_value(delta.base, change.metric, change.kind)} → "
            f"{format_metric_value(delta.new, change.metric, change.kind)}"
        )

    for moved in change.moved:
        link = anchors.link("flip", n, moved.query_id) or anchors.link("ex of", run_id, moved.query_id)
        yield PageExample(to_line(moved.query_id, 40), link, describe_delta(moved))


def _build_forests(
    comparison: RunComparison, n: int, compared: BaselineComparison, anchors: Anchors
) -> Iterator[Figure]:
    """Metrics as they are, amounts as shares of what they were, and the segments that moved."""
    order = list(words.VERDICTS)
    changes = sorted(words.list_measured(comparison), key=lambda change: order.index(change.verdict))
    wide = " Light band: including judge error." if any(change.difference.judged for change in changes) else ""
    caption = f"Mark: difference. Line: its {compared.level:.0%} interval.{wide} ▲ better, ▼ worse, ● no change seen."
    for title, amount, axis in (
        ("Every metric", False, "new − base"),
        ("Latency, tokens, cost", True, "relative change in %"),
    ):
        metric_rows = [
            (change.metric, change, anchors.link("moved", n, change.metric))
            for change in changes
            if (change.kind == "amount") == amount
        ]
        yield from _build_figure(title, metric_rows, axis, caption, percent=amount)
    moved = [
        segment
        for segment in comparison.segments
        if segment.change.kind != "amount"
        and (segment.change.verdict in ("worse", "better") or segment in comparison.possible_segments)
    ]
    rows = [
        (
            f"{words.format_segment(segment)}: {segment.change.metric}",
            segment.change,
            anchors.link("moved", n, segment.change.metric, segment.column, segment.value),
        )
        for segment in moved[:MAX_SEGMENT_ROWS]
    ]
    cut = f" Showing {MAX_SEGMENT_ROWS} of {len(moved)}." if len(moved) > MAX_SEGMENT_ROWS else ""
    yield from _build_figure("Segments that changed", rows, "new − base", caption + cut)


def _build_figure(
    title: str, rows: Sequence[tuple[str, MetricChange, str]], axis: str, caption: str, *, percent: bool = False
) -> Iterator[Figure]:
    forest_rows, table = [], []
    for name, change, link in rows:
        moved = " → ".join(words.format_before_after(change))
        cells = (Cell(name, link), Cell(moved), Cell(difference(change, change.kind)), Cell(change.verdict))
        table.append(cells)
        interval, mean = change.difference.interval, change.difference.mean
        if interval is None or mean is None:
            continue
        unit = (abs(change.base or 0.0) or 1.0) if percent else 1.0
        says = f"{name}: {moved}, {difference(change, change.kind)}, {change.verdict}"
        wide = change.difference.judged
        far = None if wide is None else (wide.low / unit, wide.high / unit)
        forest_rows.append(
            ForestRow(name, mean / unit, interval.low / unit, interval.high / unit, change.verdict, link, says, far)
        )
    svg = draw_forest(forest_rows, axis, percent=percent)
    if svg:
        yield Figure(title, svg, ("", "before → now", "difference", "verdict"), tuple(table), caption)

"""What the page of a comparison shows, section by section, as plain values for its templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.comparison.comparability import NAME, FailedResponse
from ragauge.comparison.tables import words
from ragauge.comparison.tables.notes import notes
from ragauge.comparison.tables.sections import (
    amounts_table,
    failures_table,
    metrics_table,
    overview_table,
    segment_table,
    settings_table,
)
from ragauge.comparison.tables.text_diff import differing
from ragauge.core.messages import valued
from ragauge.evaluation.scorecard.figures import Cell, Figure
from ragauge.metrics.catalogue import describe, parse
from ragauge.rendering.charts.forest import ForestRow, forest
from ragauge.rendering.lists import Anchors, ServedLinks
from ragauge.rendering.sections import ReportTable
from ragauge.rendering.words import difference, line
from ragauge.scores.results.change import ExampleDelta, MetricChange
from ragauge.scores.results.comparison import Compared, Flip, RunComparison

MOST_SEGMENTS = 20  # rows of the segments' forest
MOST_METRICS = 4  # of one segment that got worse
MOST_VALUES = 200  # rows of the table of all segments


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
class RunPart:
    """One run against the baseline, as the page shows it."""

    id: str
    found: RunComparison
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


def context(compared: Compared, served: ServedLinks | None = None) -> dict[str, Any]:
    """Every value that the templates use; `served` where metrics have pages of their own, which this one leads to."""
    anchors = Anchors(served)
    names = list(dict.fromkeys(change.metric for run in compared.runs for change in run.metrics))
    for name in names:
        anchors.add("def", name)
    return {
        "c": compared,
        "anchors": anchors,
        "parts": tuple(_part(n, run, compared, anchors) for n, run in enumerate(compared.runs, 1)),
        "overview": overview_table(compared) if len(compared.runs) > 1 else None,
        "method": words.method(compared),
        "definitions": {name: describe(FailedResponse() if name == NAME else parse(name)) for name in names},
        "served": served is not None,
        "differing": differing,
        "title": " · ".join(line(run.name) for run in (compared.base, *(run.run for run in compared.runs))),
    }


def _part(n: int, comparison: RunComparison, compared: Compared, anchors: Anchors) -> RunPart:
    flips = tuple((anchors.add("flip", n, flip.query_id), flip) for flip in comparison.flips.shown)
    behind = tuple(_behind(n, comparison, anchors))
    told = Counter(change.verdict for change in words.measured(comparison))
    worse, perhaps, cells = comparison.worse_segments, comparison.possible_segments, comparison.segments[:MOST_VALUES]
    return RunPart(
        anchors.add("run", n),
        comparison,
        words.sentence(comparison),
        tuple((verdict, sign, told[verdict]) for verdict, (sign, _) in words.VERDICTS.items() if told[verdict]),
        notes(comparison),
        tuple(_forests(comparison, n, compared, anchors)),
        metrics_table(comparison, compared, n),
        segment_table(worse, compared, n, MOST_METRICS) if worse else None,
        any(len(mine) > MOST_METRICS for _, mine in words.by_segment(worse)),
        segment_table(perhaps, compared, n) if perhaps else None,
        segment_table(cells, compared, n) if cells else None,
        len(comparison.segments),
        amounts_table(comparison) if comparison.amounts else None,
        flips,
        behind,
        failures_table(comparison.failures),
        settings_table(comparison, compared),
        tuple(words.unmatched(comparison)),
        words.methods(comparison),
    )


def _behind(n: int, comparison: RunComparison, anchors: Anchors) -> Iterator[ChangedExamples]:
    """Per metric, and per segment that got worse, the examples that lost most."""
    run_id = comparison.run.run_id
    for change in comparison.metrics:
        if change.moved:
            id_ = anchors.add("moved", n, change.metric)
            yield ChangedExamples(id_, change.metric, tuple(_examples(n, run_id, change, anchors)))
    for part in (*comparison.worse_segments, *comparison.possible_segments):
        if part.change.moved:
            id_ = anchors.add("moved", n, part.change.metric, part.column, part.value)
            yield ChangedExamples(
                id_,
                f"{part.change.metric} where {words.place(part)}",
                tuple(_examples(n, run_id, part.change, anchors)),
            )


def _examples(n: int, run_id: str, change: MetricChange, anchors: Anchors) -> Iterator[PageExample]:
    def note(delta: ExampleDelta) -> str:
        return f"{valued(delta.base, change.metric, change.kind)} → {valued(delta.new, change.metric, change.kind)}"

    for moved in change.moved:
        at = anchors.link("flip", n, moved.query_id) or anchors.link("ex of", run_id, moved.query_id)
        yield PageExample(line(moved.query_id, 40), at, note(moved))


def _forests(comparison: RunComparison, n: int, compared: Compared, anchors: Anchors) -> Iterator[Figure]:
    """Metrics as they are, amounts as shares of what they were, and the segments that moved."""
    order = list(words.VERDICTS)
    whole = sorted(words.measured(comparison), key=lambda change: order.index(change.verdict))
    wide = " Light band: including judge error." if any(change.difference.judged for change in whole) else ""
    caption = f"Mark: difference. Line: its {compared.level:.0%} interval.{wide} ▲ better, ▼ worse, ● no change told."
    for title, amount, axis in (
        ("Every metric", False, "new − base"),
        ("Latency, tokens, cost", True, "change in % of what it was"),
    ):
        mine = [
            (change.metric, change, anchors.link("moved", n, change.metric))
            for change in whole
            if (change.kind == "amount") == amount
        ]
        yield from _figure(title, mine, axis, caption, percent=amount)
    moved = [
        part
        for part in comparison.segments
        if part.change.kind != "amount"
        and (part.change.verdict in ("worse", "better") or part in comparison.possible_segments)
    ]
    rows = [
        (
            f"{words.place(part)}: {part.change.metric}",
            part.change,
            anchors.link("moved", n, part.change.metric, part.column, part.value),
        )
        for part in moved[:MOST_SEGMENTS]
    ]
    cut = f" Drawn are {MOST_SEGMENTS} of {len(moved)}." if len(moved) > MOST_SEGMENTS else ""
    yield from _figure("Segments that moved", rows, "new − base", caption + cut)


def _figure(
    title: str, rows: Sequence[tuple[str, MetricChange, str]], axis: str, caption: str, *, percent: bool = False
) -> Iterator[Figure]:
    drawn, table = [], []
    for name, change, link in rows:
        moved = " → ".join(words.before_after(change))
        cells = (Cell(name, link), Cell(moved), Cell(difference(change, change.kind)), Cell(change.verdict))
        table.append(cells)
        ends, mean = change.difference.interval, change.difference.mean
        if ends is None or mean is None:
            continue
        of = (abs(change.base or 0.0) or 1.0) if percent else 1.0
        says = f"{name}: {moved}, {difference(change, change.kind)}, {change.verdict}"
        wide = change.difference.judged
        far = None if wide is None else (wide.low / of, wide.high / of)
        drawn.append(ForestRow(name, mean / of, ends.low / of, ends.high / of, change.verdict, link, says, far))
    svg = forest(drawn, axis, percent=percent)
    if svg:
        yield Figure(title, svg, ("", "before → now", "difference", "verdict"), tuple(table), caption)

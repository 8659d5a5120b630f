"""What the page of a comparison shows, section by section, as plain values for its templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.analysis.comparison.unanswered import NAME, SystemFailed
from ragauge.analysis.results.change import ExampleDelta, MetricChange
from ragauge.analysis.results.comparison import AmountChange, Compared, Flip, RunComparison, SegmentChange
from ragauge.metrics.catalogue import describe, parse
from ragauge.reporting.anchors import Anchors
from ragauge.reporting.charts.forest import ForestRow, forest
from ragauge.reporting.comparing import words
from ragauge.reporting.figures import Cell, Figure
from ragauge.reporting.words import ARROWS, UNNAMED, line
from ragauge.text.messages import valued

MOST_SEGMENTS = 20       # rows of the segments' forest
MOST_METRICS = 4         # of one segment that got worse
MOST_VALUES = 200        # rows of the table of all segments


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric, or one metric in one segment."""

    change: MetricChange
    name: str
    arrow: str
    before: str
    after: str
    difference: str
    chance: str
    tally: str
    sign: str
    hue: str
    link: str
    definition: str
    where: str = ""
    whole: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """The metrics of one verdict."""

    title: str
    sign: str
    verdict: str
    rows: tuple[MetricRow, ...]


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
class CauseBars:
    """One cause before and now, with the lengths of its bars as shares of the line."""

    cause: str
    before: int
    now: int
    before_length: float
    now_length: float


@dataclass(frozen=True, slots=True)
class RunPart:
    """One run against the baseline, as the page shows it."""

    id: str
    found: RunComparison
    sentence: str
    groups: tuple[VerdictGroup, ...]
    absent: str
    forests: tuple[Figure, ...]
    worse: tuple[MetricRow, ...]
    perhaps: tuple[MetricRow, ...]
    cells: tuple[MetricRow, ...]
    of_cells: int
    amounts: tuple[tuple[Cell, ...], ...]
    flips: tuple[tuple[str, Flip], ...]
    behind: tuple[ChangedExamples, ...]
    pairs: tuple[CauseBars, ...]
    settings: tuple[tuple[str, str, str], ...]
    states: tuple[tuple[str, str, str], ...]
    unmatched: tuple[tuple[str, int, tuple[str, ...]], ...]
    methods: str


def context(compared: Compared) -> dict[str, Any]:
    """Every value that the templates use."""
    anchors = Anchors()
    names = list(dict.fromkeys(change.metric for found in compared.runs for change in found.metrics))
    for name in names:
        anchors.add("def", name)
    return {
        "c": compared, "anchors": anchors, "parts": tuple(_part(n, found, compared, anchors)
                                                         for n, found in enumerate(compared.runs, 1)),
        "overview": _overview(compared, names, anchors), "method": words.method(compared),
        "definitions": {name: describe(SystemFailed() if name == NAME else parse(name)) for name in names},
        "title": " · ".join(line(run.name) for run in (compared.base, *(found.run for found in compared.runs))),
    }     # fmt: skip


def _part(n: int, found: RunComparison, compared: Compared, anchors: Anchors) -> RunPart:
    flips = tuple((anchors.add("flip", n, flip.query_id), flip) for flip in found.flips.shown)
    behind = tuple(_behind(n, found, anchors))
    whole = [_row(change, n, anchors) for change in words.measured(found)]
    groups = (
        VerdictGroup(title, sign, verdict, tuple(row for row in whole if row.change.verdict == verdict))
        for verdict, (sign, title) in words.VERDICTS.items()
    )
    cells = [_cell(part, n, anchors) for part in found.segments[:MOST_VALUES]]
    return RunPart(
        anchors.add("run", n), found, words.sentence(found), tuple(one for one in groups if one.rows),
        words.not_measured(found), tuple(_forests(found, n, compared, anchors)),
        tuple(_cell(part, n, anchors) for part in _few(found.worse_segments)),
        tuple(_cell(part, n, anchors) for part in found.possible_segments), tuple(cells), len(found.segments),
        tuple(_amount(amount) for amount in found.amounts), flips, behind, tuple(_pairs(found)),
        tuple(words.settings(found)), tuple(words.states(found, compared)), tuple(words.unmatched(found)),
        words.methods(found),
    )     # fmt: skip


def _few(parts: Sequence[SegmentChange]) -> Iterator[SegmentChange]:
    """The first few changes of each segment, those that the mean hides before the others."""
    for _, mine in words.by_segment(parts):
        yield from sorted(mine, key=lambda part: not part.hidden)[:MOST_METRICS]


def _row(change: MetricChange, n: int, anchors: Anchors, part: SegmentChange | None = None) -> MetricRow:
    before, after = words.before_after(change)
    key = (n, change.metric) if part is None else (n, change.metric, part.column, part.value)
    return MetricRow(
        change, change.metric, ARROWS[change.direction], before, after, words.difference(change),
        words.chance(change.corrected), words.tally(change), words.VERDICTS[change.verdict][0],
        change.verdict if change.verdict in ("better", "worse") else "", anchors.link("moved", *key),
        anchors.link("def", change.metric),
    )     # fmt: skip


def _cell(part: SegmentChange, n: int, anchors: Anchors) -> MetricRow:
    row = _row(part.change, n, anchors, part)
    return MetricRow(
        row.change, row.name, row.arrow, row.before, row.after, row.difference, row.chance, row.tally, row.sign,
        row.hue, row.link, row.definition, words.place(part), words.overall(part), part.hidden,
    )     # fmt: skip


def _behind(n: int, found: RunComparison, anchors: Anchors) -> Iterator[ChangedExamples]:
    """Per metric, and per segment that got worse, the examples that lost most."""
    for change in found.metrics:
        if change.moved:
            id_ = anchors.add("moved", n, change.metric)
            yield ChangedExamples(id_, change.metric, tuple(_examples(n, change, anchors)))
    for part in (*found.worse_segments, *found.possible_segments):
        if part.change.moved:
            id_ = anchors.add("moved", n, part.change.metric, part.column, part.value)
            yield ChangedExamples(id_, f"{part.change.metric} where {words.place(part)}",
                         tuple(_examples(n, part.change, anchors)))     # fmt: skip


def _examples(n: int, change: MetricChange, anchors: Anchors) -> Iterator[PageExample]:
    def note(one: ExampleDelta) -> str:
        return f"{valued(one.base, change.metric, change.kind)} → {valued(one.new, change.metric, change.kind)}"

    for one in change.moved:
        yield PageExample(line(one.query_id, 40), anchors.link("flip", n, one.query_id), note(one))


def _forests(found: RunComparison, n: int, compared: Compared, anchors: Anchors) -> Iterator[Figure]:
    """Metrics as they are, amounts as shares of what they were, and the segments that moved."""
    order = list(words.VERDICTS)
    whole = sorted(words.measured(found), key=lambda one: order.index(one.verdict))
    wide = " Light band: with the judge's error." if any(one.difference.judged for one in whole) else ""
    caption = f"Mark: difference. Line: its {compared.level:.0%} interval.{wide} ▲ better, ▼ worse, ● no change told."
    for title, amount, axis in (
        ("Every metric", False, "new − base"), ("Latency, tokens, cost", True, "change in % of what it was")
    ):
        mine = [one for one in whole if (one.kind == "amount") == amount]
        yield from _figure(title, [(one.metric, _row(one, n, anchors)) for one in mine], axis, caption, percent=amount)
    moved = [part for part in found.segments if part.change.kind != "amount"
             and (part.change.verdict in ("worse", "better") or part in found.possible_segments)]     # fmt: skip
    rows = [(f"{words.place(part)}: {part.change.metric}", _cell(part, n, anchors)) for part in moved[:MOST_SEGMENTS]]
    cut = f" Drawn are {MOST_SEGMENTS} of {len(moved)}." if len(moved) > MOST_SEGMENTS else ""
    yield from _figure("Segments that moved", rows, "new − base", caption + cut)


def _figure(
    title: str, rows: Sequence[tuple[str, MetricRow]], axis: str, caption: str, *, percent: bool = False
) -> Iterator[Figure]:
    drawn = []
    for name, row in rows:
        change = row.change
        ends, mean = change.difference.interval, change.difference.mean
        if ends is None or mean is None:
            continue
        of = (abs(change.base or 0.0) or 1.0) if percent else 1.0
        says = f"{name}: {row.before} → {row.after}, {row.difference}, {change.verdict}"
        wide = change.difference.judged
        far = None if wide is None else (wide.low / of, wide.high / of)
        drawn.append(ForestRow(name, mean / of, ends.low / of, ends.high / of, change.verdict, row.link, says, far))
    svg = forest(drawn, axis, percent=percent)
    if svg:
        table = tuple(
            (Cell(name, row.link), Cell(f"{row.before} → {row.after}"), Cell(row.difference), Cell(row.change.verdict))
            for name, row in rows
        )
        yield Figure(title, svg, ("", "before → now", "difference", "verdict"), table, caption)


def _amount(amount: AmountChange) -> tuple[Cell, ...]:
    sides = (words.quantile(side[q], amount.metric) for q in (0.5, 0.95) for side in (amount.base, amount.new))
    return (Cell(amount.metric), *map(Cell, sides), Cell(f"{amount.n:,}"))


def _pairs(found: RunComparison) -> Iterator[CauseBars]:
    failures = found.failures
    names = dict.fromkeys((*failures.new, *failures.base))
    most = max((*failures.new.values(), *failures.base.values()), default=0)
    for name in names:
        before, now = failures.base.get(name, 0), failures.new.get(name, 0)
        yield CauseBars(line(name) or UNNAMED, before, now, before / most, now / most)


def _overview(
    compared: Compared, names: Sequence[str], anchors: Anchors
) -> list[tuple[str, str, list[MetricRow | None]]]:
    """Several runs side by side: (metric, link, a row a run); [] for a single run."""
    if len(compared.runs) < 2:
        return []
    by_run = [{change.metric: change for change in found.metrics} for found in compared.runs]
    return [
        (name, anchors.link("def", name),
         [_row(mine[name], n, anchors) if name in mine else None for n, mine in enumerate(by_run, 1)])
        for name in names
    ]     # fmt: skip

"""The lists of examples behind the marks of charts: every mark leads to one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragauge.core.messages import number
from ragauge.evaluation.overview.alignment import third
from ragauge.rendering.lists import NONE, NOT_FAILED, OTHER, Anchors, ListedRow, distributions, span, total_time
from ragauge.rendering.verdict_texts import VERDICTS
from ragauge.rendering.words import UNNAMED, line
from ragauge.scores.results.overview import Bin, Timing
from ragauge.scores.results.scorecard import ScorecardData

MOST_LINKS = 60  # examples named behind one mark; the list says how many more there are

Key = tuple[object, ...]
Notes = Mapping[str, str]  # id of a row -> what stands after its name


@dataclass(frozen=True, slots=True)
class DrillDownPart:
    """Some of the examples behind a mark, such as those of one cause; `id` is what a part of a bar leads to, or ""."""

    id: str
    title: str
    rows: tuple[ListedRow, ...]
    of: int
    notes: Notes


@dataclass(frozen=True, slots=True)
class DrillDown:
    """The examples behind one mark of a chart; `of` counts those that are not listed too."""

    id: str
    title: str
    parts: tuple[DrillDownPart, ...]
    of: int
    listed: int


@dataclass(frozen=True, slots=True)
class DrillDownSection:
    """The lists behind the marks of one chart; `section` is where it stands."""

    section: str
    title: str
    behind: tuple[DrillDown, ...]


@dataclass(frozen=True, slots=True)
class ExampleGroup:
    """Examples that belong together in a list: their title, and the key of a mark that means just them."""

    title: str
    rows: Sequence[ListedRow]
    key: Key = ()


def chapters(card: ScorecardData, listed: Sequence[ListedRow], anchors: Anchors) -> tuple[DrillDownSection, ...]:
    """The lists behind every mark of every chart, in the order of the charts."""
    if not listed:
        return ()
    return tuple(chapter for chapter in DrillDownLists(card, listed, anchors).chapters() if chapter.behind)


class DrillDownLists:
    """Makes the lists of one page.

    Args:
        card: what the page shows.
        listed: its listed examples.
        anchors: where the ids of lists are handed out.
    """

    def __init__(self, card: ScorecardData, listed: Sequence[ListedRow], anchors: Anchors) -> None:
        self._card, self._listed, self._anchors = card, listed, anchors
        self._whole = len(listed) == card.overview.listed_of

    def chapters(self) -> Iterator[DrillDownSection]:
        """A chapter a chart; some may be empty."""
        card = self._card
        for column, values in card.segments.items():
            sizes = {value: max((gap.n for gap in gaps), default=0) for value, gaps in values.items()}
            yield DrillDownSection("segments", line(column), tuple(self._segment(column, sizes)))
        for shown in distributions(card):
            name = shown.metric
            yield DrillDownSection("spread", name, tuple(self._bins("bin", name, shown.bins, shown.kind, _value(name))))
        yield from self._alignment()
        timing = total_time(card)
        if timing is not None:
            taken = self._bins("time", "", timing.bins, "amount", _value("latency"))
            yield DrillDownSection("cost", "Milliseconds", tuple(taken))
        yield DrillDownSection(
            "cost", "Latency", tuple(b for timing in card.overview.timings for b in self._slowest(timing))
        )
        yield DrillDownSection("changes", "Lost most", tuple(self._moved()))

    def _alignment(self) -> Iterator[DrillDownSection]:
        overview = self._card.overview
        if overview.alignment is not None:
            ranks = overview.alignment.ranks
            yield DrillDownSection(
                "alignment", "Passage used", tuple(b for r in ranks for b in self._rank(r.rank, r.used))
            )
            yield DrillDownSection(
                "alignment", "Relevant passages", tuple(b for r in ranks for b in self._relevant(r.rank))
            )
            positions = overview.alignment.positions
            yield DrillDownSection(
                "alignment", "Relevant passages", tuple(b for name in positions for b in self._third(name))
            )
        yield DrillDownSection("alignment", "Evidence", tuple(self._stages()))
        if overview.lengths:
            unit = overview.lengths[0].unit
            bands = tuple(Bin(band.low, band.high, band.n) for band in overview.lengths)
            bins = self._bins("length", "", bands, "amount", _value(f"context_{unit}"), closed=True)
            yield DrillDownSection("alignment", f"Context {unit}", tuple(bins))

    def _segment(self, column: str, sizes: Mapping[str, int]) -> Iterator[DrillDown]:
        by_value: dict[str, list[ListedRow]] = {value: [] for value in sizes}
        for row in self._listed:
            value = row.listed.segments.get(column, NONE)
            by_value.setdefault(value if value in by_value else OTHER if OTHER in by_value else value, []).append(row)
        for value, n in sizes.items():
            parts = by_cause(by_value[value], ("seg-c", column, value))
            yield from self._behind(("seg", column, value), line(value), parts, n)

    def _bins(
        self,
        kind: str,
        name: str,
        bins: Sequence[Bin],
        scale: str,
        value: Callable[[ListedRow], float | None],
        *,
        closed: bool = False,
    ) -> Iterator[DrillDown]:
        known = [(at, row) for row in self._listed if (at := value(row)) is not None]
        for index, part in enumerate(bins):
            last = closed or index == len(bins) - 1
            mine = [
                row
                for at, row in known
                if part.low <= at < part.high or (last and at == part.high) or part.low == part.high == at
            ]
            yield from self._behind((kind, name, index), span(part, scale), by_cause(mine), part.count)

    def _rank(self, rank: int, used: int) -> Iterator[DrillDown]:
        mine = [row for row in self._listed if row.listed.used and rank in row.listed.used]
        yield from self._behind(("rank", rank), f"rank {rank}", by_cause(mine), used)

    def _relevant(self, rank: int) -> Iterator[DrillDown]:
        yield from self._passed_over(("relevant", rank), f"rank {rank}", lambda at, _: at == rank)

    def _third(self, name: str) -> Iterator[DrillDown]:
        yield from self._passed_over(("third", name), f"{name} third", lambda at, of: third(at, of) == name)

    def _passed_over(self, key: Key, title: str, chosen: Callable[[int, int], bool]) -> Iterator[DrillDown]:
        """Examples with relevant passages at some ranks: those that passed one over first."""
        over: list[ListedRow] = []
        used: list[ListedRow] = []
        for row in self._listed:
            listed = row.listed
            ranks = [rank for rank in listed.relevant or () if chosen(rank, listed.handed)]
            if ranks:
                (used if set(ranks) <= set(listed.used or ()) else over).append(row)
        yield from self._behind(key, title, [ExampleGroup("not used", over), ExampleGroup("used", used)])

    def _stages(self) -> Iterator[DrillDown]:
        """Per stage the examples that lost labelled evidence there, then the others."""
        names = [stage.name for stage in self._card.overview.stages]
        for before, name in pairwise(["", *names]):
            lost: list[ListedRow] = []
            kept: list[ListedRow] = []
            for row in self._listed:
                left = row.listed.kept.get(name)
                if left is not None:
                    (lost if left < row.listed.kept.get(before, 1.0) else kept).append(row)
            yield from self._behind(
                ("stage", name), name, [ExampleGroup("lost here", lost), ExampleGroup("nothing lost here", kept)]
            )

    def _slowest(self, timing: Timing) -> Iterator[DrillDown]:
        """The examples by how long a stage took, the slowest first."""
        known = [(taken, row) for row in self._listed if (taken := row.listed.timings.get(timing.stage)) is not None]
        known.sort(key=lambda pair: -pair[0])
        parts = [
            ExampleGroup(title, [row for took, row in known if low < took <= high], ("taken-part", timing.stage, index))
            for index, (title, low, high) in enumerate(
                (
                    ("beyond p95", timing.p95, float("inf")),
                    ("p50 to p95", timing.p50, timing.p95),
                    ("up to p50", float("-inf"), timing.p50),
                )
            )
        ]
        notes = {row.id: f"{number(taken, 'amount')} ms" for taken, row in known}
        yield from self._behind(("taken", timing.stage), line(timing.stage), parts, timing.n, notes)

    def _moved(self) -> Iterator[DrillDown]:
        """Per metric that got worse, the examples that lost most against the baseline."""
        rows: dict[str, ListedRow] = {}
        for row in self._listed:
            rows.setdefault(row.listed.query_id, row)
        for change in self._card.baseline.worse if self._card.baseline else ():
            mine = {rows[delta.query_id].id: delta for delta in change.moved if delta.query_id in rows}
            notes = {id_: f"{number(delta.base)} → {number(delta.new)}" for id_, delta in mine.items()}
            chosen = [rows[delta.query_id] for delta in mine.values()]
            yield from self._behind(("moved", change.metric), change.metric, [ExampleGroup("", chosen)], 0, notes)

    def _behind(
        self, key: Key, title: str, parts: Sequence[ExampleGroup], of: int = 0, notes: Notes | None = None
    ) -> Iterator[DrillDown]:
        """A list, cut where it is long; none for a mark without examples, but one where they are just not listed."""
        listed = sum(len(part.rows) for part in parts)
        if listed or (of and not self._whole):
            cut = tuple(self._cut([part for part in parts if part.rows], notes or {}))
            yield DrillDown(self._add(key), title, cut, max(of, listed) if not self._whole else listed, listed)

    def _cut(self, parts: Iterable[ExampleGroup], notes: Notes) -> Iterator[DrillDownPart]:
        left = MOST_LINKS
        for part in parts:
            shown = tuple(part.rows[: max(left, 1)])
            left -= len(shown)
            mine = {row.id: notes[row.id] for row in shown if row.id in notes}
            yield DrillDownPart(self._add(part.key) if part.key else "", part.title, shown, len(part.rows), mine)

    def _add(self, key: Key) -> str:
        kind, *names = key
        return self._anchors.add(str(kind), *names)


def by_cause(mine: Iterable[ListedRow], key: Key = ()) -> list[ExampleGroup]:
    """Examples by cause, the most frequent first, those that did not fail last; with a key, each cause has its own."""
    causes: dict[str | None, list[ListedRow]] = {}
    for row in mine:
        causes.setdefault(row.listed.cause if row.listed.failed else None, []).append(row)
    others = causes.pop(None, [])
    failed = sorted(((cause or "", part) for cause, part in causes.items()), key=lambda pair: -len(pair[1]))
    return [
        *(ExampleGroup(cause or UNNAMED, part, (*key, cause) if key else ()) for cause, part in failed),
        *(
            ExampleGroup(VERDICTS[verdict], [row for row in others if row.listed.verdict == verdict])
            for verdict in NOT_FAILED
        ),
    ]


def _value(metric: str) -> Callable[[ListedRow], float | None]:
    return lambda row: row.listed.values.get(metric)


def scores_link(card: ScorecardData, anchors: Anchors) -> Callable[[str], str]:
    """Where the bar of a metric's mean leads: its listed examples with the worst scores; "" where there are none."""
    shown = {
        distribution.metric: ("bin", distribution.metric, len(distribution.bins))
        for distribution in distributions(card)
    }
    timing = total_time(card)
    if timing is not None:
        shown["latency"] = ("time", "", len(timing.bins))
    directions = {summary.metric: summary.direction for summary in card.summaries}

    def link(metric: str) -> str:
        kind, name, bins = shown.get(metric, ("", "", 0))
        places = range(bins) if directions.get(metric) == "higher" else range(bins - 1, -1, -1)
        return next((link for key in places if (link := anchors.link(kind, name, key))), "")

    return link

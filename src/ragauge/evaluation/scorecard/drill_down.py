"""The lists of examples behind the marks of charts: every mark leads to one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragauge.core.messages import format_value
from ragauge.evaluation.overview.alignment import find_third
from ragauge.rendering.lists import (
    NONE,
    NOT_FAILED,
    OTHER,
    Anchors,
    ListedRow,
    find_total_time,
    format_bin,
    select_distributions,
)
from ragauge.rendering.verdict_texts import VERDICTS
from ragauge.rendering.words import UNNAMED, to_line
from ragauge.scores.results.overview import Bin, Timing
from ragauge.scores.results.scorecard import ScorecardData

MAX_LINKS = 60  # examples named behind one mark; the list says how many more there are

Key = tuple[object, ...]
Notes = Mapping[str, str]  # id of a row -> what stands after its name


@dataclass(frozen=True, slots=True)
class DrillDownGroup:
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
    parts: tuple[DrillDownGroup, ...]
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


def build_drill_downs(
    card: ScorecardData, listed_rows: Sequence[ListedRow], anchors: Anchors
) -> tuple[DrillDownSection, ...]:
    """The lists behind every mark of every chart, in the order of the charts."""
    if not listed_rows:
        return ()
    return tuple(chapter for chapter in DrillDownLists(card, listed_rows, anchors).build_sections() if chapter.behind)


class DrillDownLists:
    """Makes the lists of one page.

    Args:
        card: what the page shows.
        listed: its listed examples.
        anchors: where the ids of lists are handed out.
    """

    def __init__(self, card: ScorecardData, listed_rows: Sequence[ListedRow], anchors: Anchors) -> None:
        self._card, self._listed, self._anchors = card, listed_rows, anchors
        self._whole = len(listed_rows) == card.overview.listed_of

    def build_sections(self) -> Iterator[DrillDownSection]:
        """A chapter a chart; some may be empty."""
        card = self._card
        for column, values in card.segments.items():
            sizes = {value: max((gap.n for gap in gaps), default=0) for value, gaps in values.items()}
            yield DrillDownSection("segments", to_line(column), tuple(self._list_segment_values(column, sizes)))
        for distribution in select_distributions(card):
            name = distribution.metric
            yield DrillDownSection(
                "spread",
                name,
                tuple(self._list_bins("bin", name, distribution.bins, distribution.kind, _make_value_reader(name))),
            )
        yield from self._build_alignment_sections()
        timing = find_total_time(card)
        if timing is not None:
            taken = self._list_bins("time", "", timing.bins, "amount", _make_value_reader("latency"))
            yield DrillDownSection("cost", "Milliseconds", tuple(taken))
        yield DrillDownSection(
            "cost", "Latency", tuple(b for timing in card.overview.timings for b in self._list_slowest(timing))
        )
        yield DrillDownSection("changes", "Largest drops", tuple(self._list_worsened()))

    def _build_alignment_sections(self) -> Iterator[DrillDownSection]:
        overview = self._card.overview
        if overview.alignment is not None:
            ranks = overview.alignment.ranks
            yield DrillDownSection(
                "alignment", "Passage used", tuple(b for r in ranks for b in self._list_rank(r.rank, r.used))
            )
            yield DrillDownSection(
                "alignment", "Relevant passages", tuple(b for r in ranks for b in self._list_relevant(r.rank))
            )
            positions = overview.alignment.positions
            yield DrillDownSection(
                "alignment", "Relevant passages", tuple(b for name in positions for b in self._list_third(name))
            )
        yield DrillDownSection("alignment", "Evidence", tuple(self._list_stages()))
        if overview.lengths:
            unit = overview.lengths[0].unit
            bands = tuple(Bin(band.low, band.high, band.n) for band in overview.lengths)
            bins = self._list_bins("length", "", bands, "amount", _make_value_reader(f"context_{unit}"), closed=True)
            yield DrillDownSection("alignment", f"Context {unit}", tuple(bins))

    def _list_segment_values(self, column: str, sizes: Mapping[str, int]) -> Iterator[DrillDown]:
        by_value: dict[str, list[ListedRow]] = {value: [] for value in sizes}
        for row in self._listed:
            value = row.listed.segments.get(column, NONE)
            by_value.setdefault(value if value in by_value else OTHER if OTHER in by_value else value, []).append(row)
        for value, n in sizes.items():
            groups = group_by_cause(by_value[value], ("seg-c", column, value))
            yield from self._build_list(("seg", column, value), to_line(value), groups, n)

    def _list_bins(
        self,
        kind: str,
        name: str,
        bins: Sequence[Bin],
        scale: str,
        value: Callable[[ListedRow], float | None],
        *,
        closed: bool = False,
    ) -> Iterator[DrillDown]:
        valued_rows = [(score, row) for row in self._listed if (score := value(row)) is not None]
        for index, score_bin in enumerate(bins):
            last = closed or index == len(bins) - 1
            bin_rows = [
                row
                for score, row in valued_rows
                if score_bin.low <= score < score_bin.high
                or (last and score == score_bin.high)
                or score_bin.low == score_bin.high == score
            ]
            yield from self._build_list(
                (kind, name, index), format_bin(score_bin, scale), group_by_cause(bin_rows), score_bin.count
            )

    def _list_rank(self, rank: int, used: int) -> Iterator[DrillDown]:
        rank_rows = [row for row in self._listed if row.listed.used and rank in row.listed.used]
        yield from self._build_list(("rank", rank), f"rank {rank}", group_by_cause(rank_rows), used)

    def _list_relevant(self, rank: int) -> Iterator[DrillDown]:
        yield from self._list_passed_over(("relevant", rank), f"rank {rank}", lambda position, _: position == rank)

    def _list_third(self, name: str) -> Iterator[DrillDown]:
        yield from self._list_passed_over(
            ("third", name), f"{name} third", lambda position, total: find_third(position, total) == name
        )

    def _list_passed_over(self, key: Key, title: str, is_selected: Callable[[int, int], bool]) -> Iterator[DrillDown]:
        """Examples with relevant passages at some ranks: those that passed one over first."""
        over: list[ListedRow] = []
        used: list[ListedRow] = []
        for row in self._listed:
            example = row.listed
            ranks = [rank for rank in example.relevant or () if is_selected(rank, example.handed)]
            if ranks:
                (used if set(ranks) <= set(example.used or ()) else over).append(row)
        yield from self._build_list(key, title, [ExampleGroup("not used", over), ExampleGroup("used", used)])

    def _list_stages(self) -> Iterator[DrillDown]:
        """Per stage the examples that lost labelled evidence there, then the others."""
        names = [stage.name for stage in self._card.overview.stages]
        for previous, name in pairwise(["", *names]):
            lost_rows: list[ListedRow] = []
            kept_rows: list[ListedRow] = []
            for row in self._listed:
                remaining = row.listed.kept.get(name)
                if remaining is not None:
                    (lost_rows if remaining < row.listed.kept.get(previous, 1.0) else kept_rows).append(row)
            yield from self._build_list(
                ("stage", name),
                name,
                [ExampleGroup("lost here", lost_rows), ExampleGroup("nothing lost here", kept_rows)],
            )

    def _list_slowest(self, timing: Timing) -> Iterator[DrillDown]:
        """The examples by how long a stage took, the slowest first."""
        timed_rows = [
            (taken, row) for row in self._listed if (taken := row.listed.timings.get(timing.stage)) is not None
        ]
        timed_rows.sort(key=lambda pair: -pair[0])
        groups = [
            ExampleGroup(
                title, [row for took, row in timed_rows if low < took <= high], ("taken-part", timing.stage, index)
            )
            for index, (title, low, high) in enumerate(
                (
                    ("beyond p95", timing.p95, float("inf")),
                    ("p50 to p95", timing.p50, timing.p95),
                    ("up to p50", float("-inf"), timing.p50),
                )
            )
        ]
        notes = {row.id: f"{format_value(taken, 'amount')} ms" for taken, row in timed_rows}
        yield from self._build_list(("taken", timing.stage), to_line(timing.stage), groups, timing.n, notes)

    def _list_worsened(self) -> Iterator[DrillDown]:
        """Per metric that got worse, the examples that lost most against the baseline."""
        rows: dict[str, ListedRow] = {}
        for row in self._listed:
            rows.setdefault(row.listed.query_id, row)
        for change in self._card.baseline.worse if self._card.baseline else ():
            deltas = {rows[delta.query_id].id: delta for delta in change.moved if delta.query_id in rows}
            notes = {id_: f"{format_value(delta.base)} → {format_value(delta.new)}" for id_, delta in deltas.items()}
            selected = [rows[delta.query_id] for delta in deltas.values()]
            yield from self._build_list(("moved", change.metric), change.metric, [ExampleGroup("", selected)], 0, notes)

    def _build_list(
        self, key: Key, title: str, groups: Sequence[ExampleGroup], total: int = 0, notes: Notes | None = None
    ) -> Iterator[DrillDown]:
        """A list, cut where it is long; none for a mark without examples, but one where they are just not listed."""
        n_listed = sum(len(group.rows) for group in groups)
        if n_listed or (total and not self._whole):
            cut = tuple(self._cut_groups([group for group in groups if group.rows], notes or {}))
            yield DrillDown(
                self._add_anchor(key), title, cut, max(total, n_listed) if not self._whole else n_listed, n_listed
            )

    def _cut_groups(self, groups: Iterable[ExampleGroup], notes: Notes) -> Iterator[DrillDownGroup]:
        remaining = MAX_LINKS
        for group in groups:
            visible = tuple(group.rows[: max(remaining, 1)])
            remaining -= len(visible)
            group_notes = {row.id: notes[row.id] for row in visible if row.id in notes}
            yield DrillDownGroup(
                self._add_anchor(group.key) if group.key else "", group.title, visible, len(group.rows), group_notes
            )

    def _add_anchor(self, key: Key) -> str:
        kind, *names = key
        return self._anchors.add(str(kind), *names)


def group_by_cause(rows: Iterable[ListedRow], key: Key = ()) -> list[ExampleGroup]:
    """Examples by cause, the most frequent first, those that did not fail last; with a key, each cause has its own."""
    causes: dict[str | None, list[ListedRow]] = {}
    for row in rows:
        causes.setdefault(row.listed.cause if row.listed.failed else None, []).append(row)
    others = causes.pop(None, [])
    failed = sorted(((cause or "", cause_rows) for cause, cause_rows in causes.items()), key=lambda pair: -len(pair[1]))
    return [
        *(ExampleGroup(cause or UNNAMED, cause_rows, (*key, cause) if key else ()) for cause, cause_rows in failed),
        *(
            ExampleGroup(VERDICTS[verdict], [row for row in others if row.listed.verdict == verdict])
            for verdict in NOT_FAILED
        ),
    ]


def _make_value_reader(metric: str) -> Callable[[ListedRow], float | None]:
    return lambda row: row.listed.values.get(metric)


def make_scores_link(card: ScorecardData, anchors: Anchors) -> Callable[[str], str]:
    """Where the bar of a metric's mean leads: its listed examples with the worst scores; "" where there are none."""
    keys_by_metric = {
        distribution.metric: ("bin", distribution.metric, len(distribution.bins))
        for distribution in select_distributions(card)
    }
    timing = find_total_time(card)
    if timing is not None:
        keys_by_metric["latency"] = ("time", "", len(timing.bins))
    directions = {summary.metric: summary.direction for summary in card.summaries}

    def find_link(metric: str) -> str:
        kind, name, bins = keys_by_metric.get(metric, ("", "", 0))
        indices = range(bins) if directions.get(metric) == "higher" else range(bins - 1, -1, -1)
        return next((link for key in indices if (link := anchors.link(kind, name, key))), "")

    return find_link

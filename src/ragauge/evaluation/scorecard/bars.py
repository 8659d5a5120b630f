"""Intervals as small bars on a line, and the segments where most failed with their sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragauge.core.messages import format_metric_value, format_signed, format_value
from ragauge.metrics.catalogue import parse_metric
from ragauge.rendering.lists import Anchors
from ragauge.rendering.sections import Bar
from ragauge.rendering.words import difference, format_relative_change, interval, is_clearly_worse, to_line
from ragauge.scores.indicators import describe_reading
from ragauge.scores.results.comparison import MetricChange
from ragauge.scores.results.scorecard import MIN_SEGMENT_EXAMPLES, Finding, Reading, ScorecardData, Summary
from ragauge.scores.segments import OTHER
from ragauge.stats.weighted import Interval

# ends of a line of differences: the first that holds all of them
SCALES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0, 5.0)
# verdict -> its sign and how it is introduced, in the order shown
VERDICTS = {
    "worse": ("▼", "Worse"),
    "better": ("▲", "Better"),
    "changed": ("◆", "Changed (neither direction is better)"),
    "not enough data": ("?", "Not enough data"),
    "no change seen": ("=", "No change seen"),
}
POINTS_CAPTION = (
    "The line runs from 0 to 1; the vertical mark is the default threshold, for use until there is a baseline: "
    "taken from the article BEE-30050, or our own guess where marked as ours."
)


@dataclass(frozen=True, slots=True)
class IndicatorBar:
    """One reading of a finding: its bar, and the numbers in words."""

    metric: str
    words: str
    bar: Bar
    link: str


@dataclass(frozen=True, slots=True)
class IndicatorBars:
    """The readings of a finding that share a line, and what the line shows."""

    rows: tuple[IndicatorBar, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One metric against the baseline; `bar` is None without an interval; `where` is the segment that lost most."""

    change: MetricChange
    before: str
    after: str
    difference: str
    bar: Bar | None
    definition: str
    link: str
    arrow: str
    where: str
    where_link: str


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The metrics of one verdict."""

    verdict: str
    sign: str
    title: str
    rows: tuple[ChangeRow, ...]


@dataclass(frozen=True, slots=True)
class ChangeBars:
    """All changes, and where the lines end that differences of shares, and relative ones of amounts, lie on."""

    groups: tuple[ChangeGroup, ...]
    end: float
    amount_end: float
    amounts: bool


def build_indicator_bars(finding: Finding, link: Callable[[str], str]) -> Iterator[IndicatorBars]:
    """The readings of a finding by what they were held against: a point on 0 to 1, or no difference."""
    points = [indicator for indicator in finding.readings if indicator.difference is None]
    if points:
        rows = tuple(_build_indicator_bar(point, _build_unit_bar(point), link) for point in points)
        yield IndicatorBars(rows, POINTS_CAPTION)
    shares = [
        indicator
        for indicator in finding.readings
        if indicator.difference is not None and not _is_amount(indicator.metric)
    ]
    if shares:
        scale_end = compute_scale_end(share.interval for share in shares)
        rows = tuple(
            _build_indicator_bar(
                share, _build_centered_bar(share.difference or 0.0, share.interval, scale_end, _choose_hue(share)), link
            )
            for share in shares
        )
        yield IndicatorBars(
            rows, f"Difference on a scale from −{scale_end:g} to +{scale_end:g}; the vertical mark is zero."
        )
    for indicator in finding.readings:
        if indicator.difference is not None and _is_amount(indicator.metric):
            scale_end = 1.1 * max(abs(indicator.interval.low), abs(indicator.interval.high))
            bar = _build_centered_bar(indicator.difference, indicator.interval, scale_end, _choose_hue(indicator))
            limit_text = format_value(scale_end, "amount")
            yield IndicatorBars(
                (_build_indicator_bar(indicator, bar, link),),
                f"Difference on a scale from −{limit_text} to +{limit_text}.",
            )


def _build_indicator_bar(reading: Reading, bar: Bar, link: Callable[[str], str]) -> IndicatorBar:
    name = reading.metric
    return IndicatorBar(name, describe_reading(reading).removeprefix(name).lstrip(" ,"), bar, link(name))


def _build_unit_bar(reading: Reading) -> Bar:
    bad = reading.level == ("low" if parse_metric(reading.metric).direction == "higher" else "high")
    return Bar(reading.interval.low, reading.mean, reading.interval.high, reading.point, "worse" if bad else "")


def _build_centered_bar(middle: float, interval: Interval, end: float, hue: str, wide: Interval | None = None) -> Bar:
    """Around 0 in the middle of a line from −most to most."""

    def to_position(value: float) -> float:
        return 0.5 + value / (2 * end) if end else 0.5

    behind = None if wide is None else (to_position(wide.low), to_position(wide.high))
    return Bar(to_position(interval.low), to_position(middle), to_position(interval.high), 0.5, hue, behind)


def _choose_hue(reading: Reading) -> str:
    if reading.interval.low <= 0 <= reading.interval.high:
        return ""
    return {
        ("higher", True): "better",
        ("higher", False): "worse",
        ("lower", True): "worse",
        ("lower", False): "better",
    }.get((parse_metric(reading.metric).direction, reading.interval.low > 0), "")


def _is_amount(metric: str) -> bool:
    return parse_metric(metric).scale == "amount"


def compute_scale_end(intervals: Iterable[Interval]) -> float:
    """The end of a line from −end to end that holds all of these intervals of differences of shares.

    >>> compute_scale_end([Interval(-0.12, 0.03, "t"), Interval(0.0, 0.01, "t")])
    0.2
    """
    greatest = max((max(abs(interval.low), abs(interval.high)) for interval in intervals), default=0.0)
    return next((end for end in SCALES if greatest <= end), greatest)


def build_change_bars(card: ScorecardData, anchors: Anchors, link: Callable[[str], str]) -> ChangeBars | None:
    """The changes by verdict, what got worse first; None without a baseline.

    A difference of shares is drawn as it is, one of an amount as its share of the baseline's mean.
    """
    if card.baseline is None:
        return None
    kinds = {summary.metric: summary.kind for summary in card.summaries}
    sampled_intervals, judged_intervals = (
        {
            change.metric: _scale_interval(change, interval, kinds.get(change.metric, "mean"))
            for change, interval in several
        }
        for several in (
            [(change, change.difference.interval) for change in card.baseline.metrics],
            [(change, change.difference.judged) for change in card.baseline.metrics],
        )
    )
    scale_ends = {
        amount: compute_scale_end(
            interval
            for name, sampled in sampled_intervals.items()
            for interval in (sampled, judged_intervals[name])
            if interval and (kinds.get(name) == "amount") == amount
        )
        for amount in (False, True)
    }
    groups = []
    for verdict, (sign, title) in VERDICTS.items():
        change_rows = []
        for change in card.baseline.metrics:
            if change.verdict == verdict:
                kind, drawn_interval = kinds.get(change.metric, "mean"), sampled_intervals[change.metric]
                hue = verdict if verdict in ("worse", "better") else ""
                middle = (change.difference.mean or 0.0) / _compute_unit(change, kind)
                far = judged_intervals[change.metric]
                bar = (
                    None
                    if drawn_interval is None
                    else _build_centered_bar(middle, drawn_interval, scale_ends[kind == "amount"], hue, far)
                )
                change_rows.append(_build_change_row(change, kind, bar, anchors, link))
        if change_rows:
            groups.append(ChangeGroup(verdict, sign, title, tuple(change_rows)))
    amounts = any(interval and kinds.get(name) == "amount" for name, interval in sampled_intervals.items())
    return ChangeBars(tuple(groups), scale_ends[False], scale_ends[True], amounts)


def _compute_unit(change: MetricChange, kind: str) -> float:
    """What a difference is drawn in: the baseline's mean for an amount."""
    return (abs(change.base or 0.0) or 1.0) if kind == "amount" else 1.0


def _scale_interval(change: MetricChange, interval: Interval | None, kind: str) -> Interval | None:
    size = _compute_unit(change, kind)
    return (
        None
        if interval is None
        else Interval(interval.low / size, interval.high / size, interval.method, interval.level)
    )


def _build_change_row(
    change: MetricChange, kind: str, bar: Bar | None, anchors: Anchors, link: Callable[[str], str]
) -> ChangeRow:
    where_words, where_link = "", ""
    if change.where is not None:
        inside, outside = (format_signed(value, kind) for value in (change.where.inside, change.where.outside))
        where_words = f"{to_line(change.where.segment)} ({inside}, elsewhere {outside})"
        column, _, value = change.where.segment.partition("=")
        where_link = anchors.link("seg", column, value)
    relative_text = f", {format_relative_change(change)}" if kind == "amount" and change.base else ""
    return ChangeRow(
        change,
        format_metric_value(change.base, change.metric, kind),
        format_metric_value(change.new, change.metric, kind),
        difference(change, kind) + relative_text,
        bar,
        anchors.link("def", change.metric),
        anchors.link("moved", change.metric) or link(change.metric),
        " ↓" if change.direction == "lower" else "",
        where_words,
        where_link,
    )


@dataclass(frozen=True, slots=True)
class SegmentValue:
    """One value of a segment column."""

    name: str  #: the value.
    n: int  #: its examples.
    failed: int | None  #: how many of them failed; None where that is not known.
    summaries: dict[str, Summary]  #: of its examples, by metric.

    def has_mean(self, names: Sequence[str]) -> bool:
        """Whether one of these metrics has a mean here."""
        return any(self.summaries[name].mean is not None for name in names if name in self.summaries)


@dataclass(frozen=True, slots=True)
class WorstSegment:
    """The worst value of one segment column; a cell is mean, interval, and whether it is clearly worse than overall."""

    column: str
    value: str
    n: int
    failed: int | None
    cells: tuple[tuple[str, str, bool], ...]


def rank_values(card: ScorecardData, column: str, names: Sequence[str]) -> list[SegmentValue]:
    """The values of a column of which anything is known, that where the largest share failed first.

    Where as many failed, that which lies farther on the bad side of the mean over all examples comes first. Those that
    have a mean of none of these metrics come last.
    """
    failed = card.overview.causes_by_segment.get(column)
    values = []
    for name, summaries in card.segments[column].items():
        summaries_by_metric = {summary.metric: summary for summary in summaries}
        n_failed = None if failed is None else sum(failed.get(name, {}).values())
        value = SegmentValue(name, max((summary.n for summary in summaries), default=0), n_failed, summaries_by_metric)
        if value.n and (value.has_mean(names) or n_failed):
            values.append(value)
    return sorted(values, key=lambda value: (not value.has_mean(names), -(value.failed or 0) / value.n))


def list_worst_segments(card: ScorecardData, names: Sequence[str]) -> list[WorstSegment]:
    """The worst value of every segment column, with the metrics named; a column without any mean has none."""
    overall = {summary.metric: summary for summary in card.summaries}
    worst = []
    for column in card.segments:
        value = next(iter(rank_values(card, column, names)), None)
        if value is not None and value.has_mean(names):
            cells = tuple(_build_cell(value.summaries.get(name), overall[name]) for name in names)
            worst.append(WorstSegment(column, value.name, value.n, value.failed, cells))
    return worst


def _build_cell(summary: Summary | None, overall: Summary) -> tuple[str, str, bool]:
    if summary is None or summary.mean is None:
        return "–", "", False
    return format_value(summary.mean, summary.kind), interval(summary), is_clearly_worse(summary, overall)


TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class SegmentSizes:
    """The named values of one segment column, most examples first."""

    column: str  #: its name.
    enough: tuple[tuple[str, int], ...]  #: (value, examples) of those with 5 or more.
    few: tuple[tuple[str, int], ...]  #: of the others.
    together: bool  #: the small ones stand together as "(other)" in tables of means.

    @property
    def words(self) -> str:
        """In one line: type: lookup 40, howto 38; too few: odd 4, rare 3 (together as (other))."""
        phrases = [_format_values(self.enough)] if self.enough else []
        if self.few:
            phrases.append(f"{TOO_FEW}: {_format_values(self.few)}{f' (grouped as {OTHER})' if self.together else ''}")
        return f"{to_line(self.column)}: {'; '.join(phrases)}"


def list_sizes(card: ScorecardData) -> list[SegmentSizes]:
    """One a declared column, in the order of the columns."""
    counted = []
    for column, values in card.named.items():
        order = sorted(values.items(), key=lambda item: (-item[1], item[0]))
        enough, few = ([item for item in order if (item[1] < MIN_SEGMENT_EXAMPLES) is small] for small in (False, True))
        counted.append(SegmentSizes(column, tuple(enough), tuple(few), OTHER in card.segments.get(column, {})))
    return counted


def format_size(n: int) -> str:
    """A number of examples of one value, marked where it is too small."""
    return f"{n:,} {TOO_FEW}" if n < MIN_SEGMENT_EXAMPLES else f"{n:,}"


def _format_values(values: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{to_line(value)} {n:,}" for value, n in values)

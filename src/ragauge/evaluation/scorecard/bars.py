"""Intervals as small bars on a line: the readings of a finding, and what changed against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ragauge.core.messages import format_metric_value, format_signed, format_value
from ragauge.metrics.catalogue import parse_metric
from ragauge.rendering.lists import Anchors
from ragauge.rendering.sections import Bar
from ragauge.rendering.words import difference, format_relative_change, to_line
from ragauge.scores.indicators import describe_reading
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.scorecard import Finding, Reading, ScorecardData
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

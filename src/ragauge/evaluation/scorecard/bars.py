"""Intervals as small bars on a line: the readings of a finding, and what changed against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ragauge.core.messages import number, signed, valued
from ragauge.metrics.catalogue import parse
from ragauge.rendering.lists import Anchors
from ragauge.rendering.sections import Bar
from ragauge.rendering.words import difference, line, relative
from ragauge.scores.indicators import words
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.scorecard import Finding, Reading, ScorecardData
from ragauge.stats.weighted import Interval

# ends of a line of differences: the first that holds all of them
SCALES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0, 5.0)
# verdict -> its sign and how it is introduced, in the order shown
VERDICTS = {
    "worse": ("▼", "Worse"),
    "better": ("▲", "Better"),
    "changed": ("◆", "Changed, neither way is better"),
    "not enough data": ("?", "Not enough data"),
    "no change seen": ("=", "No change seen"),
}
POINTS_CAPTION = (
    "Line from 0 to 1; the upright mark is the starting point, a value to begin with until there is a baseline: "
    "from the article BEE-30050, or, where it says ours, a guess."
)


@dataclass(frozen=True, slots=True)
class ReadingBar:
    """One reading of a finding: its bar, and the numbers in words."""

    metric: str
    words: str
    bar: Bar
    link: str


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of a finding that share a line, and what the line shows."""

    rows: tuple[ReadingBar, ...]
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


def readings(finding: Finding, link: Callable[[str], str]) -> Iterator[Readings]:
    """The readings of a finding by what they were held against: a point on 0 to 1, or no difference."""
    points = [read for read in finding.readings if read.difference is None]
    if points:
        rows = tuple(_read(point, _on_unit(point), link) for point in points)
        yield Readings(rows, POINTS_CAPTION)
    shares = [read for read in finding.readings if read.difference is not None and not _is_amount(read.metric)]
    if shares:
        most = scale(share.interval for share in shares)
        rows = tuple(
            _read(share, _around(share.difference or 0.0, share.interval, most, _hue(share)), link) for share in shares
        )
        yield Readings(rows, f"Difference on a line from −{most:g} to +{most:g}; the upright mark is no difference.")
    for read in finding.readings:
        if read.difference is not None and _is_amount(read.metric):
            most = 1.1 * max(abs(read.interval.low), abs(read.interval.high))
            bar = _around(read.difference, read.interval, most, _hue(read))
            ends = number(most, "amount")
            yield Readings((_read(read, bar, link),), f"Difference on a line from −{ends} to +{ends}.")


def _read(reading: Reading, bar: Bar, link: Callable[[str], str]) -> ReadingBar:
    name = reading.metric
    return ReadingBar(name, words(reading).removeprefix(name).lstrip(" ,"), bar, link(name))


def _on_unit(reading: Reading) -> Bar:
    bad = reading.level == ("low" if parse(reading.metric).direction == "higher" else "high")
    return Bar(reading.interval.low, reading.mean, reading.interval.high, reading.point, "worse" if bad else "")


def _around(middle: float, interval: Interval, most: float, hue: str, wide: Interval | None = None) -> Bar:
    """Around 0 in the middle of a line from −most to most."""

    def at(value: float) -> float:
        return 0.5 + value / (2 * most) if most else 0.5

    behind = None if wide is None else (at(wide.low), at(wide.high))
    return Bar(at(interval.low), at(middle), at(interval.high), 0.5, hue, behind)


def _hue(reading: Reading) -> str:
    if reading.interval.low <= 0 <= reading.interval.high:
        return ""
    return {
        ("higher", True): "better",
        ("higher", False): "worse",
        ("lower", True): "worse",
        ("lower", False): "better",
    }.get((parse(reading.metric).direction, reading.interval.low > 0), "")


def _is_amount(metric: str) -> bool:
    return parse(metric).scale == "amount"


def scale(intervals: Iterable[Interval]) -> float:
    """The end of a line from −end to end that holds all of these intervals of differences of shares.

    >>> scale([Interval(-0.12, 0.03, "t"), Interval(0.0, 0.01, "t")])
    0.2
    """
    most = max((max(abs(interval.low), abs(interval.high)) for interval in intervals), default=0.0)
    return next((end for end in SCALES if most <= end), most)


def changes(card: ScorecardData, anchors: Anchors, link: Callable[[str], str]) -> ChangeBars | None:
    """The changes by verdict, what got worse first; None without a baseline.

    A difference of shares is drawn as it is, one of an amount as its share of the baseline's mean.
    """
    if card.baseline is None:
        return None
    kinds = {summary.metric: summary.kind for summary in card.summaries}
    drawn, wide = (
        {change.metric: _drawn(change, interval, kinds.get(change.metric, "mean")) for change, interval in several}
        for several in (
            [(change, change.difference.interval) for change in card.baseline.metrics],
            [(change, change.difference.judged) for change in card.baseline.metrics],
        )
    )
    ends = {
        amount: scale(
            interval
            for name, of in drawn.items()
            for interval in (of, wide[name])
            if interval and (kinds.get(name) == "amount") == amount
        )
        for amount in (False, True)
    }
    groups = []
    for verdict, (sign, title) in VERDICTS.items():
        mine = []
        for change in card.baseline.metrics:
            if change.verdict == verdict:
                kind, drawn_interval = kinds.get(change.metric, "mean"), drawn[change.metric]
                hue = verdict if verdict in ("worse", "better") else ""
                middle = (change.difference.mean or 0.0) / _size(change, kind)
                far = wide[change.metric]
                bar = (
                    None
                    if drawn_interval is None
                    else _around(middle, drawn_interval, ends[kind == "amount"], hue, far)
                )
                mine.append(_row(change, kind, bar, anchors, link))
        if mine:
            groups.append(ChangeGroup(verdict, sign, title, tuple(mine)))
    amounts = any(interval and kinds.get(name) == "amount" for name, interval in drawn.items())
    return ChangeBars(tuple(groups), ends[False], ends[True], amounts)


def _size(change: MetricChange, kind: str) -> float:
    """What a difference is drawn in: the baseline's mean for an amount."""
    return (abs(change.base or 0.0) or 1.0) if kind == "amount" else 1.0


def _drawn(change: MetricChange, interval: Interval | None, kind: str) -> Interval | None:
    size = _size(change, kind)
    return (
        None
        if interval is None
        else Interval(interval.low / size, interval.high / size, interval.method, interval.level)
    )


def _row(change: MetricChange, kind: str, bar: Bar | None, anchors: Anchors, link: Callable[[str], str]) -> ChangeRow:
    where_words, where_link = "", ""
    if change.where is not None:
        inside, outside = (signed(value, kind) for value in (change.where.inside, change.where.outside))
        where_words = f"{line(change.where.segment)} ({inside}, elsewhere {outside})"
        column, _, value = change.where.segment.partition("=")
        where_link = anchors.link("seg", column, value)
    part = f", {relative(change)}" if kind == "amount" and change.base else ""
    return ChangeRow(
        change,
        valued(change.base, change.metric, kind),
        valued(change.new, change.metric, kind),
        difference(change, kind) + part,
        bar,
        anchors.link("def", change.metric),
        anchors.link("moved", change.metric) or link(change.metric),
        " ↓" if change.direction == "lower" else "",
        where_words,
        where_link,
    )

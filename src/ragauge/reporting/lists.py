"""The examples that the marks of charts lead to: one row each, and for every mark a short list of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragauge.analysis.overview import Bin, Distribution, Listed, Timing
from ragauge.analysis.scorecard import Scorecard
from ragauge.reporting.anchors import Anchors
from ragauge.reporting.words import UNNAMED, line, number

MOST_ROWS = 1_000     # examples listed; a page of more would not open at once
MOST_LINKS = 60       # examples named behind one mark; the list says how many more there are
MOST_NAME = 40
NOT_FAILED = "not failed"
OTHER, NONE = "(other)", "(none)"


@dataclass(frozen=True, slots=True)
class Row:
    """One listed example: its id on the page, its short name, and the link to its full view, "" where there is none."""

    id: str
    name: str
    listed: Listed
    full: str


@dataclass(frozen=True, slots=True)
class Group:
    """The listed examples of one cause; `of` counts those that are not listed too."""

    id: str
    title: str
    rows: tuple[Row, ...]
    of: int
    failed: bool


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the examples behind a mark: those of one cause, with the id that a part of a bar leads to."""

    id: str
    title: str
    rows: tuple[Row, ...]
    of: int


@dataclass(frozen=True, slots=True)
class Behind:
    """The examples behind one mark of a chart."""

    id: str
    title: str
    parts: tuple[Part, ...]
    of: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """The lists behind the marks of one chart; `section` is where it stands."""

    section: str
    title: str
    behind: tuple[Behind, ...]


def rows(card: Scorecard, anchors: Anchors) -> tuple[Row, ...]:
    """The listed examples, with their ids; the ones shown in full are linked to."""
    found = []
    for place, listed in enumerate(card.overview.listed[:MOST_ROWS], 1):
        repeat = f" ({listed.repeat + 1})" if listed.repeat else ""
        name = line(listed.query_id, MOST_NAME) + repeat
        full = anchors.link("ex", listed.query_id, listed.repeat)
        found.append(Row(anchors.add(f"e{place}"), name, listed, full))
    return tuple(found)


def groups(card: Scorecard, listed: Sequence[Row], anchors: Anchors) -> tuple[Group, ...]:
    """The rows by cause, the most frequent first, those that did not fail last."""
    if not listed:
        return ()
    causes = dict.fromkeys((*card.causes, *(row.listed.cause for row in listed if row.listed.failed)))
    found = []
    for cause in causes:
        mine = tuple(row for row in listed if row.listed.failed and row.listed.cause == cause)
        if mine:
            of = max(len(mine), card.causes.get(cause, 0))
            found.append(Group(anchors.add("cause", cause), cause or UNNAMED, mine, of, True))
    rest = tuple(row for row in listed if not row.listed.failed)
    if rest:
        of = max(len(rest), card.overview.listed_of - card.failed_examples)
        found.append(Group(anchors.add("fine"), NOT_FAILED, rest, of, False))
    return tuple(found)


def chapters(card: Scorecard, listed: Sequence[Row], anchors: Anchors) -> tuple[Chapter, ...]:
    """The lists behind every mark of every chart, in the order of the charts."""
    if not listed:
        return ()
    return tuple(chapter for chapter in _chapters(card, listed, anchors) if chapter.behind)


def _chapters(card: Scorecard, listed: Sequence[Row], anchors: Anchors) -> Iterator[Chapter]:
    for column, values in card.segments.items():
        yield Chapter("segments", line(column), tuple(_segment(column, list(values), listed, anchors)))
    for shown in distributions(card):
        name = shown.metric
        yield Chapter("spread", name, tuple(_bins("bin", name, shown.bins, shown.kind, _value(name), listed, anchors)))
    alignment = card.overview.alignment
    for rank in (found.rank for found in alignment.ranks) if alignment else ():
        mine = [row for row in listed if row.listed.used and rank in row.listed.used]
        yield Chapter("alignment", "Passage used", tuple(_behind(("rank", rank), f"rank {rank}", mine, anchors)))
    bands = tuple(Bin(band.low, band.high, band.n) for band in card.overview.lengths)
    if bands:
        found = _bins("length", "", bands, "amount", _value("context_tokens"), listed, anchors, closed=True)
        yield Chapter("alignment", "Context tokens", tuple(found))
    timing = total_time(card)
    if timing is not None:
        taken = _bins("time", "", timing.bins, "amount", _value("latency"), listed, anchors)
        yield Chapter("cost", "Milliseconds", tuple(taken))


def total_time(card: Scorecard) -> Timing | None:
    """The latency of the whole answer, where there is enough of it to draw."""
    return next((timing for timing in card.overview.timings if timing.stage == "total" and timing.bins), None)


def distributions(card: Scorecard) -> tuple[Distribution, ...]:
    """The distributions to draw; latency has its own section."""
    apart = "latency" if total_time(card) is not None else ""
    return tuple(shown for shown in card.overview.distributions if shown.bins and shown.metric != apart)


def _value(metric: str) -> Callable[[Row], float | None]:
    return lambda row: row.listed.values.get(metric)


def _segment(column: str, values: Sequence[str], listed: Sequence[Row], anchors: Anchors) -> Iterator[Behind]:
    found: dict[str, list[Row]] = {value: [] for value in values}
    for row in listed:
        value = row.listed.segments.get(column, NONE)
        found.setdefault(value if value in found else OTHER if OTHER in found else value, []).append(row)
    for value in values:
        yield from _behind(("seg", column, value), line(value), found[value], anchors)


def _bins(
    kind: str,
    name: str,
    bins: Sequence[Bin],
    scale: str,
    value: Callable[[Row], float | None],
    listed: Sequence[Row],
    anchors: Anchors,
    *,
    closed: bool = False,
) -> Iterator[Behind]:
    known = [(found, row) for row in listed if (found := value(row)) is not None]
    for place, part in enumerate(bins):
        last = closed or place == len(bins) - 1
        mine = [row for found, row in known if part.low <= found < part.high or (last and found == part.high)
                or part.low == part.high == found]     # fmt: skip
        yield from _behind((kind, name, place), span(part, scale), mine, anchors)


def span(part: Bin, kind: str) -> str:
    """A bin in words.

    >>> span(Bin(0.2, 0.4, 3), "mean"), span(Bin(1, 1, 3), "rate")
    ('0.20 to 0.40', '1.00')
    """
    low = number(part.low, kind)
    return low if part.low == part.high else f"{low} to {number(part.high, kind)}"


def _behind(key: tuple[object, ...], title: str, mine: Sequence[Row], anchors: Anchors) -> Iterator[Behind]:
    if not mine:
        return
    kind, *names = key
    found = anchors.add(str(kind), *names)
    causes: dict[str | None, list[Row]] = {}
    for row in mine:
        causes.setdefault(row.listed.cause if row.listed.failed else None, []).append(row)
    failed = sorted(((cause, part) for cause, part in causes.items() if cause is not None), key=lambda x: -len(x[1]))
    fine = [(None, causes[None])] if None in causes else []
    parts = _cut(anchors, str(kind), names, [*failed, *fine])
    yield Behind(found, title, tuple(parts), len(mine))


def _cut(
    anchors: Anchors, kind: str, names: Sequence[object], parts: Iterable[tuple[str | None, list[Row]]]
) -> Iterator[Part]:
    left = MOST_LINKS
    for cause, part in parts:
        shown = tuple(part[: max(left, 1)])
        left -= len(shown)
        found = anchors.add(f"{kind}-c", *names, cause) if kind == "seg" and cause is not None else ""
        yield Part(found, NOT_FAILED if cause is None else cause or UNNAMED, shown, len(part))

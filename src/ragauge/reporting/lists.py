"""The examples that the marks of charts lead to: one row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.analysis.results.overview import Bin, Distribution, ListedResponse, Timing
from ragauge.analysis.results.scorecard import ScorecardData
from ragauge.reporting.anchors import Anchors
from ragauge.reporting.words import UNNAMED, line
from ragauge.text.messages import number

MOST_NAME = 40
NOT_FAILED = "passed"
NOT_KNOWN = "not known whether it failed"


@dataclass(frozen=True, slots=True)
class ListedRow:
    """One listed example: its id on the page, its short name, and the link to its full view, "" where there is none."""

    id: str
    name: str
    listed: ListedResponse
    full: str


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """The listed examples of one cause; `of` counts those that are not listed too."""

    id: str
    title: str
    rows: tuple[ListedRow, ...]
    of: int
    failed: bool


def rows(card: ScorecardData, anchors: Anchors) -> tuple[ListedRow, ...]:
    """The listed examples, with their ids; the ones shown in full are linked to."""
    rows_listed = []
    for rank, listed in enumerate(card.overview.listed, 1):
        repeat = f" ({listed.repeat + 1})" if listed.repeat else ""
        name = line(listed.query_id, MOST_NAME) + repeat
        full = anchors.link("ex", listed.query_id, listed.repeat)
        rows_listed.append(ListedRow(anchors.add(f"e{rank}"), name, listed, full))
    return tuple(rows_listed)


def groups(card: ScorecardData, listed: Sequence[ListedRow], anchors: Anchors) -> tuple[CauseGroup, ...]:
    """The rows by cause, the most frequent first, those that did not fail last."""
    if not listed:
        return ()
    causes = dict.fromkeys((*card.causes, *(row.listed.cause for row in listed if row.listed.failed)))
    by_cause = []
    for cause in causes:
        mine = tuple(row for row in listed if row.listed.failed and row.listed.cause == cause)
        if mine:
            of = max(len(mine), card.causes.get(cause, 0))
            by_cause.append(CauseGroup(anchors.add("cause", cause), cause or UNNAMED, mine, of, True))
    unknown = tuple(row for row in listed if row.listed.unknown)
    if unknown:
        of = max(len(unknown), card.unknown_examples)
        by_cause.append(CauseGroup(anchors.add("unknown"), NOT_KNOWN, unknown, of, False))
    rest = tuple(row for row in listed if not row.listed.failed and not row.listed.unknown)
    if rest:
        of = max(len(rest), card.overview.listed_of - card.failed_examples - card.unknown_examples)
        by_cause.append(CauseGroup(anchors.add("fine"), NOT_FAILED, rest, of, False))
    return tuple(by_cause)


def total_time(card: ScorecardData) -> Timing | None:
    """The latency of the whole answer, where there is enough of it to draw."""
    return next((timing for timing in card.overview.timings if timing.stage == "total" and timing.bins), None)


def distributions(card: ScorecardData) -> tuple[Distribution, ...]:
    """The distributions to draw; latency has its own section."""
    apart = "latency" if total_time(card) is not None else ""
    return tuple(shown for shown in card.overview.distributions if shown.bins and shown.metric != apart)


def span(part: Bin, kind: str) -> str:
    """A bin in words.

    >>> span(Bin(0.2, 0.4, 3), "mean"), span(Bin(1, 1, 3), "rate")
    ('0.20 to 0.40', '1.00')
    """
    low = number(part.low, kind)
    return low if part.low == part.high else f"{low} to {number(part.high, kind)}"

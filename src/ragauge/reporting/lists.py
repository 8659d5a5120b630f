"""The examples that the marks of charts lead to: one row each.

Where links lead: ids of a page that stands alone, or addresses where pages are served.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ragauge.analysis.results.overview import Bin, Distribution, ListedResponse, Timing
from ragauge.analysis.results.scorecard import ScorecardData
from ragauge.reporting.words import UNNAMED, line
from ragauge.text.messages import number

MOST = 40     # characters of a name that an id repeats


class Anchors:
    """Hands out ids, so that no two things share one and no link leads nowhere.

    A thing is named by its kind and its names, which may hold anything; its id is made of letters, digits, hyphens
    and underscores.

    >>> anchors = Anchors()
    >>> anchors.add("bin", "recall@5", 3), anchors.add("bin", "recall 5", 3)
    ('bin-recall-5-3', 'bin-recall-5-3-2')
    >>> anchors.link("bin", "recall@5", 3), anchors.link("bin", "mrr", 3)
    ('#bin-recall-5-3', '')
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[object, ...], str] = {}
        self._taken: set[str] = set()
        self._pointed: dict[tuple[object, ...], str] = {}

    def add(self, kind: str, *names: object) -> str:
        """The id of a thing that the page holds; the same when it is asked for again."""
        key = (kind, *names)
        if key not in self._ids:
            plain = (re.sub(r"[^A-Za-z0-9_]+", "-", str(name))[:MOST].strip("-") or "none" for name in names)
            wanted = anchor = "-".join((kind, *plain))
            count = 1
            while anchor in self._taken:
                count += 1
                anchor = f"{wanted}-{count}"
            self._taken.add(anchor)
            self._ids[key] = anchor
        return self._ids[key]

    def link(self, kind: str, *names: object) -> str:
        """A link to a thing; "" when the page does not hold it."""
        anchor = self._ids.get((kind, *names))
        return self._pointed.get((kind, *names), "") if anchor is None else f"#{anchor}"

    def point(self, kind: str, *names: object, at: str) -> None:
        """Lets a thing that has no place of its own be found where something else is."""
        self._pointed[kind, *names] = at


class ServedLinks:
    """Addresses of things where pages are served, below an address that every page shares.

    Args:
        root: the address, without a slash at its end.
        run_id: of the run that the things are of.

    >>> links = ServedLinks("/ragauge", "r1")
    >>> links.link("ex", "q 1", 0), links.link("def", "recall@5"), links.link("bin", "recall@5", 3)
    ('/ragauge/runs/r1/examples/q%201?repeat=0', '/ragauge/metrics/recall%405', '')
    """

    PATHS: Mapping[str, str] = {     # kind -> path, with a place for each name
        "def": "/metrics/{}", "run": "/runs/{}", "ex": "/runs/{run}/examples/{}?repeat={}",
        "cause": "/runs/{run}/examples?cause={}", "seg": "/runs/{run}/examples?segment.{}={}",
        "low": "/runs/{run}/examples?sort={}",
    }     # fmt: skip

    def __init__(self, root: str, run_id: str) -> None:
        self._root, self._run = root, quote(run_id, safe="")

    def link(self, kind: str, *names: object) -> str:
        """The address of a thing; "" for one that has no page."""
        path = self.PATHS.get(kind)
        return "" if path is None else self._root + path.format(*(quote(str(n), safe="") for n in names), run=self._run)


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

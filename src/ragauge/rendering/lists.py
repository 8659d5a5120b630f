"""The examples that the marks of charts lead to: one row each.

Where links lead: ids of a page that stands alone, or addresses where pages are served.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from ragauge.core.messages import number
from ragauge.core.verdict import Verdict
from ragauge.rendering.sections import LinkResolver, Phrase, ReportTable, columns
from ragauge.rendering.verdict_texts import VERDICTS
from ragauge.rendering.words import UNNAMED, line
from ragauge.scores.results.overview import Bin, Distribution, ListedResponse, Timing
from ragauge.scores.results.scorecard import ScorecardData

MOST = 40  # characters of a name that an id repeats


class Anchors:
    """Hands out ids, so that no two things share one and no link leads nowhere.

    Args:
        served: addresses of things that have a page of their own, which links prefer; None where the page stands alone.

    A thing is named by its kind and its names, which may hold anything; its id is made of letters, digits, hyphens
    and underscores.

    >>> anchors = Anchors()
    >>> anchors.add("bin", "recall@5", 3), anchors.add("bin", "recall 5", 3)
    ('bin-recall-5-3', 'bin-recall-5-3-2')
    >>> anchors.link("bin", "recall@5", 3), anchors.link("bin", "mrr", 3)
    ('#bin-recall-5-3', '')
    """

    def __init__(self, served: LinkResolver | None = None) -> None:
        self._served = served
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
        """A link to a thing; "" when the page does not hold it, and it is not served either."""
        if self._served is not None and (address := self._served.link(kind, *names)):
            return address
        anchor = self._ids.get((kind, *names))
        return self._pointed.get((kind, *names), "") if anchor is None else f"#{anchor}"

    def point(self, kind: str, *names: object, at: str) -> None:
        """Lets a thing that has no place of its own be found where something else is."""
        self._pointed[kind, *names] = at


OTHER, NONE = "(other)", "(none)"  # values of a segment that stand for several, or for none
FORMS = (".json", ".csv", ".parquet", ".html")  # endings of an address that name a form of its page


class ServedLinks:
    """Addresses of things where pages are served, below an address that every page shares.

    Args:
        root: the address, without a slash at its end.
        run_id: of the run that the things are of.
        asked: what every address of this run's examples keeps, such as whose verdicts: key -> value.
        causes: those that the run has; None = not known, so that every cause has a list.

    >>> links = ServedLinks("/ragauge", "r1")
    >>> links.link("ex", "q 1", 0), links.link("ex", "a.json", 1), links.link("bin", "recall@5", 3)
    ('/ragauge/runs/r1/examples/q%201', '/ragauge/runs/r1/examples/a.json.html?repeat=1', '')
    >>> links.link("def", "recall@5"), links.link("seg", "type", "(other)")
    ('/ragauge/glossary/recall%405', '')
    """

    def __init__(
        self, root: str, run_id: str, asked: Mapping[str, str] | None = None, causes: Collection[str] | None = None
    ) -> None:
        self._root, self._run, self._asked = root, f"{root}/runs/{quote(run_id, safe='')}", dict(asked or {})
        self._run_id, self._causes = run_id, causes

    def of(self, card: ScorecardData) -> ServedLinks:
        """The same, where only the causes of a scorecard have lists."""
        return ServedLinks(self._root, self._run_id, self._asked, card.causes.keys())

    def link(self, kind: str, *names: object) -> str:
        """The address of a thing; "" for one that has no page."""
        match kind, *map(str, names):
            case "def", metric:
                return f"{self._root}/glossary/{quote(metric, safe='')}"
            case "run", run_id:
                return f"{self._root}/runs/{quote(run_id, safe='')}"
            case "study", name:
                return f"{self._root}/studies/{text_part(name)}"
            case "judge", judge_id:
                return f"{self._root}/judges/{text_part(judge_id)}"
            case "alert" | "trace" as watched, name:
                return f"{self._root}/monitor/{watched}s/{text_part(name)}"
            case "traces", outcome:
                return f"{self._root}/monitor/traces{question({'outcome': outcome})}"
            case "draw", number:
                return f"{self._root}/label{question({'draw': number})}"
            case "agreement", number:
                return f"{self._root}/label/agreement{question({'draw': number})}"
            case "set", name, version:
                return f"{self._root}/sets/{set_part(name)}/{version}"
            case "sets differ", name, old, new:
                return f"{self._root}/sets/{set_part(name)}/diff{question({'old': old, 'new': new})}"
            case "ex", query_id, repeat:
                return self.example(query_id, int(repeat))
            case "ex of", run_id, query_id:
                return ServedLinks(self._root, run_id, self._asked).example(query_id)
            case "seg of", run_id, column, value:
                return ServedLinks(self._root, run_id, self._asked).link("seg", column, value)
            case "cause", cause if self._causes is None or cause in self._causes:
                return self.examples({"cause": cause})
            case "seg", column, value if value not in (OTHER, NONE):
                return self.examples({f"segment.{column}": value, "sort": "quality"})  # the worst first
            case "seg-c", column, value, cause if value not in (OTHER, NONE):
                return self.examples({f"segment.{column}": value, "cause": cause})
            case "low", metric:
                return self.examples({"sort": metric})
        return ""

    def example(self, query_id: str, repeat: int = 0, where: Mapping[str, str] | None = None) -> str:
        """The address of one example, with the list that leads to it."""
        asked = {**self._asked, **(where or {}), **({"repeat": str(repeat)} if repeat else {})}
        return f"{self._run}/examples/{text_part(query_id)}{question(asked)}"

    def examples(self, where: Mapping[str, str]) -> str:
        """The address of a list of examples."""
        return f"{self._run}/examples{question({**self._asked, **where})}"

    def between(self, metric: str, part: Bin, *, closed: bool) -> str:
        """The address of the examples whose score lies in a bin; `closed` where its upper end belongs to it."""
        upper = "lte" if closed else "lt"
        return self.examples({f"metric.{metric}.gte": repr(part.low), f"metric.{metric}.{upper}": repr(part.high)})


def text_part(name: str) -> str:
    """The last part of an address that names a thing: one that ends as a form does, or means a folder, has an ending.

    >>> text_part("q 1"), text_part("a.json")
    ('q%201', 'a.json.html')
    """
    return quote(name, safe="") + (".html" if name.endswith(FORMS) or name in ("", ".", "..") else "")


def named_by(part: str) -> str:
    """The name in the last part of an address that `text_part` made.

    >>> named_by("a.json.html")
    'a.json'
    """
    return part.removesuffix(".html")


def set_part(name: str) -> str:
    """The part of an address that names a set: a name that means a folder, or nothing, is told from both by a word.

    >>> set_part("my set/1"), set_part("..")
    ('my%20set%2F1', 'set%20..')
    """
    return quote(name if name not in ("", ".", "..") else f"set {name}", safe="")


def question(asked: Mapping[str, str] | Sequence[tuple[str, str]]) -> str:
    """What stands behind the path of an address; "" where nothing is asked.

    >>> question({"segment.type": "a&b", "sort": "mrr"}), question({})
    ('?segment.type=a%26b&sort=mrr', '')
    """
    return f"?{urlencode(asked, quote_via=quote, safe='')}" if asked else ""


MOST_NAME = 40
NOT_FAILED: tuple[Verdict, ...] = ("unclear", "passed", "not_judged")  # listed after the failed, in this order


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
    totals: Mapping[Verdict, int] = {
        "unclear": card.unclear_examples,
        "passed": card.passed_examples,
        "not_judged": card.not_judged_examples,
    }
    for verdict in NOT_FAILED:
        mine = tuple(row for row in listed if row.listed.verdict == verdict)
        if mine:
            of = max(len(mine), totals[verdict])
            by_cause.append(CauseGroup(anchors.add(verdict), VERDICTS[verdict], mine, of, False))
    return tuple(by_cause)


def point_at_scores(card: ScorecardData, anchors: Anchors, served: ServedLinks) -> None:
    """Lets every bar of a histogram lead to the examples with these scores, where lists of examples are served."""
    drawn = [("bin", shown.metric, shown.metric, shown.bins) for shown in distributions(card)]
    if (timing := total_time(card)) is not None:
        drawn.append(("time", "", "latency", timing.bins))
    for kind, name, metric, bins in drawn:
        for index, part in enumerate(bins):
            closed = index == len(bins) - 1 or part.low == part.high
            anchors.point(kind, name, index, at=served.between(metric, part, closed=closed))


def worst(card: ScorecardData, names: Sequence[str]) -> ReportTable | None:
    """The examples to look at first, each with its cause and scores; None where nothing is listed."""
    if not card.worst:
        return None
    heads = columns("example", "question", "cause", numbers=tuple(names))
    heads = (*heads[:3], *(replace(head, room=n) for n, head in enumerate(heads[3:], 1)))
    rows_listed = []
    for view in card.worst:
        query_id, repeat = view.example.query_id, view.response.repeat
        name = Phrase(line(query_id, MOST_NAME) + (f" ({repeat + 1})" if repeat else ""), to=("ex", query_id, repeat))
        cause = "" if view.cause is None else Phrase(view.cause.name or UNNAMED, "bad")
        scores = (number(score.value) if (score := view.scores.get(metric)) is not None else "" for metric in names)
        rows_listed.append((name, line(view.example.query, 220), cause, *scores))
    return ReportTable(heads, tuple(rows_listed))


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

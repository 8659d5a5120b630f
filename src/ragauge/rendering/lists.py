"""The examples that the marks of charts lead to: one row each.

Where links lead: ids of a page that stands alone, or addresses where pages are served.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote, urlencode

from ragauge.core.messages import format_value
from ragauge.core.verdict import Verdict
from ragauge.rendering.sections import Col, LinkResolver, Phrase, ReportTable, build_table
from ragauge.rendering.verdict_texts import VERDICTS
from ragauge.rendering.words import UNNAMED, to_line
from ragauge.scores.results.overview import Bin, Distribution, ListedResponse, Timing
from ragauge.scores.results.scorecard import ExampleView, ScorecardData

MAX_ID_CHARS = 40  # characters of a name that an id repeats


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
            parts = (re.sub(r"[^A-Za-z0-9_]+", "-", str(name))[:MAX_ID_CHARS].strip("-") or "none" for name in names)
            base_id = anchor = "-".join((kind, *parts))
            count = 1
            while anchor in self._taken:
                count += 1
                anchor = f"{base_id}-{count}"
            self._taken.add(anchor)
            self._ids[key] = anchor
        return self._ids[key]

    def link(self, kind: str, *names: object) -> str:
        """A link to a thing; "" when the page does not hold it, and it is not served either."""
        if self._served is not None and (address := self._served.link(kind, *names)):
            return address
        anchor = self._ids.get((kind, *names))
        return self._pointed.get((kind, *names), "") if anchor is None else f"#{anchor}"

    def point(self, kind: str, *names: object, address: str) -> None:
        """Lets a thing that has no place of its own be found where something else is."""
        self._pointed[kind, *names] = address


OTHER, NONE = "(other)", "(none)"  # values of a segment that stand for several, or for none
FORM_ENDINGS = (".json", ".csv", ".parquet", ".html")  # endings of an address that name a form of its page


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
        self,
        root: str,
        run_id: str,
        query_params: Mapping[str, str] | None = None,
        causes: Collection[str] | None = None,
    ) -> None:
        self._root, self._run, self._asked = root, f"{root}/runs/{quote(run_id, safe='')}", dict(query_params or {})
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
                return f"{self._root}/studies/{encode_name(name)}"
            case "judge", judge_id:
                return f"{self._root}/judges/{encode_name(judge_id)}"
            case "alert" | "trace" as watched, name:
                return f"{self._root}/monitor/{watched}s/{encode_name(name)}"
            case "traces", outcome:
                return f"{self._root}/monitor/traces{format_query({'outcome': outcome})}"
            case "draw", number:
                return f"{self._root}/label{format_query({'draw': number})}"
            case "agreement", number:
                return f"{self._root}/label/agreement{format_query({'draw': number})}"
            case "set", name, version:
                return f"{self._root}/sets/{encode_set_name(name)}/{version}"
            case "sets differ", name, old, new:
                return f"{self._root}/sets/{encode_set_name(name)}/diff{format_query({'old': old, 'new': new})}"
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
        query_params = {**self._asked, **(where or {}), **({"repeat": str(repeat)} if repeat else {})}
        return f"{self._run}/examples/{encode_name(query_id)}{format_query(query_params)}"

    def examples(self, where: Mapping[str, str]) -> str:
        """The address of a list of examples."""
        return f"{self._run}/examples{format_query({**self._asked, **where})}"

    def link_score_range(self, metric: str, score_bin: Bin, *, closed: bool) -> str:
        """The address of the examples whose score lies in a bin; `closed` where its upper end belongs to it."""
        upper = "lte" if closed else "lt"
        return self.examples(
            {f"metric.{metric}.gte": repr(score_bin.low), f"metric.{metric}.{upper}": repr(score_bin.high)}
        )


def encode_name(name: str) -> str:
    """The last part of an address that names a thing: one that ends as a form does, or means a folder, has an ending.

    >>> encode_name("q 1"), encode_name("a.json")
    ('q%201', 'a.json.html')
    """
    return quote(name, safe="") + (".html" if name.endswith(FORM_ENDINGS) or name in ("", ".", "..") else "")


def decode_name(address_part: str) -> str:
    """The name in the last part of an address that `encode_name` made.

    >>> decode_name("a.json.html")
    'a.json'
    """
    return address_part.removesuffix(".html")


def encode_set_name(name: str) -> str:
    """The part of an address that names a set: a name that means a folder, or nothing, is told from both by a word.

    >>> encode_set_name("my set/1"), encode_set_name("..")
    ('my%20set%2F1', 'set%20..')
    """
    return quote(name if name not in ("", ".", "..") else f"set {name}", safe="")


def format_query(query_params: Mapping[str, str] | Sequence[tuple[str, str]]) -> str:
    """What stands behind the path of an address; "" where nothing is asked.

    >>> format_query({"segment.type": "a&b", "sort": "mrr"}), format_query({})
    ('?segment.type=a%26b&sort=mrr', '')
    """
    return f"?{urlencode(query_params, quote_via=quote, safe='')}" if query_params else ""


MAX_NAME_CHARS = 40
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


def build_rows(card: ScorecardData, anchors: Anchors) -> tuple[ListedRow, ...]:
    """The listed examples, with their ids; the ones shown in full are linked to."""
    rows_listed = []
    for rank, response in enumerate(card.overview.listed, 1):
        repeat = f" ({response.repeat + 1})" if response.repeat else ""
        name = to_line(response.query_id, MAX_NAME_CHARS) + repeat
        full = anchors.link("ex", response.query_id, response.repeat)
        rows_listed.append(ListedRow(anchors.add(f"e{rank}"), name, response, full))
    return tuple(rows_listed)


def build_cause_groups(
    card: ScorecardData, listed_rows: Sequence[ListedRow], anchors: Anchors
) -> tuple[CauseGroup, ...]:
    """The rows by cause, the most frequent first, those that did not fail last."""
    if not listed_rows:
        return ()
    causes = dict.fromkeys((*card.causes, *(row.listed.cause for row in listed_rows if row.listed.failed)))
    by_cause = []
    for cause in causes:
        group_rows = tuple(row for row in listed_rows if row.listed.failed and row.listed.cause == cause)
        if group_rows:
            total = max(len(group_rows), card.causes.get(cause, 0))
            by_cause.append(CauseGroup(anchors.add("cause", cause), cause or UNNAMED, group_rows, total, True))
    totals: Mapping[Verdict, int] = {
        "unclear": card.unclear_examples,
        "passed": card.passed_examples,
        "not_judged": card.not_judged_examples,
    }
    for verdict in NOT_FAILED:
        group_rows = tuple(row for row in listed_rows if row.listed.verdict == verdict)
        if group_rows:
            total = max(len(group_rows), totals[verdict])
            by_cause.append(CauseGroup(anchors.add(verdict), VERDICTS[verdict], group_rows, total, False))
    return tuple(by_cause)


def add_score_pointers(card: ScorecardData, anchors: Anchors, served: ServedLinks) -> None:
    """Lets every bar of a histogram lead to the examples with these scores, where lists of examples are served."""
    histograms = [
        ("bin", distribution.metric, distribution.metric, distribution.bins)
        for distribution in select_distributions(card)
    ]
    if (timing := find_total_time(card)) is not None:
        histograms.append(("time", "", "latency", timing.bins))
    for kind, name, metric, bins in histograms:
        for index, score_bin in enumerate(bins):
            closed = index == len(bins) - 1 or score_bin.low == score_bin.high
            anchors.point(kind, name, index, address=served.link_score_range(metric, score_bin, closed=closed))


def build_worst_table(card: ScorecardData, names: Sequence[str]) -> ReportTable | None:
    """The examples to look at first, each with its cause and scores; None where nothing is listed."""

    def name_example(view: ExampleView) -> str:
        repeat = view.response.repeat
        return to_line(view.example.query_id, MAX_NAME_CHARS) + (f" ({repeat + 1})" if repeat else "")

    def format_score(view: ExampleView, metric: str) -> str:
        return format_value(view.scores[metric].value) if metric in view.scores else ""

    return build_table(
        card.worst,
        Col("example", name_example, link=lambda view: ("ex", view.example.query_id, view.response.repeat)),
        Col("question", "example.query", cut=220),
        Col("cause", lambda view: "" if view.cause is None else Phrase(view.cause.name or UNNAMED, "bad")),
        *(Col(name, partial(format_score, metric=name), kind="number", room=n) for n, name in enumerate(names, 1)),
    )


def find_total_time(card: ScorecardData) -> Timing | None:
    """The latency of the whole answer, where there is enough of it to draw."""
    return next((timing for timing in card.overview.timings if timing.stage == "total" and timing.bins), None)


def select_distributions(card: ScorecardData) -> tuple[Distribution, ...]:
    """The distributions to draw; latency has its own section."""
    excluded = "latency" if find_total_time(card) is not None else ""
    return tuple(
        distribution
        for distribution in card.overview.distributions
        if distribution.bins and distribution.metric != excluded
    )


def format_bin(score_bin: Bin, kind: str) -> str:
    """A bin in words.

    >>> format_bin(Bin(0.2, 0.4, 3), "mean"), format_bin(Bin(1, 1, 3), "rate")
    ('0.20 to 0.40', '1.00')
    """
    low = format_value(score_bin.low, kind)
    return low if score_bin.low == score_bin.high else f"{low} to {format_value(score_bin.high, kind)}"

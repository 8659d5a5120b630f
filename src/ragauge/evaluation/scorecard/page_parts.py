"""What the HTML page shows, section by section, as plain values for its templates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ragauge.comparison.gaps import losses
from ragauge.comparison.history import tables as history
from ragauge.comparison.tables.sections import failures_table
from ragauge.core.facts import Claim
from ragauge.core.identity import plain
from ragauge.core.messages import number
from ragauge.diagnosis.confirm import tables as confirmed
from ragauge.diagnosis.examples import tables as examples
from ragauge.diagnosis.examples.passage_views import PassageView, shelves
from ragauge.evaluation.scorecard import bars, drill_down, figures, segment_sizes
from ragauge.evaluation.scorecard import tables as scorecard
from ragauge.evaluation.scorecard.segments import ranked
from ragauge.rendering import judge_usage as judged
from ragauge.rendering import lists
from ragauge.rendering.lists import Anchors, ServedLinks
from ragauge.rendering.sections import ReportTable
from ragauge.rendering.words import clearly_worse, headline, interval, interval_methods, line
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.scorecard import ExampleView, ScorecardData, Summary
from ragauge.scores.segments import FEWEST

LEVELS = 10  # shades of the heat map
MOST_VALUES = 12  # values of a segment column shown
MOST_METRICS = 6
MOST_SETTINGS = 110  # characters of a line of settings
OPENED = 3  # findings that stand open; the others open on a click
SECTIONS = (
    ("todo", "What to do"),
    ("changes", "What changed"),
    ("history", "History"),
    ("scores", "Scorecard"),
    ("failures", "Failures by cause"),
    ("losses", "Where quality is lost"),
    ("segments", "By segment"),
    ("spread", "Spread of scores"),
    ("alignment", "Ranking and answers"),
    ("cost", "Latency and cost"),
    ("examples", "Worst examples"),
    ("all", "All examples"),
    ("trust", "How it was judged"),
    ("definitions", "Metrics"),
    ("configuration", "Configuration"),
)


@dataclass(frozen=True, slots=True)
class Heat:
    """One cell of the heat map: shade 0 to 10 (10 = best; -1 = no value), and whether it is clearly worse."""

    shade: int
    mean: str
    interval: str
    worse: bool


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One value of a segment column; `few` marks one that is too small."""

    value: str
    n: int
    few: bool
    failed: int | None
    cells: tuple[Heat, ...]
    link: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """One segment column; `of` counts the values that are not shown too."""

    column: str
    names: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    of: int


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One claim of an answer with its label, sign and words, the passages it rests on and where they say so."""

    claim: Claim
    label: str
    sign: str
    words: str
    passages: tuple[tuple[int, str], ...]
    link: str


@dataclass(frozen=True, slots=True)
class ShownExample:
    """One example in full."""

    id: str
    view: ExampleView
    pieces: tuple[examples.AnswerPiece, ...]
    verdicts: Mapping[int, ClaimVerdict]
    shelves: tuple[PassageView, ...]
    wanted: tuple[examples.ReferenceClaimView, ...]
    checked: tuple[examples.CheckedAspect, ...]
    cited: tuple[examples.Cited, ...]
    beside: tuple[examples.OffTopicSentence, ...]
    missed: tuple[str, ...]
    untold: Mapping[str, tuple[str, ...]]
    unscored: tuple[tuple[str, str], ...]


def context(card: ScorecardData, served: ServedLinks | None = None) -> dict[str, Any]:
    """Every value that the templates use.

    Args:
        card: what is shown.
        served: where its examples and metrics have pages of their own, to which this page then leads instead of
            holding them; None for a page that stands alone.
    """
    served = None if served is None else served.of(card)
    anchors = Anchors(served)
    for view in card.worst if served is None else ():
        anchors.add("ex", view.example.query_id, view.response.repeat)
    for name in card.definitions:
        anchors.add("def", name)
    for finding in card.findings:
        anchors.add("finding", finding.cause)
    rows = lists.rows(card, anchors) if served is None else ()
    chapters = drill_down.chapters(card, rows, anchors)
    groups = lists.groups(card, rows, anchors)  # before the figures, whose bars lead to them
    low = drill_down.scores_link(card, anchors) if served is None else partial(served.link, "low")
    if served is not None:
        lists.point_at_scores(card, anchors, served)
    first = headline(card.summaries)
    values: dict[str, Any] = {
        "card": card,
        "anchors": anchors,
        "groups": groups,
        "listed": rows,
        "low": low,
        "history": tuple(section.table for section in history.of_report(card.history)),
        "behind_of": {name: [c for c in chapters if c.section == name] for name, _ in SECTIONS},
        "changes": {change.metric: change for change in card.baseline.metrics} if card.baseline else {},
        "changed": bars.changes(card, anchors, low),
        "readings_of": {number: tuple(bars.readings(finding, low)) for number, finding in enumerate(card.findings, 1)},
        "heat": tuple(heat_maps(card, anchors)),
        "sizes": tuple(segment_sizes.sizes(card)),
        "pareto": figures.pareto(card, anchors),
        "by_segment": tuple(figures.by_segment(card, anchors)),
        "legend": figures.legend(card),
        "spreads": tuple(figures.spreads(card, anchors)),
        "ranks": figures.ranks(card, anchors),
        "positions": figures.positions(card, anchors),
        "losses": losses.losses(card.gaps, anchors),
        "experiments": confirmed.by_example(card.confirmed),
        "stages": figures.stages(card, anchors),
        "lengths": tuple(figures.lengths(card, anchors)),
        "times": figures.times(card, anchors),
        "total": figures.total(card, anchors),
        "shown": tuple(in_full(view, anchors) for view in card.worst) if served is None else (),
        "columns": first,
        **_elsewhere(card, served, first),
        "config": settings_text(plain(card.run.config)),
    }
    values |= {"interval_methods": interval_methods(card), "judging": tuple(judged.sentences(card.use))}
    leads = figures.cause_link(anchors, card)
    for cause in {*card.causes, *(card.baseline.failures.base if card.baseline else ())}:
        anchors.point("behind", cause, at=leads(cause))
    for summary in card.summaries:
        anchors.point("low", summary.metric, at=low(summary.metric))
    values |= {"scores": scorecard.scores(card), "askings": scorecard.judge_repeats(card), "failed": _failed(card)}
    return {**values, "sections": tuple(sections(values))}


def _elsewhere(card: ScorecardData, served: ServedLinks | None, names: Sequence[str]) -> dict[str, Any]:
    """What a page holds itself where it stands alone, and leads to where it is served."""
    if served is None:
        return {"worst": None, "every_example": "", "definitions": card.definitions}
    return {"worst": lists.worst(card, names), "every_example": served.examples({}), "definitions": {}}


def sections(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The sections that have something to show: (id, title)."""
    card = values["card"]
    there = {
        "todo": card.findings,
        "changes": values["changed"],
        "history": card.history,
        "failures": values["pareto"],
        "losses": values["losses"],
        "segments": values["heat"] or values["sizes"],
        "spread": values["spreads"],
        "alignment": card.overview.alignment or values["stages"] or values["lengths"],
        "cost": values["times"] or card.overview.spending,
        "examples": values["shown"] or values["worst"],
        "all": values["groups"],
        "definitions": values["definitions"],
    }
    for name, title in SECTIONS:
        if there.get(name, True):
            yield name, title


def heat_maps(card: ScorecardData, anchors: Anchors) -> Iterator[HeatMap]:
    """One heat map a segment column, the worst value first."""
    names = headline(card.summaries, MOST_METRICS)
    whole = {summary.metric: summary for summary in card.summaries}
    for column in card.segments:
        values = ranked(card, column, names)
        rows = []
        for value in values[:MOST_VALUES]:
            cells = tuple(_heat(value.summaries.get(name), whole[name]) for name in names)
            link = anchors.link("seg", column, value.name)
            rows.append(HeatRow(line(value.name), value.n, value.n < FEWEST, value.failed, cells, link))
        if rows and names:
            yield HeatMap(line(column), tuple(names), tuple(rows), len(values))


def _heat(mine: Summary | None, whole: Summary) -> Heat:
    if mine is None or mine.mean is None:
        return Heat(-1, "–", "", False)
    share = min(1.0, max(0.0, mine.mean))
    shade = -1 if mine.direction == "neither" else round(LEVELS * (1 - share if mine.direction == "lower" else share))
    return Heat(shade, number(mine.mean, mine.kind), interval(mine), clearly_worse(mine, whole))


def in_full(view: ExampleView, anchors: Anchors, *, whole: bool = False) -> ShownExample:
    """One example with everything that a reader needs to check a number; `whole` leaves nothing of a text out."""
    anchor = anchors.add("ex", view.example.query_id, view.response.repeat)
    stood = shelves(view, whole=whole)
    marked = {(shelf.rank, claim.n) for shelf in stood for stretch in shelf.stretches for claim in stretch.begins}
    facts, labels = examples.answer_facts(view), examples.labels(view)
    reasons: dict[str, list[str]] = {}
    for name, score in view.scores.items():
        if score.status != "scored":
            status = score.status.replace("_", " ")
            reasons.setdefault(f"{status}: {score.reason}" if score.reason else status, []).append(name)
        elif score.reason:
            reasons.setdefault(score.reason, []).append(name)
    claims = facts.claims if facts else ()
    return ShownExample(
        anchor,
        view,
        examples.pieces(view),
        {claim.n: _verdict(claim, labels[claim.n], anchor, marked, len(stood)) for claim in claims},
        stood,
        examples.wanted(view),
        examples.checked(view),
        examples.cited(view),
        examples.off_question(view),
        examples.missed(view),
        {part: examples.untold(view, part) for part in examples.TELLS},
        tuple((reason, ", ".join(names)) for reason, names in reasons.items()),
    )


def _verdict(claim: Claim, label: str, name: str, marked: set[tuple[int, int]], passages: int) -> ClaimVerdict:
    def place(rank: int) -> str:
        return f"#{name}-p{rank}-w{claim.n}" if (rank, claim.n) in marked else f"#{name}-p{rank}"

    ranks = [rank for rank in (*claim.supporting, *claim.contradicting) if 1 <= rank <= passages]
    window = claim.window.passage if claim.window is not None else 0
    first = window if (window, claim.n) in marked else ranks[0] if ranks else 0
    if label in ("not_in_context", "unclear") and first and first not in ranks:
        ranks.append(first)  # the passage that comes closest
    return ClaimVerdict(
        claim,
        label,
        examples.MARKS[label],
        examples.says(claim, label),
        tuple((rank, place(rank)) for rank in ranks),
        place(first) if first else "",
    )


def change_class(change: MetricChange) -> str:
    """The style of a change."""
    return {"better": "better", "worse": "worse"}.get(change.verdict, "")


def pairs(names: Sequence[str], values: Mapping[str, float]) -> list[str]:
    """Values by name as text, "" where there is none."""
    return [number(values[name]) if name in values else "" for name in names]


def spoken(names: Sequence[str], values: Mapping[str, float]) -> str:
    """Values by name in one line: recall@5 0.80 · mrr 0.50."""
    return " · ".join(f"{name} {number(values[name])}" for name in names if name in values)


def _failed(card: ScorecardData) -> ReportTable | None:
    """Failures by cause in the baseline and now; None without a baseline or a failure."""
    if card.baseline is None:
        return None
    return failures_table(replace(card.baseline.failures, new=card.causes, failed_new=card.failed_examples))


def settings_text(value: Any, depth: int = 0) -> str:
    """Settings as JSON, of which what fits on a line stands on one.

    >>> print(settings_text({"k": 5, "kinds": ["bm25", "dense"]}))
    {"k": 5, "kinds": ["bm25", "dense"]}
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    if not isinstance(value, dict | list) or len(text) + 2 * depth <= MOST_SETTINGS:
        return text
    named = (
        [("", one) for one in value]
        if isinstance(value, list)
        else [(f"{json.dumps(str(key), ensure_ascii=False)}: ", one) for key, one in value.items()]
    )
    inner = ",\n".join(f"{'  ' * (depth + 1)}{name}{settings_text(one, depth + 1)}" for name, one in named)
    begins, ends = "[]" if isinstance(value, list) else "{}"
    return f"{begins}\n{inner}\n{'  ' * depth}{ends}"

"""What the HTML page shows, section by section, as plain values for its templates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ragauge.comparison.gaps import losses
from ragauge.comparison.history import tables as history
from ragauge.comparison.tables.sections import build_failures_table
from ragauge.core.facts import Claim
from ragauge.core.identity import to_json_value
from ragauge.core.messages import format_value
from ragauge.diagnosis.confirm import tables as confirmed
from ragauge.diagnosis.examples import tables as examples
from ragauge.diagnosis.examples.passage_views import PassageView, build_passage_views
from ragauge.evaluation.scorecard import bars, drill_down, figures
from ragauge.evaluation.scorecard import bars as segment_sizes
from ragauge.evaluation.scorecard import tables as scorecard
from ragauge.evaluation.scorecard.bars import rank_values
from ragauge.rendering import judge_usage as judged
from ragauge.rendering import lists
from ragauge.rendering.lists import Anchors, ServedLinks
from ragauge.rendering.sections import ReportTable
from ragauge.rendering.words import (
    describe_interval_methods,
    interval,
    is_clearly_worse,
    select_headline_metrics,
    to_line,
)
from ragauge.scores.results.comparison import MetricChange
from ragauge.scores.results.scorecard import MIN_SEGMENT_EXAMPLES, ExampleView, ScorecardData, Summary

N_SHADES = 10  # shades of the heat map
MAX_VALUES = 12  # values of a segment column shown
MAX_METRICS = 6
MAX_SETTINGS_CHARS = 110  # characters of a line of settings
N_OPEN_FINDINGS = 3  # findings that stand open; the others open on a click
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
    reference_claims: tuple[examples.ReferenceClaimView, ...]
    checked: tuple[examples.CheckedAspect, ...]
    cited: tuple[examples.CitationView, ...]
    beside: tuple[examples.OffTopicSentence, ...]
    missed: tuple[str, ...]
    untold: Mapping[str, tuple[str, ...]]
    unscored: tuple[tuple[str, str], ...]


def build_context(card: ScorecardData, served: ServedLinks | None = None) -> dict[str, Any]:
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
    rows = lists.build_rows(card, anchors) if served is None else ()
    chapters = drill_down.build_drill_downs(card, rows, anchors)
    groups = lists.build_cause_groups(card, rows, anchors)  # before the figures, whose bars lead to them
    low = drill_down.make_scores_link(card, anchors) if served is None else partial(served.link, "low")
    if served is not None:
        lists.add_score_pointers(card, anchors, served)
    first = select_headline_metrics(card.summaries)
    values: dict[str, Any] = {
        "card": card,
        "anchors": anchors,
        "groups": groups,
        "listed": rows,
        "low": low,
        "history": tuple(section.table for section in history.build_report_section(card.history)),
        "behind_of": {name: [c for c in chapters if c.section == name] for name, _ in SECTIONS},
        "changes": {change.metric: change for change in card.baseline.metrics} if card.baseline else {},
        "changed": bars.build_change_bars(card, anchors, low),
        "readings_of": {
            number: tuple(bars.build_indicator_bars(finding, low)) for number, finding in enumerate(card.findings, 1)
        },
        "heat": tuple(build_heat_maps(card, anchors)),
        "sizes": tuple(segment_sizes.list_sizes(card)),
        "pareto": figures.build_pareto(card, anchors),
        "by_segment": tuple(figures.build_segment_figures(card, anchors)),
        "legend": figures.build_legend(card),
        "spreads": tuple(figures.build_histograms(card, anchors)),
        "ranks": figures.build_rank_figure(card, anchors),
        "positions": figures.build_position_figure(card, anchors),
        "losses": losses.build_losses(card.gaps, anchors),
        "experiments": confirmed.index_by_example(card.confirmed),
        "stages": figures.build_stage_figure(card, anchors),
        "lengths": tuple(figures.build_length_figures(card, anchors)),
        "times": figures.build_timing_figure(card, anchors),
        "total": figures.build_total_time_figure(card, anchors),
        "shown": tuple(build_full_example(view, anchors) for view in card.worst) if served is None else (),
        "columns": first,
        **_build_page_links(card, served, first),
        "config": format_settings(to_json_value(card.run.config)),
    }
    values |= {"interval_methods": describe_interval_methods(card), "judging": tuple(judged.describe_judging(card.use))}
    leads = figures.make_cause_link(anchors, card)
    for cause in {*card.causes, *(card.baseline.failures.base if card.baseline else ())}:
        anchors.point("behind", cause, address=leads(cause))
    for summary in card.summaries:
        anchors.point("low", summary.metric, address=low(summary.metric))
    values |= {
        "scores": scorecard.build_score_table(card),
        "askings": scorecard.build_judge_repeats(card),
        "failed": _build_failures_table(card),
    }
    return {**values, "sections": tuple(list_sections(values))}


def _build_page_links(card: ScorecardData, served: ServedLinks | None, names: Sequence[str]) -> dict[str, Any]:
    """What a page holds itself where it stands alone, and leads to where it is served."""
    if served is None:
        return {"worst": None, "every_example": "", "definitions": card.definitions}
    return {"worst": lists.build_worst_table(card, names), "every_example": served.examples({}), "definitions": {}}


def list_sections(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The sections that have something to show: (id, title)."""
    card = values["card"]
    contents = {
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
        if contents.get(name, True):
            yield name, title


def build_heat_maps(card: ScorecardData, anchors: Anchors) -> Iterator[HeatMap]:
    """One heat map a segment column, the worst value first."""
    names = select_headline_metrics(card.summaries, MAX_METRICS)
    overall = {summary.metric: summary for summary in card.summaries}
    for column in card.segments:
        values = rank_values(card, column, names)
        rows = []
        for value in values[:MAX_VALUES]:
            cells = tuple(_build_heat_cell(value.summaries.get(name), overall[name]) for name in names)
            link = anchors.link("seg", column, value.name)
            rows.append(
                HeatRow(to_line(value.name), value.n, value.n < MIN_SEGMENT_EXAMPLES, value.failed, cells, link)
            )
        if rows and names:
            yield HeatMap(to_line(column), tuple(names), tuple(rows), len(values))


def _build_heat_cell(summary: Summary | None, overall: Summary) -> Heat:
    if summary is None or summary.mean is None:
        return Heat(-1, "–", "", False)
    share = min(1.0, max(0.0, summary.mean))
    shade = (
        -1
        if summary.direction == "neither"
        else round(N_SHADES * (1 - share if summary.direction == "lower" else share))
    )
    return Heat(shade, format_value(summary.mean, summary.kind), interval(summary), is_clearly_worse(summary, overall))


def build_full_example(view: ExampleView, anchors: Anchors, *, is_whole: bool = False) -> ShownExample:
    """One example with everything that a reader needs to check a number; `is_whole` leaves nothing of a text out."""
    anchor = anchors.add("ex", view.example.query_id, view.response.repeat)
    passage_views = build_passage_views(view, is_whole=is_whole)
    marked = {
        (shelf.rank, claim.n) for shelf in passage_views for stretch in shelf.stretches for claim in stretch.begins
    }
    facts, labels = examples.get_answer_facts(view), examples.label_claims(view)
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
        examples.split_answer(view),
        {claim.n: _build_claim_verdict(claim, labels[claim.n], anchor, marked, len(passage_views)) for claim in claims},
        passage_views,
        examples.build_reference_claims(view),
        examples.build_checked_aspects(view),
        examples.build_citations(view),
        examples.list_off_topic(view),
        examples.describe_missed_documents(view),
        {subject: examples.list_unknown(view, subject) for subject in examples.FACT_MEANINGS},
        tuple((reason, ", ".join(names)) for reason, names in reasons.items()),
    )


def _build_claim_verdict(
    claim: Claim, label: str, name: str, marked: set[tuple[int, int]], passages: int
) -> ClaimVerdict:
    def link_passage(rank: int) -> str:
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
        examples.describe_claim_verdict(claim, label),
        tuple((rank, link_passage(rank)) for rank in ranks),
        link_passage(first) if first else "",
    )


def get_change_class(change: MetricChange) -> str:
    """The style of a change."""
    return {"better": "better", "worse": "worse"}.get(change.verdict, "")


def format_values(names: Sequence[str], values: Mapping[str, float]) -> list[str]:
    """Values by name as text, "" where there is none."""
    return [format_value(values[name]) if name in values else "" for name in names]


def format_named_values(names: Sequence[str], values: Mapping[str, float]) -> str:
    """Values by name in one line: recall@5 0.80 · mrr 0.50."""
    return " · ".join(f"{name} {format_value(values[name])}" for name in names if name in values)


def _build_failures_table(card: ScorecardData) -> ReportTable | None:
    """Failures by cause in the baseline and now; None without a baseline or a failure."""
    if card.baseline is None:
        return None
    return build_failures_table(replace(card.baseline.failures, new=card.causes, failed_new=card.failed_examples))


def format_settings(value: Any, depth: int = 0) -> str:
    """Settings as JSON, of which what fits on a line stands on one.

    >>> print(format_settings({"k": 5, "kinds": ["bm25", "dense"]}))
    {"k": 5, "kinds": ["bm25", "dense"]}
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    if not isinstance(value, dict | list) or len(text) + 2 * depth <= MAX_SETTINGS_CHARS:
        return text
    named_values = (
        [("", entry) for entry in value]
        if isinstance(value, list)
        else [(f"{json.dumps(str(key), ensure_ascii=False)}: ", entry) for key, entry in value.items()]
    )
    inner = ",\n".join(f"{'  ' * (depth + 1)}{name}{format_settings(entry, depth + 1)}" for name, entry in named_values)
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return f"{opening}\n{inner}\n{'  ' * depth}{closing}"

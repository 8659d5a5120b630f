"""Studies in words, tables and charts; what a kind of study adds stands among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_count
from ragauge.rendering.sections import Col, ReportColumn, ReportSection, ReportTable, build_table
from ragauge.rendering.words import make_safe
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.figures import StudyTable
from ragauge.studies.front import can_distinguish
from ragauge.studies.trial_tables import (
    MAX_ROWS,
    _build_number_columns,
    _build_other_metrics,
    _build_segment_section,
    _build_trial_table,
)

if TYPE_CHECKING:
    from ragauge.core.study import Study
    from ragauge.studies.figures import StudySummary
    from ragauge.studies.front import Knee
    from ragauge.studies.trial_summary import StudyReading

UNOPENED_VERDICT = "on its page"  # what came of a study that was not opened for the list
NO_STUDIES_NOTE = "No studies yet. Start with: ragauge component chunking SET --corpus PATH --chunker token:size=200"
BEST_SET_NOTE = "May be best: no other trial is better by more than chance (95 % over all comparisons)."
BASE_NOTE = "vs base: the paired difference from {}, with a 95 % interval; {}"
REPORT_COMMAND = "ragauge study report"  # the command that makes it is no next step on it
MAX_NAMED = 6  # trials that a sentence names
MAX_LABELS = 10  # points of a chart that all have a name; of more those on the front have


def build_list_sections(rows: Sequence[Mapping[str, Any]]) -> Iterator[ReportSection]:
    """The stored studies: name, kind, set, age, how many trials are in which state, and what came of those that say."""
    has_verdicts = any("verdict" in row for row in rows)
    table = build_table(
        rows,
        Col("study", "name", link=lambda row: ("study", row["name"]), fold=True),
        Col("kind"),
        Col("set"),
        Col("created", lambda row: row["created_at"][:16].replace("T", " "), whole=True, room=1),
        Col("trials", lambda row: ", ".join(f"{n} {state}" for state, n in row["trials"].items()) or "none"),
        Col("result", lambda row: row.get("verdict", UNOPENED_VERDICT)) if has_verdicts else None,
    )
    yield ReportSection(lead=() if rows else (NO_STUDIES_NOTE,), table=table)


def build_study_sections(figures: StudySummary, *, is_whole: bool = False) -> Iterator[ReportSection]:
    """The reading, the trials, what the kind adds, segments, and what to run next.

    Args:
        figures: what to show.
        is_whole: every trial in every segment; else those that matter, where there are many.
    """
    cautions = figures.known_items if figures.complete else ()
    sentences = [make_safe(entry) for entry in figures.contents[len(cautions) :] if isinstance(entry, str)]
    after = (*sentences, *map(make_safe, _describe_incomplete(figures)))
    retriever = figures.study.fixed.get("retriever") if figures.kind.name == "chunking" else None
    searched = (f"All trials use {retriever} retrieval.",) if retriever else ()
    lead = tuple(map(make_safe, (*cautions, *searched, *_describe_decision(figures))))
    key = [BEST_SET_NOTE] if figures.complete and figures.metric else []
    notes = (*key, make_safe(BASE_NOTE.format(figures.base, figures.kind.tested))) if figures.base else tuple(key)
    yield ReportSection(
        figures.kind.name, make_safe(figures.study.name), lead, _build_trial_table(figures), after, notes
    )
    for entry in figures.contents:
        if isinstance(entry, StudyTable):
            yield _build_extra_section(entry)
    if figures.beside:
        yield _build_other_metrics(figures, is_whole=is_whole)
    if figures.segment_means:
        yield _build_segment_section(figures, is_whole=is_whole)
    runs = [trial.run_id for trial in figures.complete if trial.run_id]
    if len(runs) > 1:
        report = f"ragauge study report {figures.study.name} -o study.html"
        yield ReportSection("Next", commands=(f"ragauge compare {' '.join(_choose_runs(figures, runs))}", report))


def _choose_runs(figures: StudySummary, runs: Sequence[str]) -> tuple[str, str]:
    """The runs to compare: the base's, or the first, and the recommended trial's, or the next."""
    by_name = {trial.name: trial.run_id for trial in figures.complete if trial.run_id}
    recommended_run = by_name.get(figures.reading.recommendation.trial or "", "") if figures.metric else ""
    base_name = figures.base_trial.name if figures.base_trial is not None else ""
    base = next((run for run in (by_name.get(base_name, ""), *runs) if run and run != recommended_run), runs[0])
    return base, recommended_run or next(run for run in runs if run != base)


def build_study_charts(figures: StudySummary) -> Iterator[ReportChart]:
    """What the kind draws, then quality against each cost with the front and its knee."""
    yield from (entry for entry in figures.contents if isinstance(entry, ReportChart))
    if not (figures.complete and figures.metric):
        return
    for cost, reading in figures.readings.items():
        prices = {trial: price for trial, price in figures.get_costs(cost).items() if trial in reading.trials}
        if not cost or len(set(prices.values())) < 2 or not can_distinguish(prices, cost):  # nothing to weigh
            continue
        bend = reading.trials[reading.knee.trial] if reading.knee.trial is not None else ""
        points = []
        for trial, price in prices.items():
            entry = figures.mean(trial)
            if entry is not None and entry.mean is not None:
                series = "on the front" if trial in reading.front else "beaten"
                short_name = figures.shorten_name(trial) if trial in reading.front or len(prices) <= MAX_LABELS else ""
                label = f"{short_name} (knee)" if trial == bend else short_name
                low, high = (entry.interval.low, entry.interval.high) if entry.interval else (None, None)
                points.append(ChartPoint(price, entry.mean, series, low, high, label))
        log = figures.logarithmic and min(prices.values()) > 0
        by = f", by {', '.join(figures.varied_parameters)}" if figures.kind.ranked else ""
        yield ReportChart(f"{figures.metric} vs {cost}{by}", "points", cost, figures.metric, tuple(points), log)


def render_study(figures: StudySummary, *, framed: bool = False) -> str:
    """The same as a page that needs nothing beside it and holds no script.

    Args:
        figures: what to show.
        framed: for the srcdoc of a frame, as notebooks show it.
    """
    from ragauge.evaluation.scorecard.html import render_sections_page

    return render_sections_page(
        build_study_page(figures), figures.study.name, describe_study(figures.study), "study", framed=framed
    )


def describe_study(study: Study) -> str:
    """What a study is, below its name."""
    over = f" over {make_safe(study.set_name)}" if study.set_name else ""
    return f"{study.kind} study{over}, {format_count(len(study.trials), 'trial')}"


def build_study_page(figures: StudySummary) -> list[ReportSection]:
    """The sections of a study's page, with its charts and all segments; the first has what is decided."""
    study = figures.study
    first, *remaining = build_study_sections(figures, is_whole=True)
    page_sections = [replace(first, heading="Trials", about=""), *remaining]
    ordered_charts = sorted(
        build_study_charts(figures), key=lambda entry: entry.mark == "bars" and len(entry.points) > MAX_ROWS
    )  # tall last
    if charts := tuple(entry for entry in ordered_charts if entry.points):
        page_sections.insert(1, ReportSection("Charts", charts=charts))
    page_sections = [
        replace(entry, commands=tuple(line for line in entry.commands if not line.startswith(REPORT_COMMAND)))
        for entry in page_sections
    ]
    held = build_table(_format_fixed(study.fixed), Col("setting", "0"), Col("value", "1"))
    return [*page_sections, ReportSection("Held constant", table=held)]


def _format_fixed(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What is held constant, in words: yes and no, lists with commas; what has no value is left out."""

    def to_words(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {to_words(element)}" for name, element in value.items())
        return ", ".join(map(to_words, value)) if isinstance(value, list | tuple) else str(value)

    settings_given = ((name, value) for name, value in settings.items() if value not in (None, "", []))
    return tuple((name.replace("_", " "), to_words(value)) for name, value in settings_given)


def describe_verdict(figures: StudySummary) -> str:
    """What came of a study, in a sentence."""
    return make_safe(next(_describe_decision(figures)))


def _describe_decision(figures: StudySummary) -> Iterator[str]:
    """What is decided."""
    if not figures.complete:
        yield "No trial is complete yet."
        return
    if not figures.metric:
        yield "No recommendation: the trials have no scores and no measurement to rank them by."
        return
    reading = figures.reading
    recommendation = reading.recommendation
    about = f"; about {recommendation.examples:,} examples would be enough to decide" if recommendation.examples else ""
    yield (
        f"Use {recommendation.trial}: {recommendation.reason}{about}."
        if recommendation.trial
        else f"No recommendation: {recommendation.reason}{about}."
    )
    yield from figures.cautions
    best = [trial.name for trial in figures.listed if trial.name in reading.best_set]
    every = len(best) == len(figures.complete) and len(best) > MAX_NAMED
    more = f" and {len(best) - MAX_NAMED} more" if len(best) > MAX_NAMED else ""
    best_text = f"all {len(best)} complete trials" if every else f"{', '.join(best[:MAX_NAMED])}{more}"
    if best:
        yield f"May be best by {reading.metric} (95 % confidence): {best_text}."
    for cost, cost_reading in figures.readings.items():
        if cost:
            if not can_distinguish(figures.get_costs(cost), cost):
                yield f"All trials have about the same {cost}."
            elif cost_reading.front:
                yield f"Best for their {cost}: {', '.join(cost_reading.front)}. {_describe_knee(cost_reading)}"
            if absent := [trial for trial in reading.trials if trial not in figures.get_costs(cost)]:
                yield f"No {cost} was recorded for: {', '.join(absent)}."


def _describe_knee(reading: StudyReading) -> str:
    knee: Knee = reading.knee
    if knee.trial is None:
        return f"{knee.reason[:1].upper()}{knee.reason[1:]}."
    return f"Knee: {reading.trials[knee.trial]} ({knee.agreement:.0%} of resamples agree)."


def _describe_incomplete(figures: StudySummary) -> Iterator[str]:
    needless: dict[str, list[str]] = {}
    for trial in figures.study.trials:
        if trial.state == "pruned" and not trial.run_id:  # what a race dropped has a table of its own
            needless.setdefault(trial.reason, []).append(trial.name)
        elif trial.state not in ("complete", "pruned"):
            yield f"{trial.name}: {trial.state}{f': {trial.reason}' if trial.reason else ''}"
    for reason, names in needless.items():
        yield f"{reason[:1].upper()}{reason[1:]}: {', '.join(names)}."


def _build_extra_section(table: StudyTable) -> ReportSection:
    numbers = dict(
        zip(table.numbers, _build_number_columns([make_safe(cell_text) for cell_text in table.numbers]), strict=True)
    )
    headers = tuple(
        numbers.get(cell_text) or ReportColumn(make_safe(cell_text), fold=True) for cell_text in table.columns
    )
    rows = tuple(tuple(make_safe(cell_text) for cell_text in row) for row in table.rows)
    lead, notes = (tuple(map(make_safe, lines)) for lines in (table.lead, table.notes))
    return ReportSection(make_safe(table.heading), lead=lead, table=ReportTable(headers, rows), notes=notes)

"""Studies in words, tables and charts; what a kind of study adds stands among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragauge.analysis.studies.figures import ChartPoint, StudyChart, StudyTable
from ragauge.reporting.sections import ReportColumn, ReportSection, ReportTable, columns, plain
from ragauge.reporting.words import safe
from ragauge.text.messages import number, signed

if TYPE_CHECKING:
    from ragauge.analysis.studies.figures import StudyFigures
    from ragauge.analysis.studies.front import Knee
    from ragauge.analysis.studies.reading import StudyReading, TrialMean

NONE = "No studies yet. Start with: ragauge chunking SET --corpus PATH --chunker token:size=200,400"
KEY = (
    "May be the best: no other is better by more than chance, all comparisons held at 95 % together. "
    "Differences are paired; p is corrected by Holm over trials and segments."
)


def sections(rows: Sequence[Mapping[str, Any]]) -> Iterator[ReportSection]:
    """The stored studies: name, kind, set, age and how many trials are in which state."""
    shown = []
    for row in rows:
        trials = ", ".join(f"{n} {state}" for state, n in row["trials"].items()) or "none"
        when = row["created_at"][:16].replace("T", " ")
        shown.append((safe(row["name"]), row["kind"], safe(row["set"]), when, trials))
    heads = columns("study", "kind", "set", "created", "trials")
    yield ReportSection(table=ReportTable(heads, tuple(shown))) if rows else ReportSection(lead=(NONE,))


def study_sections(found: StudyFigures) -> Iterator[ReportSection]:
    """The reading, the trials, segments, what the kind adds, and what to run next."""
    told = [safe(one) for one in found.told if isinstance(one, str)]
    rest = (*told, *map(safe, _incomplete(found)))
    lead = tuple(map(safe, _sentences(found)))
    notes = (KEY,) if found.complete and found.metric else ()
    yield ReportSection(found.kind.name, safe(found.study.name), lead, _trials(found), rest, notes)
    for one in found.told:
        if isinstance(one, StudyTable):
            yield _added(one)
    if found.segment_means:
        yield ReportSection("Segments", found.metric, table=_segments(found))
    runs = [trial.run_id for trial in found.complete if trial.run_id]
    if len(runs) > 1:
        report = f"ragauge study report {found.study.name} -o study.html"
        yield ReportSection("Next", commands=(f"ragauge compare {' '.join(_pair(found, runs))}", report))


def _pair(found: StudyFigures, runs: Sequence[str]) -> tuple[str, str]:
    """The runs to compare: the base's, or the first, and the recommended trial's, or the next."""
    by_name = {trial.name: trial.run_id for trial in found.complete if trial.run_id}
    taken = by_name.get(found.reading.recommendation.trial or "", "") if found.metric else ""
    base = next((run for run in (by_name.get(found.base, ""), *runs) if run and run != taken), runs[0])
    return base, taken or next(run for run in runs if run != base)


def study_charts(found: StudyFigures) -> Iterator[StudyChart]:
    """What the kind draws, then quality against each cost with the front and its knee."""
    yield from (one for one in found.told if isinstance(one, StudyChart))
    if not (found.complete and found.metric):
        return
    for cost, reading in found.readings.items():
        prices = found.costs(cost)
        if not cost or len(prices) < 2:
            continue
        bend = reading.trials[reading.knee.trial] if reading.knee.trial is not None else ""
        points = []
        for trial, price in prices.items():
            one = found.mean(trial)
            if one is not None and one.mean is not None:
                series = "on the front" if trial in reading.front else "beaten"
                label = f"{trial} (knee)" if trial == bend else trial
                low, high = (one.interval.low, one.interval.high) if one.interval else (None, None)
                points.append(ChartPoint(price, one.mean, series, low, high, label))
        log = found.logarithmic and min(prices.values()) > 0
        yield StudyChart(f"{found.metric} against {cost}", "points", cost, found.metric, tuple(points), log)


def study_html(found: StudyFigures, *, framed: bool = False) -> str:
    """The same as a page that needs nothing beside it and holds no script.

    Args:
        found: what to show.
        framed: for the srcdoc of a frame, as notebooks show it.
    """
    from markupsafe import Markup

    from ragauge.reporting.anchors import Anchors
    from ragauge.reporting.charts.studies import study_chart
    from ragauge.reporting.html import environment, style_sheet
    from ragauge.reporting.writers.html import sections_html

    style, digest = style_sheet()
    charts = [(one.title, Markup(study_chart(one))) for one in study_charts(found) if one.points]  # noqa: S704 - our own drawing
    first, *rest = study_sections(found)
    named = [replace(first, heading="Trials", about=""), *rest]
    parts = [(plain(one.heading), sections_html([one], Anchors(), 1)) for one in named]
    return environment().get_template("study.html").render(
        study=found.study, parts=parts, charts=charts, framed=framed, style=Markup(style), digest=digest,  # noqa: S704 - our own file
    )     # fmt: skip


def _sentences(found: StudyFigures) -> Iterator[str]:
    """What is decided."""
    if not found.complete:
        yield "No trial is complete."
        return
    if not found.metric:
        yield "Nothing decides: the trials have neither scores nor a measurement that does."
        return
    reading = found.reading
    taken = reading.recommendation
    about = f"; about {taken.examples:,} examples would decide" if taken.examples else ""
    yield f"Take {taken.trial}: {taken.reason}{about}." if taken.trial else f"No recommendation: {taken.reason}{about}."
    yield f"May be the best by {reading.metric} (95 %): {', '.join(reading.best_set)}."
    for cost, one in found.readings.items():
        if cost:
            yield f"Not beaten at their {cost}: {', '.join(one.front)}. {_knee(one)}"
            if absent := [trial.name for trial in found.complete if trial.name not in found.costs(cost)]:
                yield f"Without a {cost}: {', '.join(absent)}."


def _knee(reading: StudyReading) -> str:
    knee: Knee = reading.knee
    if knee.trial is None:
        return f"{knee.reason[:1].upper()}{knee.reason[1:]}."
    return f"Knee: {reading.trials[knee.trial]} ({knee.agreement:.0%} of resamples agree)."


def _incomplete(found: StudyFigures) -> Iterator[str]:
    for trial in found.study.trials:
        if trial.state != "complete":
            yield f"{trial.name}: {trial.state}{f': {trial.reason}' if trial.reason else ''}"


def _trials(found: StudyFigures) -> ReportTable | None:
    """A row a complete trial: what decides with its interval and counts, the difference, costs and what is shown."""
    if not found.complete:
        return None
    measured = [name for name in (*found.kind.costs, *found.kind.shown) if name in found.measured]
    measured = measured or list(found.measured)
    decides = [ReportColumn(found.metric, whole=True), ReportColumn("examples", room=1)] if found.metric else []
    versus = [ReportColumn(f"vs {found.base}")] if found.base else []
    heads = [ReportColumn("trial", fold=True), *decides, *versus]
    rows = []
    for trial in found.complete:
        one = found.mean(trial.name)
        row = [safe(trial.name)]
        if found.metric:
            row += [_with_interval(one), _counts(one)]
        if found.base:
            row.append(_difference(one))
        row += [_measured(trial.measured(name), _unit(found, name), name) for name in measured]
        rows.append(tuple(row))
    costs = [  # the last are the first to go where it is narrow
        ReportColumn(name, "number", room=0 if name in found.kind.costs else 2 + n) for n, name in enumerate(measured)
    ]
    return ReportTable((*heads, *costs), tuple(rows))


def _segments(found: StudyFigures) -> ReportTable:
    heads = ("segment", "trial", found.metric, "examples", *((f"vs {found.base}",) if found.base else ()))
    rows = []
    for one in found.segment_means:
        row = [safe(one.segment), safe(one.trial), _with_interval(one), _counts(one)]
        rows.append(tuple([*row, _difference(one)] if found.base else row))
    return ReportTable(columns(*heads), tuple(rows))


def _added(table: StudyTable) -> ReportSection:
    heads = tuple(ReportColumn(safe(one), "number" if one in table.numbers else "text") for one in table.columns)
    rows = tuple(tuple(safe(one) for one in row) for row in table.rows)
    lead, notes = (tuple(map(safe, lines)) for lines in (table.lead, table.notes))
    return ReportSection(safe(table.heading), lead=lead, table=ReportTable(heads, rows), notes=notes)


def _unit(found: StudyFigures, name: str) -> str:
    return next((one.unit for trial in found.complete for one in trial.measurements if one.name == name), "")


def _with_interval(one: TrialMean | None) -> str:
    if one is None or one.mean is None:
        return "–"
    ends = f" [{number(one.interval.low)}, {number(one.interval.high)}]" if one.interval else ""
    return f"{number(one.mean)}{ends}"


def _counts(one: TrialMean | None) -> str:
    """The four counts; of those that are 0 only scored is told."""
    if one is None:
        return "–"
    return " · ".join(f"{n:,} {status}" for status, n in one.counts.items() if n or status == "scored")


def _difference(one: TrialMean | None) -> str:
    if one is None or one.difference is None or one.difference_interval is None:
        return "–"
    ends = one.difference_interval
    told = f"{signed(one.difference)} [{signed(ends.low)}, {signed(ends.high)}]"
    return told if one.p_value is None else f"{told} p {one.p_value:.2g}"


def _measured(value: float | None, unit: str, name: str) -> str:
    """A measurement with its unit, unless its name tells that."""
    if value is None:
        return "–"
    shown = number(value, "amount" if unit or value > 1 else "mean")
    return f"${shown}" if unit == "USD" else shown if unit in name.split("_") else f"{shown} {unit}".strip()

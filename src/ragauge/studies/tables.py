"""Studies in words, tables and charts; what a kind of study adds stands among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.core.messages import number, plural, signed
from ragauge.metrics.catalogue import parse
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, Wording, columns
from ragauge.rendering.words import safe
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.figures import StudyTable
from ragauge.studies.front import tells_apart

if TYPE_CHECKING:
    from ragauge.core.study import Study
    from ragauge.studies.figures import StudyFigures
    from ragauge.studies.front import Knee
    from ragauge.studies.means import TrialMean
    from ragauge.studies.trial_summary import StudyReading

OPEN_IT = "on its page"  # what came of a study that was not opened for the list
NONE = "No studies yet. Start with: ragauge chunking SET --corpus PATH --chunker token:size=200,400"
KEY = "May be the best: no other is better by more than chance, all comparisons held at 95 % together."
VERSUS = "vs base: the paired difference to {}, with its 95 % interval; {}"
BY_SEGMENT = "p is corrected over all trials and segments by Benjamini and Hochberg: look at these anew on other data."
THIS_PAGE = "ragauge study report"  # the command that makes it is no next step on it
FEW = 10  # examples: smaller segments are counted together
NAMED = 6  # trials that a sentence names
MOST_LABELS = 10  # points of a chart that all have a name; of more those on the front have
MOST_ROWS = 12  # of segments, where there is no room for all of them
MORE = "Not all columns have room here: the page (-o study.html) and the JSON have them."
REAL = 0.05  # corrected p below which a difference in a segment is listed


def sections(rows: Sequence[Mapping[str, Any]]) -> Iterator[ReportSection]:
    """The stored studies: name, kind, set, age, how many trials are in which state, and what came of those that say."""
    told = any("verdict" in row for row in rows)
    shown = []
    for row in rows:
        trials = ", ".join(f"{n} {state}" for state, n in row["trials"].items()) or "none"
        when = row["created_at"][:16].replace("T", " ")
        verdict = (row.get("verdict", OPEN_IT),) if told else ()
        name = Phrase(safe(row["name"]), to=("study", row["name"]))
        shown.append((name, row["kind"], safe(row["set"]), when, trials, *verdict))
    heads = (
        ReportColumn("study", fold=True),
        *columns("kind", "set"),
        ReportColumn("created", whole=True, room=1),
        *columns("trials", *(("what came of it",) if told else ())),
    )
    yield ReportSection(table=ReportTable(heads, tuple(shown))) if rows else ReportSection(lead=(NONE,))


def study_sections(found: StudyFigures, *, whole: bool = False) -> Iterator[ReportSection]:
    """The reading, the trials, what the kind adds, segments, and what to run next.

    Args:
        found: what to show.
        whole: every trial in every segment; else those that matter, where there are many.
    """
    cautions = found.known_items if found.complete else ()
    told = [safe(one) for one in found.told[len(cautions) :] if isinstance(one, str)]
    rest = (*told, *map(safe, _incomplete(found)))
    retriever = found.study.fixed.get("retriever") if found.kind.name == "chunking" else None
    searched = (f"All trials are searched by {retriever}.",) if retriever else ()
    lead = tuple(map(safe, (*cautions, *searched, *_sentences(found))))
    key = [KEY] if found.complete and found.metric else []
    notes = (*key, safe(VERSUS.format(found.base, found.kind.tested))) if found.base else tuple(key)
    yield ReportSection(found.kind.name, safe(found.study.name), lead, _trials(found), rest, notes)
    for one in found.told:
        if isinstance(one, StudyTable):
            yield _added(one)
    if found.beside:
        yield _beside(found, whole=whole)
    if found.segment_means:
        yield _segments(found, whole=whole)
    runs = [trial.run_id for trial in found.complete if trial.run_id]
    if len(runs) > 1:
        report = f"ragauge study report {found.study.name} -o study.html"
        yield ReportSection("Next", commands=(f"ragauge compare {' '.join(_pair(found, runs))}", report))


def _pair(found: StudyFigures, runs: Sequence[str]) -> tuple[str, str]:
    """The runs to compare: the base's, or the first, and the recommended trial's, or the next."""
    by_name = {trial.name: trial.run_id for trial in found.complete if trial.run_id}
    taken = by_name.get(found.reading.recommendation.trial or "", "") if found.metric else ""
    named = found.base_trial.name if found.base_trial is not None else ""
    base = next((run for run in (by_name.get(named, ""), *runs) if run and run != taken), runs[0])
    return base, taken or next(run for run in runs if run != base)


def study_charts(found: StudyFigures) -> Iterator[ReportChart]:
    """What the kind draws, then quality against each cost with the front and its knee."""
    yield from (one for one in found.told if isinstance(one, ReportChart))
    if not (found.complete and found.metric):
        return
    for cost, reading in found.readings.items():
        prices = {trial: price for trial, price in found.costs(cost).items() if trial in reading.trials}
        if not cost or len(set(prices.values())) < 2 or not tells_apart(prices, cost):  # nothing to weigh
            continue
        bend = reading.trials[reading.knee.trial] if reading.knee.trial is not None else ""
        points = []
        for trial, price in prices.items():
            one = found.mean(trial)
            if one is not None and one.mean is not None:
                series = "on the front" if trial in reading.front else "beaten"
                told = found.short(trial) if trial in reading.front or len(prices) <= MOST_LABELS else ""
                label = f"{told} (knee)" if trial == bend else told
                low, high = (one.interval.low, one.interval.high) if one.interval else (None, None)
                points.append(ChartPoint(price, one.mean, series, low, high, label))
        log = found.logarithmic and min(prices.values()) > 0
        by = f", by {', '.join(found.varied)}" if found.kind.ranked else ""
        yield ReportChart(f"{found.metric} against {cost}{by}", "points", cost, found.metric, tuple(points), log)


def study_html(found: StudyFigures, *, framed: bool = False) -> str:
    """The same as a page that needs nothing beside it and holds no script.

    Args:
        found: what to show.
        framed: for the srcdoc of a frame, as notebooks show it.
    """
    from ragauge.evaluation.scorecard.html import sections_page

    return sections_page(study_page(found), found.study.name, about_study(found.study), "study", framed=framed)


def about_study(study: Study) -> str:
    """What a study is, below its name."""
    over = f" over {safe(study.set_name)}" if study.set_name else ""
    return f"{study.kind} study{over}, {plural(len(study.trials), 'trial')}"


def study_page(found: StudyFigures) -> list[ReportSection]:
    """The sections of a study's page, with its charts and all segments; the first has what is decided."""
    study = found.study
    first, *rest = study_sections(found, whole=True)
    shown = [replace(first, heading="Trials", about=""), *rest]
    drawn = sorted(study_charts(found), key=lambda one: one.mark == "bars" and len(one.points) > MOST_ROWS)  # tall last
    if charts := tuple(one for one in drawn if one.points):
        shown.insert(1, ReportSection("Charts", charts=charts))
    shown = [
        replace(one, commands=tuple(line for line in one.commands if not line.startswith(THIS_PAGE))) for one in shown
    ]
    shown.append(ReportSection("Held constant", table=ReportTable(columns("setting", "value"), _fixed(study.fixed))))
    return shown


def _fixed(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What is held constant, in words: yes and no, lists with commas; what has no value is left out."""

    def said(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {said(one)}" for name, one in value.items())
        return ", ".join(map(said, value)) if isinstance(value, list | tuple) else str(value)

    known = ((name, value) for name, value in settings.items() if value not in (None, "", []))
    return tuple((name.replace("_", " "), said(value)) for name, value in known)


def verdict(found: StudyFigures) -> str:
    """What came of a study, in a sentence."""
    return safe(next(_sentences(found)))


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
    yield from found.cautions
    best = [trial.name for trial in found.listed if trial.name in reading.best_set]
    every = len(best) == len(found.complete) and len(best) > NAMED
    more = f" and {len(best) - NAMED} more" if len(best) > NAMED else ""
    named = f"all {len(best)} that are complete" if every else f"{', '.join(best[:NAMED])}{more}"
    if best:
        yield f"May be the best by {reading.metric} (95 %): {named}."
    for cost, one in found.readings.items():
        if cost:
            if not tells_apart(found.costs(cost), cost):
                yield f"By {cost} the trials cost about the same."
            elif one.front:
                yield f"Not beaten at their {cost}: {', '.join(one.front)}. {_knee(one)}"
            if absent := [trial for trial in reading.trials if trial not in found.costs(cost)]:
                yield f"No {cost} is known of: {', '.join(absent)}."


def _knee(reading: StudyReading) -> str:
    knee: Knee = reading.knee
    if knee.trial is None:
        return f"{knee.reason[:1].upper()}{knee.reason[1:]}."
    return f"Knee: {reading.trials[knee.trial]} ({knee.agreement:.0%} of resamples agree)."


def _incomplete(found: StudyFigures) -> Iterator[str]:
    needless: dict[str, list[str]] = {}
    for trial in found.study.trials:
        if trial.state == "pruned" and not trial.run_id:  # what a race dropped has a table of its own
            needless.setdefault(trial.reason, []).append(trial.name)
        elif trial.state not in ("complete", "pruned"):
            yield f"{trial.name}: {trial.state}{f': {trial.reason}' if trial.reason else ''}"
    for reason, names in needless.items():
        yield f"{reason[:1].upper()}{reason[1:]}: {', '.join(names)}."


def _trials(found: StudyFigures) -> ReportTable | None:
    """A row a complete trial: what decides with its interval and counts, the difference, costs and what is shown."""
    if not found.complete:
        return None
    measured = [name for name in (*found.kind.costs, *found.kind.shown) if name in found.measured]
    measured = measured or list(found.measured)
    metric = ReportColumn(found.metric, whole=True, to=_defined(found.metric))
    decides = [metric, ReportColumn("examples", room=1)] if found.metric else []
    versus = [ReportColumn("vs base", whole=True), ReportColumn("p", "number")] if found.base else []
    heads = [ReportColumn("trial", fold=True), *decides, *versus]
    rows = []
    for trial in found.listed:
        one = found.mean(trial.name)
        row: list[Wording] = [Phrase(safe(trial.name), to=("run", trial.run_id)) if trial.run_id else safe(trial.name)]
        if found.metric:
            row += [_with_interval(one), _counts(one)]
        if found.base:
            row += _difference(one)
        row += [_measured(trial.measured(name), _unit(found, name), name) for name in measured]
        rows.append(tuple(row))
    costs = [  # the last are the first to go where it is narrow
        ReportColumn(name, "number", room=0 if name in found.kind.costs else 2 + n) for n, name in enumerate(measured)
    ]
    return ReportTable((*heads, *costs), tuple(rows))


def _beside(found: StudyFigures, *, whole: bool) -> ReportSection:
    """The means of further metrics, a row a trial; with their intervals where there is room for the whole."""
    heads = _numbers(found.beside)
    rows = []
    for trial in found.listed:
        means = [found.mean(trial.name, name) for name in found.beside]
        told = [_with_interval(one) if whole else number(one.mean, _scale(one.metric)) if one else "–" for one in means]
        rows.append((safe(trial.name), *told))
    return ReportSection("Other metrics", table=ReportTable((ReportColumn("trial", fold=True), *heads), tuple(rows)))


def _segments(found: StudyFigures, *, whole: bool) -> ReportSection:
    """Trials by segment: all of them, or where these are many those that a reader has to know of."""
    means, notes = list(found.segment_means), [BY_SEGMENT] if found.base else []
    if not whole and len(means) > MOST_ROWS:
        means, told = _that_matter(found)
        notes = [*told, *notes]
    heads = [ReportColumn("segment", fold=True), ReportColumn("trial", fold=True)]
    heads += [ReportColumn(found.metric, whole=True, to=_defined(found.metric)), ReportColumn("examples", room=1)]
    heads += [ReportColumn("vs base", whole=True), ReportColumn("p", "number")] if found.base else []
    rows = []
    run_of = {trial.name: trial.run_id for trial in found.complete if trial.run_id}
    for one in means:
        trial = Phrase(safe(one.trial), to=("run", run_of[one.trial])) if one.trial in run_of else safe(one.trial)
        row = (safe(one.segment), trial, _with_interval(one), _counts(one))
        rows.append((*row, *_difference(one)) if found.base else row)
    table = ReportTable(tuple(heads), tuple(rows)) if rows else None
    return ReportSection("Segments", found.metric, table=table, notes=tuple(notes))


def _that_matter(found: StudyFigures) -> tuple[list[TrialMean], list[str]]:
    """With a base the differences that are no chance; without, each segment's best trials. And what is left out."""
    by_segment: dict[str, list[TrialMean]] = {}
    for one in found.segment_means:
        by_segment.setdefault(one.segment, []).append(one)
    large = {name: mine for name, mine in by_segment.items() if max(one.counts["scored"] for one in mine) >= FEW}
    if found.base:
        matter = [one for mine in large.values() for one in mine if one.p_value is not None and one.p_value < REAL]
        matter.sort(key=lambda one: one.p_value or 0.0)
        what = f"differences to the base with p < {REAL}"
    else:
        sign = -1 if parse(found.metric).direction == "lower" else 1
        scored = ([one for one in mine if one.mean is not None] for mine in large.values())
        tops = ((max(sign * (one.mean or 0.0) for one in mine), mine) for mine in scored if mine)
        matter = [one for top, mine in tops for one in mine if isclose(sign * (one.mean or 0.0), top, abs_tol=1e-12)]
        matter.sort(key=lambda one: sign * (one.mean or 0.0))
        what = "the best trial of each segment, or those that tie, the weakest segments first"
    shown = matter[:MOST_ROWS]
    of = f"{len(shown)} of {len(matter)}" if len(shown) < len(matter) else "none" if not matter else "all"
    told = [f"Of {len(found.segment_means)} rows here: {what} ({of}). All stand in -o study.html and in the JSON."]
    if small := len(by_segment) - len(large):
        told.append(f"{plural(small, 'segment')} of fewer than {FEW} examples left out here.")
    return shown, told


def _added(table: StudyTable) -> ReportSection:
    numbers = dict(zip(table.numbers, _numbers([safe(one) for one in table.numbers]), strict=True))
    heads = tuple(numbers.get(one) or ReportColumn(safe(one), fold=True) for one in table.columns)
    rows = tuple(tuple(safe(one) for one in row) for row in table.rows)
    lead, notes = (tuple(map(safe, lines)) for lines in (table.lead, table.notes))
    return ReportSection(safe(table.heading), lead=lead, table=ReportTable(heads, rows), notes=notes)


def _numbers(names: Sequence[str]) -> list[ReportColumn]:
    """Columns of numbers, the first always shown, the last the first to go where it is narrow."""
    return [
        ReportColumn(name, "number", room=n, instead=(MORE,) if n and n == len(names) - 1 else (), to=_defined(name))
        for n, name in enumerate(names)
    ]


def _unit(found: StudyFigures, name: str) -> str:
    return next((one.unit for trial in found.complete for one in trial.measurements if one.name == name), "")


def _with_interval(one: TrialMean | None) -> str:
    if one is None or one.mean is None:
        return "–"
    kind = _scale(one.metric)
    ends = f" [{number(one.interval.low, kind)}, {number(one.interval.high, kind)}]" if one.interval else ""
    return f"{number(one.mean, kind)}{ends}"


def _scale(metric: str) -> str:
    """How a mean of it is printed; a measurement is no metric."""
    try:
        return parse(metric).scale
    except UsageError:
        return "mean"


def _defined(name: str) -> tuple[str, ...]:
    """What the name of a metric leads to: its definition; () for a measurement, which has none."""
    try:
        return ("def", str(parse(name)))
    except UsageError:
        return ()


def _counts(one: TrialMean | None) -> str:
    """The four counts; of those that are 0 only scored is told."""
    if one is None:
        return "–"
    told = ((status.replace("_", " "), n) for status, n in one.counts.items() if n or status == "scored")
    return " · ".join(f"{n:,} {status}" for status, n in told)


def _difference(one: TrialMean | None) -> tuple[str, str]:
    """The difference to the base with its interval, and p."""
    if one is None or one.difference is None or one.difference_interval is None:
        return "–", "–"
    ends = one.difference_interval
    told = f"{signed(one.difference)} [{signed(ends.low)}, {signed(ends.high)}]"
    return told, "–" if one.p_value is None else "< 0.001" if one.p_value < 0.001 else f"{one.p_value:.2g}"


def _measured(value: float | None, unit: str, name: str) -> str:
    """A measurement with its unit, unless its name tells that."""
    if value is None:
        return "–"
    shown = number(value, "amount" if unit or value > 1 else "mean")
    return f"${shown}" if unit == "USD" else shown if unit in name.split("_") else f"{shown} {unit}".strip()

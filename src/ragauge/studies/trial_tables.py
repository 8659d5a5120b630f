"""The trials of a study as tables: what decides, further metrics, segments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isclose
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.core.messages import format_count, format_signed, format_value
from ragauge.metrics.catalogue import parse_metric
from ragauge.rendering.sections import Col, ReportColumn, ReportSection, ReportTable, build_table

if TYPE_CHECKING:
    from ragauge.core.study import Trial
    from ragauge.studies.figures import StudySummary
    from ragauge.studies.means import TrialMean


SEGMENTS_NOTE = (
    "p is corrected over all trials and segments (Benjamini-Hochberg); check these results again on other data."
)


MIN_SEGMENT_EXAMPLES = 10  # examples: smaller segments are counted together


MAX_ROWS = 12  # of segments, where there is no room for all of them


MORE_COLUMNS_NOTE = "Some columns do not fit here; the page (-o study.html) and the JSON output have all of them."


MAX_P = 0.05  # corrected p below which a difference in a segment is listed


def _build_trial_table(figures: StudySummary) -> ReportTable | None:
    """A row a complete trial: what decides with its interval and counts, the difference, costs and what is shown."""
    measured = [name for name in (*figures.kind.costs, *figures.kind.shown) if name in figures.measured]
    return build_table(
        [(figures.mean(trial.name), trial) for trial in figures.listed],
        Col("trial", "1.name", link=lambda row: ("run", row[1].run_id) if row[1].run_id else (), fold=True),
        *_list_mean_columns(figures, "0"),
        *(
            Col(  # the last are the first to go where it is narrow
                name,
                partial(_format_measurement, name=name),
                kind="number",
                room=0 if name in figures.kind.costs else 2 + n,
            )
            for n, name in enumerate(measured or figures.measured)
        ),
    )


def _list_mean_columns(figures: StudySummary, of: str) -> tuple[Col, ...]:
    """What decides with its counts, and the difference from the base; `of` leads from a row to the mean."""
    metric = Col(figures.metric, of, _format_mean, whole=True, to=_link_definition(figures.metric))
    difference = Col("vs base", of, _format_difference, whole=True), Col("p", of, _format_p, kind="number")
    return (
        *((metric, Col("examples", of, _format_counts, room=1)) if figures.metric else ()),
        *(difference if figures.base else ()),
    )


def _build_other_metrics(figures: StudySummary, *, is_whole: bool) -> ReportSection:
    """The means of further metrics, a row a trial; with their intervals where there is room for the whole."""

    def format_mean(trial: Trial, name: str) -> str:
        mean = figures.mean(trial.name, name)
        return _format_mean(mean) if is_whole else format_value(mean.mean, _get_scale(mean.metric)) if mean else "–"

    columns = (
        Col(name, partial(format_mean, name=name), kind="number", **_fit_number_column(n, figures.beside))
        for n, name in enumerate(figures.beside)
    )
    return ReportSection("Other metrics", table=build_table(figures.listed, Col("trial", "name", fold=True), *columns))


def _build_segment_section(figures: StudySummary, *, is_whole: bool) -> ReportSection:
    """Trials by segment: all of them, or where these are many those that a reader has to know of."""
    means, notes = list(figures.segment_means), [SEGMENTS_NOTE] if figures.base else []
    if not is_whole and len(means) > MAX_ROWS:
        means, selection_notes = _select_relevant(figures)
        notes = [*selection_notes, *notes]
    run_of = {trial.name: trial.run_id for trial in figures.complete if trial.run_id}
    table = build_table(
        [(mean, mean.segment, mean.trial) for mean in means],
        Col("segment", "1", fold=True),
        Col("trial", "2", link=lambda row: ("run", run_of[row[2]]) if row[2] in run_of else (), fold=True),
        *_list_mean_columns(figures, "0"),
    )
    return ReportSection("Segments", figures.metric, table=table, notes=tuple(notes))


def _select_relevant(figures: StudySummary) -> tuple[list[TrialMean], list[str]]:
    """With a base the differences that are no chance; without, each segment's best trials. And what is left out."""
    by_segment: dict[str, list[TrialMean]] = {}
    for mean in figures.segment_means:
        by_segment.setdefault(mean.segment, []).append(mean)
    large = {
        name: segment_means
        for name, segment_means in by_segment.items()
        if max(mean.counts["scored"] for mean in segment_means) >= MIN_SEGMENT_EXAMPLES
    }
    if figures.base:
        matter = [
            mean
            for segment_means in large.values()
            for mean in segment_means
            if mean.p_value is not None and mean.p_value < MAX_P
        ]
        matter.sort(key=lambda mean: mean.p_value or 0.0)
        what = f"differences from the base with p < {MAX_P}"
    else:
        sign = -1 if parse_metric(figures.metric).direction == "lower" else 1
        scored = ([mean for mean in segment_means if mean.mean is not None] for segment_means in large.values())
        tops = (
            (max(sign * (mean.mean or 0.0) for mean in segment_means), segment_means)
            for segment_means in scored
            if segment_means
        )
        matter = [
            mean
            for top, segment_means in tops
            for mean in segment_means
            if isclose(sign * (mean.mean or 0.0), top, abs_tol=1e-12)
        ]
        matter.sort(key=lambda mean: sign * (mean.mean or 0.0))
        what = "the best trial of each segment (or those that tie), weakest segments first"
    visible = matter[:MAX_ROWS]
    count_text = f"{len(visible)} of {len(matter)}" if len(visible) < len(matter) else "none" if not matter else "all"
    notes = [
        (f"Shows {what} ({count_text}). -o study.html and the JSON output have all {len(figures.segment_means)} rows.")
    ]
    if small := len(by_segment) - len(large):
        notes.append(f"{format_count(small, 'segment')} with fewer than {MIN_SEGMENT_EXAMPLES} examples not shown.")
    return visible, notes


def _build_number_columns(names: Sequence[str]) -> list[ReportColumn]:
    """Columns of numbers, the first always shown, the last the first to go where it is narrow."""
    return [ReportColumn(name, "number", **_fit_number_column(n, names)) for n, name in enumerate(names)]


def _fit_number_column(n: int, names: Sequence[str]) -> dict[str, Any]:
    """The same of column `n`, as fields of it."""
    instead = (MORE_COLUMNS_NOTE,) if n and n == len(names) - 1 else ()
    return {"room": n, "instead": instead, "to": _link_definition(names[n])}


def _format_mean(mean: TrialMean | None) -> str:
    if mean is None or mean.mean is None:
        return "–"
    kind = _get_scale(mean.metric)
    interval_text = (
        f" [{format_value(mean.interval.low, kind)}, {format_value(mean.interval.high, kind)}]" if mean.interval else ""
    )
    return f"{format_value(mean.mean, kind)}{interval_text}"


def _get_scale(metric: str) -> str:
    """How a mean of it is printed; a measurement is no metric."""
    try:
        return parse_metric(metric).scale
    except UsageError:
        return "mean"


def _link_definition(name: str) -> tuple[str, ...]:
    """What the name of a metric leads to: its definition; () for a measurement, which has none."""
    try:
        return ("def", str(parse_metric(name)))
    except UsageError:
        return ()


def _format_counts(mean: TrialMean | None) -> str:
    """The four counts; of those that are 0 only scored is told."""
    if mean is None:
        return "–"
    status_counts = ((status.replace("_", " "), n) for status, n in mean.counts.items() if n or status == "scored")
    return " · ".join(f"{n:,} {status}" for status, n in status_counts)


def _format_difference(mean: TrialMean | None) -> str:
    """The difference to the base with its interval."""
    if mean is None or mean.difference is None or mean.difference_interval is None:
        return "–"
    interval = mean.difference_interval
    return f"{format_signed(mean.difference)} [{format_signed(interval.low)}, {format_signed(interval.high)}]"


def _format_p(mean: TrialMean | None) -> str:
    if mean is None or mean.difference is None or mean.difference_interval is None or mean.p_value is None:
        return "–"
    return "< 0.001" if mean.p_value < 0.001 else f"{mean.p_value:.2g}"


def _format_measurement(row: tuple[TrialMean | None, Trial], name: str) -> str:
    """A measurement with its unit, unless its name tells that."""
    measurement = next((measurement for measurement in row[1].measurements if measurement.name == name), None)
    if measurement is None or measurement.value is None:
        return "–"
    value, unit = measurement.value, measurement.unit
    value_text = format_value(value, "amount" if unit or value > 1 else "mean")
    return (
        f"${value_text}" if unit == "USD" else value_text if unit in name.split("_") else f"{value_text} {unit}".strip()
    )

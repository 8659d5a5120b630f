"""Series of monitors in tables and charts; where labels correct the mean of a day, that mean counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from math import log10
from typing import TYPE_CHECKING

from ragauge.core.messages import format_count, format_value
from ragauge.rendering.sections import Bar, Phrase, ReportColumn, ReportSection, ReportTable, TableCell, Tone
from ragauge.rendering.words import to_line
from ragauge.scores.estimation import MIN_LABELS
from ragauge.scores.results.chart import ChartPoint, ReportChart

if TYPE_CHECKING:
    from ragauge.monitoring.replay.compute import DayMean, SeriesStatus
    from ragauge.monitoring.series.label_correction import CorrectedDay
    from ragauge.monitoring.series.monitor_tracker import Alert

TONES: dict[str, Tone] = {
    "firing": "bad",
    "recovering": "unsure",
    "pending": "unsure",
    "error": "bad",
    "no_data": "unsure",
    "not_enough_data": "faint",
    "not_read": "unsure",
}
ALLOWED_NOTE = (
    "Allowed: after N means that the limit is set once earlier days have N scores; tomorrow, that it is set tomorrow."
)
NOT_READ_NOTE = "Not read: texts whose language or layout the judge cannot read. Their scores raise no alert."
BAND_NOTE = "± is 1.96 standard errors of the mean. It shows how uncertain the mean is; alerts do not depend on it."
SCORES_NOTE = "Scores: from the days that a series keeps, which cover one period or its baseline, whichever is longer."
EVIDENCE_NOTE = (
    "Evidence: how strongly the scores show a larger drop than allowed. An alert fires when the evidence reaches its "
    "limit. The bar has a logarithmic scale."
)
PASSED_NOTE = (
    "{name}: skipped {n} from past logs, more than two days older than scores processed earlier. "
    "ragauge monitor replay counts them."
)
CLOCK_NOTE = (
    "{name}: requests are dated more than two days before the last processed day, {day}, so the clock was set "
    "back. They count toward that day and are tested. After {n}, they count toward their own day."
)
MAX_NAME_CHARS = 60  # characters of a project
BAND_STANDARD_ERRORS = 1.96  # standard errors
MAX_DAYS = 3  # that one sentence names


def describe_column(series: Sequence[SeriesStatus]) -> str:
    """What the column of label-corrected means says, and of which days."""
    days = ", ".join(sorted({str(row.corrected[-1].day) for row in series if row.corrected}))
    return (
        f"By labels: the label-corrected mean with its 95 % interval, for the newest day on which people labeled at "
        f"least {MIN_LABELS} sampled answers ({days}). This mean counts; the judge mean is shown for comparison. The "
        "last 50 and 500, the allowed limit and the evidence use the judge's scores."
    )


def describe_corrected(days: Sequence[CorrectedDay]) -> str:
    """The label-corrected means of the newest days in a sentence; "" where there is none.

    >>> from ragauge.monitoring.series.label_correction import CorrectedDay
    >>> describe_corrected([CorrectedDay(date(2026, 2, 10), 0.714, 0.6, 0.823, 0.75, 60)])
    'Label-corrected, the mean is 0.71 [0.60, 0.82] on 2026-02-10 (60 labels; judge mean: 0.75).'
    """
    means = "; ".join(
        f"{_format_corrected(day)} on {day.day} ({format_count(day.labels, 'label')}; judge mean: "
        f"{format_value(day.judge_mean)})"
        for day in days[-MAX_DAYS:]
    )
    return f"Label-corrected, the mean is {means}." if means else ""


def format_newest_day(days: Sequence[CorrectedDay]) -> str:
    """The newest label-corrected mean as a cell of a table."""
    if not days:
        return "–"
    newest = days[-1]
    return f"{_format_corrected(newest)}, judge {format_value(newest.judge_mean)}"


def _format_corrected(day: CorrectedDay) -> str:
    return f"{format_value(day.mean)} [{format_value(day.low)}, {format_value(day.high)}]"


def build_day_points(days: Sequence[DayMean], corrected: Sequence[CorrectedDay], first: date) -> list[ChartPoint]:
    """The mean of each day with its interval: label-corrected where it is, and then the judge's own beside it."""
    by_day = {row.day: row for row in corrected}
    points: list[ChartPoint] = []
    judge_points: list[ChartPoint] = []
    for day, mean, error, _ in days:
        day_index = (day - first).days
        if (labels := by_day.get(day)) is not None:
            points.append(ChartPoint(day_index, labels.mean, "daily mean", labels.low, labels.high))
            judge_points.append(ChartPoint(day_index, labels.judge_mean, "judge mean on days with label correction"))
            continue
        off = (
            None if error is None else BAND_STANDARD_ERRORS * error
        )  # shares end at 0 and 1, and so does what they may be
        low, high = (None, None) if off is None else (max(0.0, mean - off), min(1.0, mean + off))
        points.append(ChartPoint(day_index, mean, "daily mean", low, high))
    return [*points, *judge_points]


def build_standing_section(series: Sequence[SeriesStatus], open_alerts: Sequence[Alert]) -> ReportSection:
    """A row a series: its state, means and evidence; an alert that names no project is of the first to send."""
    alerts = {(entry.monitor, entry.project, entry.segment): entry.alert_id for entry in open_alerts}
    alone = {(entry.monitor, entry.segment): entry.alert_id for entry in open_alerts if not entry.project}
    unread, labeled = any(row.not_read for row in series), any(row.corrected for row in series)
    headers = (
        ReportColumn("monitor", whole=True),
        ReportColumn("segment"),
        ReportColumn("state", whole=True),
        ReportColumn("since", whole=True, room=4),
        ReportColumn("scores", "number", room=5),
        *((ReportColumn("not read", "number"),) if unread else ()),
        *((ReportColumn("by labels", "number", whole=True),) if labeled else ()),
        ReportColumn("last 50", "number", room=1, whole=True),
        ReportColumn("last 500", "number", room=3, whole=True),
        ReportColumn("allowed", "number", whole=True),
        ReportColumn("evidence", "number", whole=True, room=2),
        ReportColumn("progress to alert", "bar", room=6),
    )
    rows = tuple(
        (
            format_monitor_name(entry.monitor, entry.project),
            _format_segment(entry),
            _format_state(
                entry,
                alerts.get(
                    (entry.monitor, entry.project, entry.segment), alone.get((entry.monitor, entry.segment), "")
                ),
            ),
            "–" if entry.since is None else f"{entry.since:%Y-%m-%d %H:%M}",
            f"{entry.scores:,}",
            *((f"{entry.not_read:,}",) if unread else ()),
            *((format_newest_day(entry.corrected),) if labeled else ()),
            _format_band(entry.last_50, entry.error_50),
            _format_band(entry.last_500, entry.error_500),
            _format_allowed(entry),
            _format_evidence(entry),
            _build_evidence_bar(entry),
        )
        for entry in series
    )
    notes = (
        *((ALLOWED_NOTE,) if any(entry.allowed is None for entry in series) else ()),
        *((NOT_READ_NOTE,) if unread else ()),
        *((describe_column(series),) if labeled else ()),
        BAND_NOTE,
        EVIDENCE_NOTE,
        *_list_passed_notes(series),
    )
    return ReportSection("Series", table=ReportTable(headers, rows, tight=True), notes=notes, top=True)


def _list_passed_notes(series: Sequence[SeriesStatus]) -> Iterator[str]:
    """What monitors passed by, and whose days the clock does not say."""
    for row in series:
        name = format_monitor_name(row.monitor, row.project)
        if row.passed:
            yield PASSED_NOTE.format(name=name, n=format_count(row.passed, "score"))
        if row.doubted is not None and row.days:
            yield CLOCK_NOTE.format(name=name, day=row.days[-1].day, n=format_count(row.doubted + 1, "more score"))


def build_replay_section(series: Sequence[SeriesStatus]) -> ReportSection:
    """A row a series at the end of a replay."""
    headers = (
        ReportColumn("monitor", whole=True),
        ReportColumn("segment"),
        ReportColumn("state", whole=True),
        ReportColumn("scores", "number"),
        ReportColumn("last 50", "number", room=1),
        ReportColumn("last 500", "number", room=2),
        ReportColumn("baseline", "number", room=4),
        ReportColumn("allowed", "number"),
        ReportColumn("evidence", "number", room=3),
        ReportColumn("false alarms, last 50", "number"),
    )
    rows: list[tuple[TableCell, ...]] = []
    for row in series:
        point = "–" if row.point_false_alarms is None else f"{row.point_false_alarms:.0%}"
        rows.append(
            (
                format_monitor_name(row.monitor, row.project),
                _format_segment(row),
                _format_state(row),
                f"{row.scores:,}",
                format_mean(row.last_50),
                format_mean(row.last_500),
                format_mean(row.baseline),
                _format_allowed(row),
                _format_evidence(row),
                point,
            )
        )
    notes = (
        "False alarms, last 50: the share of periods in which an alert based only on the mean of the last 50 scores "
        "would be false, simulated with these scores.",
        SCORES_NOTE,
    )
    return ReportSection("Series", table=ReportTable(headers, tuple(rows)), notes=notes, top=True)


def _build_evidence_bar(row: SeriesStatus) -> TableCell:
    """How near the evidence is to its limit, in powers of ten: from 1, where nothing speaks for a drop."""
    if row.evidence is None:
        return ""
    share = log10(max(1.0, row.evidence)) / log10(row.limit) if row.limit > 1 else 1.0
    return Bar(0.0, min(1.0, share), min(1.0, share), 1.0, "worse" if share >= 1 else "")


def build_days_chart(row: SeriesStatus) -> ReportChart | None:
    """The mean of each day with its band, beside what is allowed; None for fewer than two days."""
    if len(row.days) < 2:
        return None
    first = row.days[0].day
    points = build_day_points(row.days, row.corrected, first)
    if row.allowed is not None:
        points += [ChartPoint((day - first).days, row.allowed, "allowed") for day in (first, row.days[-1].day)]
    project = "" if f"({row.project})" in row.asks else to_line(row.project, MAX_NAME_CHARS)
    where = ", ".join(filter(None, (project, _format_segment(row) if row.segment[0] else "")))
    title = f"{where}: {row.asks}" if where else row.asks
    return ReportChart(title, "lines", "day (UTC)", row.monitor, tuple(points), since=first)


def _format_segment(row: SeriesStatus) -> str:
    return " ".join(map(to_line, row.segment)).strip() or "all"


def _format_state(row: SeriesStatus, alert: str = "") -> Phrase:
    """What a series does, which leads to its open alert."""
    return Phrase(row.state.replace("_", " "), TONES.get(row.state, "good"), ("alert", alert) if alert else ())


def _format_allowed(row: SeriesStatus) -> str:
    if row.allowed is not None:
        return format_mean(row.allowed)
    return f"after {row.needed:,}" if row.needed else "tomorrow"


def _format_evidence(row: SeriesStatus) -> str:
    if row.evidence is None:
        return "–"
    return f"over {row.limit:,.0f}" if row.evidence >= row.limit else f"{row.evidence:.2g} of {row.limit:,.0f}"


def _format_band(mean: float | None, error: float | None) -> str:
    if mean is None or error is None:
        return format_mean(mean)
    return f"{format_value(mean)} ± {format_value(BAND_STANDARD_ERRORS * error)}"


def format_mean(value: float | None) -> str:
    """A mean as a cell of a table."""
    return "–" if value is None else format_value(value)


def format_monitor_name(monitor: str, project: str) -> str:
    """A monitor's name with the project, where there are several and it does not name its own."""
    has_project = not project or monitor.endswith(f" ({project})")
    return to_line(monitor) if has_project else f"{to_line(monitor)} ({to_line(project, MAX_NAME_CHARS)})"

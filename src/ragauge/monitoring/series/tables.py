"""Days of traffic whose mean people's labels correct: that mean counts, and the judge's own stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from ragauge.core.messages import format_count, format_value
from ragauge.scores.estimation import MIN_LABELS
from ragauge.scores.results.chart import ChartPoint

if TYPE_CHECKING:
    from ragauge.monitoring.replay.compute import DayMean, SeriesStatus
    from ragauge.monitoring.series.label_correction import CorrectedDay

BAND_STANDARD_ERRORS = 1.96  # standard errors
MAX_DAYS = 3  # that one sentence names


def describe_column(series: Sequence[SeriesStatus]) -> str:
    """What the column of label-corrected means says, and of which days."""
    days = ", ".join(sorted({str(row.corrected[-1].day) for row in series if row.corrected}))
    return (
        f"By labels: the label-corrected mean, with its 95 % interval, of the newest day of which people labeled "
        f"{MIN_LABELS} drawn answers ({days}). It counts; the judge's own stands beside it. The last 50 and 500, "
        "what is allowed and the evidence are the judge's own."
    )


def describe_corrected(days: Sequence[CorrectedDay]) -> str:
    """The label-corrected means of the newest days in a sentence; "" where there is none.

    >>> from ragauge.monitoring.series.label_correction import CorrectedDay
    >>> describe_corrected([CorrectedDay(date(2026, 2, 10), 0.714, 0.6, 0.823, 0.75, 60)])
    "Label-corrected, the mean is 0.71 [0.60, 0.82] on 2026-02-10 (60 labels; the judge's own: 0.75)."
    """
    means = "; ".join(
        f"{_format_mean(day)} on {day.day} ({format_count(day.labels, 'label')}; the judge's own: "
        f"{format_value(day.judge_mean)})"
        for day in days[-MAX_DAYS:]
    )
    return f"Label-corrected, the mean is {means}." if means else ""


def format_newest_day(days: Sequence[CorrectedDay]) -> str:
    """The newest label-corrected mean as a cell of a table."""
    if not days:
        return "–"
    newest = days[-1]
    return f"{_format_mean(newest)}, judge {format_value(newest.judge_mean)}"


def _format_mean(day: CorrectedDay) -> str:
    return f"{format_value(day.mean)} [{format_value(day.low)}, {format_value(day.high)}]"


def build_day_points(days: Sequence[DayMean], corrected: Sequence[CorrectedDay], first: date) -> list[ChartPoint]:
    """The mean of each day with its interval: label-corrected where it is, and then the judge's own beside it."""
    by_day = {row.day: row for row in corrected}
    points: list[ChartPoint] = []
    judge_points: list[ChartPoint] = []
    for day, mean, error, _ in days:
        day_index = (day - first).days
        if (labels := by_day.get(day)) is not None:
            points.append(ChartPoint(day_index, labels.mean, "mean of the day", labels.low, labels.high))
            judge_points.append(ChartPoint(day_index, labels.judge_mean, "judge's own, where labels correct it"))
            continue
        off = (
            None if error is None else BAND_STANDARD_ERRORS * error
        )  # shares end at 0 and 1, and so does what they may be
        low, high = (None, None) if off is None else (max(0.0, mean - off), min(1.0, mean + off))
        points.append(ChartPoint(day_index, mean, "mean of the day", low, high))
    return [*points, *judge_points]

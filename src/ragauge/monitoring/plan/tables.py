"""What a monitor can see, as sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.core.messages import format_count, format_value
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, TableCell

if TYPE_CHECKING:
    from ragauge.monitoring.plan.compute import MonitorPlan, PlannedDelay

SIMULATED_PERIODS = 2  # that were simulated


def build_sections(plan: MonitorPlan) -> Iterator[ReportSection]:
    """Days to see a drop, and dollars a day, by the share of requests that is judged."""
    drops = plan.rates[0].delays
    headers = (
        ReportColumn("judged", "number"),
        ReportColumn("scores per day", "number"),
        ReportColumn("$ per day", "number"),
        ReportColumn("baseline after", "number"),
        *(ReportColumn(f"drop of {entry.drop:.0%}", "number", whole=True) for entry in drops),
    )
    longest = f"> {SIMULATED_PERIODS * plan.days} d"
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (
            f"{entry.rate:.0%}",
            f"{entry.scores:,.0f}",
            "?" if entry.cost is None else f"{entry.cost:,.2f}",
            f"{entry.baseline:,} d",
            *(_format_delay(delay, longest) for delay in entry.delays),
        )
        for entry in plan.rates
    )
    what = (
        f"{plan.metric}: mean {format_value(plan.mean)}"
        if plan.metric
        else f"Scores with a mean of {format_value(plan.mean)}"
    )
    yield ReportSection(
        "Monitor plan",
        f"{plan.requests:,} requests per day",
        (
            f"{what}, standard deviation {format_value(plan.deviation)}. The monitor alerts when the mean "
            f"drops by more than {100 * plan.max_drop:g} %.",
            f"At most {100 * plan.false_alarms:g} % of {plan.days}-day periods have any false alarm, across "
            f"{format_count(plan.series, 'series', 'series')}.",
        ),
        ReportTable(headers, rows),
        notes=(
            "Drops: time until half of such drops have raised an alert, and until 80 % have. In the simulation, a "
            "share of the requests scores 0 from some time on.",
            "Baseline after: days until the baseline is known. Nothing alerts before that.",
            "Metrics without a judge are measured on every request: see the last row.",
        ),
    )


def _format_delay(delay: PlannedDelay, longest: str) -> Phrase:
    median, most_time = (longest if days is None else _format_time(days) for days in (delay.median, delay.most))
    text = median if median == most_time else f"{median}, {most_time}"
    return Phrase(text, "faint" if delay.median is None else "")


def _format_time(days: float) -> str:
    if days >= 10:
        return f"{days:.0f} d"
    if days >= 1:
        return f"{days:.1f} d"
    return f"{days * 24:.0f} h" if days * 24 >= 1 else "< 1 h"

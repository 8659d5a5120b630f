"""What a monitor can see, as sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.core.messages import number, plural
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, TableCell

if TYPE_CHECKING:
    from ragauge.monitoring.plan.compute import MonitorPlan, PlannedDelay

PERIODS = 2  # that were simulated


def sections(plan: MonitorPlan) -> Iterator[ReportSection]:
    """Days to see a drop, and dollars a day, by the share of requests that is judged."""
    drops = plan.rates[0].delays
    heads = (
        ReportColumn("judged", "number"),
        ReportColumn("scores a day", "number"),
        ReportColumn("$ a day", "number"),
        ReportColumn("known after", "number"),
        *(ReportColumn(f"drop of {one.drop:.0%}", "number", whole=True) for one in drops),
    )
    longest = f"> {PERIODS * plan.days} d"
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (
            f"{one.rate:.0%}",
            f"{one.scores:,.0f}",
            "?" if one.cost is None else f"{one.cost:,.2f}",
            f"{one.baseline:,} d",
            *(_delay(delay, longest) for delay in one.delays),
        )
        for one in plan.rates
    )
    what = f"{plan.metric}: mean {number(plan.mean)}" if plan.metric else f"Scores with a mean of {number(plan.mean)}"
    yield ReportSection(
        "Plan of a monitor",
        f"{plan.requests:,} requests a day",
        (
            f"{what}, standard deviation {number(plan.deviation)}. It alerts when the mean is more than "
            f"{100 * plan.max_drop:g} % lower.",
            f"At most {100 * plan.false_alarms:g} % of periods of {plan.days} days have even one false alarm of "
            f"{plural(plan.series, 'series', 'series')}.",
        ),
        ReportTable(heads, rows),
        notes=(
            "Drops: how long until half of such drops have alerted, and until 80 % have; simulated, a share of the "
            "requests that scores 0 from then on.",
            "Known after: days until the baseline is known, before which nothing alerts.",
            "Metrics that ask no judge are measured on every request: read the last row.",
        ),
    )


def _delay(delay: PlannedDelay, longest: str) -> Phrase:
    median, most = (longest if days is None else _time(days) for days in (delay.median, delay.most))
    text = median if median == most else f"{median}, {most}"
    return Phrase(text, "faint" if delay.median is None else "")


def _time(days: float) -> str:
    if days >= 10:
        return f"{days:.0f} d"
    if days >= 1:
        return f"{days:.1f} d"
    return f"{days * 24:.0f} h" if days * 24 >= 1 else "< 1 h"

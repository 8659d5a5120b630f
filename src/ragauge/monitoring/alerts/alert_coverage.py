"""The false-alarm budget, whose traffic is watched, and which requests failed, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import format_count, format_value
from ragauge.monitoring.series.tables import MAX_NAME_CHARS, format_monitor_name
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable
from ragauge.rendering.verdict_texts import VERDICTS
from ragauge.rendering.words import to_line

if TYPE_CHECKING:
    from ragauge.core.verdict import VerdictCounts
    from ragauge.monitoring.series.alert_details import AlertAccount
    from ragauge.monitoring.series.false_alarm_budget import AlarmShares, MonitoredProjects
    from ragauge.monitoring.series.label_correction import CorrectedDay
    from ragauge.monitoring.series.monitor_tracker import Alert

SHARES_NOTE = (
    "Each monitor splits its share across its series; each daily test splits its share across the days of a period."
)
UNCLEAR_NOTE = "only failed requests count as failures"
OLDER_VERDICTS_NOTE = (
    "An older rule decided some of the verdicts before or after the alert, so they are not compared and no cause is "
    "named."
)
MIN_SHARE = 0.005  # of the requests, from which a cause is told: less is written 0%
MAX_NAMES = 20  # projects that are named


def describe_projects(projects: MonitoredProjects) -> Iterator[Phrase]:
    """Whose traffic is watched, whose is not and what to write, and which project has sent nothing; nothing of one."""
    if unwatched := (*projects.drifting, *projects.others):
        watched = f"Monitored: {format_names(projects.watched)}. " if projects.watched else ""
        drifting = f"Only tested for drift: {format_names(projects.drifting)}. " if projects.drifting else ""
        how = f"To monitor it, add a monitor with project: {format_names(unwatched[:1])}."
        others = f"Ingested and scored, but not monitored: {format_names(projects.others)}. "
        yield Phrase(f"{watched}{drifting}{others if projects.others else ''}{how}", "unsure")
    if projects.unheard:
        yield Phrase(f"No traffic has arrived yet from the monitored {format_names(projects.unheard)}.", "unsure")


def format_names(names: tuple[str, ...]) -> str:
    """Names of projects, as far as there is room."""
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return ", ".join(to_line(name, MAX_NAME_CHARS) or "(no name)" for name in names[:MAX_NAMES]) + more


def describe_false_alarms(shares: AlarmShares) -> str:
    """The chance of even one false alarm."""
    tested = "across all monitors, segments, drift tests and the judge canary"
    return f"At most {100 * shares.chance:g} % of {shares.days}-day periods have any false alarm, {tested}."


def build_shares_section(shares: AlarmShares) -> ReportSection:
    """Who shares the false alarms that are allowed, and what raises alerts beside."""
    headers = (
        ReportColumn("test"),
        ReportColumn("chance per period", "number"),
        ReportColumn("split across", "number"),
    )
    rows = tuple((to_line(share.what), f"{100 * share.chance:.3g} %", f"{share.among:,}") for share in shares.shares)
    excluded_text = f"Not covered by the budget: {'; '.join(shares.excluded)}." if shares.excluded else ""
    notes = (SHARES_NOTE, excluded_text) if excluded_text else (SHARES_NOTE,)
    return ReportSection("False-alarm budget", table=ReportTable(headers, rows), notes=notes)


def build_failure_sections(account: AlertAccount) -> Iterator[ReportSection]:
    """Verdicts on the requests before an alert and since, then the causes of those that failed."""
    if account.verdicts is not None and all(counts.n for counts in account.verdicts):
        yield _build_verdict_section(*account.verdicts)
    causes = [cause for cause in account.causes if max(cause.before, cause.now) >= MIN_SHARE]
    if causes:
        headers = (
            ReportColumn("cause", whole=True),
            ReportColumn("before", "number"),
            ReportColumn("now", "number"),
            ReportColumn("suggested fix"),
        )
        rows = tuple(
            (
                to_line(cause.name),
                f"{cause.before:.0%}",
                f"{cause.now:.0%}",
                to_line(cause.fix) if cause.now > cause.before else "–",
            )
            for cause in causes
        )
        yield ReportSection("Causes of failures", "share of requests", table=ReportTable(headers, rows))


def _build_verdict_section(previous: VerdictCounts, current: VerdictCounts) -> ReportSection:
    """Requests by verdict; without shares where an older rule decided some of them."""
    if not (previous.is_current and current.is_current):
        return ReportSection("Verdicts", lead=(OLDER_VERDICTS_NOTE,))
    headers = (ReportColumn("requests", whole=True), *(ReportColumn(name, "number") for name in VERDICTS.values()))
    rows = tuple(
        (name, *(f"{count:,} ({count / counts.n:.0%})" for count in (getattr(counts, verdict) for verdict in VERDICTS)))
        for name, counts in (("before", previous), ("now", current))
    )
    return ReportSection("Verdicts", UNCLEAR_NOTE, table=ReportTable(headers, rows))


def format_headline(alert: Alert, corrected: Sequence[CorrectedDay] = ()) -> str:
    """One line of an alert, without a user's words; where labels correct a day since, by their mean, which counts.

    >>> from datetime import UTC, date, datetime
    >>> from ragauge.monitoring.series.monitor_tracker import Alert
    >>> at = datetime(2026, 2, 11, tzinfo=UTC)
    >>> alert = Alert("a1", "faithfulness", "", ("", ""), at, 9, "t9", date(2026, 2, 10), 0.75, 80, 0.87, 0.9, 41.0,
    ...               20.0, 1, "test", False)
    >>> format_headline(alert)
    'faithfulness has been 0.75 since 2026-02-10, below the allowed 0.87'
    >>> from ragauge.monitoring.series.label_correction import CorrectedDay
    >>> format_headline(alert, [CorrectedDay(date(2026, 2, 10), 0.9, 0.8, 0.95, 0.76, 60)])
    'faithfulness was 0.90 by labels on 2026-02-10, not below the allowed 0.87 (judge mean: 0.75 since 2026-02-10)'
    """
    if alert.said:
        return to_line(alert.said)
    where = f" of {to_line(alert.segment[0])} {to_line(alert.segment[1])}" if alert.segment[0] else ""
    mean = "unknown" if alert.mean is None else format_value(alert.mean)
    comparison = "above" if alert.lower else "below"
    what = f"{format_monitor_name(alert.monitor, alert.project)}{where}"
    days = [row for row in corrected if row.day >= alert.since]
    window = f"over the last {format_count(alert.n, 'score')}" if alert.decide == "point" else f"since {alert.since}"
    if not days:
        return f"{what} has been {mean} {window}, {comparison} the allowed {format_value(alert.allowed)}"
    is_off = days[-1].mean > alert.allowed if alert.lower else days[-1].mean < alert.allowed
    by_labels = (
        f"{what} was {format_value(days[-1].mean)} by labels on {days[-1].day}, {'' if is_off else 'not '}{comparison}"
    )
    return f"{by_labels} the allowed {format_value(alert.allowed)} (judge mean: {mean} {window})"

"""The false-alarm budget, whose traffic is watched, and which requests failed, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.core.messages import number, plural
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable
from ragauge.rendering.verdict_texts import VERDICTS
from ragauge.rendering.words import line

if TYPE_CHECKING:
    from ragauge.core.verdict import VerdictCounts
    from ragauge.monitoring.series.alert_details import AlertAccount
    from ragauge.monitoring.series.false_alarm_budget import AlarmShares
    from ragauge.monitoring.series.label_correction import CorrectedDay
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.monitoring.series.projects import WatchedProjects

DIVIDED = "A monitor divides its part among its series, a daily look among the days of a period."
UNCLEAR_APART = "only failed requests count as failures"
OLDER_VERDICTS = (
    "Failed, unclear and passed are counted by an older rule before the alert, since, or both: they are not compared, "
    "and no cause is named."
)
LEAST_SHARE = 0.005  # of the requests, from which a cause is told: less is written 0%
MOST_NAMES, MOST_NAME = 20, 60  # projects that are named, and characters of each


def projects_said(found: WatchedProjects) -> Iterator[Phrase]:
    """Whose traffic is watched, whose is not and what to write, and which project has sent nothing; nothing of one."""
    if unwatched := (*found.drifting, *found.others):
        watched = f"Watched: {names_said(found.watched)}. " if found.watched else ""
        drifting = f"Watched by drift alone: {names_said(found.drifting)}. " if found.drifting else ""
        how = f"A monitor with project: {names_said(unwatched[:1])} watches that one."
        others = f"Not watched: {names_said(found.others)}, whose traffic is taken in and scored. "
        yield Phrase(f"{watched}{drifting}{others if found.others else ''}{how}", "unsure")
    if found.unheard:
        yield Phrase(f"Nothing has come of {names_said(found.unheard)} so far, which is to be watched.", "unsure")


def names_said(names: tuple[str, ...]) -> str:
    """Names of projects, as far as there is room."""
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(line(name, MOST_NAME) or "(no name)" for name in names[:MOST_NAMES]) + more


def promise(shares: AlarmShares) -> str:
    """The chance of even one false alarm."""
    tested = "over all monitors, segments, drift and the judge canary"
    return f"At most {100 * shares.chance:g} % of periods of {shares.days} days have even one false alarm, {tested}."


def shares_section(shares: AlarmShares) -> ReportSection:
    """Who shares the false alarms that are allowed, and what raises alerts beside."""
    heads = (
        ReportColumn("what is tested"),
        ReportColumn("chance a period", "number"),
        ReportColumn("divided among", "number"),
    )
    rows = tuple((line(one.what), f"{100 * one.chance:.3g} %", f"{one.among:,}") for one in shares.shares)
    beside = f"Not counted: {'; '.join(shares.excluded)}." if shares.excluded else ""
    notes = (DIVIDED, beside) if beside else (DIVIDED,)
    return ReportSection("Who shares the false alarms", table=ReportTable(heads, rows), notes=notes)


def failure_sections(told: AlertAccount) -> Iterator[ReportSection]:
    """Verdicts on the requests before an alert and since, then the causes of those that failed."""
    if told.verdicts is not None and all(counts.n for counts in told.verdicts):
        yield _verdicts(*told.verdicts)
    causes = [cause for cause in told.causes if max(cause.before, cause.now) >= LEAST_SHARE]
    if causes:
        heads = (
            ReportColumn("cause", whole=True),
            ReportColumn("before", "number"),
            ReportColumn("now", "number"),
            ReportColumn("what to try"),
        )
        rows = tuple(
            (
                line(cause.name),
                f"{cause.before:.0%}",
                f"{cause.now:.0%}",
                line(cause.fix) if cause.now > cause.before else "–",
            )
            for cause in causes
        )
        yield ReportSection("Causes of failures", "shares of the requests", table=ReportTable(heads, rows))


def _verdicts(before: VerdictCounts, now: VerdictCounts) -> ReportSection:
    """Requests by verdict; without shares where an older rule decided some of them."""
    if not (before.is_current and now.is_current):
        return ReportSection("Verdicts", lead=(OLDER_VERDICTS,))
    heads = (ReportColumn("requests", whole=True), *(ReportColumn(name, "number") for name in VERDICTS.values()))
    rows = tuple(
        (name, *(f"{count:,} ({count / counts.n:.0%})" for count in (getattr(counts, verdict) for verdict in VERDICTS)))
        for name, counts in (("before", before), ("now", now))
    )
    return ReportSection("Verdicts", UNCLEAR_APART, table=ReportTable(heads, rows))


def name_monitor(monitor: str, project: str) -> str:
    """A monitor's name with the project, where there are several and it does not name its own."""
    named = not project or monitor.endswith(f" ({project})")
    return line(monitor) if named else f"{line(monitor)} ({line(project, MOST_NAME)})"


def headline(alert: Alert, corrected: Sequence[CorrectedDay] = ()) -> str:
    """One line of an alert, without a user's words; where labels correct a day since, by their mean, which counts.

    >>> from datetime import UTC, date, datetime
    >>> from ragauge.monitoring.series.monitor_tracker import Alert
    >>> at = datetime(2026, 2, 11, tzinfo=UTC)
    >>> alert = Alert("a1", "faithfulness", "", ("", ""), at, 9, "t9", date(2026, 2, 10), 0.75, 80, 0.87, 0.9, 41.0,
    ...               20.0, 1, "test", False)
    >>> headline(alert)
    'faithfulness is 0.75 since 2026-02-10, less than 0.87'
    >>> from ragauge.monitoring.series.label_correction import CorrectedDay
    >>> headline(alert, [CorrectedDay(date(2026, 2, 10), 0.9, 0.8, 0.95, 0.76, 60)])
    "faithfulness is 0.90 by labels on 2026-02-10, not less than 0.87 (the judge's own: 0.75 since 2026-02-10)"
    """
    if alert.said:
        return line(alert.said)
    where = f" of {line(alert.segment[0])} {line(alert.segment[1])}" if alert.segment[0] else ""
    mean = "unknown" if alert.mean is None else number(alert.mean)
    side = "more" if alert.lower else "less"
    what = f"{name_monitor(alert.monitor, alert.project)}{where}"
    days = [row for row in corrected if row.day >= alert.since]
    window = f"over the last {plural(alert.n, 'score')}" if alert.decide == "point" else f"since {alert.since}"
    if not days:
        return f"{what} is {mean} {window}, {side} than {number(alert.allowed)}"
    is_off = days[-1].mean > alert.allowed if alert.lower else days[-1].mean < alert.allowed
    by_labels = f"{what} is {number(days[-1].mean)} by labels on {days[-1].day}, {'' if is_off else 'not '}{side}"
    return f"{by_labels} than {number(alert.allowed)} (the judge's own: {mean} {window})"

"""Who shares the false alarms, whose traffic is watched, when nobody is told, and which requests failed, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import MAXYEAR
from typing import TYPE_CHECKING

from ragauge.data.config.times import written
from ragauge.reporting.sections import Phrase, ReportColumn, ReportSection, ReportTable
from ragauge.reporting.verdict_words import VERDICTS
from ragauge.reporting.words import line

if TYPE_CHECKING:
    from datetime import datetime

    from ragauge.analysis.monitoring.accounts import AlertAccount
    from ragauge.analysis.monitoring.projects import WatchedProjects
    from ragauge.analysis.monitoring.promise import AlarmShares
    from ragauge.analysis.monitoring.silences import Silence, SilenceStatus
    from ragauge.data.verdict import VerdictCounts

DIVIDED = "A monitor divides its part among its series, a daily look among the days of a period."
UNCLEAR_APART = "only failed requests count as failures"
OLDER_VERDICTS = (
    "Failed, unclear and passed are counted by an older rule before the alert, since, or both: they are not compared, "
    "and no cause is named."
)
LEAST_SHARE = 0.005     # of the requests, from which a cause is told: less is written 0%
MOST_NAMES, MOST_NAME = 20, 60     # projects that are named, and characters of each


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
        ReportColumn("what is tested"), ReportColumn("chance a period", "number"),
        ReportColumn("divided among", "number"),
    )     # fmt: skip
    rows = tuple((line(one.what), f"{100 * one.chance:.3g} %", f"{one.among:,}") for one in shares.shares)
    beside = f"Not counted: {'; '.join(shares.excluded)}." if shares.excluded else ""
    notes = (DIVIDED, beside) if beside else (DIVIDED,)
    return ReportSection("Who shares the false alarms", table=ReportTable(heads, rows), notes=notes)


def silences_section(silences: Sequence[SilenceStatus]) -> ReportSection:
    """When nobody is told."""
    heads = (
        ReportColumn("monitor", whole=True), ReportColumn("segment"), ReportColumn("when"),
        ReportColumn("now", whole=True), ReportColumn("why"),
    )     # fmt: skip
    rows = tuple(
        (line(one.silence.monitor) or "all", " ".join(map(line, one.silence.segment)).strip() or "all",
         _when(one.silence), "–" if one.until is None else _until(one.until), line(one.silence.why))
        for one in silences
    )  # fmt: skip
    return ReportSection("Silences", "nobody is told; alerts are raised all the same", table=ReportTable(heads, rows))


def _when(one: Silence) -> str:
    if one.cron:
        return f"{line(one.cron)} ({line(one.zone)}), for {written(one.length)}"
    begins = "" if one.begins is None else f"from {one.begins:%Y-%m-%d %H:%M} "
    return f"{begins}to {one.ends:%Y-%m-%d %H:%M}" if one.ends is not None else begins.strip()


def _until(at: datetime) -> Phrase:
    return Phrase("silent" if at.year == MAXYEAR else f"silent until {at:%Y-%m-%d %H:%M}", "unsure")


def failure_sections(told: AlertAccount) -> Iterator[ReportSection]:
    """Verdicts on the requests before an alert and since, then the causes of those that failed."""
    if told.verdicts is not None and all(counts.n for counts in told.verdicts):
        yield _verdicts(*told.verdicts)
    causes = [cause for cause in told.causes if max(cause.before, cause.now) >= LEAST_SHARE]
    if causes:
        heads = (
            ReportColumn("cause", whole=True), ReportColumn("before", "number"), ReportColumn("now", "number"),
            ReportColumn("what to try"),
        )     # fmt: skip
        rows = tuple(
            (line(cause.name), f"{cause.before:.0%}", f"{cause.now:.0%}",
             line(cause.fix) if cause.now > cause.before else "–")
            for cause in causes
        )  # fmt: skip
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

"""Who shares the false alarms that are allowed, and whose traffic is watched, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragauge.reporting.sections import Phrase, ReportColumn, ReportSection, ReportTable
from ragauge.reporting.words import line

if TYPE_CHECKING:
    from ragauge.analysis.monitoring.projects import WatchedProjects
    from ragauge.analysis.monitoring.promise import AlarmShares

DIVIDED = "A monitor divides its part among its series, a daily look among the days of a period."
MOST_NAMES, MOST_NAME = 20, 60     # projects that are named, and characters of each


def projects_said(found: WatchedProjects) -> Iterator[Phrase]:
    """Whose traffic is watched, whose is not and what to write, and which project has sent nothing; nothing of one."""
    if found.others:
        watched = f"Watched: {_named(found.watched)}. " if found.watched else ""
        how = f"A monitor with project: {_named(found.others[:1])} watches that one."
        others = f"Not watched: {_named(found.others)}, whose traffic is taken in and scored."
        yield Phrase(f"{watched}{others} {how}", "unsure")
    if found.unheard:
        yield Phrase(f"Nothing has come of {_named(found.unheard)} so far, which is to be watched.", "unsure")


def _named(names: tuple[str, ...]) -> str:
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



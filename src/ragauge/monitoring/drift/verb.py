"""Monitor drift and mark: whether what is asked and found in production is as before, and what of it is usual."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from ragauge.core.errors import UnknownName, UsageError
from ragauge.monitoring.drift.compute import DriftReport, Texts
from ragauge.monitoring.drift.normal_ranges import LEAST_GOOD, Marked, MarkedPeriod, marked_days
from ragauge.monitoring.options import MonitorDriftOptions, MonitorMarkOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import Found, PageResult
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.add.verb import AddedSet

KINDS: tuple[Texts, ...] = ("queries", "documents")


class DriftResult(PageResult):
    """Drift of the stored traffic, in every form.

    Attributes:
        found: every number as plain frozen values.
        added: what a set got of the clusters that grew, by run.
    """

    _what = "drift of traffic"

    def __init__(self, found: DriftReport, added: tuple[AddedSet, ...] = ()) -> None:
        self.found, self.added = found, added

    @property
    def _value(self) -> DriftReport:
        return self.found

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.drift.tables import drift_sections

        yield from drift_sections(self.found)
        for one in self.added:
            yield from one._sections()


@keywords(MonitorDriftOptions)
def monitor_drift(wanted: MonitorDriftOptions) -> DriftResult:
    """Whether the questions and first passages of the last seven days moved, and how those of the last day differ.

    What is measured of the last day stands beside the values that are usual, learned from the days that people marked
    good and bad. It asks nobody and changes nothing, but for a set that `to` names.

    Options:
        day: the last day that is looked at (ISO, UTC); "" = the last with traffic.
        to: a set, JSON lines, that gets the questions shown of the clusters of queries that grew, as drafts.
        tag: what these are tagged with.
        project: whose traffic; "" = that of the project whose traffic came first.
        store: URL of the store.

    Raises:
        UsageError: no such day, no traffic is stored, or `to` is no set.
    """
    from ragauge.engine.request_stream import arrivals, day_of, traffic_projects, traffic_runs
    from ragauge.monitoring.drift.drift_days import BASELINE_DAYS, LAST_DAYS
    from ragauge.monitoring.drift.drift_measures import drift_report
    from ragauge.monitoring.replay.verb import NoTraffic, day_of_text
    from ragauge.store.store_access import open_store

    asked, url = day_of_text("day", wanted.day), store_url(wanted.store)
    with open_store(url) as store:
        runs = traffic_runs(store, project=wanted.project)
        days = [day for run in runs if (day := day_of(run)) and (not asked or day <= asked)]
        if not days:
            when = f" until {asked}" if asked else ""
            raise NoTraffic(when, wanted.project)
        last = asked or max(days)
        marked = min(marked_days(store.periods.list()), default=date.max)
        since = min(date.fromisoformat(max(days)) - timedelta(days=LAST_DAYS), marked)
        since -= timedelta(days=BASELINE_DAYS + 1)
        taken = arrivals(store, [], since=since.isoformat(), project=wanted.project)
        came = [one for one in taken if one.at.date().isoformat() <= last]
        explained = max((one.at.date() for one in came), default=date.fromisoformat(last))
        whose = runs[0].system
        others = [one for one in traffic_projects(store) if one != whose]
        found = drift_report(store, came, KINDS, explained, among=(whose, *others))
    return DriftResult(found, _added(found, wanted, url) if wanted.to else ())


def _added(found: DriftReport, wanted: MonitorDriftOptions, url: str) -> tuple[AddedSet, ...]:
    """The questions of the clusters that grew, as drafts of a set."""
    from ragauge.testsets.add.verb import add_examples

    by_run: dict[str, dict[str, None]] = {}
    for one in found.details:
        for cluster in one.grown if one.of == "queries" else ():
            for text in cluster.texts:
                by_run.setdefault(text.run_id, {})[text.query_id] = None
    return tuple(
        add_examples(run_id, ids=tuple(ids), to=Path(wanted.to), tag=wanted.tag, store=url)
        for run_id, ids in by_run.items()
    )


@dataclass(frozen=True, slots=True)
class MarkedDays:
    """What people said of days.

    Attributes:
        periods: every one, in order of time.
        good: days marked good.
        bad: days marked bad.
        least: good days that a band takes.
    """

    periods: tuple[MarkedPeriod, ...]
    good: int
    bad: int
    least: int = LEAST_GOOD


class MarksResult(Found):
    """What people said of days, in every form."""

    found: MarkedDays

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.drift.tables import marked_sections

        return marked_sections(self.found.periods, self.found.good, self.found.bad)


@keywords(MonitorMarkOptions)
def monitor_mark(wanted: MonitorMarkOptions) -> MarksResult:
    """Says of days that production was good or bad, or takes that back; without a word it lists what was said.

    Options:
        was: good or bad; forget takes back what was said of periods within these days; "" = list.
        since: the first day (ISO, UTC).
        until: the last day, which counts too; the first by default.
        why: in your words.
        store: URL of the store.

    Raises:
        UnknownName: neither good, bad nor forget.
        UsageError: a day is missing, is no day, or the last lies before the first.
    """
    from ragauge.monitoring.replay.verb import day_of_text
    from ragauge.store.store_access import open_store

    first, last = day_of_text("--from", wanted.since), day_of_text("--until", wanted.until)
    if wanted.was and wanted.was not in (*get_args(Marked), "forget"):
        raise UnknownName("word for days", wanted.was, (*get_args(Marked), "forget"))
    if bool(wanted.was) != bool(first) or (last and last < first):
        example = "ragauge monitor mark good --from 2026-01-01 --until 2026-01-14"
        raise UsageError(f"monitor mark: expected good or bad, --from and a later --until. Write: {example}.")
    with open_store(store_url(wanted.store)) as store:
        if wanted.was:
            since, until = date.fromisoformat(first), date.fromisoformat(last or first)
            if wanted.was == "forget":
                store.periods.forget(since, until)
            else:
                store.periods.mark(MarkedPeriod(since, until, cast("Marked", wanted.was), wanted.why))
        periods = store.periods.list()
    was = list(marked_days(periods).values())
    ordered = tuple(sorted(periods, key=lambda one: (one.since, one.until)))
    return MarksResult(MarkedDays(ordered, was.count("good"), was.count("bad")))

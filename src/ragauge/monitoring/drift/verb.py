"""Monitor drift and mark: whether what is asked and found in production is as before, and what of it is usual."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from ragauge.core.errors import UnknownName, UsageError
from ragauge.monitoring.drift.compute import MIN_GOOD_DAYS, DriftReport, Marked, MarkedPeriod, Texts, list_marked_days
from ragauge.monitoring.options import MonitorDriftOptions, MonitorMarkOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import PageResult, ValueResult
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.add.verb import AddedSet

TEXT_KINDS: tuple[Texts, ...] = ("queries", "documents")


class DriftResult(PageResult):
    """Drift of the stored traffic, in every form.

    Attributes:
        data: every number as plain frozen values.
        added: what a set got of the clusters that grew, by run.
    """

    _what = "traffic drift"

    def __init__(self, data: DriftReport, added: tuple[AddedSet, ...] = ()) -> None:
        self.data, self.added = data, added

    @property
    def _value(self) -> DriftReport:
        return self.data

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.drift.tables import build_drift_sections

        yield from build_drift_sections(self.data)
        for added_set in self.added:
            yield from added_set._build_sections()


@expand_options(MonitorDriftOptions)
def monitor_drift(options: MonitorDriftOptions) -> DriftResult:
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
    from ragauge.engine.request_stream import get_traffic_day, iter_arrivals, list_traffic_projects, list_traffic_runs
    from ragauge.monitoring.drift.drift_measures import BASELINE_DAYS, LAST_DAYS, build_drift_report
    from ragauge.monitoring.replay.verb import NoTrafficError, parse_day
    from ragauge.store.store_access import open_store

    last_day, url = parse_day("day", options.day), resolve_store_url(options.store)
    with open_store(url) as store:
        runs = list_traffic_runs(store, project=options.project)
        days = [day for run in runs if (day := get_traffic_day(run)) and (not last_day or day <= last_day)]
        if not days:
            when = f" until {last_day}" if last_day else ""
            raise NoTrafficError(when, options.project)
        last = last_day or max(days)
        marked = min(list_marked_days(store.periods.list()), default=date.max)
        since = min(date.fromisoformat(max(days)) - timedelta(days=LAST_DAYS), marked)
        since -= timedelta(days=BASELINE_DAYS + 1)
        taken = iter_arrivals(store, [], since=since.isoformat(), project=options.project)
        came = [entry for entry in taken if entry.at.date().isoformat() <= last]
        explained = max((entry.at.date() for entry in came), default=date.fromisoformat(last))
        whose = runs[0].system
        others = [entry for entry in list_traffic_projects(store) if entry != whose]
        report = build_drift_report(store, came, TEXT_KINDS, explained, among=(whose, *others))
    return DriftResult(report, _add_drafts(report, options, url) if options.to else ())


def _add_drafts(report: DriftReport, options: MonitorDriftOptions, url: str) -> tuple[AddedSet, ...]:
    """The questions of the clusters that grew, as drafts of a set."""
    from ragauge.testsets.add.verb import add_examples

    by_run: dict[str, dict[str, None]] = {}
    for detail in report.details:
        for cluster in detail.grown if detail.of == "queries" else ():
            for text in cluster.texts:
                by_run.setdefault(text.run_id, {})[text.query_id] = None
    return tuple(
        add_examples(run_id, ids=tuple(ids), to=Path(options.to), tag=options.tag, store=url)
        for run_id, ids in by_run.items()
    )


@dataclass(frozen=True, slots=True)
class MarkedDays:
    """What people said of days."""

    periods: tuple[MarkedPeriod, ...]  #: every one, in order of time.
    good: int  #: days marked good.
    bad: int  #: days marked bad.
    least: int = MIN_GOOD_DAYS  #: good days that a band takes.


class MarksResult(ValueResult):
    """What people said of days, in every form."""

    data: MarkedDays

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.drift.tables import build_marked_sections

        return build_marked_sections(self.data.periods, self.data.good, self.data.bad)


@expand_options(MonitorMarkOptions)
def monitor_mark(options: MonitorMarkOptions) -> MarksResult:
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
    from ragauge.monitoring.replay.verb import parse_day
    from ragauge.store.store_access import open_store

    first, last = parse_day("--from", options.since), parse_day("--until", options.until)
    if options.was and options.was not in (*get_args(Marked), "forget"):
        raise UnknownName("mark for days", options.was, (*get_args(Marked), "forget"))
    if bool(options.was) != bool(first) or (last and last < first):
        example = "ragauge monitor mark good --from 2026-01-01 --until 2026-01-14"
        raise UsageError(f"monitor mark: expected good or bad, --from and a later --until. For example: {example}.")
    with open_store(resolve_store_url(options.store)) as store:
        if options.was:
            since, until = date.fromisoformat(first), date.fromisoformat(last or first)
            if options.was == "forget":
                store.periods.delete_marks(since, until)
            else:
                store.periods.mark_period(MarkedPeriod(since, until, cast("Marked", options.was), options.why))
        periods = store.periods.list()
    was = list(list_marked_days(periods).values())
    ordered = tuple(sorted(periods, key=lambda period: (period.since, period.until)))
    return MarksResult(MarkedDays(ordered, was.count("good"), was.count("bad")))

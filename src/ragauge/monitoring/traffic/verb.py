"""What became of the traces of production: of one, and of all."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName, UsageError
from ragauge.scores.results.traffic import JobLine, TraceList, TraceRow, TraceStory, TrafficDay, TrafficStatus
from ragauge.verbs.result_base import Found
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.core.verdict import VerdictCounts
    from ragauge.monitoring.replay.compute import Monitored
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.results.jobs import Job
    from ragauge.store.ledger import LedgerCount, LedgerLine
    from ragauge.store.returns import ReturnCounts
    from ragauge.store.store_access import Store

SHOWN_JOBS = 3  # occurrences of each schedule
RUNNING = "configuration that runs"  # what a server was started with is kept under it, as a job that was noted


class TraceResult(Found):
    """What became of one trace, in every form."""

    found: TraceStory

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.traffic.tables import trace_sections

        return trace_sections(self.found)


class TrafficResult(Found):
    """What came in and what became of it, in every form."""

    found: TrafficStatus

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.traffic.tables import status_sections

        return status_sections(self.found)


class TraceListResult(Found):
    """Some traces, in every form."""

    found: TraceList

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.traffic.tables import list_sections

        return list_sections(self.found)


def trace(trace_id: str, *, store: str | None = None) -> TraceResult:
    """What became of a trace: scored, or why not.

    Args:
        trace_id: 32 hexadecimal digits in any case, with hyphens or without; or the query_id of a captured response; or
            how one of them begins, of those that were read.
        store: where it is.

    Raises:
        UnknownName: no part of it has come, or several begin so.
    """
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        meant = trace_id.strip()
        plain = meant.replace("-", "").lower()
        known = opened.inbox.trace(meant) or (opened.inbox.trace(plain) if len(plain) == 32 else None)
        if known is None and (begun := _begun(opened, meant, plain)) is not None:
            known = opened.inbox.trace(begun)
        if known is None:
            raise UnknownName(
                "trace",
                trace_id,
                (),
                "Nothing of it has come in: look at the exporter's endpoint and its log, and at "
                "ragauge monitor status.",
            )
        line = opened.ledger.find(known.trace_id)
        outcome, reason = ("waiting", "") if line is None else (line.outcome, line.reason)
        run_id = "" if line is None else line.run_id
        return TraceResult(
            TraceStory(
                known.trace_id,
                outcome,
                reason,
                "" if line is None else line.project,
                _moment(known.first)[:10] if line is None else line.day,
                run_id,
                _name(opened, run_id),
                tuple(opened.collecting.under(run_id, known.trace_id)) if _name(opened, run_id) else (),
                *((1.0, 1.0) if line is None else (line.weight, line.chance)),
                len(known.batches),
                _moment(known.first),
                _moment(known.due) if known.due else "",
                tuple(line.people.splitlines()) if line is not None else (),
            )
        )


def _begun(store: Store, *beginnings: str) -> str | None:
    """The trace that one of these alone begins; None where there is none.

    Raises:
        UnknownName: several do.
    """
    for begins in filter(None, beginnings):
        lines, n = store.ledger.page("", begins, limit=2)
        if n == 1:
            return lines[0].trace_id
        if n:
            raise UnknownName("trace", begins, (), f"{n:,} begin so, such as {lines[0].trace_id}. Give more of it.")
    return None


def trace_list(*, outcome: str = "", limit: int = 20, store: str | None = None) -> TraceListResult:
    """The newest traces, and what became of each.

    Args:
        outcome: only traces of it, such as "scored"; "" = all.
        limit: how many.
        store: where it is.

    Raises:
        UnknownName: no trace became this.
        UsageError: a limit below 1.
    """
    if limit < 1:
        raise UsageError(f"monitor traces: --limit must be at least 1, got {limit}.")
    return TraceListResult(traces(outcome=outcome, limit=limit, store=store))


def traces(
    *, outcome: str = "", begins: str = "", limit: int | None = 50, skip: int = 0, store: str | None = None
) -> TraceList:
    """A page of the ledger: what became of traces, the newest first.

    Args:
        outcome: only traces of it, such as "scored"; "" = all.
        begins: how their ids begin, in any case, with hyphens or without; "" = all.
        limit: of the page; None = all.
        skip: traces that are passed over.
        store: where it is.

    Raises:
        UnknownName: no trace became this.
    """
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        outcomes: dict[str, int] = {}
        for count in opened.ledger.counts():
            outcomes[count.outcome] = outcomes.get(count.outcome, 0) + count.n
        if outcome and outcome not in outcomes:
            raise UnknownName("outcome of a trace here", outcome, outcomes)
        most = sum(outcomes.values()) if limit is None else limit
        lines, matching = opened.ledger.page(outcome, begins.strip(), limit=most, skip=skip)
        if not lines and (plain := begins.replace("-", "").strip().lower()) != begins:
            lines, matching = opened.ledger.page(outcome, plain, limit=most, skip=skip)
        there = {run_id for run_id in {line.run_id for line in lines} if _name(opened, run_id)}
        came = opened.inbox.arrived([line.trace_id for line in lines])
        times = {trace_id: time.first for trace_id, time in came.items()}
        rows = tuple(_row(opened, line, there, _moment(times.get(line.trace_id))) for line in lines)
        return TraceList(rows, matching, outcomes)


def _row(store: Store, line: LedgerLine, there: Collection[str], at: str) -> TraceRow:
    found = store.collecting.under(line.run_id, line.trace_id) if line.run_id in there else []
    query_id = next(iter(found), "")
    return TraceRow(
        line.trace_id,
        line.outcome,
        line.reason,
        line.project,
        line.day,
        line.run_id,
        query_id,
        line.weight,
        at,
        store.runs.response(line.run_id, query_id)[0].query if query_id else "",
    )


def _name(store: Store, run_id: str) -> str:
    try:
        return store.runs.find(run_id).name if run_id else ""
    except UnknownName:
        return ""


@dataclass(frozen=True, slots=True)
class MonitorStatus:
    """How the monitoring stands.

    Attributes:
        monitors: where each series of the configuration stands, and who shares the false alarms.
        traffic: what came in, and what became of it.
        returns: how giving back results stands.
    """

    monitors: Monitored
    traffic: TrafficStatus
    returns: ReturnCounts


class MonitorStatusResult(Found):
    """How the monitoring stands, in every form."""

    found: MonitorStatus

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import monitored_sections
        from ragauge.monitoring.traffic.tables import returns_sections, status_sections

        yield from status_sections(self.found.traffic)
        yield from returns_sections(self.found.returns)
        yield from monitored_sections(self.found.monitors)


def monitor_status(*, config: Path | None = None, store: str | None = None) -> MonitorStatusResult:
    """What came in and what became of it, where monitors stand, and who shares the false alarms.

    Args:
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.monitoring.alerts.verb import monitors
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        returns = opened.returns.counts()
    found = monitors(config=config, store=store).found
    return MonitorStatusResult(MonitorStatus(found, traffic(config=config, store=store).found, returns))


def traffic(*, config: Path | None = None, store: str | None = None) -> TrafficResult:
    """What came in, what waits, and what became of the traces of each project and day.

    Args:
        config: the file with the section monitor, which says when schedules are due next; None = ragauge.yaml, where
            there is one.
        store: where it is.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.monitoring.replay.verb import section_of
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        counts, found, people = opened.inbox.counts(), opened.ledger.counts(), opened.ledger.people()
        jobs, runs = opened.jobs.latest(SHOWN_JOBS), opened.jobs.newest(RUNNING)
        days = tuple(_days(opened, found))
    now, section = time.time(), section_of(config)
    outdated = _moment(runs.due) if runs is not None and runs.said != contents_of(section) else ""
    behind = max(0.0, time.time() - counts.since) if counts.since is not None else 0.0
    return TrafficResult(
        TrafficStatus(
            counts.batches,
            counts.bytes,
            _moment(counts.oldest),
            counts.traces,
            counts.waiting,
            round(behind, 1),
            counts.late,
            days,
            tuple(_job_lines(jobs, section, now)),
            *people,
            outdated,
        )
    )


def contents_of(section: MonitorSection | None) -> str:
    """A digest of all that a section monitor says; that of none is one too."""
    from ragauge.core.identity import digest

    return digest(None if section is None else section.model_dump(mode="json"))


def note_running(config: Path | None, store: str) -> None:
    """Keeps which section monitor a server was started with, so that status sees where the file says another.

    Args:
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.monitoring.replay.verb import section_of
    from ragauge.store.store_access import open_store

    with open_store(store) as opened:
        opened.jobs.note(RUNNING, time.time(), said=contents_of(section_of(config)))


def _days(store: Store, found: list[LedgerCount]) -> Iterable[TrafficDay]:
    by_day: dict[tuple[str, str], list[LedgerCount]] = {}
    for count in found:
        by_day.setdefault((count.day, count.project), []).append(count)
    for (day, project), counts in by_day.items():
        run_id = next((one.run_id for one in counts if one.run_id), "")
        verdicts = _verdicts(store, run_id) if _name(store, run_id) else None
        yield TrafficDay(day, project, {one.outcome: one.n for one in counts}, run_id, verdicts)


def _verdicts(store: Store, run_id: str) -> VerdictCounts:
    """Counts of the verdicts on the responses of a run of traffic."""
    from ragauge.engine.request_stream import count_verdicts, verdicts_of

    def count() -> VerdictCounts:
        verdicts = verdicts_of(store, [run_id])
        return count_verdicts(verdicts, store.runs.order(run_id).numbers)

    return store.of_run(run_id, "verdicts", count)


def _job_lines(jobs: Sequence[Job], section: MonitorSection | None, now: float) -> Iterator[JobLine]:
    """What was done at certain times, and of each schedule of the configuration when it is due next."""
    from ragauge.monitoring.jobs.cron import next_due

    schedules = section.schedules if section is not None else ()
    due = {one.name: next_due(one.cron, one.zone, now) for one in schedules if one.cron is not None}
    yield from (JobLine(name, _moment(at), "noted", 0.0, 0.0, 0, "", "") for name, at in due.items())
    named = {*due, *(job.name for job in jobs if job.state != "noted")}
    # what is noted with words is the state of a watched file
    yield from (_line(job, now) for job in jobs if job.state != "noted" or not (job.said or job.name in named))


def _line(job: Job, now: float) -> JobLine:
    running = job.ended is None
    until = now if job.ended is None else job.ended
    return JobLine(
        job.name,
        _moment(job.due),
        job.state,
        round(max(0.0, until - job.began), 1),
        round(max(0.0, now - job.beat), 1) if running else 0.0,
        job.attempts,
        job.run_id,
        job.said,
        job.why,
    )


def _moment(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")

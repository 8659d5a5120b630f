"""What became of the traces of production: of one, and of all."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ragauge.core.errors import UnknownName, UsageError
from ragauge.scores.results.monitoring import JobLine, TraceList, TraceRow, TraceStory, TrafficDay, TrafficStatus
from ragauge.verbs.option_specs import OptionSpec, with_options
from ragauge.verbs.option_specs import Store as StoreOption
from ragauge.verbs.result_base import ValueResult
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.core.verdict import VerdictCounts
    from ragauge.monitoring.replay.compute import MonitoringStatus
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.results.monitoring import Job
    from ragauge.store.ledger import LedgerCount, LedgerLine
    from ragauge.store.returns import ReturnCounts
    from ragauge.store.store_access import Store

MAX_JOBS_PER_SCHEDULE = 3  # occurrences of each schedule
RUNNING_CONFIG_JOB = (
    "configuration that runs"  # what a server was started with is kept under it, as a job that was noted
)


Config = Annotated[Path | None, OptionSpec("File with the monitor section; default ragauge.yaml.", kind=Path | None)]


class TraceResult(ValueResult):
    """What became of one trace, in every form."""

    data: TraceStory

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.traffic.tables import build_trace_sections

        return build_trace_sections(self.data)


class TrafficResult(ValueResult):
    """What came in and what became of it, in every form."""

    data: TrafficStatus

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.traffic.tables import build_status_sections

        return build_status_sections(self.data)


class TraceListResult(ValueResult):
    """Some traces, in every form."""

    data: TraceList

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.traffic.tables import build_list_sections

        return build_list_sections(self.data)


@with_options(
    trace_id=Annotated[str, OptionSpec("A trace ID or a captured query_id.", argument=True, metavar="ID")],
    store=StoreOption,
)
def find_trace(trace_id: str, *, store: str | None = None) -> TraceResult:
    """What became of a trace: scored, or why not.

    Args:
        trace_id: 32 hexadecimal digits in any case, with hyphens or without; or the query_id of a captured response; or
            how one of them begins, of those that were read.
        store: where it is.

    Raises:
        UnknownName: no part of it has come, or several begin so.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        stripped = trace_id.strip()
        normalized = stripped.replace("-", "").lower()
        stored_trace = opened_store.inbox.find_trace(stripped) or (
            opened_store.inbox.find_trace(normalized) if len(normalized) == 32 else None
        )
        if stored_trace is None and (full_id := _find_unique_trace(opened_store, stripped, normalized)) is not None:
            stored_trace = opened_store.inbox.find_trace(full_id)
        if stored_trace is None:
            raise UnknownName(
                "trace",
                trace_id,
                (),
                "No part of it has arrived: check the exporter's endpoint and log, and ragauge monitor status.",
            )
        line = opened_store.ledger.find_line(stored_trace.trace_id)
        outcome, reason = ("waiting", "") if line is None else (line.outcome, line.reason)
        run_id = "" if line is None else line.run_id
        return TraceResult(
            TraceStory(
                stored_trace.trace_id,
                outcome,
                reason,
                "" if line is None else line.project,
                _format_timestamp(stored_trace.first)[:10] if line is None else line.day,
                run_id,
                _find_run_name(opened_store, run_id),
                tuple(opened_store.collecting.list_query_ids(run_id, stored_trace.trace_id))
                if _find_run_name(opened_store, run_id)
                else (),
                *((1.0, 1.0) if line is None else (line.weight, line.chance)),
                len(stored_trace.batches),
                _format_timestamp(stored_trace.first),
                _format_timestamp(stored_trace.due) if stored_trace.due else "",
                tuple(line.people.splitlines()) if line is not None else (),
            )
        )


def _find_unique_trace(store: Store, *beginnings: str) -> str | None:
    """The trace that one of these alone begins; None where there is none.

    Raises:
        UnknownName: several do.
    """
    for begins in filter(None, beginnings):
        lines, n = store.ledger.load_page("", begins, limit=2)
        if n == 1:
            return lines[0].trace_id
        if n:
            raise UnknownName(
                "trace", begins, (), f"{n:,} traces match, such as {lines[0].trace_id}. Give more of the ID."
            )
    return None


@with_options(
    outcome=Annotated[str, OptionSpec("Only traces with this outcome, such as failed.")],
    limit=Annotated[int, OptionSpec("Maximum number of traces.")],
    store=StoreOption,
)
def list_traces(*, outcome: str = "", limit: int = 20, store: str | None = None) -> TraceListResult:
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
    return TraceListResult(load_trace_page(outcome=outcome, limit=limit, store=store))


def load_trace_page(
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

    with open_store(resolve_store_url(store)) as opened_store:
        outcomes: dict[str, int] = {}
        for count in opened_store.ledger.counts():
            outcomes[count.outcome] = outcomes.get(count.outcome, 0) + count.n
        if outcome and outcome not in outcomes:
            raise UnknownName("trace outcome", outcome, outcomes)
        max_rows = sum(outcomes.values()) if limit is None else limit
        lines, matching = opened_store.ledger.load_page(outcome, begins.strip(), limit=max_rows, skip=skip)
        if not lines and (normalized := begins.replace("-", "").strip().lower()) != begins:
            lines, matching = opened_store.ledger.load_page(outcome, normalized, limit=max_rows, skip=skip)
        stored_runs = {run_id for run_id in {line.run_id for line in lines} if _find_run_name(opened_store, run_id)}
        came = opened_store.inbox.load_arrival_times([line.trace_id for line in lines])
        times = {trace_id: time.first for trace_id, time in came.items()}
        rows = tuple(
            _build_row(opened_store, line, stored_runs, _format_timestamp(times.get(line.trace_id))) for line in lines
        )
        return TraceList(rows, matching, outcomes)


def _build_row(store: Store, line: LedgerLine, stored_runs: Collection[str], arrived_at: str) -> TraceRow:
    query_ids = store.collecting.list_query_ids(line.run_id, line.trace_id) if line.run_id in stored_runs else []
    query_id = next(iter(query_ids), "")
    return TraceRow(
        line.trace_id,
        line.outcome,
        line.reason,
        line.project,
        line.day,
        line.run_id,
        query_id,
        line.weight,
        arrived_at,
        store.runs.response(line.run_id, query_id)[0].query if query_id else "",
    )


def _find_run_name(store: Store, run_id: str) -> str:
    try:
        return store.runs.find(run_id).name if run_id else ""
    except UnknownName:
        return ""


@dataclass(frozen=True, slots=True)
class MonitorStatus:
    """How the monitoring stands."""

    monitors: MonitoringStatus  #: where each series of the configuration stands, and who shares the false alarms.
    traffic: TrafficStatus  #: what came in, and what became of it.
    returns: ReturnCounts  #: how giving back results stands.


class MonitorStatusResult(ValueResult):
    """How the monitoring stands, in every form."""

    data: MonitorStatus

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.alerts.tables import build_status_sections as build_monitor_sections
        from ragauge.monitoring.traffic.tables import build_returns_sections, build_status_sections

        yield from build_status_sections(self.data.traffic)
        yield from build_returns_sections(self.data.returns)
        yield from build_monitor_sections(self.data.monitors)


@with_options(config=Config, store=StoreOption)
def build_monitor_status(*, config: Path | None = None, store: str | None = None) -> MonitorStatusResult:
    """What came in and what became of it, where monitors stand, and who shares the false alarms.

    Args:
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.monitoring.alerts.verb import list_monitors
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        returns = opened_store.returns.counts()
    monitored = list_monitors(config=config, store=store).data
    return MonitorStatusResult(MonitorStatus(monitored, build_traffic_status(config=config, store=store).data, returns))


def build_traffic_status(*, config: Path | None = None, store: str | None = None) -> TrafficResult:
    """What came in, what waits, and what became of the traces of each project and day.

    Args:
        config: the file with the section monitor, which says when schedules are due next; None = ragauge.yaml, where
            there is one.
        store: where it is.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.monitoring.replay.verb import read_section
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        counts, ledger_counts, people = (
            opened_store.inbox.counts(),
            opened_store.ledger.counts(),
            opened_store.ledger.people(),
        )
        jobs, runs = opened_store.jobs.list_latest(MAX_JOBS_PER_SCHEDULE), opened_store.jobs.newest(RUNNING_CONFIG_JOB)
        days = tuple(_build_days(opened_store, ledger_counts))
    now, section = time.time(), read_section(config)
    outdated = _format_timestamp(runs.due) if runs is not None and runs.said != hash_section(section) else ""
    behind = max(0.0, time.time() - counts.since) if counts.since is not None else 0.0
    return TrafficResult(
        TrafficStatus(
            counts.batches,
            counts.bytes,
            _format_timestamp(counts.oldest),
            counts.traces,
            counts.waiting,
            round(behind, 1),
            counts.late,
            days,
            tuple(_build_job_lines(jobs, section, now)),
            *people,
            outdated,
        )
    )


def hash_section(section: MonitorSection | None) -> str:
    """A digest of all that a section monitor says; that of none is one too."""
    from ragauge.core.identity import hash_json

    return hash_json(None if section is None else section.model_dump(mode="json"))


def save_running_config(config: Path | None, store: str) -> None:
    """Keeps which section monitor a server was started with, so that status sees where the file says another.

    Args:
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        ConfigError: mistakes in the file; all of them are in the text.
    """
    from ragauge.monitoring.replay.verb import read_section
    from ragauge.store.store_access import open_store

    with open_store(store) as opened_store:
        opened_store.jobs.note(RUNNING_CONFIG_JOB, time.time(), message=hash_section(read_section(config)))


def _build_days(store: Store, ledger_counts: list[LedgerCount]) -> Iterable[TrafficDay]:
    by_day: dict[tuple[str, str], list[LedgerCount]] = {}
    for count in ledger_counts:
        by_day.setdefault((count.day, count.project), []).append(count)
    for (day, project), counts in by_day.items():
        run_id = next((day_count.run_id for day_count in counts if day_count.run_id), "")
        verdicts = _count_verdicts(store, run_id) if _find_run_name(store, run_id) else None
        yield TrafficDay(day, project, {day_count.outcome: day_count.n for day_count in counts}, run_id, verdicts)


def _count_verdicts(store: Store, run_id: str) -> VerdictCounts:
    """Counts of the verdicts on the responses of a run of traffic."""
    from ragauge.engine.request_stream import count_verdicts, load_verdicts

    def count_stored() -> VerdictCounts:
        verdicts = load_verdicts(store, [run_id])
        return count_verdicts(verdicts, store.runs.load_order(run_id).numbers)

    return store.cache_for_run(run_id, "verdicts", count_stored)


def _build_job_lines(jobs: Sequence[Job], section: MonitorSection | None, now: float) -> Iterator[JobLine]:
    """What was done at certain times, and of each schedule of the configuration when it is due next."""
    from ragauge.monitoring.jobs.scheduled_run import find_next_due

    schedules = section.schedules if section is not None else ()
    due = {
        schedule.name: find_next_due(schedule.cron, schedule.zone, now)
        for schedule in schedules
        if schedule.cron is not None
    }
    yield from (JobLine(name, _format_timestamp(due_at), "noted", 0.0, 0.0, 0, "", "") for name, due_at in due.items())
    shown_names = {*due, *(job.name for job in jobs if job.state != "noted")}
    # what is noted with words is the state of a watched file
    yield from (
        _build_job_line(job, now) for job in jobs if job.state != "noted" or not (job.said or job.name in shown_names)
    )


def _build_job_line(job: Job, now: float) -> JobLine:
    running = job.ended is None
    until = now if job.ended is None else job.ended
    return JobLine(
        job.name,
        _format_timestamp(job.due),
        job.state,
        round(max(0.0, until - job.began), 1),
        round(max(0.0, now - job.beat), 1) if running else 0.0,
        job.attempts,
        job.run_id,
        job.said,
        job.why,
    )


def _format_timestamp(timestamp: float | None) -> str:
    return "" if timestamp is None else datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="seconds")

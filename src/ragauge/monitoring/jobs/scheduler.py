"""The schedules and the daily checks of a configuration: each occurrence is run once, by one server."""

from __future__ import annotations

import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ragauge.core.errors import StoreError
from ragauge.core.identity import hash_json
from ragauge.engine.request_stream import find_watched_project, list_served_models, list_traffic_projects
from ragauge.monitoring.alerts.notifications import save_alerts
from ragauge.monitoring.alerts.verb import build_stated_account
from ragauge.monitoring.jobs.scheduled_run import (
    ScheduledOutcome,
    ScheduledRun,
    build_error_outcome,
    find_last_due,
    list_schedule_alerts,
)
from ragauge.monitoring.series.alert_details import build_plain_account
from ragauge.monitoring.series.false_alarm_budget import select_projects
from ragauge.monitoring.series.fault_attribution import Blame
from ragauge.monitoring.worker import Lease
from ragauge.store.inbox import DAY_S

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ragauge.core.config.monitor import MonitorSection, ScheduleSection
    from ragauge.monitoring.series.alert_details import AlertAccount
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.monitoring.worker import StageTurn
    from ragauge.scores.results.monitoring import Job
    from ragauge.store.store_access import Store


PROCESS_END_S = 10.0  # seconds that a process has to end
POLL_S = 1.0  # seconds between two looks at the process that does a run: a server that ends has little time
MODELS_INTERVAL_S = 30.0  # seconds between two looks at the models that answer, for each project
MAX_PROJECT_CHARS = 60  # characters of a project's name in a reason
NOTE_GAP_S = 1e-3  # seconds between what is noted of one thing
MAX_ATTEMPTS = 3  # of an occurrence whose servers were killed
IsAlive = Callable[[], bool]  # says that work goes on; False = it is to stop
RunExecutor = Callable[[ScheduledRun, IsAlive], ScheduledOutcome | None]


class FileContents:
    """Digests of files and folders, computed anew where sizes or times changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, str]] = {}

    def of(self, path: str) -> str | None:
        """A digest of what is in a file, or in all files of a folder; None where there is none."""
        root = Path(path)
        try:
            files = (
                sorted(path_entry for path_entry in root.rglob("*") if path_entry.is_file())
                if root.is_dir()
                else [root]
            )
            stamp = [
                (str(path_entry), path_entry.stat().st_size, path_entry.stat().st_mtime_ns) for path_entry in files
            ]
            if self._known.get(path, (None, ""))[0] != stamp:
                digests = [
                    [str(path_entry.relative_to(root)), sha256(path_entry.read_bytes()).hexdigest()]
                    for path_entry in files
                ]
                self._known[path] = stamp, hash_json(digests)
        except OSError:
            return None
        return self._known[path][1]


class Scheduler:
    """The schedules of a configuration, as one server does them.

    Args:
        monitor: the section of the configuration.
        config: the file that it stands in.
        execute: does a run, as long as it may; in a process of its own by default.
    """

    def __init__(self, monitor: MonitorSection, config: str, execute: RunExecutor | None = None) -> None:
        self._monitor, self._config = monitor, config
        self._execute, self._contents = execute or run_in_process, FileContents()
        self._models, self._models_due = dict[str, str](), 0.0
        self._any: tuple[str, ...] = ()  # projects whose models start what names none
        self._several = False  # whether more than one sends

    def run_once(self, turn: StageTurn) -> int:
        """Does what is due, one after another, until the server ends; returns how many runs it did."""
        n_done = 0
        for schedule in self._monitor.schedules:
            if turn.over.is_set():
                break
            lease = None
            try:
                lease = self._take_due_job(turn, schedule)
                if lease is not None:
                    self._run_job(schedule, lease)
                    n_done += 1
            except StoreError:  # tried again, as everything is
                raise
            except Exception as error:
                self._record_failure(turn, schedule, lease, build_error_outcome(error))
        return n_done

    def _record_failure(
        self, turn: StageTurn, schedule: ScheduleSection, lease: Lease | None, outcome: ScheduledOutcome
    ) -> None:
        """Stores that a schedule itself went wrong, once for one reason, with an alert; the others go on."""
        now, latest = _find_latest(turn, schedule.name)
        if lease is None:
            if latest is not None and (latest.state, latest.said) == ("error", outcome.message):
                return
            lease = Lease.take(turn, schedule.name, now)
        if lease is not None:
            self._end_job(lease, outcome)

    def _take_due_job(self, turn: StageTurn, schedule: ScheduleSection) -> Lease | None:
        """The occurrence that is due, where this server is the one to do it."""
        now, latest = _find_latest(turn, schedule.name)
        if latest is None:  # what was due before the schedule was configured was not missed
            turn.store.jobs.note(schedule.name, now)
            self._take_changed_job(turn, schedule, now)
            return None
        if latest.state == "running":
            return Lease.take(turn, schedule.name, latest.due)
        changed = self._take_changed_job(turn, schedule, now)
        if changed is not None:
            return changed
        if schedule.cron is None:
            return None
        due = find_last_due(schedule.cron, schedule.zone, now)
        return Lease.take(turn, schedule.name, due) if due > latest.due else None

    def _take_changed_job(self, turn: StageTurn, schedule: ScheduleSection, now: float) -> Lease | None:
        """A run that is due because what it watches changed since the last check; what is not there waits."""
        store = turn.store
        contents = list(self._list_watched(store, schedule, now))
        changed = []
        with store.transaction():  # of two servers one sees the change
            for watched in contents:
                latest = next((job for name in watched.names if (job := store.jobs.newest(name)) is not None), None)
                if latest is not None and (latest.name, latest.said) == (watched.names[0], watched.message):
                    continue
                due = now if latest is None else max(now, latest.due + NOTE_GAP_S)  # the clock may have been put back
                store.jobs.note(watched.names[0], due, message=watched.message)
                if latest is not None and watched.differs(latest.said):
                    changed.append(watched.what)
            reason = f"{' and '.join(changed)} changed"
            return Lease.take(turn, schedule.name, now, reason) if changed else None

    def _list_watched(self, store: Store, schedule: ScheduleSection, now: float) -> Iterator[_WatchedContent]:
        """What a schedule watches, as it is now; what is not there is left out."""
        for key in schedule.on:
            name = f"{schedule.name}: {key}"
            if key == "model":
                models = self._update_models(store, now)
                for project, served in models.items():
                    if served and project in ((schedule.project,) if schedule.project else self._any):
                        what = f"model of {project[:MAX_PROJECT_CHARS]}" if self._several else key
                        earlier_names = (name,) * (
                            project == next(iter(models))
                        )  # kept so when one alone was looked at
                        yield _WatchedContent((f"{name} ({project})", *earlier_names), served, what)
            elif (content_digest := self._contents.of(str(getattr(schedule, key)))) is not None:
                yield _WatchedContent((name,), content_digest, key)

    def _update_models(self, store: Store, now: float) -> dict[str, str]:
        """The models that answer in each project that is looked into, a line each; that which is meant first."""
        if now >= self._models_due:  # the newest requests of each are read for it
            came, named_projects = list_traffic_projects(store), {entry.project for entry in self._monitor.schedules}
            self._any, self._several = select_projects(self._monitor, came), len(came) > 1
            meant = find_watched_project(store, self._monitor.project)
            projects = sorted(
                {*self._any, *(named_projects & set(came))}, key=lambda entry: (entry != meant, came.index(entry))
            )
            segment = self._monitor.model_segment
            self._models = {entry: "\n".join(list_served_models(store, segment, project=entry)) for entry in projects}
            self._models_due = now + MODELS_INTERVAL_S * max(1, len(projects))
        return self._models

    def _run_job(self, schedule: ScheduleSection, lease: Lease) -> None:
        job, turn = lease.job, lease.turn
        if job.attempts > MAX_ATTEMPTS:
            message = f"gave up: its process was killed {MAX_ATTEMPTS} times"
            self._end_job(lease, ScheduledOutcome("error", "", message, message))
            return
        due_text = datetime.fromtimestamp(job.due, UTC).isoformat(sep=" ", timespec="minutes")[:16]
        whose = f" ({job.why})" if " of " in job.why else ""  # one of several projects
        name, fresh = f"{schedule.name} {due_text}{whose}", job.attempts == 1
        scheduled_run = ScheduledRun(schedule, name, self._config, self._monitor.judge, turn.store.url, fresh=fresh)
        outcome = self._execute(scheduled_run, lease.renew)
        if outcome is not None:  # else it is taken up again, here or elsewhere, when its lease is over
            self._end_job(lease, outcome)
        elif turn.over.is_set():
            lease.release()

    def _end_job(self, lease: Lease, outcome: ScheduledOutcome) -> None:
        """Stores an outcome with the alert that it raises or ends, in one transaction."""
        store, now = lease.turn.store, lease.turn.clock()

        def describe(alert: Alert) -> AlertAccount:
            return replace(build_plain_account(alert), blame=Blame("", outcome.why))

        with store.transaction():
            if lease.end(outcome.state, run_id=outcome.run_id, message=outcome.message):
                save_alerts(store, self._monitor, list_schedule_alerts(store, lease.job, outcome, now), now, describe)


def _find_latest(turn: StageTurn, name: str) -> tuple[float, Job | None]:
    """The moment, and the latest occurrence; one more than a day ahead was made before the clock was put back."""
    now = turn.clock()
    return now, turn.store.jobs.newest(name, now + DAY_S)


class _WatchedContent(NamedTuple):
    """Something that a schedule watches: names that it is kept under, what is there now, and what it is called."""

    names: tuple[str, ...]
    message: str
    what: str

    def differs(self, previous: str) -> bool:
        """Whether that is a change: of models, where one answers that did not before."""
        models = self.what.startswith("model")
        return bool(set(self.message.split("\n")) - set(previous.split("\n"))) if models else self.message != previous


def run_in_process(scheduled_run: ScheduledRun, alive: IsAlive) -> ScheduledOutcome | None:
    """Does a run in a process of its own, which imports the system as it is now; None where it was stopped."""
    spawning = multiprocessing.get_context("spawn")
    parent_end, child_end = spawning.Pipe(duplex=False)
    process = spawning.Process(
        target=_run_scheduled, args=(scheduled_run, child_end), name="ragauge-schedule", daemon=True
    )
    process.start()
    child_end.close()
    try:
        while not parent_end.poll(POLL_S):
            if not alive():
                return None
        outcome: ScheduledOutcome = parent_end.recv()
        return outcome
    except EOFError:
        process.join(PROCESS_END_S)
        message = f"its process ended with exit code {process.exitcode}"
        return ScheduledOutcome("error", "", message, message)
    finally:
        process.terminate()
        process.join(PROCESS_END_S)
        parent_end.close()


def _run_scheduled(scheduled_run: ScheduledRun, connection: Connection) -> None:
    connection.send(scheduled_run.outcome())


DAILY_OFFSET_S = 3600.0  # seconds after midnight, UTC, when a day's traces are there


class DailyJob(ABC):
    """A check that is made once a day, an hour after midnight UTC.

    Args:
        monitor: the section of the configuration.
    """

    name: ClassVar[str]

    def __init__(self, monitor: MonitorSection) -> None:
        self._monitor = monitor

    @abstractmethod
    def check_day(self, turn: StageTurn, job: Job) -> tuple[str, Sequence[Alert]]:
        """The outcome in a sentence, and the alerts that are raised or end, each in its last state."""

    def run_once(self, turn: StageTurn, repeat_after_s: float | None = None) -> int:
        """Makes the check if no server has yet today; returns how many alerts were raised or ended.

        Args:
            turn: with the store and the moment.
            repeat_after_s: seconds since the last check after which another is made, whatever the time; None = once
                a day.
        """
        store, now = turn.store, turn.now
        due = (now - DAILY_OFFSET_S) // DAY_S * DAY_S + DAILY_OFFSET_S if repeat_after_s is None else now
        latest = store.jobs.newest(self.name, now + DAY_S)
        is_abandoned = latest is not None and latest.state == "running"
        if turn.over.is_set() or (
            latest is not None and not is_abandoned and latest.due >= due - (repeat_after_s or 0.0)
        ):
            return 0
        lease = Lease.take(turn, self.name, latest.due if latest is not None and is_abandoned else due)
        if lease is None:
            return 0
        with lease.send_heartbeats():
            message, changed = self.check_day(turn, lease.job)
        with store.transaction():
            if not lease.end("done", message=message):
                return 0
            save_alerts(store, self._monitor, changed, now, partial(build_stated_account, store, monitor=self._monitor))
        return len(changed)

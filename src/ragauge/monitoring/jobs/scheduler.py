"""What the server does at certain times and once a day, each occurrence once."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from ragauge.core.config.config_loader import DEFAULT_FILE, read_config
from ragauge.core.errors import StoreError
from ragauge.core.identity import hash_json
from ragauge.engine.request_stream import find_watched_project, list_served_models, list_traffic_projects
from ragauge.monitoring.alerts.notifications import build_deliveries, send_deliveries
from ragauge.monitoring.alerts.verb import build_stated_account
from ragauge.monitoring.jobs.scheduled_run import (
    ScheduledOutcome,
    ScheduledRun,
    build_error_outcome,
    find_last_due,
    list_schedule_alerts,
)
from ragauge.monitoring.series.alert_details import build_plain_account
from ragauge.monitoring.series.fault_attribution import Blame
from ragauge.monitoring.series.projects import select_projects
from ragauge.store.inbox import DAY_S

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ragauge.core.config.monitor import MonitorSection, ScheduleSection
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.scores.results.monitoring import Job
    from ragauge.store.store_access import Store


HEARTBEAT_S = 10.0  # seconds between two signs of life
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
        clock: seconds since 1970.
        doing: does a run, while it is told that it may; a process of its own by default.
    """

    def __init__(
        self,
        monitor: MonitorSection,
        config: str,
        clock: Callable[[], float] = time.time,
        doing: RunExecutor | None = None,
    ) -> None:
        self._monitor, self._config, self._clock = monitor, config, clock
        self._doing, self._contents = doing or run_in_process, FileContents()
        self._models, self._models_due = dict[str, str](), 0.0
        self._any: tuple[str, ...] = ()  # projects whose models start what names none
        self._several = False  # whether more than one sends
        self._owner = f"{os.getpid()}-{secrets.token_hex(6)}"

    @classmethod
    def of(cls, config: Path | None) -> Self | None:
        """The schedules of a file, ragauge.yaml where there is one; None where it has none.

        Raises:
            ConfigError: there are mistakes in it; all of them are in the text.
        """
        if config is None and not Path(DEFAULT_FILE).is_file():
            return None
        monitor = read_config(config or DEFAULT_FILE).checked().monitor
        return cls(monitor, str(config or DEFAULT_FILE)) if monitor is not None and monitor.schedules else None

    @property
    def _schedules(self) -> Sequence[ScheduleSection]:
        return self._monitor.schedules

    def run_once(self, store: Store, over: threading.Event) -> int:
        """Does what is due, one after another, until the end of the server; returns how many it did."""
        n_done = 0
        for schedule in self._schedules:
            if over.is_set():
                break
            job = None
            try:
                job = self._take_due_job(store, schedule)
                if job is not None:
                    self._run_job(store, schedule, job, over)
                    n_done += 1
            except StoreError:  # tried again, as everything is
                raise
            except Exception as error:
                self._record_failure(store, schedule, job, build_error_outcome(error))
        return n_done

    def _find_latest(self, store: Store, name: str) -> tuple[float, Job | None]:
        """The moment, and the latest occurrence; one more than a day ahead was made before the clock was put back."""
        now = self._clock()
        return now, store.jobs.newest(name, now + DAY_S)

    def _record_failure(
        self, store: Store, schedule: ScheduleSection, job: Job | None, outcome: ScheduledOutcome
    ) -> None:
        """Keeps that a schedule itself went wrong, once for one reason, with an alert; the others go on."""
        now, latest = self._find_latest(store, schedule.name)
        if job is None:
            if latest is not None and (latest.state, latest.said) == ("error", outcome.message):
                return
            job = store.jobs.take_job(schedule.name, now, self._owner, now)
        if job is not None:
            self._end_job(store, job, outcome)

    def _take_due_job(self, store: Store, schedule: ScheduleSection) -> Job | None:
        """The occurrence that is due, where this server is the one to do it."""
        now, latest = self._find_latest(store, schedule.name)
        if latest is None:  # what was due before anybody asked for it was not missed
            store.jobs.note(schedule.name, now)
            self._take_changed_job(store, schedule, now)
            return None
        if latest.state == "running":
            return store.jobs.take_job(schedule.name, latest.due, self._owner, now)
        changed = self._take_changed_job(store, schedule, now)
        if changed is not None:
            return changed
        if schedule.cron is None:
            return None
        due = find_last_due(schedule.cron, schedule.zone, now)
        return store.jobs.take_job(schedule.name, due, self._owner, now) if due > latest.due else None

    def _take_changed_job(self, store: Store, schedule: ScheduleSection, now: float) -> Job | None:
        """A run that is due because what it watches changed since it was looked at last; what is not there waits."""
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
            return store.jobs.take_job(schedule.name, now, self._owner, now, reason) if changed else None

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
            came, named_projects = list_traffic_projects(store), {entry.project for entry in self._schedules}
            self._any, self._several = select_projects(self._monitor, came), len(came) > 1
            meant = find_watched_project(store, self._monitor.project)
            projects = sorted(
                {*self._any, *(named_projects & set(came))}, key=lambda entry: (entry != meant, came.index(entry))
            )
            segment = self._monitor.model_segment
            self._models = {entry: "\n".join(list_served_models(store, segment, project=entry)) for entry in projects}
            self._models_due = now + MODELS_INTERVAL_S * max(1, len(projects))
        return self._models

    def _run_job(self, store: Store, schedule: ScheduleSection, job: Job, over: threading.Event) -> None:
        if job.attempts > MAX_ATTEMPTS:
            message = f"gave up: its process was killed {MAX_ATTEMPTS} times"
            self._end_job(store, job, ScheduledOutcome("error", "", message, message))
            return
        due_text = datetime.fromtimestamp(job.due, UTC).isoformat(sep=" ", timespec="minutes")[:16]
        whose = f" ({job.why})" if " of " in job.why else ""  # one of several projects
        name, fresh = f"{schedule.name} {due_text}{whose}", job.attempts == 1
        scheduled_run = ScheduledRun(schedule, name, self._config, self._monitor.judge, store.url, fresh=fresh)
        outcome = self._doing(
            scheduled_run, lambda: not over.is_set() and store.jobs.record_heartbeat(job, self._owner, self._clock())
        )
        if outcome is not None:  # else it is taken up again, here or elsewhere, when its lease is over
            self._end_job(store, job, outcome)
        elif over.is_set():
            store.jobs.release_job(job, self._owner, self._clock())

    def _end_job(self, store: Store, job: Job, outcome: ScheduledOutcome) -> None:
        """Keeps an outcome with the alert that it raises or ends, in one transaction, and tells of it."""
        now = self._clock()
        with store.transaction():
            if not store.jobs.end(job, self._owner, now, outcome.state, run_id=outcome.run_id, message=outcome.message):
                return
            changed = list_schedule_alerts(store, job, outcome, now)
            store.monitors.save_alerts(changed)
            accounts = [replace(build_plain_account(item), blame=Blame("", outcome.why)) for item in changed]
            new_deliveries = [each for item in accounts for each in build_deliveries(store, self._monitor, item, now)]
            store.monitors.add_deliveries(new_deliveries)
        send_deliveries(store, self._monitor, now)


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
        process.join(HEARTBEAT_S)
        message = f"its process ended with exit code {process.exitcode}"
        return ScheduledOutcome("error", "", message, message)
    finally:
        process.terminate()
        process.join(HEARTBEAT_S)
        parent_end.close()


def _run_scheduled(scheduled_run: ScheduledRun, connection: Connection) -> None:
    connection.send(scheduled_run.outcome())


DAILY_OFFSET_S = 3600.0  # seconds after midnight, UTC, when a day's traces are there


class DailyJob(ABC):
    """A look that is taken once a day, an hour after midnight UTC.

    Args:
        monitor: the section of the configuration.
        clock: seconds since 1970.
    """

    name: ClassVar[str]

    def __init__(self, monitor: MonitorSection, clock: Callable[[], float] = time.time) -> None:
        self._monitor, self._clock = monitor, clock
        self._owner = f"{os.getpid()}-{secrets.token_hex(6)}"

    @classmethod
    @abstractmethod
    def wanted(cls, monitor: MonitorSection) -> bool:
        """Whether a configuration asks for this look."""

    @classmethod
    def of(cls, config: Path | None) -> Self | None:
        """The look that a file asks for, ragauge.yaml where there is one; None where it asks for none.

        Raises:
            ConfigError: there are mistakes in it; all of them are in the text.
        """
        if config is None and not Path(DEFAULT_FILE).is_file():
            return None
        monitor = read_config(config or DEFAULT_FILE).checked().monitor
        return cls(monitor) if monitor is not None and cls.wanted(monitor) else None

    @abstractmethod
    def seen(self, store: Store, job: Job) -> tuple[str, Sequence[Alert]]:
        """What there is to say, and the alerts that are raised or end, each in its last state."""

    def run_once(self, store: Store, over: threading.Event, again: float | None = None) -> int:
        """Looks where nobody has yet today; returns how many alerts were raised or ended.

        Args:
            store: with the runs.
            over: set at the end of the server.
            again: seconds since the last look after which another is taken, whatever the time; None = once a day.
        """
        now = self._clock()
        due = (now - DAILY_OFFSET_S) // DAY_S * DAY_S + DAILY_OFFSET_S if again is None else now
        latest = store.jobs.newest(self.name, now + DAY_S)
        is_abandoned = latest is not None and latest.state == "running"
        if over.is_set() or (latest is not None and not is_abandoned and latest.due >= due - (again or 0.0)):
            return 0
        job = store.jobs.take_job(
            self.name, latest.due if latest is not None and is_abandoned else due, self._owner, now
        )
        if job is None:
            return 0
        with self._send_heartbeats(store, job):
            message, changed = self.seen(store, job)
        with store.transaction():
            if not store.jobs.end(job, self._owner, self._clock(), "done", message=message):
                return 0
            store.monitors.save_alerts(changed)
            accounts = [build_stated_account(store, item, self._monitor) for item in changed]
            store.monitors.add_deliveries(
                [each for item in accounts for each in build_deliveries(store, self._monitor, item, now)]
            )
        send_deliveries(store, self._monitor, now)
        return len(changed)

    @contextmanager
    def _send_heartbeats(self, store: Store, job: Job) -> Iterator[None]:
        """A block in which signs of life are given."""
        finished = threading.Event()

        def send_beats() -> None:
            while not finished.wait(HEARTBEAT_S):
                store.jobs.record_heartbeat(job, self._owner, self._clock())

        thread = threading.Thread(target=send_beats, name="ragauge-beat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()

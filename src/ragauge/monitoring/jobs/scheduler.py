"""What the server does at certain times: each occurrence once, whichever server takes it, and a missed one once."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from ragauge.core.config.config_loader import DEFAULT, read_config
from ragauge.core.errors import StoreError
from ragauge.core.identity import digest
from ragauge.engine.request_stream import served_models, traffic_projects, watched_project
from ragauge.monitoring.alerts.notifications import deliver, deliveries
from ragauge.monitoring.jobs.cron import last_due
from ragauge.monitoring.jobs.schedule_alerts import schedule_alerts
from ragauge.monitoring.jobs.scheduled_run import ScheduledOutcome, ScheduledRun, not_made
from ragauge.monitoring.series.alert_details import bare
from ragauge.monitoring.series.fault_attribution import Blame
from ragauge.monitoring.series.projects import looked_into
from ragauge.store.inbox import DAY

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ragauge.core.config.monitor import MonitorSection, ScheduleSection
    from ragauge.scores.results.jobs import Job
    from ragauge.store.store_access import Store

BEAT = 10.0  # seconds between two signs of life
LOOKED = 1.0  # seconds between two looks at the process that does a run: a server that ends has little time
MODELS_EVERY = 30.0  # seconds between two looks at the models that answer, for each project
MOST_NAME = 60  # characters of a project's name in a reason
APART = 1e-3  # seconds between what is noted of one thing
ATTEMPTS = 3  # of an occurrence whose servers were killed
Alive = Callable[[], bool]  # says that work goes on; False = it is to stop
Doing = Callable[[ScheduledRun, Alive], ScheduledOutcome | None]


class FileContents:
    """Digests of files and folders, computed anew where sizes or times changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, str]] = {}

    def of(self, path: str) -> str | None:
        """A digest of what is in a file, or in all files of a folder; None where there is none."""
        place = Path(path)
        try:
            files = sorted(one for one in place.rglob("*") if one.is_file()) if place.is_dir() else [place]
            stamp = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files]
            if self._known.get(path, (None, ""))[0] != stamp:
                parts = [[str(one.relative_to(place)), sha256(one.read_bytes()).hexdigest()] for one in files]
                self._known[path] = stamp, digest(parts)
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
        self, monitor: MonitorSection, config: str, clock: Callable[[], float] = time.time, doing: Doing | None = None
    ) -> None:
        self._monitor, self._config, self._clock = monitor, config, clock
        self._doing, self._contents = doing or in_a_process, FileContents()
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
        if config is None and not Path(DEFAULT).is_file():
            return None
        monitor = read_config(config or DEFAULT).checked().monitor
        return cls(monitor, str(config or DEFAULT)) if monitor is not None and monitor.schedules else None

    @property
    def _schedules(self) -> Sequence[ScheduleSection]:
        return self._monitor.schedules

    def look(self, store: Store, over: threading.Event) -> int:
        """Does what is due, one after another, until the end of the server; returns how many it did."""
        done = 0
        for schedule in self._schedules:
            if over.is_set():
                break
            job = None
            try:
                job = self._taken(store, schedule)
                if job is not None:
                    self._do(store, schedule, job, over)
                    done += 1
            except StoreError:  # tried again, as everything is
                raise
            except Exception as error:
                self._failed(store, schedule, job, not_made(error))
        return done

    def _known(self, store: Store, name: str) -> tuple[float, Job | None]:
        """The moment, and the latest occurrence; one more than a day ahead was made before the clock was put back."""
        now = self._clock()
        return now, store.jobs.newest(name, now + DAY)

    def _failed(self, store: Store, schedule: ScheduleSection, job: Job | None, outcome: ScheduledOutcome) -> None:
        """Keeps that a schedule itself went wrong, once for one reason, with an alert; the others go on."""
        now, known = self._known(store, schedule.name)
        if job is None:
            if known is not None and (known.state, known.said) == ("error", outcome.said):
                return
            job = store.jobs.take(schedule.name, now, self._owner, now)
        if job is not None:
            self._end(store, job, outcome)

    def _taken(self, store: Store, schedule: ScheduleSection) -> Job | None:
        """The occurrence that is due, where this server is the one to do it."""
        now, known = self._known(store, schedule.name)
        if known is None:  # what was due before anybody asked for it was not missed
            store.jobs.note(schedule.name, now)
            self._changed(store, schedule, now)
            return None
        if known.state == "running":
            return store.jobs.take(schedule.name, known.due, self._owner, now)
        changed = self._changed(store, schedule, now)
        if changed is not None:
            return changed
        if schedule.cron is None:
            return None
        due = last_due(schedule.cron, schedule.zone, now)
        return store.jobs.take(schedule.name, due, self._owner, now) if due > known.due else None

    def _changed(self, store: Store, schedule: ScheduleSection, now: float) -> Job | None:
        """A run that is due because what it watches changed since it was looked at last; what is not there waits."""
        found = list(self._watched(store, schedule, now))
        changed = []
        with store.transaction():  # of two servers one sees the change
            for one in found:
                known = next((job for name in one.names if (job := store.jobs.newest(name)) is not None), None)
                if known is not None and (known.name, known.said) == (one.names[0], one.said):
                    continue
                due = now if known is None else max(now, known.due + APART)  # the clock may have been put back
                store.jobs.note(one.names[0], due, said=one.said)
                if known is not None and one.differs(known.said):
                    changed.append(one.what)
            why = f"{' and '.join(changed)} changed"
            return store.jobs.take(schedule.name, now, self._owner, now, why) if changed else None

    def _watched(self, store: Store, schedule: ScheduleSection, now: float) -> Iterator[_Watched]:
        """What a schedule watches, as it is now; what is not there is left out."""
        for key in schedule.on:
            name = f"{schedule.name}: {key}"
            if key == "model":
                models = self._served(store, now)
                for project, served in models.items():
                    if served and project in ((schedule.project,) if schedule.project else self._any):
                        what = f"model of {project[:MOST_NAME]}" if self._several else key
                        before = (name,) * (project == next(iter(models)))  # kept so when one alone was looked at
                        yield _Watched((f"{name} ({project})", *before), served, what)
            elif (said := self._contents.of(str(getattr(schedule, key)))) is not None:
                yield _Watched((name,), said, key)

    def _served(self, store: Store, now: float) -> dict[str, str]:
        """The models that answer in each project that is looked into, a line each; that which is meant first."""
        if now >= self._models_due:  # the newest requests of each are read for it
            came, named = traffic_projects(store), {one.project for one in self._schedules}
            self._any, self._several = looked_into(self._monitor, came), len(came) > 1
            meant = watched_project(store, self._monitor.project)
            projects = sorted({*self._any, *(named & set(came))}, key=lambda one: (one != meant, came.index(one)))
            segment = self._monitor.model_segment
            self._models = {one: "\n".join(served_models(store, segment, project=one)) for one in projects}
            self._models_due = now + MODELS_EVERY * max(1, len(projects))
        return self._models

    def _do(self, store: Store, schedule: ScheduleSection, job: Job, over: threading.Event) -> None:
        if job.attempts > ATTEMPTS:
            said = f"given up: {ATTEMPTS} times whoever did it was killed"
            self._end(store, job, ScheduledOutcome("error", "", said, said))
            return
        at = datetime.fromtimestamp(job.due, UTC).isoformat(sep=" ", timespec="minutes")[:16]
        whose = f" ({job.why})" if " of " in job.why else ""  # one of several projects
        name, fresh = f"{schedule.name} {at}{whose}", job.attempts == 1
        wanted = ScheduledRun(schedule, name, self._config, self._monitor.judge, store.url, fresh=fresh)
        outcome = self._doing(wanted, lambda: not over.is_set() and store.jobs.beat(job, self._owner, self._clock()))
        if outcome is not None:  # else it is taken up again, here or elsewhere, when its lease is over
            self._end(store, job, outcome)
        elif over.is_set():
            store.jobs.release(job, self._owner, self._clock())

    def _end(self, store: Store, job: Job, outcome: ScheduledOutcome) -> None:
        """Keeps an outcome with the alert that it raises or ends, in one transaction, and tells of it."""
        now = self._clock()
        with store.transaction():
            if not store.jobs.end(job, self._owner, now, outcome.state, run_id=outcome.run_id, said=outcome.said):
                return
            changed = schedule_alerts(store, job, outcome, now)
            store.monitors.raised(changed)
            accounts = [replace(bare(one), blame=Blame("", outcome.why)) for one in changed]
            told = [each for one in accounts for each in deliveries(store, self._monitor, one, now)]
            store.monitors.tell(told)
        deliver(store, self._monitor, now)


class _Watched(NamedTuple):
    """Something that a schedule watches: names that it is kept under, what is there now, and what it is called."""

    names: tuple[str, ...]
    said: str
    what: str

    def differs(self, before: str) -> bool:
        """Whether that is a change: of models, where one answers that did not before."""
        models = self.what.startswith("model")
        return bool(set(self.said.split("\n")) - set(before.split("\n"))) if models else self.said != before


def in_a_process(wanted: ScheduledRun, alive: Alive) -> ScheduledOutcome | None:
    """Does a run in a process of its own, which imports the system as it is now; None where it was stopped."""
    spawning = multiprocessing.get_context("spawn")
    here, there = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_work, args=(wanted, there), name="ragauge-schedule", daemon=True)
    process.start()
    there.close()
    try:
        while not here.poll(LOOKED):
            if not alive():
                return None
        outcome: ScheduledOutcome = here.recv()
        return outcome
    except EOFError:
        process.join(BEAT)
        said = f"its process ended with exit code {process.exitcode}"
        return ScheduledOutcome("error", "", said, said)
    finally:
        process.terminate()
        process.join(BEAT)
        here.close()


def _work(wanted: ScheduledRun, there: Connection) -> None:
    there.send(wanted.outcome())

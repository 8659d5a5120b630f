"""What is done at certain times: each occurrence is taken by one server, and its outcome is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from math import inf
from typing import Any

from sqlalchemy import select, update

from ragauge.scores.results.monitoring import Job, JobState
from ragauge.store.database import Database
from ragauge.store.job_schema import jobs

LEASE_S = 120.0  # seconds without a sign of life after which another may take an occurrence up


class Jobs:
    """Occurrences of jobs, by name and time.

    Args:
        database: with the table.
        elapsed: seconds of a clock that nobody sets.
    """

    def __init__(self, database: Database, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._database, self._elapsed = database, elapsed
        self._ahead: dict[tuple[str, float], tuple[float, float]] = {}  # job -> sign of life, when it was seen first

    def newest(self, name: str, until: float = inf) -> Job | None:
        """The latest occurrence of a job that was due by a moment (seconds since 1970); None where there is none."""
        query = select(jobs).where(jobs.c.name == name).order_by(jobs.c.due.desc()).limit(1)
        if until < inf:
            query = query.where(jobs.c.due <= until)
        with self._database.read() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _build_job(row)

    def list_latest(self, max_each: int = 1) -> list[Job]:
        """The latest occurrences of every job, the newest first, by name."""
        query = select(jobs).order_by(jobs.c.name, jobs.c.due.desc())
        jobs_by_name: dict[str, list[Job]] = {}
        with self._database.read() as connection:
            for row in connection.execute(query).mappings():
                several = jobs_by_name.setdefault(row["name"], [])
                if len(several) < max_each:
                    several.append(_build_job(row))
        return [job for several in jobs_by_name.values() for job in several]

    def note(self, name: str, due: float, message: str = "") -> bool:
        """Records that a job became known, so that it is due from then on; False where that occurrence is there."""
        row = _build_row(name, due, "noted", "", due) | {"ended": due, "attempts": 0, "said": message}
        with self._database.write() as connection:
            new = self._database.insert(jobs).on_conflict_do_nothing()
            return connection.execute(new, row).rowcount == 1

    def take_job(self, name: str, due: float, owner: str, timestamp: float, reason: str = "") -> Job | None:
        """Takes an occurrence up; None where another has it, or it is over.

        One whose owner has given no sign of life for two minutes is taken from it. Where the clock was put back, these
        begin when the last sign was seen first.

        Args:
            name: of the job.
            due: which occurrence.
            owner: who takes it, unlike any other.
            timestamp: seconds since 1970.
            reason: what made it due; "" = its time.
        """
        conditions = (jobs.c.name == name, jobs.c.due == due)
        with self._database.write() as connection:
            row = connection.execute(select(jobs).where(*conditions)).mappings().first()
            if row is None:
                taken = _build_row(name, due, "running", owner, timestamp) | {"why": reason}
                connection.execute(jobs.insert(), taken)
            elif row["state"] == "running" and self._is_owner_dead(name, due, row["beat"], timestamp):
                takeover = {"owner": owner, "began": timestamp, "beat": timestamp, "attempts": row["attempts"] + 1}
                connection.execute(update(jobs).where(*conditions).values(takeover))
                taken = {**row, **takeover}
            else:
                return None
        return _build_job(taken)

    def _is_owner_dead(self, name: str, due: float, beat: float, timestamp: float) -> bool:
        """Whether the owner of an occurrence has given no sign of life for two minutes."""
        if beat <= timestamp:
            return beat + LEASE_S < timestamp
        last_beat, since = self._ahead.get((name, due), (0.0, 0.0))
        if last_beat != beat:
            self._ahead[name, due] = beat, self._elapsed()
            return False
        return self._elapsed() - since > LEASE_S

    def record_heartbeat(self, job: Job, owner: str, timestamp: float) -> bool:
        """Says that a job is still being done; False where it was taken from its owner."""
        return self._update_job(job, owner, {"beat": timestamp})

    def end(
        self, job: Job, owner: str, timestamp: float, state: JobState, *, run_id: str = "", message: str = ""
    ) -> bool:
        """Stores an outcome; False, and nothing is kept, where the job was taken from its owner."""
        return self._update_job(
            job, owner, {"state": state, "beat": timestamp, "ended": timestamp, "run_id": run_id, "said": message}
        )

    def release_job(self, job: Job, owner: str, timestamp: float) -> bool:
        """Gives a job back that is not over, so that anybody may take it up at once; False where it was taken."""
        return self._update_job(job, owner, {"beat": timestamp - LEASE_S - 1})

    def _update_job(self, job: Job, owner: str, values: dict[str, Any]) -> bool:
        conditions = (jobs.c.name == job.name, jobs.c.due == job.due, jobs.c.owner == owner, jobs.c.state == "running")
        with self._database.write() as connection:
            return connection.execute(update(jobs).where(*conditions).values(values)).rowcount == 1


def _build_row(name: str, due: float, state: JobState, owner: str, timestamp: float) -> dict[str, Any]:
    return asdict(Job(name, due, state, began=timestamp, beat=timestamp)) | {"owner": owner}


def _build_job(row: Any) -> Job:
    return Job(**{name: value for name, value in row.items() if name != "owner"})

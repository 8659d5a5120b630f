"""The loop of the server: stages take turns on what is due, with one clock, one retry rule and one lease."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.core.errors import RagaugeError

if TYPE_CHECKING:
    from ragauge.scores.results.monitoring import Job, JobState
    from ragauge.store.store_access import Store

RETRY_S = 5.0  # seconds until a stage that failed has another turn
SHUTDOWN_S = 5.0  # seconds that work under way has when the server ends
CLOCK_STEP_S = 60.0  # seconds by which a clock that steps differs from the time that passed
HEARTBEAT_S = 10.0  # seconds between two heartbeats of a lease


class SteadyClock:
    """Since when a clock runs without being put forward or back, as after a night in which the server was suspended.

    Args:
        elapsed: seconds that really passed, from any moment on.
    """

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._elapsed = elapsed
        self._began: float | None = None
        self._last = 0.0, 0.0

    def find_start(self, now: float) -> float:
        """Since when, at a moment: both in seconds since 1970. A step of the clock by a minute is another beginning."""
        elapsed = self._elapsed()
        has_stepped = abs((now - self._last[0]) - (elapsed - self._last[1])) > CLOCK_STEP_S
        self._began = now if self._began is None or has_stepped else self._began
        self._last = now, elapsed
        return self._began


class StageTurn:
    """What a stage gets at each of its turns.

    Args:
        store: open.
        clock: seconds since 1970.
        over: set when the server ends.
        steady_clock: knows since when the stage has turns; None = it has this one alone.

    Attributes:
        now: when the turn began, seconds since 1970.
        began: when the first turn began since which the clock did not step, `now` at that one; None = not known.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float] = time.time,
        over: threading.Event | None = None,
        steady_clock: SteadyClock | None = None,
    ) -> None:
        self.store, self.clock, self.over = store, clock, over or threading.Event()
        self.now = clock()
        self.began = None if steady_clock is None else steady_clock.find_start(self.now)


@dataclass(frozen=True, slots=True)
class LoopStage:
    """One kind of work."""

    lane: str  #: stages of one lane take turns in one thread; what waits for others has a lane of its own.
    work: Callable[[StageTurn], int]  #: does what is due; returns how much that was.
    interval_s: float  #: seconds until the next turn when nothing was due.


class StageLoop:
    """Gives stages their turns until the server ends.

    A stage that did something has its next turn after the others of its lane; one with nothing to do after its
    interval. An error is reported once, and the stage has another turn five seconds later.

    Args:
        store: open.
        stages: in the order of their turns.
        warn: told what goes wrong.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        stages: Sequence[LoopStage],
        warn: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._warn, self._clock, self._over = store, warn, clock, threading.Event()
        lanes = {stage.lane: [other for other in stages if other.lane == stage.lane] for stage in stages}
        self._threads = [
            threading.Thread(target=self._run_lane, args=(own_stages,), name=f"ragauge-{lane}", daemon=True)
            for lane, own_stages in lanes.items()
        ]

    def start(self) -> None:
        """Begins to work."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Ends the work; what takes longer than five seconds is left undone, and done after the next start."""
        self._over.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(SHUTDOWN_S)

    def _run_lane(self, stages: Sequence[LoopStage]) -> None:
        clocks = [SteadyClock() for _ in stages]
        due, errors = [0.0 for _ in stages], ["" for _ in stages]
        while not self._over.is_set():
            for index, stage in enumerate(stages):
                if due[index] <= time.monotonic() and not self._over.is_set():
                    wait_s, errors[index] = self._take_turn(stage, clocks[index], errors[index])
                    due[index] = time.monotonic() + wait_s
            self._over.wait(max(0.0, min(due) - time.monotonic()))

    def _take_turn(self, stage: LoopStage, steady_clock: SteadyClock, last_error: str) -> tuple[float, str]:
        """Seconds until the next turn, and what went wrong."""
        try:
            turn = StageTurn(self._store, self._clock, self._over, steady_clock)
            return (0.0 if stage.work(turn) else stage.interval_s), ""
        except Exception as error:  # whatever it is, the next turn may do without it
            error_text = str(error) if isinstance(error, RagaugeError) else f"{type(error).__name__}: {error}"
            if error_text != last_error:
                self._warn(f"traces are waiting: {error_text}")
            return RETRY_S, error_text


@dataclass(frozen=True, slots=True)
class Lease:
    """An occurrence of a job that one server does; it is another's after two minutes without a heartbeat."""

    turn: StageTurn  #: with the store and the clock.
    job: Job  #: as it was taken up.
    owner: str  #: unlike that of any other lease.

    @classmethod
    def take(cls, turn: StageTurn, name: str, due: float, reason: str = "") -> Lease | None:
        """Takes an occurrence up.

        Args:
            turn: with the store and the clock.
            name: of the job.
            due: which occurrence, seconds since 1970.
            reason: what made it due; "" = its time.

        Returns:
            None where another server has it, or it is over.
        """
        owner = secrets.token_hex(8)
        job = turn.store.jobs.take_job(name, due, owner, turn.clock(), reason)
        return None if job is None else cls(turn, job, owner)

    def renew(self) -> bool:
        """Sends a heartbeat; False where the job was taken over, or the server ends."""
        return not self.turn.over.is_set() and self.turn.store.jobs.record_heartbeat(
            self.job, self.owner, self.turn.clock()
        )

    def release(self) -> None:
        """Gives the job back, so that any server may take it up at once."""
        self.turn.store.jobs.release_job(self.job, self.owner, self.turn.clock())

    def end(self, state: JobState, *, run_id: str = "", message: str = "") -> bool:
        """Stores the outcome; False, and nothing is kept, where the job was taken over."""
        jobs = self.turn.store.jobs
        return jobs.end(self.job, self.owner, self.turn.clock(), state, run_id=run_id, message=message)

    @contextmanager
    def send_heartbeats(self) -> Iterator[None]:
        """A block during which the lease is renewed."""
        finished = threading.Event()

        def send() -> None:
            while not finished.wait(HEARTBEAT_S):
                self.turn.store.jobs.record_heartbeat(self.job, self.owner, self.turn.clock())

        thread = threading.Thread(target=send, name="ragauge-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()

"""Asks a system the questions of a run, many at a time, and keeps each response as it arrives."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ragauge.core.errors import DataError, SystemFailed
from ragauge.core.response import Response
from ragauge.engine.caller import RetryPolicy
from ragauge.engine.execute import Progress
from ragauge.engine.group_commit import GroupCommitWriter
from ragauge.engine.system_caller import PATIENCE, Asker, Asking
from ragauge.models.endpoints import PLACES
from ragauge.models.limiter import Limiter
from ragauge.store.run_collection import Arrived
from ragauge.store.store_access import Store
from ragauge.systems.base import HOPELESS, System, SystemTrouble

HOPELESS_AFTER = 3  # such failures, nothing answered yet, end the run
TICK, BEAT = 1.0, 5.0  # seconds between two reports, and between two heartbeats while nothing arrives


@dataclass(frozen=True, slots=True)
class Pace:
    """How hard a system is asked.

    Attributes:
        concurrency: questions under way, at most.
        patience: how long one may take, and what is tried again.
    """

    concurrency: int = 4
    patience: RetryPolicy = PATIENCE

    @classmethod
    def of(cls, concurrency: int, timeout: float) -> Pace:
        """So many questions at a time, so many seconds for one attempt."""
        return cls(concurrency, replace(PATIENCE, call=timeout, total=max(PATIENCE.total, timeout)))


@dataclass(frozen=True, slots=True)
class RunToFill:
    """Where responses go.

    Attributes:
        store: where the run is.
        run_id: the run; it must be begun.
        total: responses that the run will have, for the progress; None = those asked for now.
        again: failures that are there give way.
    """

    store: Store
    run_id: str
    total: int | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """What collecting did.

    Attributes:
        asked: questions that have a response now, failures counted.
        failed: of these, failures.
        again: what went wrong and was tried again: kind -> how often.
        seconds: how long it took.
    """

    asked: int
    failed: int
    again: dict[str, int]
    seconds: float


def in_order(query_ids: Sequence[str], version: str) -> list[str]:
    """The questions of a set in the order of asking: drawn at random by the set, the same for every system.

    So what a stopped run holds is a random sample, and two stopped runs hold mostly the same questions.
    """

    def draw(query_id: str) -> bytes:
        return hashlib.sha256(f"{version} {query_id}".encode("utf-8", "surrogatepass")).digest()

    return sorted(query_ids, key=draw)


async def collect(
    system: System,
    askings: Sequence[Asking],
    run: RunToFill,
    pace: Pace | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Collected:
    """Asks in the order given; each response is durable before the next question takes its place.

    A time-out, an exception and a refusal are responses with an error "kind: message". A broken connection and a 5xx
    are tried again with growing waits; "too many requests" slows all down and is no failure until patience ends.
    Cancelled, it keeps what has arrived.

    Args:
        system: what answers.
        askings: what to ask.
        run: where the responses go.
        pace: None = the default one. Where the system's address is known, calls under way and 429s are shared with
            all who call the same endpoint on this loop, such as a judge.
        progress: called with every response, and every second.

    Raises:
        SystemFailed: nothing was answered and the first failures say that the system is not there, or does not let us
            in, or returns what cannot be read; or it asks to come back after more time than patience allows.
    """
    place = PLACES.at(system.address) if system.address else None
    pace = pace or Pace()
    asker = Asker(system, Limiter(pace.concurrency, place=place), pace.patience)
    collecting = _Collecting(asker, run, pace.concurrency, len(askings), progress)
    ticking = asyncio.create_task(collecting.tick())
    try:
        await collecting.run(askings)
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        try:
            await collecting.writer.close()
        finally:
            await asker.leave()
    return collecting.collected()


@dataclass
class _Collecting:
    asker: Asker
    run_to_fill: RunToFill
    concurrency: int
    todo: int
    progress: Callable[[Progress], None] | None
    started: float = field(default_factory=time.perf_counter)
    done: int = 0
    failed: int = 0
    held: list[tuple[Asking, Response]] = field(default_factory=list)  # hopeless failures before the first answer
    over: bool = False  # nothing more is asked
    writer: GroupCommitWriter[Arrived | None, None] = field(init=False)  # of responses; None = a heartbeat

    def __post_init__(self) -> None:
        self.writer = GroupCommitWriter(self._write, alone=True)

    async def run(self, askings: Sequence[Asking]) -> None:
        """Asks everything."""
        rest = iter(askings)
        workers = [asyncio.create_task(self._work(rest)) for _ in range(min(self.concurrency, len(askings)))]
        try:
            for worker in asyncio.as_completed(workers):
                await worker
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        for asking, failure in self.held:  # too few to tell a broken system from a bad question
            await self._keep(asking, failure)

    async def _work(self, rest: Iterator[Asking]) -> None:
        for asking in rest:
            if self.over:  # the others hear of it a moment later
                return
            try:
                response = await self.asker.ask(asking)
            except SystemTrouble as trouble:
                await self._failed(asking, trouble)
            else:
                await self._keep(asking, response)
                for early, failure in self._released():
                    await self._keep(early, failure)

    async def _failed(self, asking: Asking, trouble: SystemTrouble) -> None:
        failure = self.asker.failure(asking, trouble)
        total = self.run_to_fill.total or 0
        answered = self.done > self.failed or total > self.todo  # now, or in an earlier start
        if answered or trouble.kind not in HOPELESS:
            await self._keep(asking, failure)
            return
        self.held.append((asking, failure))
        if len(self.held) >= HOPELESS_AFTER:
            self.over = True
            self.held.clear()
            raise SystemFailed(f"{self.asker.system.name} cannot be asked: {failure.error}")

    def _released(self) -> list[tuple[Asking, Response]]:
        held, self.held = self.held, []
        return held

    async def _keep(self, asking: Asking, response: Response) -> None:
        try:
            await self.writer.put((asking.example, response))
        except DataError as error:  # a number that is not finite, a value that JSON lacks
            if response.error is not None:
                raise
            await self._failed(asking, SystemTrouble("unreadable", str(error)))
            return
        self.done += 1
        self.failed += response.error is not None
        self._tell()

    async def tick(self) -> None:
        """Tells every second how far it is, and moves the heartbeat while nothing arrives."""
        beat, before = 0.0, -1
        while True:
            await asyncio.sleep(TICK)
            self._tell()
            beat = 0.0 if self.done != before else beat + TICK
            before = self.done
            if beat >= BEAT:
                beat = 0.0
                await self.writer.put(None)

    def _write(self, batch: Sequence[Arrived | None]) -> list[None]:
        arrived = [one for one in batch if one is not None]
        run = self.run_to_fill
        if arrived:  # moves the heartbeat as well
            run.store.collecting.add(run.run_id, arrived, again=run.again)
        else:
            run.store.collecting.mark(run.run_id, "running")
        return [None] * len(batch)

    def _tell(self) -> None:
        if self.progress is None:
            return
        seconds = time.perf_counter() - self.started
        rate = self.done / max(seconds, 1e-9)
        left = (self.todo - self.done) / rate if rate > 0 else None
        total = self.todo if self.run_to_fill.total is None else self.run_to_fill.total
        note = f"{self.asker.limiter.running:,} under way" + (f" · {self.failed:,} failed" if self.failed else "")
        self.progress(Progress(total - self.todo + self.done, total, rate, left, 0, 0, seconds=seconds, note=note))

    def collected(self) -> Collected:
        """What was done."""
        return Collected(self.done, self.failed, dict(self.asker.again), time.perf_counter() - self.started)

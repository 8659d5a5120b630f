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
from ragauge.engine.reply_writer import GroupCommitWriter
from ragauge.engine.system_caller import DEFAULT_RETRY_POLICY, SystemCaller, SystemRequest
from ragauge.models.endpoints import ENDPOINTS
from ragauge.models.limiter import Limiter
from ragauge.store.run_collection import ExampleResponse
from ragauge.store.store_access import Store
from ragauge.systems.base import FATAL_KINDS, System, SystemTrouble

MAX_HOPELESS_FAILURES = 3  # such failures, nothing answered yet, end the run
REPORT_INTERVAL_S, HEARTBEAT_INTERVAL_S = (
    1.0,
    5.0,
)  # seconds between two reports, and between two heartbeats while nothing arrives


@dataclass(frozen=True, slots=True)
class Pace:
    """How hard a system is asked."""

    concurrency: int = 4  #: questions under way, at most.
    patience: RetryPolicy = DEFAULT_RETRY_POLICY  #: how long one may take, and what is tried again.

    @classmethod
    def of(cls, concurrency: int, timeout: float) -> Pace:
        """So many questions at a time, so many seconds for one attempt."""
        return cls(
            concurrency, replace(DEFAULT_RETRY_POLICY, call=timeout, total=max(DEFAULT_RETRY_POLICY.total, timeout))
        )


@dataclass(frozen=True, slots=True)
class RunToFill:
    """Where responses go."""

    store: Store  #: where the run is.
    run_id: str  #: the run; it must be begun.
    total: int | None = None  #: responses that the run will have, for the progress; None = those asked for now.
    again: bool = False  #: failures that are there give way.


@dataclass(frozen=True, slots=True)
class CollectionResult:
    """What collecting did."""

    n_asked: int  #: questions that have a response now, failures counted.
    failed: int  #: of these, failures.
    again: dict[str, int]  #: what went wrong and was tried again: kind -> how often.
    seconds: float  #: how long it took.


def order_queries(query_ids: Sequence[str], version: str) -> list[str]:
    """The questions of a set in the order of asking: drawn at random by the set, the same for every system.

    So what a stopped run holds is a random sample, and two stopped runs hold mostly the same questions.
    """

    def hash_query(query_id: str) -> bytes:
        return hashlib.sha256(f"{version} {query_id}".encode("utf-8", "surrogatepass")).digest()

    return sorted(query_ids, key=hash_query)


async def collect_responses(
    system: System,
    askings: Sequence[SystemRequest],
    run: RunToFill,
    pace: Pace | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> CollectionResult:
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
    endpoint_slot = ENDPOINTS.at(system.address) if system.address else None
    pace = pace or Pace()
    asker = SystemCaller(system, Limiter(pace.concurrency, endpoint=endpoint_slot), pace.patience)
    collecting = _Collector(asker, run, pace.concurrency, len(askings), progress)
    ticking = asyncio.create_task(collecting.report_progress())
    try:
        await collecting.run(askings)
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        try:
            await collecting.writer.close()
        finally:
            await asker.leave()
    return collecting.build_result()


@dataclass
class _Collector:
    asker: SystemCaller
    run_to_fill: RunToFill
    concurrency: int
    todo: int
    progress: Callable[[Progress], None] | None
    started: float = field(default_factory=time.perf_counter)
    done: int = 0
    failed: int = 0
    held: list[tuple[SystemRequest, Response]] = field(
        default_factory=list
    )  # hopeless failures before the first answer
    over: bool = False  # nothing more is asked
    writer: GroupCommitWriter[ExampleResponse | None, None] = field(init=False)  # of responses; None = a heartbeat

    def __post_init__(self) -> None:
        self.writer = GroupCommitWriter(self._write_batch, alone=True)

    async def run(self, askings: Sequence[SystemRequest]) -> None:
        """Asks everything."""
        queue = iter(askings)
        workers = [asyncio.create_task(self._work_queue(queue)) for _ in range(min(self.concurrency, len(askings)))]
        try:
            for worker in asyncio.as_completed(workers):
                await worker
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        for asking, failure in self.held:  # too few to tell a broken system from a bad question
            await self._save_response(asking, failure)

    async def _work_queue(self, queue: Iterator[SystemRequest]) -> None:
        for asking in queue:
            if self.over:  # the others hear of it a moment later
                return
            try:
                response = await self.asker.ask_with_retries(asking)
            except SystemTrouble as trouble:
                await self._handle_failure(asking, trouble)
            else:
                await self._save_response(asking, response)
                for early, failure in self._release_held():
                    await self._save_response(early, failure)

    async def _handle_failure(self, asking: SystemRequest, trouble: SystemTrouble) -> None:
        failure = self.asker.build_failure(asking, trouble)
        total = self.run_to_fill.total or 0
        answered = self.done > self.failed or total > self.todo  # now, or in an earlier start
        if answered or trouble.kind not in FATAL_KINDS:
            await self._save_response(asking, failure)
            return
        self.held.append((asking, failure))
        if len(self.held) >= MAX_HOPELESS_FAILURES:
            self.over = True
            self.held.clear()
            raise SystemFailed(f"{self.asker.system.name} cannot be called: {failure.error}")

    def _release_held(self) -> list[tuple[SystemRequest, Response]]:
        failures, self.held = self.held, []
        return failures

    async def _save_response(self, asking: SystemRequest, response: Response) -> None:
        try:
            await self.writer.write_item((asking.example, response))
        except DataError as error:  # a number that is not finite, a value that JSON lacks
            if response.error is not None:
                raise
            await self._handle_failure(asking, SystemTrouble("unreadable", str(error)))
            return
        self.done += 1
        self.failed += response.error is not None
        self._notify_progress()

    async def report_progress(self) -> None:
        """Tells every second how far it is, and moves the heartbeat while nothing arrives."""
        beat, previous = 0.0, -1
        while True:
            await asyncio.sleep(REPORT_INTERVAL_S)
            self._notify_progress()
            beat = 0.0 if self.done != previous else beat + REPORT_INTERVAL_S
            previous = self.done
            if beat >= HEARTBEAT_INTERVAL_S:
                beat = 0.0
                await self.writer.write_item(None)

    def _write_batch(self, batch: Sequence[ExampleResponse | None]) -> list[None]:
        arrived = [entry for entry in batch if entry is not None]
        run = self.run_to_fill
        if arrived:  # moves the heartbeat as well
            run.store.collecting.add(run.run_id, arrived, again=run.again)
        else:
            run.store.collecting.mark_state(run.run_id, "running")
        return [None] * len(batch)

    def _notify_progress(self) -> None:
        if self.progress is None:
            return
        seconds = time.perf_counter() - self.started
        rate = self.done / max(seconds, 1e-9)
        seconds_left = (self.todo - self.done) / rate if rate > 0 else None
        total = self.todo if self.run_to_fill.total is None else self.run_to_fill.total
        note = f"{self.asker.limiter.running:,} in progress" + (f" · {self.failed:,} failed" if self.failed else "")
        self.progress(
            Progress(total - self.todo + self.done, total, rate, seconds_left, 0, 0, seconds=seconds, note=note)
        )

    def build_result(self) -> CollectionResult:
        """What was done."""
        return CollectionResult(self.done, self.failed, dict(self.asker.again), time.perf_counter() - self.started)

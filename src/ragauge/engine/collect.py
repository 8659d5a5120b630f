"""Asks a system the questions of a run, many at a time, and keeps each response as it arrives."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ragauge.data.example import Example
from ragauge.data.response import Passage, Response
from ragauge.engine.arrivals import Arrivals
from ragauge.engine.caller import WAITS, Patience
from ragauge.engine.execute import Progress
from ragauge.errors import DataError, SystemFailed
from ragauge.llm.limiter import Limiter
from ragauge.llm.troubles import hidden
from ragauge.store.open import Store
from ragauge.systems.base import Question, System
from ragauge.systems.troubles import HOPELESS, PASSING, SystemTrouble, trouble_of

PATIENCE = Patience(call=60.0, total=600.0, attempts=4, refusals=20)
HOPELESS_AFTER = 3     # such failures, nothing answered yet, end the run
LONGEST = 500     # characters of an error that are kept
TICK, BEAT = 1.0, 5.0     # seconds between two reports, and between two heartbeats while nothing arrives
LEAVE = 1.0     # seconds that calls which were given up have for leaving


@dataclass(frozen=True, slots=True)
class Asking:
    """One question to be asked once.

    Attributes:
        example: whose question.
        repeat: of the system.
        passages: what its generator is to answer from; None = its own retrieval.
    """

    example: Example
    repeat: int = 0
    passages: tuple[Passage, ...] | None = None


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
    system: System, askings: Sequence[Asking], store: Store, run_id: str, *, concurrency: int = 4,
    patience: Patience = PATIENCE, total: int | None = None, again: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Collected:     # fmt: skip
    """Asks in the order given; each response is durable before the next question takes its place.

    A time-out, an exception and a refusal are responses with an error "kind: message". A broken connection and a 5xx
    are tried again with growing waits; "too many requests" slows all down and is no failure until patience ends.
    Cancelled, it keeps what has arrived.

    Args:
        system: what answers.
        askings: what to ask.
        store: where the run is.
        run_id: the run; it must be begun.
        concurrency: questions under way, at most.
        patience: how long one may take.
        total: responses that the run will have, for the progress; None = those asked for now.
        again: failures that are there give way.
        progress: called with every response, and every second.

    Raises:
        SystemFailed: nothing was answered and the first failures say that the system is not there, or does not let us
            in, or returns what cannot be read; or it asks to come back after more time than patience allows.
    """
    collecting = _Collecting(system, store, run_id, concurrency, patience, len(askings), total, progress)
    arrivals = Arrivals(store, run_id, again=again)
    ticking = asyncio.create_task(collecting.tick(arrivals))
    try:
        await collecting.run(askings, arrivals)
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        try:
            await arrivals.close()
        finally:
            await collecting.leave()
    return collecting.collected()


@dataclass
class _Collecting:
    system: System
    store: Store
    run_id: str
    concurrency: int
    patience: Patience
    todo: int
    total: int | None
    progress: Callable[[Progress], None] | None
    started: float = field(default_factory=time.perf_counter)
    done: int = 0
    failed: int = 0
    again: Counter[str] = field(default_factory=Counter)
    abandoned: set[asyncio.Task[Response]] = field(default_factory=set)     # calls that were given up and go on
    held: list[tuple[Asking, Response]] = field(default_factory=list)     # hopeless failures before the first answer

    def __post_init__(self) -> None:
        self.limiter = Limiter(self.concurrency)

    async def run(self, askings: Sequence[Asking], arrivals: Arrivals) -> None:
        """Asks everything."""
        rest = iter(askings)
        workers = [
            asyncio.create_task(self._work(rest, arrivals)) for _ in range(min(self.concurrency, len(askings)))
        ]
        try:
            for worker in asyncio.as_completed(workers):
                await worker
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        for asking, failure in self.held:     # too few to tell a broken system from a bad question
            await self._keep(asking, failure, arrivals)

    async def _work(self, rest: Iterator[Asking], arrivals: Arrivals) -> None:
        for asking in rest:
            try:
                response = await self._asked(asking)
            except SystemTrouble as trouble:
                await self._failed(asking, trouble, arrivals)
            else:
                await self._keep(asking, response, arrivals)
                for early, failure in self._released():
                    await self._keep(early, failure, arrivals)

    async def _failed(self, asking: Asking, trouble: SystemTrouble, arrivals: Arrivals) -> None:
        text = self._safe(str(trouble))
        failure = Response(asking.example.query_id, asking.repeat, error=f"{trouble.kind}: {text}")
        answered = self.done > self.failed or (self.total or 0) > self.todo     # now, or in an earlier start
        if answered or trouble.kind not in HOPELESS:
            await self._keep(asking, failure, arrivals)
            return
        self.held.append((asking, failure))
        if len(self.held) >= HOPELESS_AFTER:
            self.held.clear()
            raise SystemFailed(f"{self.system.name} cannot be asked: {trouble.kind}: {text}")

    def _released(self) -> list[tuple[Asking, Response]]:
        held, self.held = self.held, []
        return held

    async def _keep(self, asking: Asking, response: Response, arrivals: Arrivals) -> None:
        try:
            await arrivals.keep((asking.example, response))
        except DataError as error:     # a number that is not finite, a value that JSON lacks
            if response.error is not None:
                raise
            await self._failed(asking, SystemTrouble("unreadable", str(error)), arrivals)
            return
        self.done += 1
        self.failed += response.error is not None
        self._tell()

    async def _asked(self, asking: Asking) -> Response:
        """The response, after as many attempts as patience has; SystemTrouble where there is none."""
        tries = refusals = 0
        spent, now = 0.0, asyncio.get_running_loop().time
        while True:
            async with self.limiter.slot():
                began = now()
                try:
                    response = await self._attempt(asking)
                except SystemTrouble as error:
                    trouble = error
                    if trouble.kind == "rate_limited":
                        self.limiter.refused(began, trouble.retry_after)
                else:
                    self.limiter.succeeded(began)
                    return response
                spent += now() - began
            if trouble.kind == "rate_limited":
                refusals += 1
                self._bear(trouble, refusals)
                continue
            tries += 1
            wait = WAITS[min(tries, len(WAITS)) - 1] * random.uniform(0.5, 1.0)  # noqa: S311 - spreads calls in time
            wait = max(wait, trouble.retry_after or 0.0)
            if trouble.kind not in PASSING or tries >= self.patience.attempts or spent + wait >= self.patience.total:
                raise trouble
            self.again[trouble.kind] += 1
            await asyncio.sleep(wait)
            spent += wait

    def _bear(self, trouble: SystemTrouble, refusals: int) -> None:
        """Counts a refusal; raises where patience ends."""
        if (trouble.retry_after or 0.0) > self.patience.total:
            asked = f"{self.system.name} asks to come back in {trouble.retry_after:,.0f} s"
            raise SystemFailed(
                f"{asked}: {self._safe(str(trouble))}. What was answered is kept; the same command goes on from there."
            )
        if refusals >= self.patience.refusals:
            raise trouble
        self.again[trouble.kind] += 1

    async def _attempt(self, asking: Asking) -> Response:
        """One attempt, its whole time bounded; a call that does not leave when it is told to is left behind."""
        example = asking.example
        question = Question(example.query_id, example.query, example.history, asking.repeat)
        began = time.perf_counter()
        call = asyncio.ensure_future(self.system.respond(question, asking.passages))
        try:
            await asyncio.wait({call}, timeout=self.patience.call)
        finally:
            if not call.done():
                call.cancel()
                self.abandoned.add(call)
                call.add_done_callback(self._gone)
        if not call.done():
            raise SystemTrouble("timeout", f"no response within {self.patience.call:g} s")
        try:
            response = call.result()
        except asyncio.CancelledError:
            raise SystemTrouble("exception", "the call was cancelled by the system itself") from None
        except Exception as error:
            raise trouble_of(error) from error
        if not self.system.measured or "total" in response.latency_ms:
            return response
        total = (time.perf_counter() - began) * 1_000
        return replace(response, latency_ms={**response.latency_ms, "total": total})

    def _gone(self, call: asyncio.Task[Response]) -> None:
        self.abandoned.discard(call)
        if not call.cancelled():
            call.exception()

    def _safe(self, text: str) -> str:
        """A message without secrets, cut where it is long."""
        for secret in sorted(self.system.secrets, key=len, reverse=True):
            text = text.replace(secret, "[hidden]")
        text = hidden(text)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"

    async def tick(self, arrivals: Arrivals) -> None:
        """Tells every second how far it is, and moves the heartbeat while nothing arrives."""
        beat, before = 0.0, -1
        while True:
            await asyncio.sleep(TICK)
            self._tell()
            beat = 0.0 if self.done != before else beat + TICK
            before = self.done
            if beat >= BEAT:
                beat = 0.0
                await arrivals.apart(lambda: self.store.collecting.mark(self.run_id, "running"))

    async def leave(self) -> None:
        """Waits a moment for the calls that were given up."""
        if self.abandoned:
            await asyncio.wait(set(self.abandoned), timeout=LEAVE)

    def _tell(self) -> None:
        if self.progress is None:
            return
        seconds = time.perf_counter() - self.started
        rate = self.done / max(seconds, 1e-9)
        left = (self.todo - self.done) / rate if rate > 0 else None
        total = self.todo if self.total is None else self.total
        note = f"{self.limiter.running:,} under way" + (f" · {self.failed:,} failed" if self.failed else "")
        self.progress(Progress(total - self.todo + self.done, total, rate, left, 0, 0, seconds=seconds, note=note))

    def collected(self) -> Collected:
        """What was done."""
        return Collected(self.done, self.failed, dict(self.again), time.perf_counter() - self.started)

"""Drives many generators of asks at once: as many as there may be calls in flight, and some more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ragauge.data.ask import Ask, Reply
from ragauge.engine.budget import BudgetReached
from ragauge.engine.execute import TICK, Progress
from ragauge.engine.models import CallCounts

T = TypeVar("T")
AHEAD = 2     # generators in work for each call that may be in flight


@dataclass
class Many(Generic[T]):
    """Generators on their way to their ends.

    Attributes:
        todo: makes each generator when its turn comes.
        answer: answers what one of them asks.
        concurrency: calls that may be in flight to begin with.
        progress: called as they are done, and every second.
        counts: calls to models so far; None where there are none.
        found: place -> what its generator returned.
        stopped: why it ended early; "" when it did not.
    """

    todo: Sequence[Callable[[], Generator[list[Ask], list[Reply], T]]]
    answer: Callable[[Sequence[Ask]], Awaitable[list[Reply]]]
    concurrency: int
    progress: Callable[[Progress], None] | None = None
    counts: Callable[[], CallCounts | None] = lambda: None
    found: dict[int, T] = field(default_factory=dict)
    stopped: str = ""
    started: float = field(default_factory=time.perf_counter)

    async def run(self) -> None:
        """Drives all; what may be spent being spent ends it early, with what is found by then."""
        queue = iter(enumerate(self.todo))

        async def work() -> None:
            for place, make in queue:
                self.found[place] = await self._one(make())
                self._tell()

        tasks = [asyncio.create_task(work()) for _ in range(min(len(self.todo), AHEAD * self.concurrency))]
        ticking = asyncio.create_task(self._tick())
        try:
            await asyncio.gather(*tasks)
        except BudgetReached as end:
            self.stopped = str(end)
        finally:
            for task in (ticking, *tasks):
                task.cancel()
            await asyncio.gather(ticking, *tasks, return_exceptions=True)
        self._tell()

    async def _one(self, asking: Generator[list[Ask], list[Reply], T]) -> T:
        try:
            asks = next(asking)
            while True:
                asks = asking.send(await self.answer(asks))
        except StopIteration as done:
            result: T = done.value
            return result

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self._tell()

    def _tell(self) -> None:
        if self.progress is None:
            return
        seconds, done = time.perf_counter() - self.started, len(self.found)
        rate = done / max(seconds, 1e-9)
        left = (len(self.todo) - done) / rate if done else None
        counts = self.counts()
        reused = 0 if counts is None else counts.reused
        self.progress(Progress(done, len(self.todo), rate, left, done, reused, counts, seconds))

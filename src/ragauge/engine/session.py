"""Drives many generators of asks at once: as many as there may be calls in flight, and some more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Generic, Self, TypeVar

from ragauge.core.ask import Ask, Reply
from ragauge.engine.ask_router import AskRouter
from ragauge.engine.budget import BudgetReached
from ragauge.engine.caller import CallCounts, Caller, Purpose
from ragauge.engine.execute import REPORT_INTERVAL_S, Progress
from ragauge.engine.models import CallOptions, build_call_counts
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.judges.judge import Judge, can_ask_models
from ragauge.store.store_access import Store

T = TypeVar("T")
Todo = Sequence[Callable[[], Generator[list[Ask], list[Reply], T]]]
ProgressCallback = Callable[[Progress], None]
GENERATORS_PER_CALL = 2  # generators in work for each call that may be in flight
OFFLINE_GENERATORS = 4  # generators in work where nothing is called


class Session:
    """Asks judges outside a run, such as to prepare a set or to check a judge.

    What models say is kept in the store, so that the same again pays nothing. When what may be spent is spent, models
    are asked no more; what judges find without them is still found.

    Attributes:
        stopped: why it ended early; "" when it did not.
    """

    def __init__(
        self, store: Store | None, calling: CallOptions | None, progress: ProgressCallback | None = None
    ) -> None:
        """A session; use it as an asynchronous context manager.

        Args:
            store: where replies are kept; None where no judge asks a model.
            calling: how models are called; None where no judge asks one.
            progress: called as generators end, and every second.
        """
        self.stopped = ""
        self._calling, self._progress = calling, progress
        self._ledger = None if store is None else ReplyWriter(store)
        self._caller: Caller | None = (
            None if calling is None or self._ledger is None else calling.build_caller(self._ledger)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._caller is not None:
                await self._caller.close(drain=bool(self.stopped))  # what is under way then is paid for
        finally:
            if self._ledger is not None:
                await self._ledger.close()
            if self._calling is not None:
                await self._calling.close()

    @property
    def counts(self) -> CallCounts | None:
        """Calls to models so far; None where none can be called."""
        return None if self._caller is None or self._calling is None else build_call_counts(self._caller, self._calling)

    async def drive_all(self, judge: Judge, todo: Todo[T]) -> dict[int, T]:
        """Place -> what its generator returned, of those that came to their ends; the judge's models answer.

        Raises:
            JudgeError: a model cannot be asked at all.
        """
        if self.stopped and can_ask_models(judge):
            return {}
        answers, purpose = AskRouter(judge, self._caller), Purpose(judge_id=judge.judge_id)
        concurrency = OFFLINE_GENERATORS if self._calling is None else self._calling.concurrency
        work = _GeneratorQueue(
            todo, lambda asks: answers(asks, purpose), concurrency, self._progress, lambda: self.counts
        )
        await work.run()
        self.stopped = self.stopped or work.stopped
        return work.results


@dataclass
class _GeneratorQueue(Generic[T]):
    """Generators on their way to their ends."""

    todo: Todo[T]  #: makes each generator when its turn comes.
    answer: Callable[[Sequence[Ask]], Awaitable[list[Reply]]]  #: answers what one of them asks.
    concurrency: int  #: calls that may be in flight to begin with.
    progress: ProgressCallback | None  #: called as they are done, and every second.
    counts: Callable[[], CallCounts | None]  #: calls to models so far; None where there are none.
    results: dict[int, T] = field(default_factory=dict)  #: place -> what its generator returned.
    stopped: str = ""  #: why it ended early; "" when it did not.
    started: float = field(default_factory=time.perf_counter)

    async def run(self) -> None:
        """Drives all; what may be spent being spent ends it early, with what is found by then."""
        queue = iter(enumerate(self.todo))

        async def work_queue() -> None:
            for index, make in queue:
                self.results[index] = await self._drive_one(make())
                self._report_progress()

        tasks = [
            asyncio.create_task(work_queue())
            for _ in range(min(len(self.todo), GENERATORS_PER_CALL * self.concurrency))
        ]
        ticking = asyncio.create_task(self._report_regularly())
        try:
            await asyncio.gather(*tasks)
        except BudgetReached as end:
            self.stopped = str(end)
        finally:
            for task in (ticking, *tasks):
                task.cancel()
            await asyncio.gather(ticking, *tasks, return_exceptions=True)
        self._report_progress()

    async def _drive_one(self, asking: Generator[list[Ask], list[Reply], T]) -> T:
        try:
            asks = next(asking)
            while True:
                asks = asking.send(await self.answer(asks))
        except StopIteration as done:
            result: T = done.value
            return result

    async def _report_regularly(self) -> None:
        while True:
            await asyncio.sleep(REPORT_INTERVAL_S)
            self._report_progress()

    def _report_progress(self) -> None:
        if self.progress is None:
            return
        seconds, n_done = time.perf_counter() - self.started, len(self.results)
        rate = n_done / max(seconds, 1e-9)
        seconds_left = (len(self.todo) - n_done) / rate if n_done else None
        counts = self.counts()
        reused = 0 if counts is None else counts.reused
        self.progress(Progress(n_done, len(self.todo), rate, seconds_left, n_done, reused, counts, seconds))

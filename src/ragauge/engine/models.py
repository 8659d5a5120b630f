"""A pool whose judge is a model: one event loop, many calls in flight."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import UsageError
from ragauge.core.readability import Controls
from ragauge.engine.ask_router import Answers, StoredReplies
from ragauge.engine.budget import Budget, BudgetReached
from ragauge.engine.caller import CallCounts, Caller, Purpose, RetryPolicy
from ragauge.engine.driver import Driving, on_stored
from ragauge.engine.judge_batch import Steps, Work, judging
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.own_calls import OwnBatch
from ragauge.engine.pool import Timed
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.judges.judge import AsksModels, Judge, asks_models
from ragauge.models.build import build_embedder, build_model
from ragauge.models.endpoints import PLACES, Endpoint
from ragauge.models.limiter import Limiter, ceiling
from ragauge.models.model import ChatModel
from ragauge.models.prices import price
from ragauge.store.store_access import Store

T = TypeVar("T")
Access = tuple[ModelName, str, tuple[tuple[str, str], ...]]  # a model, the variable of its key, its headers
SMALLEST, LARGEST = 8, 32  # responses a batch: half as many as calls may be in flight, within these
MOST_STORED = 128  # responses a batch where what is stored answers everything: fewer transactions, and no call waits
AHEAD = 2  # responses judged at a time, for each call that may be in flight: a response waits between its calls


@dataclass
class Calling:
    """How models are called.

    Attributes:
        build: makes a model from its name, once.
        concurrency: calls in flight to one endpoint to begin with; see `llm.limiter`.
        budget: what may be spent.
        patience: how long a call may take.
        most: calls in flight that it may rise to; None = `ceiling` of the start.
    """

    build: Callable[[ModelName], ChatModel]
    budget: Budget
    concurrency: int = 16
    patience: RetryPolicy = field(default_factory=RetryPolicy)
    most: int | None = None
    _models: dict[Access, ChatModel] = field(default_factory=dict)
    _embedders: dict[Access, ChatModel] = field(default_factory=dict)
    _limiters: dict[tuple[str, str, str], Limiter] = field(default_factory=dict)

    def model(self, name: ModelName) -> ChatModel:
        """The model of a name; made when it is first asked."""
        access = name, name.key_env, name.headers
        if access not in self._models:
            self._models[access] = self.build(name)
        return self._models[access]

    def embedder(self, name: ModelName) -> ChatModel:
        """The embedder of a name; made when it is first asked."""
        access = name, name.key_env, name.headers
        if access not in self._embedders:
            self._embedders[access] = build_embedder(name)
        return self._embedders[access]

    def caller(self, ledger: ReplyWriter) -> Caller:
        """What answers asks by these means, and keeps the replies."""
        return Caller(ledger, self.model, self.limiter, self.budget, self.patience, self.embedder)

    def limiter(self, name: ModelName) -> Limiter:
        """What bounds calls to a model, shared by all who call it; see `llm.endpoints` for others at its endpoint."""
        place = (name.provider, name.endpoint, name.model)
        if place not in self._limiters:
            most = self.most or ceiling(self.concurrency)
            self._limiters[place] = Limiter(self.concurrency, most, PLACES.at(name.url))
        return self._limiters[place]

    @property
    def allowed(self) -> int:
        """Calls that may be in flight at once, over all endpoints."""
        most: dict[Endpoint, int] = {}
        for limiter in self._limiters.values():
            most[limiter.place] = max(limiter.allowed, most.get(limiter.place, 0))
        return sum(most.values()) or self.concurrency

    @property
    def notes(self) -> list[str]:
        """What models learned of their places that whoever named them should know."""
        return [note for model in self._models.values() if (note := getattr(model, "note", ""))]

    async def close(self) -> None:
        """Closes the models' connections."""
        models = [*self._models.values(), *self._embedders.values()]
        self._models, self._embedders = {}, {}
        await asyncio.gather(*[model.close() for model in models])


def calling_of(
    *judges: Judge | None,
    concurrency: int = 16,
    most: int | None = None,
    max_cost: float | None = None,
    timeout: float = 120.0,
) -> Calling | None:
    """How the models of judges are called, what may be spent among them all; None where no judge asks a model.

    Args:
        judges: who judges.
        concurrency: calls in flight to one endpoint to begin with; see `llm.limiter`.
        most: calls in flight that it may rise to; None = four times as many, at most 256.
        max_cost: US dollars that may be spent now; None = no bound.
        timeout: seconds for one call.

    Raises:
        UsageError: an argument out of its range.
        RagaugeError: a bound, and a model whose price is unknown.
    """
    if concurrency < 1 or timeout <= 0 or (max_cost is not None and max_cost <= 0):
        raise UsageError(
            f"concurrency, timeout and max_cost must be above 0, got {concurrency}, {timeout:g}, {max_cost}."
        )
    if most is not None and most < concurrency:
        raise UsageError(f"max_concurrency must be at least the concurrency {concurrency}, got {most}.")
    names = [name for judge in judges if asks_models(judge) for name in judge.models()]
    if not names:
        return None
    budget = Budget(max_cost, price)
    for name in names:
        budget.check(name)
    return Calling(build_model, budget, concurrency, RetryPolicy(call=timeout), most)


def counts_of(caller: Caller, calling: Calling) -> CallCounts:
    """What happened so far."""
    counts, budget = caller.counts, calling.budget
    return CallCounts(
        counts.calls,
        counts.reused,
        caller.in_flight,
        calling.allowed,
        budget.tokens,
        budget.spent,
        budget.unpriced,
        dict(counts.errors),
    )


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """What a generator returned."""

    result: T


class Models:
    """Judges batches with a model, all of them on the event loop that it is made in.

    Reading and writing the store, ranking and scoring run in a thread of their own, and so does what stored replies
    answer; once a reply is not stored, that question's prompts are written and its replies read on the loop.
    """

    slow = True  # a batch of a slow model takes minutes

    def __init__(self, work: Work, judge: AsksModels, calling: Calling, store: Store, run_id: str) -> None:
        self.notes: list[str] = []
        # not by the clock: a batch lasts as long as its calls do, and what they brought is durable before it ends
        self.size = self._least = max(SMALLEST, min(LARGEST, calling.concurrency // 2))
        self.workers = max(2, AHEAD * calling.concurrency // self.size)
        self._work, self._judge, self._calling, self._store, self._run_id = work, judge, calling, store, run_id
        self._judge_id = judge.judge_id
        self._loop = asyncio.get_running_loop()
        self._ledger = ReplyWriter(store)
        self.caller = calling.caller(self._ledger)
        self._answers = Answers(judge, self.caller, self._embedded)
        self._stored = StoredReplies(judge, store.replies)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragauge-judge")
        self._vectors = EmbedAnswers()
        self._spent: BudgetReached | None = None
        self._answered: dict[int, int] = {}  # batch under way, by its first response -> questions answered

    @property
    def under_way(self) -> float:
        """What is done of the batches under way, in responses: a batch of a slow model takes minutes."""
        return sum(n for batch, n in self._answered.items() if batch) / max(1, len(self._work.questions))

    def use(self, controls: Controls) -> None:
        """Judges what comes by these controls."""
        self._work = replace(self._work, controls=controls)

    def judge(self, numbers: Sequence[int]) -> Future[Timed]:
        """Judges responses by number."""
        return asyncio.run_coroutine_threadsafe(self._batch(numbers), self._loop)

    def took(self, timed: Timed) -> None:
        """Nothing: the next batch's size follows from what stored replies answered of those before."""

    def calling(self) -> CallCounts:
        """What happened so far."""
        return counts_of(self.caller, self._calling)

    def stop(self) -> None:
        """Gives up the calls under way; `close` waits for what is being written."""
        self.caller.cancel()
        self._work.own_calls.stop()

    async def close(self) -> None:
        """Writes what is left and closes the connections; where the money is spent, waits for what it was spent on."""
        try:
            await self.caller.close(drain=self._spent is not None)
        finally:
            self.notes += self._calling.notes
            try:
                await self._ledger.close()
            finally:
                self._thread.shutdown(wait=True)
                await self._calling.close()

    async def _batch(self, numbers: Sequence[int]) -> Timed:
        if (here := asyncio.current_task()) is not None:
            # where another batch ended the run in the same moment, nobody asks any more why this one failed
            here.add_done_callback(lambda task: task.cancelled() or task.exception())
        started = time.perf_counter()
        items = await self._apart(lambda: self._store.runs.load(numbers))
        result = await self.drive(judging(items, self._work, self._store.evidence), numbers[0])
        return Timed(result, time.perf_counter() - started)

    async def drive(self, steps: Steps[T], batch: int = 0) -> T:
        """Drives a generator of jobs to its end; what it returns. `batch` is the batch's first response, 0 of none."""
        outcomes: list[Any] | None = None
        size = min(MOST_STORED, 2 * self.size)
        try:
            while True:
                step = await self._apart(partial(self._step, steps, outcomes))
                if isinstance(step, Ended):
                    self.size = size
                    return step.result
                if isinstance(step, OwnBatch):
                    called = await asyncio.wrap_future(self._work.own_calls.start(step.calls))
                    outcomes = list(called)
                    continue
                self.caller.counts.reused += sum(one.reused for one in step)
                asking = [one for one in step if one.outcome is None]
                self._answered[batch] = self._answered.get(batch, 0) + len(step) - len(asking)
                if asking:
                    size = self._least
                    await _all([self._driven(one, batch) for one in asking])
                outcomes = [one.outcome for one in step if one.outcome is not None]  # all are at their ends
        finally:
            self._answered.pop(batch, None)

    def _step(self, steps: Steps[T], outcomes: list[Any] | None) -> list[Driving] | OwnBatch | Ended[T]:
        """One step of the generator, its jobs as far as stored replies reach.

        Its end is a value, since StopIteration cannot leave a thread.
        """
        try:
            jobs = next(steps) if outcomes is None else steps.send(outcomes)
        except StopIteration as done:
            return Ended(done.value)
        return jobs if isinstance(jobs, OwnBatch) else on_stored(jobs, self._stored)

    async def _apart(self, work: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._thread, work)

    async def _driven(self, one: Driving, batch: int) -> None:
        """Drives one question about one response to its end."""
        while one.outcome is None:
            one.take(await self._answer(one.asks, Purpose(self._run_id, one.job.response_no or None, self._judge_id)))
        self._answered[batch] += 1

    async def _answer(self, asks: Sequence[Ask], purpose: Purpose) -> list[Reply]:
        try:
            return await self._answers(asks, purpose)
        except BudgetReached as end:
            self._spent = end
            raise

    async def _embedded(self, asks: Sequence[Ask]) -> list[Reply]:
        return await self._apart(lambda: self._vectors(asks))


async def _all(parts: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What all of them give, in order. When one raises, the others are given up: they would go on asking."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()

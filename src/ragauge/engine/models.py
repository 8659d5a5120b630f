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
from ragauge.core.response import Controls
from ragauge.engine.ask_router import AskRouter, StoredReplies
from ragauge.engine.budget import Budget, BudgetReached
from ragauge.engine.caller import CallCounts, Caller, Purpose, RetryPolicy
from ragauge.engine.driver import JobDriver, advance_on_stored
from ragauge.engine.judge_batch import Steps, Work, run_judging
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.own_calls import OwnBatch
from ragauge.engine.pool import TimedResult
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.judges.judge import AsksModels, Judge, can_ask_models
from ragauge.models.build import build_embedder, build_model
from ragauge.models.endpoints import ENDPOINTS, Endpoint
from ragauge.models.limiter import Limiter, compute_ceiling
from ragauge.models.model import ChatModel
from ragauge.models.prices import compute_price
from ragauge.store.store_access import Store

T = TypeVar("T")
Access = tuple[ModelName, str, tuple[tuple[str, str], ...]]  # a model, the variable of its key, its headers
MIN_BATCH_RESPONSES, MAX_BATCH_RESPONSES = (
    8,
    32,
)  # responses a batch: half as many as calls may be in flight, within these
MAX_STORED_BATCH_RESPONSES = (
    128  # responses a batch where what is stored answers everything: fewer transactions, and no call waits
)
RESPONSES_PER_CALL = (
    2  # responses judged at a time, for each call that may be in flight: a response waits between its calls
)


@dataclass
class CallOptions:
    """How models are called."""

    build: Callable[[ModelName], ChatModel]  #: makes a model from its name, once.
    budget: Budget  #: what may be spent.
    concurrency: int = 16  #: calls in flight to one endpoint to begin with; see `models.limiter`.
    patience: RetryPolicy = field(default_factory=RetryPolicy)  #: how long a call may take.
    most: int | None = None  #: calls in flight that it may rise to; None = `compute_ceiling` of the start.
    _models: dict[Access, ChatModel] = field(default_factory=dict)
    _embedders: dict[Access, ChatModel] = field(default_factory=dict)
    _limiters: dict[tuple[str, str, str], Limiter] = field(default_factory=dict)

    def model(self, name: ModelName) -> ChatModel:
        """The model of a name; made when it is first asked."""
        access = name, name.key_env, name.headers
        if access not in self._models:
            self._models[access] = self.build(name)
        return self._models[access]

    def get_embedder(self, name: ModelName) -> ChatModel:
        """The embedder of a name; made when it is first asked."""
        access = name, name.key_env, name.headers
        if access not in self._embedders:
            self._embedders[access] = build_embedder(name)
        return self._embedders[access]

    def build_caller(self, ledger: ReplyWriter) -> Caller:
        """What answers asks by these means, and keeps the replies."""
        return Caller(ledger, self.model, self.get_limiter, self.budget, self.patience, self.get_embedder)

    def get_limiter(self, name: ModelName) -> Limiter:
        """What bounds calls to a model, shared by all who call it."""
        endpoint_key = (name.provider, name.endpoint, name.model)
        if endpoint_key not in self._limiters:
            max_concurrency = self.most or compute_ceiling(self.concurrency)
            self._limiters[endpoint_key] = Limiter(self.concurrency, max_concurrency, ENDPOINTS.at(name.url))
        return self._limiters[endpoint_key]

    @property
    def n_allowed(self) -> int:
        """Calls that may be in flight at once, over all endpoints."""
        allowed_by_endpoint: dict[Endpoint, int] = {}
        for limiter in self._limiters.values():
            allowed_by_endpoint[limiter.place] = max(limiter.allowed, allowed_by_endpoint.get(limiter.place, 0))
        return sum(allowed_by_endpoint.values()) or self.concurrency

    @property
    def notes(self) -> list[str]:
        """What models learned of their places that whoever named them should know."""
        return [note for model in self._models.values() if (note := getattr(model, "note", ""))]

    async def close(self) -> None:
        """Closes the models' connections."""
        models = [*self._models.values(), *self._embedders.values()]
        self._models, self._embedders = {}, {}
        await asyncio.gather(*[model.close() for model in models])


def build_call_options(
    *judges: Judge | None,
    concurrency: int = 16,
    max_concurrency: int | None = None,
    max_cost: float | None = None,
    timeout: float = 120.0,
) -> CallOptions | None:
    """How the models of judges are called, what may be spent among them all; None where no judge asks a model.

    Args:
        judges: who judges.
        concurrency: calls in flight to one endpoint to begin with; see `models.limiter`.
        max_concurrency: calls in flight that it may rise to; None = four times as many, at most 256.
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
    if max_concurrency is not None and max_concurrency < concurrency:
        raise UsageError(f"max_concurrency must be at least the concurrency {concurrency}, got {max_concurrency}.")
    names = [name for judge in judges if can_ask_models(judge) for name in judge.models()]
    if not names:
        return None
    budget = Budget(max_cost, compute_price)
    for name in names:
        budget.check_price(name)
    return CallOptions(build_model, budget, concurrency, RetryPolicy(call=timeout), max_concurrency)


def build_call_counts(caller: Caller, calling: CallOptions) -> CallCounts:
    """What happened so far."""
    counts, budget = caller.counts, calling.budget
    return CallCounts(
        counts.calls,
        counts.reused,
        caller.n_in_flight,
        calling.n_allowed,
        budget.tokens,
        budget.spent,
        budget.unpriced,
        dict(counts.errors),
    )


@dataclass(frozen=True, slots=True)
class GeneratorResult(Generic[T]):
    """What a generator returned."""

    result: T


class ModelPool:
    """Judges batches with a model, all of them on the event loop that it is made in.

    Reading and writing the store, ranking and scoring run in a thread of their own, and so does what stored replies
    answer; once a reply is not stored, that question's prompts are written and its replies read on the loop.
    """

    slow = True  # a batch of a slow model takes minutes

    def __init__(self, work: Work, judge: AsksModels, calling: CallOptions, store: Store, run_id: str) -> None:
        self.notes: list[str] = []
        # not by the clock: a batch lasts as long as its calls do, and what they brought is durable before it ends
        self.size = self._least = max(MIN_BATCH_RESPONSES, min(MAX_BATCH_RESPONSES, calling.concurrency // 2))
        self.workers = max(2, RESPONSES_PER_CALL * calling.concurrency // self.size)
        self._work, self._judge, self._calling, self._store, self._run_id = work, judge, calling, store, run_id
        self._judge_id = judge.judge_id
        self._loop = asyncio.get_running_loop()
        self._ledger = ReplyWriter(store)
        self.caller = calling.build_caller(self._ledger)
        self._answers = AskRouter(judge, self.caller, self._embed_texts)
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

    def judge(self, numbers: Sequence[int]) -> Future[TimedResult]:
        """Judges responses by number."""
        return asyncio.run_coroutine_threadsafe(self._judge_batch(numbers), self._loop)

    def took(self, timed: TimedResult) -> None:
        """Nothing: the next batch's size follows from what stored replies answered of those before."""

    def count_calls(self) -> CallCounts:
        """What happened so far."""
        return build_call_counts(self.caller, self._calling)

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

    async def _judge_batch(self, numbers: Sequence[int]) -> TimedResult:
        if (current := asyncio.current_task()) is not None:
            # where another batch ended the run in the same moment, nobody asks any more why this one failed
            current.add_done_callback(lambda task: task.cancelled() or task.exception())
        started = time.perf_counter()
        items = await self._run_in_thread(lambda: self._store.runs.load(numbers))
        result = await self.drive_steps(run_judging(items, self._work, self._store.evidence), numbers[0])
        return TimedResult(result, time.perf_counter() - started)

    async def drive_steps(self, steps: Steps[T], batch: int = 0) -> T:
        """Drives a generator of jobs to its end; what it returns. `batch` is the batch's first response, 0 of none."""
        outcomes: list[Any] | None = None
        size = min(MAX_STORED_BATCH_RESPONSES, 2 * self.size)
        try:
            while True:
                step = await self._run_in_thread(partial(self._run_step, steps, outcomes))
                if isinstance(step, GeneratorResult):
                    self.size = size
                    return step.result
                if isinstance(step, OwnBatch):
                    own_results = await asyncio.wrap_future(self._work.own_calls.start(step.calls))
                    outcomes = list(own_results)
                    continue
                self.caller.counts.reused += sum(driver.reused for driver in step)
                unanswered = [driver for driver in step if driver.outcome is None]
                self._answered[batch] = self._answered.get(batch, 0) + len(step) - len(unanswered)
                if unanswered:
                    size = self._least
                    await _gather_all([self._drive_question(driver, batch) for driver in unanswered])
                outcomes = [driver.outcome for driver in step if driver.outcome is not None]  # all are at their ends
        finally:
            self._answered.pop(batch, None)

    def _run_step(self, steps: Steps[T], outcomes: list[Any] | None) -> list[JobDriver] | OwnBatch | GeneratorResult[T]:
        """One step of the generator, its jobs as far as stored replies reach.

        Its end is a value, since StopIteration cannot leave a thread.
        """
        try:
            jobs = next(steps) if outcomes is None else steps.send(outcomes)
        except StopIteration as done:
            return GeneratorResult(done.value)
        return jobs if isinstance(jobs, OwnBatch) else advance_on_stored(jobs, self._stored)

    async def _run_in_thread(self, work: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._thread, work)

    async def _drive_question(self, driver: JobDriver, batch: int) -> None:
        """Drives one question about one response to its end."""
        while driver.outcome is None:
            driver.accept_replies(
                await self._answer_asks(
                    driver.asks, Purpose(self._run_id, driver.job.response_no or None, self._judge_id)
                )
            )
        self._answered[batch] += 1

    async def _answer_asks(self, asks: Sequence[Ask], purpose: Purpose) -> list[Reply]:
        try:
            return await self._answers(asks, purpose)
        except BudgetReached as end:
            self._spent = end
            raise

    async def _embed_texts(self, asks: Sequence[Ask]) -> list[Reply]:
        return await self._run_in_thread(lambda: self._vectors(asks))


async def _gather_all(coroutines: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What all of them give, in order. When one raises, the others are given up: they would go on asking."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()

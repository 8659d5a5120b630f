"""Prepares an eval set: reference claims and aspects of each example, asked of a model once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeGuard

from ragauge.data.ask import Ask, Reply, reply_key
from ragauge.data.example import Example
from ragauge.engine.budget import BudgetReached
from ragauge.engine.caller import Caller, Purpose
from ragauge.engine.estimate import Estimate
from ragauge.engine.execute import TICK, Progress
from ragauge.engine.ledger import Ledger
from ragauge.engine.models import AsksModels, CallCounts, Calling, asks_models, counts_of
from ragauge.judging.inputs import reference_claims
from ragauge.judging.judge import Judge
from ragauge.judging.model.prepare import Prepared
from ragauge.llm.prices import price
from ragauge.store.open import Store

AHEAD = 2     # examples in work for each call that may be in flight


class Prepares(AsksModels, Protocol):
    """A judge that can prepare an eval set."""

    def prepare(self, query: str, reference: str) -> Generator[list[Ask], list[Reply], Prepared]:
        """Claims of a reference and aspects of a question."""


def prepares(judge: Judge) -> TypeGuard[Prepares]:
    """Whether a judge asks a model for claims and aspects."""
    return asks_models(judge) and hasattr(judge, "prepare")


@dataclass(frozen=True, slots=True)
class PreparedSet:
    """What became of the examples.

    Attributes:
        examples: all of them, in their order; those that could not be prepared as they were.
        done: how many were prepared now.
        there: how many had claims and aspects already.
        failed: query_id -> why it could not be prepared.
        stopped: why it ended early; "" when it did not. Then nothing but the stored replies is worth keeping.
        calling: calls to models; None where none were asked.
    """

    examples: tuple[Example, ...]
    done: int
    there: int
    failed: dict[str, str]
    stopped: str = ""
    calling: CallCounts | None = None


class Todo(NamedTuple):
    """One example to prepare, by its place."""

    place: int
    example: Example


def lacking(examples: Sequence[Example]) -> Iterator[Todo]:
    """The examples that lack aspects, or the claims of a reference that they have."""
    for place, example in enumerate(examples):
        if example.aspects is None or (example.reference_claims is None and example.references):
            yield Todo(place, example)


def by_sentences(examples: Sequence[Example]) -> PreparedSet:
    """The sentences of each main reference as its claims, at no call; aspects take reading, and stay as they are."""
    found = []
    done = 0
    for example in examples:
        wanted = example.reference_claims is None and bool(example.references)
        done += wanted
        found.append(replace(example, reference_claims=reference_claims(example)) if wanted else example)
    return PreparedSet(tuple(found), done, len(found) - done, {})


def expected(examples: Sequence[Example], judge: Prepares, store: Store) -> Estimate:
    """What preparing would ask: the first call of every example that no stored reply answers."""
    found = Estimate()
    wanted = {}
    for todo in lacking(examples):
        asking = judge.prepare(todo.example.query, _reference(todo.example))
        for ask in next(asking):
            wanted[reply_key(judge.model_of(ask), ask)] = ask
        asking.close()
    stored = store.replies.get(wanted)
    for key, ask in wanted.items():
        if key not in stored:
            found.add(judge.model_of(ask), ask, price)
    return found


async def prepare_examples(
    examples: Sequence[Example],
    judge: Prepares,
    store: Store,
    calling: Calling,
    progress: Callable[[Progress], None] | None = None,
) -> PreparedSet:
    """Asks about every example that lacks claims or aspects; replies are durable as they arrive.

    Args:
        examples: of the set.
        judge: whose model is asked.
        store: where replies are kept: the same again pays nothing.
        calling: how models are called.
        progress: called as examples are done, and every second.
    """
    ledger = Ledger(store)
    caller = Caller(ledger, calling.model, calling.limiter, calling.budget, calling.patience)
    work = _Work(list(lacking(examples)), judge, caller, calling, progress)
    try:
        await work.run()
    finally:
        try:
            await caller.close(drain=bool(work.stopped))     # what is under way then is paid for
        finally:
            await ledger.close()
            await calling.close()
    found = list(examples)
    failed = {}
    for place, prepared in work.found.items():
        example = found[place]
        if prepared.aspects is None:
            failed[example.query_id] = prepared.reason
            continue
        claims = prepared.claims if example.reference_claims is None and example.references else None
        found[place] = replace(
            example, reference_claims=claims or example.reference_claims, aspects=example.aspects or prepared.aspects
        )
    done = len(work.found) - len(failed)
    there = len(examples) - len(work.todo)
    return PreparedSet(tuple(found), done, there, failed, work.stopped, counts_of(caller, calling))


@dataclass
class _Work:
    """The examples on their way."""

    todo: list[Todo]
    judge: Prepares
    caller: Caller
    calling: Calling
    progress: Callable[[Progress], None] | None
    found: dict[int, Prepared] = field(default_factory=dict)
    stopped: str = ""
    started: float = field(default_factory=time.perf_counter)

    async def run(self) -> None:
        """Works on as many examples at a time as there may be calls in flight, and some more."""
        queue = iter(self.todo)

        async def work() -> None:
            for todo in queue:
                self.found[todo.place] = await self._one(todo.example)
                self._tell()

        workers = min(len(self.todo), AHEAD * self.calling.concurrency)
        tasks = [asyncio.create_task(work()) for _ in range(workers)]
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

    async def _one(self, example: Example) -> Prepared:
        asking = self.judge.prepare(example.query, _reference(example))
        purpose = Purpose(judge_id=self.judge.judge_id)
        try:
            asks = next(asking)
            while True:
                asks = asking.send(await self.caller.answer([(self.judge.model_of(a), a) for a in asks], purpose))
        except StopIteration as done:
            prepared: Prepared = done.value
            return prepared

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
        counts = counts_of(self.caller, self.calling)
        self.progress(Progress(done, len(self.todo), rate, left, done, counts.reused, counts, seconds))


def _reference(example: Example) -> str:
    return example.references[0] if example.references else ""

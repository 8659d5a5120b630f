"""Answers a judge's asks: from the store, else from a model. The one place that retries, waits, pays and remembers."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ragauge.data.ask import Ask, ModelName, Reply, reply_key
from ragauge.engine.budget import Budget, BudgetReached, Held
from ragauge.engine.ledger import Ledger
from ragauge.errors import JudgeError, RagaugeError
from ragauge.llm.keys import hidden
from ragauge.llm.limiter import Limiter
from ragauge.llm.model import FATAL, PASSING, CallError, ChatModel
from ragauge.store.call_contracts import Call

WAITS = (0.5, 1, 2, 4, 8, 16, 30)     # seconds before the next try, times a random half to one


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take.

    Attributes:
        call: seconds for one attempt, slow drips included.
        total: seconds for all attempts at one ask, waits for a free place left out.
        attempts: at most, 429s left out: those cost nothing and say when to come back.
        refusals: 429s to one ask, at most.
    """

    call: float = 120.0
    total: float = 600.0
    attempts: int = 6
    refusals: int = 20


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a call is made for; it is recorded beside it."""

    run_id: str = ""
    response_no: int | None = None
    judge_id: str = ""


@dataclass
class Counts:
    """What happened so far; shown live."""

    calls: int = 0
    reused: int = 0
    troubles: dict[str, int] = field(default_factory=dict)

    def met(self, trouble: str) -> None:
        """A call brought no reply."""
        self.troubles[trouble] = self.troubles.get(trouble, 0) + 1


class Caller:
    """Answers chat asks of any number of tasks at once.

    The same ask by two tasks is one call. A failed call is a failed Reply without a key: it is not stored, and the next
    start asks again. A filtered or cut-off reply is a failed Reply with a key: it is.
    """

    def __init__(
        self,
        ledger: Ledger,
        models: Callable[[ModelName], ChatModel],
        limiters: Callable[[ModelName], Limiter],
        budget: Budget,
        patience: Patience = Patience(),
        embedders: Callable[[ModelName], ChatModel] | None = None,
    ) -> None:
        self._ledger, self._models, self._limiters = ledger, models, limiters
        self._embedders = embedders or models
        self.budget, self._patience = budget, patience
        self._flying: dict[str, asyncio.Task[Reply]] = {}
        self._paid: set[asyncio.Task[Any]] = set()     # those whose call is under way
        self._freed = asyncio.Event()     # set when a call under way ends, and what was set aside for it is free again
        self._closed = False
        self._answered: dict[ModelName, float] = {}     # model -> when it gave a reply last
        self.counts = Counts()

    @property
    def waiting(self) -> int:
        """Asks without an answer yet: in flight, or before it."""
        return len(self._flying)

    @property
    def in_flight(self) -> int:
        """Calls under way."""
        return len(self._paid)

    async def answer(self, asks: Sequence[tuple[ModelName, Ask]], purpose: Purpose) -> list[Reply]:
        """One reply an ask, in order.

        Raises:
            JudgeError: the model cannot be asked at all: no key, no such model.
            BudgetReached: the next call might exceed what may be spent.
        """
        tasks = [self._one(name, ask, purpose) for name, ask in asks]
        return list(await asyncio.gather(*tasks))

    def _one(self, name: ModelName, ask: Ask, purpose: Purpose) -> Awaitable[Reply]:
        if self._closed:
            raise asyncio.CancelledError
        key = reply_key(name, ask)
        task = self._flying.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._find(key, name, ask, purpose))
            self._flying[key] = task
            task.add_done_callback(partial(self._ended, key))
        return asyncio.shield(task)

    def _ended(self, key: str, task: asyncio.Task[Reply]) -> None:
        self._flying.pop(key, None)
        if not task.cancelled():
            task.exception()     # seen: whoever waited may be gone

    async def _find(self, key: str, name: ModelName, ask: Ask, purpose: Purpose) -> Reply:
        stored = await self._ledger.get(key)
        if stored is not None:
            self.counts.reused += 1
            return stored
        return await self._call(key, name, ask, purpose)

    async def _call(self, key: str, name: ModelName, ask: Ask, purpose: Purpose) -> Reply:
        limiter, spent, tries, refusals, last = self._limiters(name), 0.0, 0, 0, ""
        patience, now = self._patience, asyncio.get_running_loop().time
        first = 0.0     # when it was first tried
        while tries < patience.attempts and refusals < patience.refusals and spent < patience.total:
            if self._closed:
                break
            async with limiter.slot():
                held = await self._hold(name, ask)
                began = now()
                first = first if tries else began
                outcome = await self._paying(key, name, ask, purpose, patience.total - spent, held)
                spent += now() - began
                if isinstance(outcome, Reply):
                    limiter.succeeded(began)
                    return outcome
                if outcome.trouble == "rate_limited":
                    limiter.refused(began, outcome.retry_after)
            last = f"{outcome.trouble}: {outcome}"
            if outcome.trouble == "rate_limited":
                refusals += 1
                continue
            if outcome.learned:
                continue
            if outcome.trouble not in PASSING:
                return Reply("failed", reason=last)
            tries += 1
            wait = WAITS[min(tries, len(WAITS)) - 1] * random.uniform(0.5, 1.0)  # noqa: S311 - spreads calls in time
            wait = max(wait, outcome.retry_after or 0.0)
            if spent + wait >= patience.total or tries >= patience.attempts:
                if outcome.trouble == "unreachable" and self._answered.get(name, -1.0) < first:     # nor by others
                    raise JudgeError(
                        f"{name} cannot be reached: {outcome}. Is the server running, and its URL right? What was "
                        "answered is kept; the same command goes on from there."
                    )
                break
            await asyncio.sleep(wait)
            spent += wait
        return Reply("failed", reason=f"no reply after {tries + refusals} attempts in {spent:.0f} s; last: {last}")

    async def _paying(
        self, key: str, name: ModelName, ask: Ask, purpose: Purpose, left: float, held: Held
    ) -> Reply | CallError:
        """One attempt for which the means are set aside."""
        unsure, task = False, asyncio.current_task()
        if task is not None:
            self._paid.add(task)
        try:
            outcome = await self._attempt(key, name, held.bound(ask), ask, purpose, left)
            unsure = outcome.usage is None if isinstance(outcome, Reply) else outcome.may_be_billed
            if isinstance(outcome, Reply) and not held.told(outcome):
                raise JudgeError(
                    f"{name} takes no bound on the tokens of a reply, so --max-cost cannot be kept. Leave --max-cost "
                    "out; what was paid for is kept."
                )
        finally:
            if task is not None:
                self._paid.discard(task)
            self.budget.release(held, unsure=unsure)
            self._freed.set()
        return outcome

    async def _hold(self, name: ModelName, ask: Ask) -> Held:
        """Sets aside what the call may cost; where that does not fit, waits for calls under way to cost less."""
        while True:
            try:
                return self.budget.hold(name, ask)
            except BudgetReached:
                if not self.budget.holders:
                    raise
            self._freed.clear()
            await self._freed.wait()

    async def close(self, *, drain: bool = False) -> None:
        """Takes no more asks and gives up those under way.

        Args:
            drain: wait for the calls that were made, since they are paid for; what waits for its turn is given up.
        """
        self._closed = True
        flying = set(self._flying.values())
        paid = self._paid & flying if drain else set()
        for task in flying - paid:
            task.cancel()
        try:
            await asyncio.gather(*flying, return_exceptions=True)
        finally:
            for task in paid:
                task.cancel()

    def cancel(self) -> None:
        """Gives up the calls under way at once; takes no more."""
        self._closed = True
        for task in self._flying.values():
            task.cancel()

    async def _attempt(
        self, key: str, name: ModelName, sent: Ask, ask: Ask, purpose: Purpose, left: float
    ) -> Reply | CallError:
        """One attempt, recorded whatever came of it; the reply is durable when this returns."""
        started = time.perf_counter()
        seconds = min(self._patience.call, left)
        self.counts.calls += 1
        call = Call(key, ask.question, name, "", purpose.response_no, purpose.run_id, judge_id=purpose.judge_id)
        try:
            async with asyncio.timeout(seconds):
                asked = self._embedders if ask.kind == "embed" else self._models
                reply = await asked(name).reply(sent, seconds)
        except TimeoutError:
            error = CallError("timeout", f"no complete reply within {seconds:.0f} s")
        except CallError as trouble:
            error = trouble
        except (RagaugeError, MemoryError, RecursionError):
            raise
        except Exception as unknown:     # of the library below: one ask fails with its words, not the run
            error = CallError("client", hidden(f"{type(unknown).__name__}: {unknown}"))
        else:
            self._answered[name] = asyncio.get_running_loop().time()
            latency = (time.perf_counter() - started) * 1_000
            cost = self.budget.pay(name, ask, reply.usage)
            reply = replace(reply, cost=cost, latency_ms=latency)
            call = replace(call, outcome=reply.status, usage=reply.usage, cost=cost, latency_ms=latency)
            return await self._ledger.put(name, ask, reply, call)
        cost = self.budget.pay(name, ask, error.usage)
        latency = (time.perf_counter() - started) * 1_000
        self._ledger.record(replace(call, outcome=error.trouble, usage=error.usage, cost=cost, latency_ms=latency))
        self.counts.met(error.trouble)
        if error.trouble in FATAL and not (error.status == 403 and name in self._answered):     # one text is forbidden
            raise JudgeError(f"{name} cannot be asked: {error}.") from error
        if error.trouble == "rate_limited" and (error.retry_after or 0.0) > self._patience.total:
            raise JudgeError(
                f"{name} asks to come back in {error.retry_after:,.0f} s: {error}. What was paid for is kept; the same "
                "command goes on from there."
            ) from error
        return error

"""Answers a judge's asks: from the store, else from a model. The one place that retries, waits, pays and remembers."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ragauge.core.ask import Ask, ModelName, Reply, Usage, build_reply_key
from ragauge.core.errors import JudgeError, RagaugeError
from ragauge.engine.budget import Budget, BudgetReached, Reservation
from ragauge.engine.prefixes import Prefix, PrefixQueue
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.models.endpoints import find_key_variable, hide_keys
from ragauge.models.limiter import Limiter
from ragauge.models.model import FATAL_TROUBLES, MAX_MESSAGE_CHARS, TRANSIENT_TROUBLES, CallError, ChatModel
from ragauge.store.calls import Call

RETRY_WAITS_S = (0.5, 1, 2, 4, 8, 16, 30)  # seconds before the next try, times a random half to one


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a call may take."""

    call: float = 120.0  #: seconds for one attempt, slow drips included.
    total: float = 600.0  #: seconds for all attempts at one ask, waits for a free place left out.
    attempts: int = 6  #: at most, 429s left out: those cost nothing and say when to come back.
    refusals: int = 20  #: 429s to one ask, at most.


@dataclass
class RetryState:
    """How often one thing was tried, and how long: what is left of patience with it."""

    patience: RetryPolicy  #: how much there was.
    failed: int = 0  #: attempts that brought nothing, 429s left out.
    refused: int = 0  #: 429s.
    seconds: float = 0.0  #: spent on attempts and on the waits between them.

    @property
    def can_retry(self) -> bool:
        """Whether it may be tried again."""
        policy = self.patience
        return self.failed < policy.attempts and self.refused < policy.refusals and self.seconds < policy.total

    def count_failure(self, retry_after: float | None) -> float | None:
        """Counts an attempt that failed, and the wait behind it; None where patience ends."""
        self.failed += 1
        wait = RETRY_WAITS_S[min(self.failed, len(RETRY_WAITS_S)) - 1] * random.uniform(0.5, 1.0)  # noqa: S311 - spreads calls in time
        wait = max(wait, retry_after or 0.0)
        if self.failed >= self.patience.attempts or self.seconds + wait >= self.patience.total:
            return None
        self.seconds += wait
        return wait


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a call is made for; it is recorded beside it."""

    run_id: str = ""
    response_no: int | None = None
    judge_id: str = ""


@dataclass(eq=False)
class PendingAsk:
    """One ask on its way to a model, with what came of it so far."""

    key: str  #: of the reply that is wanted.
    name: ModelName  #: who is asked.
    ask: Ask  #: what.
    purpose: Purpose  #: what for.
    tries: RetryState  #: how often already.
    prefix: Prefix | None = None  #: what others begin with too; None = nothing.
    leads: bool = False  #: whether the others wait for its first attempt.
    began: float = 0.0  #: when it was first tried, by the event loop's clock; a 429 does not count.


@dataclass(frozen=True, slots=True)
class CallCounts:
    """Calls to models so far."""

    calls: int  #: attempts made.
    reused: int  #: asks that a stored reply answered.
    in_flight: int  #: calls under way.
    allowed: int  #: calls that may be in flight at once now.
    tokens: Usage  #: paid for.
    cost: float  #: US dollars of the calls whose price is known.
    unpriced: int  #: calls whose price is unknown.
    errors: Mapping[str, int]  #: what went wrong -> how often; most were tried again.

    def to_json(self) -> dict[str, float | int | None]:
        """What was called and paid for, as JSON types; a price that is not known is None, never 0."""
        return {
            "calls": self.calls,
            "replies_reused": self.reused,
            "cost": None if self.unpriced else self.cost,
            "input_tokens": self.tokens.input_tokens,
            "output_tokens": self.tokens.output_tokens,
        }


@dataclass
class CallCounter:
    """What happened so far; shown live."""

    calls: int = 0
    reused: int = 0
    errors: dict[str, int] = field(default_factory=dict)

    def met(self, trouble: str) -> None:
        """A call brought no reply."""
        self.errors[trouble] = self.errors.get(trouble, 0) + 1


MIN_PACK_CHARS = 1_000  # characters; see `judges.model.question_spec`


def suggest_smaller_parts(name: ModelName, ask: Ask, error: CallError) -> str:
    """What to do about a prompt that is too long; "" about any other error."""
    if error.trouble not in ("too_long", "cut"):
        return ""
    end = "" if str(error).endswith((".", "!")) else "."
    pack = ask.shared // 2 // MIN_PACK_CHARS * MIN_PACK_CHARS
    if pack < MIN_PACK_CHARS:  # there are no passages, or few
        return f"{end} Use a model or server with a longer context."
    return f"{end} Or send smaller parts, with pack= in the judge's name: --judge {name},pack={pack}"


class Caller:
    """Answers chat asks of any number of tasks at once.

    The same ask by two tasks is one call. A failed call is a failed Reply without a key: it is not stored, and the next
    start asks again. A filtered or cut-off reply is a failed Reply with a key: it is.
    """

    def __init__(
        self,
        ledger: ReplyWriter,
        models: Callable[[ModelName], ChatModel],
        limiters: Callable[[ModelName], Limiter],
        budget: Budget,
        patience: RetryPolicy = RetryPolicy(),
        embedders: Callable[[ModelName], ChatModel] | None = None,
    ) -> None:
        self._ledger, self._models, self._limiters = ledger, models, limiters
        self._embedders = embedders or models
        self.budget, self._patience = budget, patience
        self._flying: dict[str, asyncio.Task[Reply]] = {}
        self._paid: set[asyncio.Task[Any]] = set()  # those whose call is under way
        self._freed = asyncio.Event()  # set when a call under way ends, and what was set aside for it is free again
        self._closed = False
        self._prefixes = PrefixQueue()
        self._answered: dict[ModelName, float] = {}  # model -> when it gave a reply last
        self.counts = CallCounter()

    @property
    def n_waiting(self) -> int:
        """Asks without an answer yet: in flight, or before it."""
        return len(self._flying)

    @property
    def n_in_flight(self) -> int:
        """Calls under way."""
        return len(self._paid)

    async def answer(self, asks: Sequence[tuple[ModelName, Ask]], purpose: Purpose) -> list[Reply]:
        """One reply an ask, in order.

        Raises:
            JudgeError: the model cannot be asked at all: no key, no such model.
            BudgetReached: the next call might exceed what may be spent.
        """
        tasks = [self._start_ask(name, ask, purpose) for name, ask in asks]
        return list(await asyncio.gather(*tasks))

    def _start_ask(self, name: ModelName, ask: Ask, purpose: Purpose) -> Awaitable[Reply]:
        if self._closed:
            raise asyncio.CancelledError
        key = build_reply_key(name, ask)
        task = self._flying.get(key)
        if task is None:
            prefix = self._prefixes.join_group(name, ask)
            order = PendingAsk(key, name, ask, purpose, RetryState(self._patience), prefix)
            task = asyncio.get_running_loop().create_task(self._find_reply(order))
            self._flying[key] = task
            task.add_done_callback(partial(self._finish_ask, order))
        return asyncio.shield(task)

    def _finish_ask(self, order: PendingAsk, task: asyncio.Task[Reply]) -> None:
        self._flying.pop(order.key, None)
        self._release_followers(order)
        self._prefixes.leave(order.prefix)
        if not task.cancelled():
            task.exception()  # seen: whoever waited may be gone

    def _release_followers(self, order: PendingAsk) -> None:
        """Lets those go that waited for an attempt at this ask, or for its end."""
        if order.leads:
            self._prefixes.mark_tried(order.prefix)

    async def _find_reply(self, order: PendingAsk) -> Reply:
        stored = await self._ledger.get(order.key)
        if stored is not None:
            self.counts.reused += 1
            return stored
        order.leads = await self._prefixes.wait_turn(order.prefix)
        return await self._call_with_retries(order)

    async def _call_with_retries(self, order: PendingAsk) -> Reply:
        limiter, tries, last = self._limiters(order.name), order.tries, ""
        clock = asyncio.get_running_loop().time
        while tries.can_retry and not self._closed:
            async with limiter.take_slot():
                reservation = await self._reserve_budget(order)
                began = clock()
                order.began = order.began if tries.failed else began
                outcome = await self._attempt_reserved(order, reservation)
                self._release_followers(order)
                tries.seconds += clock() - began
                if isinstance(outcome, Reply):
                    limiter.record_success(began)
                    return outcome
                if outcome.trouble == "rate_limited":
                    limiter.record_refusal(began, outcome.retry_after)
            last = f"{outcome.trouble}: {outcome}"
            if outcome.trouble == "rate_limited":
                tries.refused += 1
            elif not outcome.learned:
                if outcome.trouble not in TRANSIENT_TROUBLES:
                    return Reply("failed", reason=last + suggest_smaller_parts(order.name, order.ask, outcome))
                wait = tries.count_failure(outcome.retry_after)
                if wait is None:
                    self._check_reachable(order, outcome)
                    break
                await asyncio.sleep(wait)
        count = tries.failed + tries.refused
        return Reply("failed", reason=f"no reply after {count} attempts in {tries.seconds:.0f} s; last: {last}")

    def _check_reachable(self, order: PendingAsk, last: CallError) -> None:
        """Raises where a model could not be reached, by other asks neither, as long as this one was tried."""
        if last.trouble == "unreachable" and self._answered.get(order.name, -1.0) < order.began:
            raise JudgeError(
                f"{order.name} cannot be reached: {last}. Check that the server is running and the URL is "
                "correct. Answers so far are saved; run the same command to resume."
            )

    async def _attempt_reserved(self, order: PendingAsk, reservation: Reservation) -> Reply | CallError:
        """One attempt for which the means are set aside."""
        unsure, task = False, asyncio.current_task()
        if task is not None:
            self._paid.add(task)
        try:
            outcome = await self._record_attempt(order, reservation.limit_output(order.ask))
            unsure = outcome.usage is None if isinstance(outcome, Reply) else outcome.can_be_billed
            if isinstance(outcome, Reply) and not reservation.has_sent_limit(outcome):
                raise JudgeError(
                    f"{order.name} does not accept a token limit for replies, so --max-cost cannot "
                    "be enforced. Omit --max-cost. Paid results are saved."
                )
        finally:
            if task is not None:
                self._paid.discard(task)
            self.budget.release(reservation, unsure=unsure)
            self._freed.set()
        return outcome

    async def _reserve_budget(self, order: PendingAsk) -> Reservation:
        """Sets aside what the call may cost; where that does not fit, waits for calls under way to cost less."""
        while True:
            try:
                return self.budget.reserve(order.name, order.ask)
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

    async def _record_attempt(self, order: PendingAsk, sent: Ask) -> Reply | CallError:
        """One attempt, recorded whatever came of it; the reply is durable when this returns."""
        started = time.perf_counter()
        self.counts.calls += 1
        outcome = await self._request_reply(order, sent)
        latency = (time.perf_counter() - started) * 1_000
        cost = self.budget.record_cost(order.name, order.ask, outcome.usage)
        status = outcome.status if isinstance(outcome, Reply) else outcome.trouble
        call = Call(
            order.key,
            order.ask.question,
            order.name,
            status,
            order.purpose.response_no,
            order.purpose.run_id,
            outcome.usage,
            cost,
            latency,
            judge_id=order.purpose.judge_id,
        )
        if isinstance(outcome, Reply):
            reply = replace(outcome, cost=cost, latency_ms=latency)
            return await self._ledger.put(order.name, order.ask, reply, call)
        self._ledger.record_call(call)
        self.counts.met(outcome.trouble)
        self._check_askable(order.name, outcome)
        return outcome

    async def _request_reply(self, order: PendingAsk, sent: Ask) -> Reply | CallError:
        """What the model says, or how the call went wrong."""
        seconds = min(self._patience.call, self._patience.total - order.tries.seconds)
        model_lookup = self._embedders if sent.kind == "embed" else self._models
        try:
            if sent.shared and not self._prefixes.several(order.prefix):
                sent = replace(sent, shared=0)
            async with asyncio.timeout(seconds):
                reply = await model_lookup(order.name).reply(sent, seconds)
        except TimeoutError:
            return CallError("timeout", f"no complete reply within {seconds:.0f} s")
        except CallError as trouble:
            return trouble
        except (RagaugeError, MemoryError, RecursionError):
            raise
        except Exception as unknown:  # of the library below: one ask fails with its words, not the run
            return CallError("client", hide_keys(f"{type(unknown).__name__}: {unknown}")[:MAX_MESSAGE_CHARS])
        self._answered[order.name] = asyncio.get_running_loop().time()
        return reply

    def _check_askable(self, name: ModelName, error: CallError) -> None:
        """Raises where no other ask would be answered either."""
        if error.trouble in FATAL_TROUBLES and not (
            error.status == 403 and name in self._answered
        ):  # one text is forbidden
            key = find_key_variable(name) if error.trouble == "auth" and error.status is not None else ""
            key_hint = f" The key came from {key}: set {key} to a key that is valid there." if key else ""
            raise JudgeError(f"{name} cannot be called: {str(error).rstrip('.')}.{key_hint}") from error
        if error.trouble == "rate_limited" and (error.retry_after or 0.0) > self._patience.total:
            raise JudgeError(
                f"{name} asks to retry in {error.retry_after:,.0f} s: {error}. Paid results are saved; "
                "run the same command to resume."
            ) from error

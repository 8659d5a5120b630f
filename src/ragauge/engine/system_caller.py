"""Asks a system one question, with retries and rate limiting."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, replace

from ragauge.core.errors import SystemFailed
from ragauge.core.example import Example
from ragauge.core.response import Passage, Response
from ragauge.engine.caller import RetryPolicy, RetryState
from ragauge.models.endpoints import hide_keys
from ragauge.models.limiter import Limiter
from ragauge.systems.base import TRANSIENT_KINDS, Question, System, SystemTrouble, classify_error

DEFAULT_RETRY_POLICY = RetryPolicy(call=60.0, total=600.0, attempts=4, refusals=20)
MAX_ERROR_CHARS = 500  # characters of an error that are kept
LEAVE_TIMEOUT_S = 1.0  # seconds that calls which were given up have for leaving


@dataclass(frozen=True, slots=True)
class SystemRequest:
    """One question to be asked once."""

    example: Example  #: whose question.
    repeat: int = 0  #: of the system.
    passages: tuple[Passage, ...] | None = None  #: what its generator is to answer from; None = its own retrieval.


class SystemCaller:
    """Asks a system, from any number of tasks at once.

    Args:
        system: what answers.
        limiter: bounds the questions under way; shared by all who call the same place.
        patience: how long one may take.

    Attributes:
        again: what went wrong and was tried again: kind -> how often.
    """

    def __init__(self, system: System, limiter: Limiter, patience: RetryPolicy = DEFAULT_RETRY_POLICY) -> None:
        self.system, self.limiter, self.patience = system, limiter, patience
        self.again: Counter[str] = Counter()
        self._abandoned: set[asyncio.Task[Response]] = set()  # calls that were given up and go on

    async def ask_with_retries(self, asking: SystemRequest) -> Response:
        """The response of the first attempt that worked.

        Raises:
            SystemTrouble: there is none, for this question.
            SystemFailed: the system asks to come back after more time than patience allows.
        """
        tries, clock = RetryState(self.patience), asyncio.get_running_loop().time
        while True:
            async with self.limiter.take_slot():
                began = clock()
                try:
                    response = await self._attempt_once(asking)
                except SystemTrouble as error:
                    trouble = error
                    trouble.seconds = clock() - began
                    if trouble.kind == "rate_limited":
                        self.limiter.record_refusal(began, trouble.retry_after)
                else:
                    self.limiter.record_success(began)
                    return response
                tries.seconds += clock() - began
            wait = self._compute_wait(trouble, tries)
            self.again[trouble.kind] += 1
            await asyncio.sleep(wait)

    def build_failure(self, asking: SystemRequest, trouble: SystemTrouble) -> Response:
        """The response that stands for a failure: its error is "kind: message", without secrets.

        Its latency is that of the last attempt, its tokens and cost what the reply carried, if it did.
        """
        spent = trouble.spent or Response("")
        latency = dict(spent.latency_ms)
        if self.system.measured and trouble.seconds is not None:
            latency.setdefault("total", trouble.seconds * 1_000)
        return Response(
            asking.example.query_id,
            asking.repeat,
            latency_ms=latency,
            tokens=spent.tokens,
            cost=spent.cost,
            error=f"{trouble.kind}: {self.redact(str(trouble))}",
        )

    def redact(self, text: str) -> str:
        """A message without secrets, cut where it is long."""
        for secret in sorted(self.system.secrets, key=len, reverse=True):
            text = text.replace(secret, "[hidden]")
        text = hide_keys(text)
        return text if len(text) <= MAX_ERROR_CHARS else f"{text[:MAX_ERROR_CHARS]} …"

    async def leave(self) -> None:
        """Waits a moment for the calls that were given up."""
        if self._abandoned:
            await asyncio.wait(set(self._abandoned), timeout=LEAVE_TIMEOUT_S)

    def _compute_wait(self, trouble: SystemTrouble, tries: RetryState) -> float:
        """Seconds until the next attempt; none after a 429, which the limiter waits for. Raises where patience ends."""
        if trouble.kind != "rate_limited":
            wait = tries.count_failure(trouble.retry_after) if trouble.kind in TRANSIENT_KINDS else None
            if wait is None:
                raise trouble
            return wait
        if (trouble.retry_after or 0.0) > self.patience.total:
            message = f"{self.system.name} asks to come back in {trouble.retry_after:,.0f} s"
            raise SystemFailed(
                f"{message}: {self.redact(str(trouble))}. Answers so far are saved; run the same command to resume."
            )
        tries.refused += 1
        if not tries.can_retry:
            raise trouble
        return 0.0

    async def _attempt_once(self, asking: SystemRequest) -> Response:
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
                self._abandoned.add(call)
                call.add_done_callback(self._drop_abandoned)
            else:  # when the run ends just now, nobody looks at it any more
                self._drop_abandoned(call)
        if not call.done():
            raise SystemTrouble("timeout", f"no response within {self.patience.call:g} s")
        try:
            response = call.result()
        except asyncio.CancelledError:
            raise SystemTrouble("exception", "the system canceled the call") from None
        except Exception as error:
            raise classify_error(error) from error
        if not self.system.measured or "total" in response.latency_ms:
            return response
        total = (time.perf_counter() - began) * 1_000
        return replace(response, latency_ms={**response.latency_ms, "total": total})

    def _drop_abandoned(self, call: asyncio.Task[Response]) -> None:
        self._abandoned.discard(call)
        if not call.cancelled():
            call.exception()

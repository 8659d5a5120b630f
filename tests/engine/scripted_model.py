"""A model that does what a script says, and a ledger in memory: for tests of the caller on a clock of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from ragauge.core.ask import Ask, ModelName, Reply, Usage, build_reply_key
from ragauge.engine.budget import Budget
from ragauge.engine.caller import Caller, RetryPolicy
from ragauge.engine.reply_writer import ReplyWriter
from ragauge.models.limiter import Limiter
from ragauge.models.model import CallError
from ragauge.store.calls import Call

NAME = ModelName("openai-chat", "any", "http://127.0.0.1:1/v1")
USUAL = RetryPolicy()
FREE = Budget(None, lambda _name, _usage: None)


def ask(text: str, question: str = "agree") -> Ask:
    """A chat ask of its own."""
    return Ask("chat", question, 1, (("user", text),), {"type": "object"}, {"temperature": 0.0})


def reply(text: str = "{}", **more: Any) -> Reply:
    """A good reply of ten tokens in and out."""
    return Reply("ok", text, finish="stop", usage=Usage(10, 10), **more)


@dataclass
class Memory:
    """What `ReplyWriter` does, in memory."""

    replies: dict[str, Reply] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    async def get(self, key: str) -> Reply | None:
        await asyncio.sleep(0)
        return self.replies.get(key)

    async def put(self, name: ModelName, ask: Ask, reply: Reply, call: Call) -> Reply:
        self.calls.append(call)
        await asyncio.sleep(0)
        key = build_reply_key(name, ask)
        return self.replies.setdefault(key, Reply(reply.status, reply.text, key=key, usage=reply.usage))

    def record_call(self, call: Call) -> None:
        self.calls.append(call)


@dataclass
class Scripted:
    """Takes one step of its script a call: seconds, then a reply or an exception."""

    steps: Iterator[tuple[float, Reply | Exception]]
    asked: list[Ask] = field(default_factory=list)
    running: int = 0
    most: int = 0

    @property
    def name(self) -> ModelName:
        return NAME

    async def reply(self, ask: Ask, timeout: float) -> Reply:
        self.asked.append(ask)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            seconds, outcome = next(self.steps)
            await asyncio.sleep(seconds)
        finally:
            self.running -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def close(self) -> None:
        """Nothing to close."""


def always(seconds: float, outcome: Callable[[], Reply | Exception]) -> Iterator[tuple[float, Reply | Exception]]:
    """The same step for ever."""
    while True:
        yield seconds, outcome()


def refused(retry_after: float | None = None) -> CallError:
    """A 429."""
    return CallError("rate_limited", "slow down", status=429, retry_after=retry_after)


def caller_of(
    model: Scripted, *, most: int = 4, budget: Budget = FREE, patience: RetryPolicy = USUAL, ledger: Any = None
) -> tuple[Caller, Memory, Limiter]:
    """A caller of this model, its ledger and its limiter."""
    memory, limiter = ledger or Memory(), Limiter(most)
    return Caller(cast(ReplyWriter, memory), lambda _: model, lambda _: limiter, budget, patience), memory, limiter

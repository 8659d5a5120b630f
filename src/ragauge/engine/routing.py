"""Who answers what a judge asks: vectors the embedded embedder or the one that the judge names, chats its models."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ragauge.data.ask import Ask, ModelName, Reply
from ragauge.engine.answering import Answering
from ragauge.engine.caller import Caller, Purpose
from ragauge.judging.judge import Judge

Local = Callable[[Sequence[Ask]], Awaitable[list[Reply]]]
NOBODY = Purpose()


def asked_of(judge: Judge, ask: Ask) -> ModelName | None:
    """Which model answers an ask; None = the embedded embedder."""
    finds = getattr(judge, "model_of" if ask.kind == "chat" else "embedder_of", None)
    found: ModelName | None = None if finds is None else finds(ask)
    return found


class Answers:
    """Answers the asks of one judge."""

    def __init__(self, judge: Judge, caller: Caller | None, local: Local | None = None) -> None:
        """What is asked of whom.

        Args:
            judge: who asks.
            caller: calls models; None where the judge asks none.
            local: embeds here; None = in a thread.
        """
        self._judge, self._caller = judge, caller
        self._local = local or _in_a_thread(Answering())

    async def __call__(self, asks: Sequence[Ask], purpose: Purpose = NOBODY) -> list[Reply]:
        """One reply an ask, in order; what models are asked is asked at the same time.

        Raises:
            JudgeError: a model cannot be asked at all.
            BudgetReached: the next call might exceed what may be spent.
        """
        names = [asked_of(self._judge, ask) for ask in asks]
        here = [place for place, name in enumerate(names) if name is None or self._caller is None]
        there = [(place, name) for place, name in enumerate(names) if name is not None and self._caller is not None]
        replies: dict[int, Reply] = {}
        if here:
            replies |= dict(zip(here, await self._local([asks[place] for place in here]), strict=True))
        if there and self._caller is not None:
            said = await self._caller.answer([(name, asks[place]) for place, name in there], purpose)
            replies |= {place: reply for (place, _), reply in zip(there, said, strict=True)}
        return [replies[place] for place in range(len(asks))]


def _in_a_thread(answering: Answering) -> Local:
    async def answer(asks: Sequence[Ask]) -> list[Reply]:
        return await asyncio.to_thread(answering, asks)

    return answer

"""Who answers what a judge asks: vectors the embedded embedder or the one that the judge names, chats its models."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ragauge.core.ask import Ask, ModelName, Reply, reply_key
from ragauge.engine.caller import Caller, Purpose
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.judge import Judge
from ragauge.store.replies import Replies

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
        self._local = local or _in_a_thread(EmbedAnswers())

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


class StoredReplies:
    """What the store answers of a judge's asks, one look for many."""

    def __init__(self, judge: Judge, replies: Replies) -> None:
        self._judge, self._replies = judge, replies

    def __call__(self, lists: Sequence[Sequence[Ask]]) -> list[list[Reply] | None]:
        """The replies to each list of asks, in order; None for a list of which one is not stored."""
        keys = [[self._key(ask) for ask in asks] for asks in lists]
        found = self._replies.get({key for part in keys for key in part if key})
        return [[found[key] for key in part] if all(key in found for key in part) else None for part in keys]

    def _key(self, ask: Ask) -> str:
        """The key that a model's reply has; "" where no model is asked."""
        name = asked_of(self._judge, ask)
        return "" if name is None else reply_key(name, ask)


def _in_a_thread(answering: EmbedAnswers) -> Local:
    async def answer(asks: Sequence[Ask]) -> list[Reply]:
        return await asyncio.to_thread(answering, asks)

    return answer

"""Who answers what a judge asks: vectors the embedded embedder or the one that the judge names, chats its models."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ragauge.core.ask import Ask, ModelName, Reply, build_reply_key
from ragauge.engine.caller import Caller, Purpose
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.judge import Judge
from ragauge.store.replies import Replies

LocalAnswerer = Callable[[Sequence[Ask]], Awaitable[list[Reply]]]
NO_PURPOSE = Purpose()


def find_model(judge: Judge, ask: Ask) -> ModelName | None:
    """Which model answers an ask; None = the embedded embedder."""
    model_lookup = getattr(judge, "model_of" if ask.kind == "chat" else "embedder_of", None)
    model: ModelName | None = None if model_lookup is None else model_lookup(ask)
    return model


class AskRouter:
    """Answers the asks of one judge."""

    def __init__(self, judge: Judge, caller: Caller | None, local: LocalAnswerer | None = None) -> None:
        """What is asked of whom.

        Args:
            judge: who asks.
            caller: calls models; None where the judge asks none.
            local: embeds here; None = in a thread.
        """
        self._judge, self._caller = judge, caller
        self._local = local or _build_thread_answerer(EmbedAnswers())

    async def __call__(self, asks: Sequence[Ask], purpose: Purpose = NO_PURPOSE) -> list[Reply]:
        """One reply an ask, in order; what models are asked is asked at the same time.

        Raises:
            JudgeError: a model cannot be asked at all.
            BudgetReached: the next call might exceed what may be spent.
        """
        names = [find_model(self._judge, ask) for ask in asks]
        local_indices = [index for index, name in enumerate(names) if name is None or self._caller is None]
        remote = [(index, name) for index, name in enumerate(names) if name is not None and self._caller is not None]
        replies: dict[int, Reply] = {}
        if local_indices:
            replies |= dict(
                zip(local_indices, await self._local([asks[index] for index in local_indices]), strict=True)
            )
        if remote and self._caller is not None:
            remote_replies = await self._caller.answer([(name, asks[index]) for index, name in remote], purpose)
            replies |= {index: reply for (index, _), reply in zip(remote, remote_replies, strict=True)}
        return [replies[index] for index in range(len(asks))]


class StoredReplies:
    """What the store answers of a judge's asks, one look for many."""

    def __init__(self, judge: Judge, replies: Replies) -> None:
        self._judge, self._replies = judge, replies

    def __call__(self, lists: Sequence[Sequence[Ask]]) -> list[list[Reply] | None]:
        """The replies to each list of asks, in order; None for a list of which one is not stored."""
        keys = [[self._build_key(ask) for ask in asks] for asks in lists]
        replies = self._replies.get({key for ask_keys in keys for key in ask_keys if key})
        return [
            [replies[key] for key in ask_keys] if all(key in replies for key in ask_keys) else None for ask_keys in keys
        ]

    def _build_key(self, ask: Ask) -> str:
        """The key that a model's reply has; "" where no model is asked."""
        name = find_model(self._judge, ask)
        return "" if name is None else build_reply_key(name, ask)


def _build_thread_answerer(answering: EmbedAnswers) -> LocalAnswerer:
    async def answer_in_thread(asks: Sequence[Ask]) -> list[Reply]:
        return await asyncio.to_thread(answering, asks)

    return answer_in_thread

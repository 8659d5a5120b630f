"""Replies and calls on their way into the store, and those that are stored on their way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.engine.group_commit import GroupCommitWriter
from ragauge.store.calls import Call
from ragauge.store.store_access import Store

# seconds between the beginnings of two transactions: at the least (a commit costs as much as a call), and at the most
COMMIT_PACE_S = (0.01, 0.04)


@dataclass(frozen=True, slots=True)
class _CallResult:
    """A reply, and the call that brought it."""

    name: ModelName
    ask: Ask
    reply: Reply
    call: Call


class ReplyWriter:
    """What models said and what it cost: hundreds of replies a second cost a hundred commits.

    Attributes:
        commits: transactions so far.
    """

    def __init__(self, store: Store) -> None:
        self.commits = 0
        self._store = store
        # a text is the key of a reply that is looked for
        self._writer: GroupCommitWriter[_CallResult | Call | str, Any] = GroupCommitWriter(
            self._write_batch, pace=COMMIT_PACE_S
        )

    async def get(self, key: str) -> Reply | None:
        """A stored reply."""
        reply: Reply | None = await self._writer.write_item(key)
        return reply

    async def put(self, name: ModelName, ask: Ask, reply: Reply, call: Call) -> Reply:
        """Stores a reply with the call that brought it; returns what is stored under its key."""
        stored: Reply = await self._writer.write_item(_CallResult(name, ask, reply, call))
        return stored

    def record_call(self, call: Call) -> None:
        """Records an attempt that brought nothing; nobody waits for it."""
        self._writer.leave(call)

    async def close(self) -> None:
        """Writes what is left.

        Raises:
            StoreError: calls that nobody waited for could not be recorded.
        """
        await self._writer.close()

    def _write_batch(self, batch: Sequence[_CallResult | Call | str]) -> list[Reply | None]:
        """The stored reply of what was brought and of what is looked for; None for a call."""
        results = [entry for entry in batch if isinstance(entry, _CallResult)]
        calls = [
            entry.call if isinstance(entry, _CallResult) else entry for entry in batch if not isinstance(entry, str)
        ]
        stored: Sequence[Reply] = ()
        if calls:
            with self._store.transaction():
                stored = (
                    self._store.replies.put([(entry.name, entry.ask, entry.reply) for entry in results])
                    if results
                    else ()
                )
                self._store.calls.add(calls)
            self.commits += 1
        keys = [entry for entry in batch if isinstance(entry, str)]
        replies = self._store.replies.get(keys) if keys else {}
        new_replies = iter(stored)
        return [
            replies.get(entry)
            if isinstance(entry, str)
            else next(new_replies)
            if isinstance(entry, _CallResult)
            else None
            for entry in batch
        ]

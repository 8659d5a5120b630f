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
PACE = (0.01, 0.04)


@dataclass(frozen=True, slots=True)
class _Brought:
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
        self._writer: GroupCommitWriter[_Brought | Call | str, Any] = GroupCommitWriter(self._write, pace=PACE)

    async def get(self, key: str) -> Reply | None:
        """A stored reply."""
        found: Reply | None = await self._writer.put(key)
        return found

    async def put(self, name: ModelName, ask: Ask, reply: Reply, call: Call) -> Reply:
        """Stores a reply with the call that brought it; returns what is stored under its key."""
        stored: Reply = await self._writer.put(_Brought(name, ask, reply, call))
        return stored

    def record(self, call: Call) -> None:
        """Records an attempt that brought nothing; nobody waits for it."""
        self._writer.leave(call)

    async def close(self) -> None:
        """Writes what is left.

        Raises:
            StoreError: calls that nobody waited for could not be recorded.
        """
        await self._writer.close()

    def _write(self, batch: Sequence[_Brought | Call | str]) -> list[Reply | None]:
        """The stored reply of what was brought and of what is looked for; None for a call."""
        brought = [one for one in batch if isinstance(one, _Brought)]
        calls = [one.call if isinstance(one, _Brought) else one for one in batch if not isinstance(one, str)]
        stored: Sequence[Reply] = ()
        if calls:
            with self._store.transaction():
                stored = self._store.replies.put([(one.name, one.ask, one.reply) for one in brought]) if brought else ()
                self._store.calls.add(calls)
            self.commits += 1
        keys = [one for one in batch if isinstance(one, str)]
        found = self._store.replies.get(keys) if keys else {}
        rest = iter(stored)
        return [
            found.get(one) if isinstance(one, str) else next(rest) if isinstance(one, _Brought) else None
            for one in batch
        ]

"""Replies and calls on their way into the store: what arrives together is written together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ragauge.data.ask import Ask, ModelName, Reply
from ragauge.store.call_contracts import Call
from ragauge.store.open import Store

Item = tuple[ModelName, Ask, Reply]


@dataclass
class _Batch:
    """What is written or read next."""

    keys: list[tuple[str, asyncio.Future[Reply | None]]] = field(default_factory=list)
    replies: list[tuple[Item, asyncio.Future[Reply]]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.keys or self.replies or self.calls)

    def fail(self, error: BaseException) -> None:
        """Tells everyone who waits."""
        waiting: list[asyncio.Future[Any]] = [future for _, future in self.keys]
        waiting += [future for _, future in self.replies]
        for future in waiting:
            if not future.done():
                future.set_exception(error)


class Ledger:
    """One writer of replies and calls, with group commit.

    A reply is durable before `put` returns. While one transaction is under way the next gathers; so a hundred replies a
    second cost a few commits, and one alone waits for nobody.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._next = _Batch()
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragauge-replies")

    async def get(self, key: str) -> Reply | None:
        """A stored reply."""
        future: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        self._next.keys.append((key, future))
        self._go()
        return await future

    async def put(self, name: ModelName, ask: Ask, reply: Reply, call: Call) -> Reply:
        """Stores a reply with the call that brought it; returns what is stored under its key."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._next.replies.append(((name, ask, reply), future))
        self._next.calls.append(call)
        self._go()
        return await asyncio.shield(future)

    def record(self, call: Call) -> None:
        """Records an attempt that brought nothing; nobody waits for it."""
        self._next.calls.append(call)
        self._go()

    async def close(self) -> None:
        """Writes what is left."""
        while self._task is not None:
            await asyncio.shield(self._task)
        self._thread.shutdown(wait=True)

    def _go(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(0)     # what the other tasks of this turn bring goes along
            while self._next:
                batch, self._next = self._next, _Batch()
                try:
                    found, stored = await loop.run_in_executor(self._thread, self._write, batch)
                except Exception as error:
                    batch.fail(error)
                    continue
                for key, future in batch.keys:
                    _tell(future, found.get(key))
                for (_, waiting), reply in zip(batch.replies, stored, strict=True):
                    _tell(waiting, reply)
        finally:
            self._task = None

    def _write(self, batch: _Batch) -> tuple[dict[str, Reply], Sequence[Reply]]:
        stored: Sequence[Reply] = ()
        if batch.replies or batch.calls:
            with self._store.transaction():
                stored = self._store.replies.put([item for item, _ in batch.replies]) if batch.replies else ()
                self._store.calls.add(batch.calls)
        found = self._store.replies.get([key for key, _ in batch.keys]) if batch.keys else {}
        return found, stored


def _tell(future: asyncio.Future[Any], reply: Reply | None) -> None:
    if not future.done():
        future.set_result(reply)

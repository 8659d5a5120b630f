"""Replies and calls on their way into the store: what arrives together is written together."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ragauge.data.ask import Ask, ModelName, Reply
from ragauge.store.calls import Call
from ragauge.store.open import Store

Item = tuple[ModelName, Ask, Reply]
Waiting = asyncio.Future[Any]
# seconds between the beginnings of two transactions: at the least (a commit costs as much as a call), and at the most
APART, FARTHEST = 0.01, 0.04
BUSY = 2     # times as long as the loop takes to hear of one: where it has no time, waiting holds nothing up


@dataclass
class _Batch:
    """What is written or read next, and who waits for it."""

    keys: list[tuple[str, Waiting]] = field(default_factory=list)
    replies: list[tuple[Item, Waiting]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.keys or self.replies or self.calls)


class Ledger:
    """One writer of replies and calls, with group commit.

    A reply is durable before `put` returns. While one transaction is under way, and a hundredth of a second after it
    began, the next gathers; so hundreds of replies a second cost a hundred commits, and one alone waits for nobody.
    Where the loop is so busy that it hears late of what was written, more gather. The writer is a thread of its own:
    what was handed over is written whatever becomes of the tasks that wait for it.

    Attributes:
        commits: transactions so far.
    """

    def __init__(self, store: Store) -> None:
        self.commits = 0
        self._store = store
        self._next = _Batch()
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._lag = 0.0     # seconds until the loop heard of what was written last
        self._lost: Exception | None = None     # why calls that nobody waits for were not recorded

    async def get(self, key: str) -> Reply | None:
        """A stored reply."""
        future = self._hand_over(lambda batch, future: batch.keys.append((key, future)))
        found: Reply | None = await future
        return found

    async def put(self, name: ModelName, ask: Ask, reply: Reply, call: Call) -> Reply:
        """Stores a reply with the call that brought it; returns what is stored under its key."""

        def add(batch: _Batch, future: Waiting) -> None:
            batch.replies.append(((name, ask, reply), future))
            batch.calls.append(call)

        stored: Reply = await self._hand_over(add)
        return stored

    def record(self, call: Call) -> None:
        """Records an attempt that brought nothing; nobody waits for it."""
        self._hand_over(lambda batch, _: batch.calls.append(call))

    async def close(self) -> None:
        """Writes what is left.

        Raises:
            StoreError: calls that nobody waited for could not be recorded.
        """
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()     # a commit or two
            self._thread = None
        if self._lost is not None:
            raise self._lost

    def _hand_over(self, add: Callable[[_Batch, Waiting], None]) -> Waiting:
        loop = asyncio.get_running_loop()
        future: Waiting = loop.create_future()
        with self._changed:
            if self._closed:
                raise RuntimeError("the ledger is closed")
            add(self._next, future)
            self._loop = loop
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ragauge-replies", daemon=True)
            self._thread.start()
        return future

    def _run(self) -> None:
        began = -APART
        while True:
            with self._changed:
                while not self._next and not self._closed:
                    self._changed.wait()
            apart = max(APART, min(FARTHEST, BUSY * self._lag))
            time.sleep(max(0.0, began + apart - time.monotonic()))     # not a wait: each hand-over would end it
            with self._changed:
                batch, self._next = self._next, _Batch()
            if not batch:
                return
            began = time.monotonic()
            told: list[tuple[Waiting, Reply | None]] = []
            error: Exception | None = None
            try:
                found, stored = self._write(batch)
                told = [(future, found.get(key)) for key, future in batch.keys]
                told += [(future, reply) for (_, future), reply in zip(batch.replies, stored, strict=True)]
            except Exception as trouble:
                error = trouble
                told = [(future, None) for _, future in [*batch.keys, *batch.replies]]
                self._lost = self._lost or (trouble if batch.calls and not batch.replies else None)
            if self._loop is not None:
                with suppress(RuntimeError):     # the loop is closed: nobody waits any more
                    self._loop.call_soon_threadsafe(self._tell, told, error, time.monotonic())

    def _write(self, batch: _Batch) -> tuple[dict[str, Reply], Sequence[Reply]]:
        stored: Sequence[Reply] = ()
        if batch.replies or batch.calls:
            with self._store.transaction():
                stored = self._store.replies.put([item for item, _ in batch.replies]) if batch.replies else ()
                self._store.calls.add(batch.calls)
            self.commits += 1
        found = self._store.replies.get([key for key, _ in batch.keys]) if batch.keys else {}
        return found, stored

    def _tell(self, told: Sequence[tuple[Waiting, Reply | None]], error: Exception | None, since: float) -> None:
        self._lag = time.monotonic() - since
        for future, reply in told:
            if future.done():
                continue
            if error is None:
                future.set_result(reply)
            else:
                future.set_exception(error)
                future.exception()     # seen: whoever waited may be gone

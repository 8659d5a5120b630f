"""Replies and calls on their way into the store, written in groups."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import StoreError
from ragauge.store.calls import Call
from ragauge.store.store_access import Store

Item = TypeVar("Item")
Result = TypeVar("Result")
Pace = tuple[float, float]
_QueuedItem: TypeAlias = tuple[Item, asyncio.Future[Result] | None]

MAX_BATCH_ITEMS = 500  # items in one batch
LAG_FACTOR = 2  # times as long as the loop takes to hear of one: where it has no time, waiting holds nothing up


class GroupCommitWriter(Generic[Item, Result]):
    """Writes what is handed over, many items to a commit.

    An item is durable before `write_item` returns. While one batch is under way the next gathers, so that one alone
    waits for
    nobody and a thousand a second cost a few commits. The writer is a thread of its own: what was handed over is
    written whatever becomes of the tasks that wait for it, and of their loop.

    Args:
        write: writes a batch, all of it or none; returns the result of each item, in order.
        pace: seconds between the beginnings of two batches: at the least, and at the most where the loop is so busy
            that it hears late of what was written.
        alone: the items of a batch that fails are tried again one by one, so that one that cannot be stored does not
            take the others along.
    """

    def __init__(
        self, write: Callable[[Sequence[Item]], Sequence[Result]], *, pace: Pace = (0.0, 0.0), alone: bool = False
    ) -> None:
        self._write, self._pace, self._alone = write, pace, alone
        self._next: list[_QueuedItem[Item, Result]] = []
        self._under_way: list[_QueuedItem[Item, Result]] = []
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._lag = 0.0  # seconds until the loop heard of what was written last
        self._lost: Exception | None = None  # why what nobody waits for was not written

    async def write_item(self, item: Item) -> Result:
        """Writes an item; returns its result.

        Raises:
            RagaugeError: it could not be stored.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._enqueue(item, future)
        return await future

    def leave(self, item: Item) -> None:
        """Writes an item that nobody waits for."""
        self._enqueue(item, None)

    async def close(self) -> None:
        """Writes what is left.

        Raises:
            RagaugeError: what nobody waited for could not be stored.
        """
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()  # a commit or two
            self._thread = None
        if self._lost is not None:
            raise self._lost

    def _enqueue(self, item: Item, future: asyncio.Future[Result] | None) -> None:
        with self._changed:
            if self._closed:
                raise RuntimeError("the writer is closed")
            self._next.append((item, future))
            self._loop = asyncio.get_running_loop()
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run_thread, name="ragauge-store", daemon=True)
            self._thread.start()

    def _run_thread(self) -> None:
        try:
            self._write_batches()
        except BaseException as failure:  # nobody else would answer those that wait; the next hand-over begins anew
            with self._changed:
                unwritten, self._next, self._thread = [*self._under_way, *self._next], [], None
            error = StoreError(f"the thread that writes to the store ended: {type(failure).__name__}: {failure}.")
            error.__cause__ = failure
            self._schedule_results(unwritten, (), error)

    def _write_batches(self) -> None:
        min_interval, max_interval = self._pace
        batch_start = -max_interval
        while True:
            with self._changed:
                while not self._next and not self._closed:
                    self._changed.wait()
            interval = max(min_interval, min(max_interval, LAG_FACTOR * self._lag))
            with suppress(OSError):  # EINVAL: then it is written at once
                time.sleep(
                    max(0.0, batch_start + interval - time.monotonic())
                )  # not a wait: each hand-over would end it
            with self._changed:
                batch, self._next = self._next[:MAX_BATCH_ITEMS], self._next[MAX_BATCH_ITEMS:]
                self._under_way = batch
            if not batch:
                return
            batch_start = time.monotonic()
            self._commit_batch(batch)
            self._under_way = []

    def _commit_batch(self, batch: Sequence[_QueuedItem[Item, Result]]) -> None:
        results: Sequence[Result] = ()
        error: Exception | None = None
        try:
            results = self._write([item for item, _ in batch])
        except Exception as failure:
            if self._alone and len(batch) > 1:
                for entry in batch:
                    self._commit_batch([entry])
                return
            error = failure
        self._schedule_results(batch, results, error)

    def _schedule_results(
        self, batch: Sequence[_QueuedItem[Item, Result]], results: Sequence[Result], error: Exception | None
    ) -> None:
        waiting = [(future, index) for index, (_, future) in enumerate(batch) if future is not None]
        if error is not None and not waiting:
            self._lost = self._lost or error
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._set_results, waiting, results, error, time.monotonic())

    def _set_results(
        self,
        waiting: Sequence[tuple[asyncio.Future[Result], int]],
        results: Sequence[Result],
        error: Exception | None,
        since: float,
    ) -> None:
        self._lag = time.monotonic() - since
        for future, index in waiting:
            if future.done():
                continue
            if error is None:
                future.set_result(results[index])
            else:
                future.set_exception(error)
                future.exception()  # seen: whoever waited may be gone


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

"""One writer of a store: what arrives together is written together."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeAlias, TypeVar

from ragauge.core.errors import StoreError

Item = TypeVar("Item")
Result = TypeVar("Result")
Pace = tuple[float, float]
_Handed: TypeAlias = tuple[Item, asyncio.Future[Result] | None]

MOST = 500  # items in one batch
BUSY = 2  # times as long as the loop takes to hear of one: where it has no time, waiting holds nothing up


class GroupCommitWriter(Generic[Item, Result]):
    """Writes what is handed over, many items to a commit.

    An item is durable before `put` returns. While one batch is under way the next gathers, so that one alone waits for
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
        self._next: list[_Handed[Item, Result]] = []
        self._under_way: list[_Handed[Item, Result]] = []
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._lag = 0.0  # seconds until the loop heard of what was written last
        self._lost: Exception | None = None  # why what nobody waits for was not written

    async def put(self, item: Item) -> Result:
        """Writes an item; returns its result.

        Raises:
            RagaugeError: it could not be stored.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._hand_over(item, future)
        return await future

    def leave(self, item: Item) -> None:
        """Writes an item that nobody waits for."""
        self._hand_over(item, None)

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

    def _hand_over(self, item: Item, future: asyncio.Future[Result] | None) -> None:
        with self._changed:
            if self._closed:
                raise RuntimeError("the writer is closed")
            self._next.append((item, future))
            self._loop = asyncio.get_running_loop()
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ragauge-store", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as trouble:  # nobody else would answer those that wait; the next hand-over begins anew
            with self._changed:
                left, self._next, self._thread = [*self._under_way, *self._next], [], None
            error = StoreError(f"the thread that writes to the store ended: {type(trouble).__name__}: {trouble}.")
            error.__cause__ = trouble
            self._answer(left, (), error)

    def _work(self) -> None:
        least, most = self._pace
        began = -most
        while True:
            with self._changed:
                while not self._next and not self._closed:
                    self._changed.wait()
            apart = max(least, min(most, BUSY * self._lag))
            with suppress(OSError):  # EINVAL: then it is written at once
                time.sleep(max(0.0, began + apart - time.monotonic()))  # not a wait: each hand-over would end it
            with self._changed:
                batch, self._next = self._next[:MOST], self._next[MOST:]
                self._under_way = batch
            if not batch:
                return
            began = time.monotonic()
            self._commit(batch)
            self._under_way = []

    def _commit(self, batch: Sequence[_Handed[Item, Result]]) -> None:
        results: Sequence[Result] = ()
        error: Exception | None = None
        try:
            results = self._write([item for item, _ in batch])
        except Exception as trouble:
            if self._alone and len(batch) > 1:
                for one in batch:
                    self._commit([one])
                return
            error = trouble
        self._answer(batch, results, error)

    def _answer(
        self, batch: Sequence[_Handed[Item, Result]], results: Sequence[Result], error: Exception | None
    ) -> None:
        waiting = [(future, at) for at, (_, future) in enumerate(batch) if future is not None]
        if error is not None and not waiting:
            self._lost = self._lost or error
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._tell, waiting, results, error, time.monotonic())

    def _tell(
        self,
        waiting: Sequence[tuple[asyncio.Future[Result], int]],
        results: Sequence[Result],
        error: Exception | None,
        since: float,
    ) -> None:
        self._lag = time.monotonic() - since
        for future, at in waiting:
            if future.done():
                continue
            if error is None:
                future.set_result(results[at])
            else:
                future.set_exception(error)
                future.exception()  # seen: whoever waited may be gone

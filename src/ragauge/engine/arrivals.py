"""Responses on their way into the store: what arrives together is written together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ragauge.store.collecting import Arrived
from ragauge.store.open import Store

MOST = 500     # responses in one transaction
Item = tuple[Arrived, "asyncio.Future[None]"]


class Arrivals:
    """One writer of a run's responses, with group commit.

    A response is durable when `keep` returns. While one transaction is under way the next gathers, so that one alone
    waits for nobody and a thousand a second cost a few commits. What was handed over is written whatever becomes of the
    task that waits for it.

    Args:
        store: where the run is.
        run_id: the run.
        again: failures are being asked again.
    """

    def __init__(self, store: Store, run_id: str, *, again: bool = False) -> None:
        self._store, self._run_id, self._again = store, run_id, again
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragauge-store")
        self._writer = asyncio.create_task(self._write())

    async def keep(self, arrived: Arrived) -> None:
        """Keeps a response.

        Raises:
            RagaugeError: it could not be stored.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((arrived, done))
        await asyncio.shield(done)

    async def apart(self, work: Callable[[], None]) -> None:
        """Does something else with the store in the writer's thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def close(self) -> None:
        """Writes what is left."""
        self._queue.put_nowait(None)
        await self._writer
        self._thread.shutdown(wait=True)

    async def _write(self) -> None:
        while (first := await self._queue.get()) is not None:
            batch, last = [first], False
            while len(batch) < MOST and not self._queue.empty():
                item = self._queue.get_nowait()
                if item is None:
                    last = True
                    break
                batch.append(item)
            await self._written(batch)
            if last:
                return

    async def _written(self, batch: list[Item]) -> None:
        error: Exception | None = None
        add = partial(self._store.collecting.add, self._run_id, [arrived for arrived, _ in batch], again=self._again)
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, add)
        except Exception as trouble:
            error = trouble
        if error is not None and len(batch) > 1:     # one that cannot be stored must not take the others along
            for item in batch:
                await self._written([item])
            return
        for _, done in batch:
            if done.done():
                continue
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)
                done.exception()     # seen: whoever waited may be gone

"""Blocking calls beside an event loop, in threads that may be given up."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
Work = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Threads:
    """Runs each call in a daemon thread; idle threads are used again.

    A call that its caller gave up keeps its thread until it returns, and nobody waits for it: a pool of a fixed size
    would fill up with calls that hang, and would hold up the end of the program.
    """

    def __init__(self) -> None:
        self._idle: deque[_Thread] = deque()

    async def call(self, work: Callable[[], T]) -> T:
        """What the function returns, or raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        thread = self._idle.pop() if self._idle else _Thread()
        context = contextvars.copy_context()
        thread.work.put((lambda: context.run(work), future, loop))
        try:
            result = await asyncio.shield(future)
        except asyncio.CancelledError:
            thread.work.put(None)     # ends when the call does
            future.add_done_callback(_seen)
            raise
        except BaseException:
            self._idle.append(thread)
            raise
        self._idle.append(thread)
        return result

    def close(self) -> None:
        """Ends the idle threads."""
        while self._idle:
            self._idle.pop().work.put(None)


class _Thread:
    def __init__(self) -> None:
        self.work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="ragauge-system", daemon=True).start()

    def _run(self) -> None:
        while (item := self.work.get()) is not None:
            work, future, loop = item
            result: Any = None
            error: BaseException | None = None
            try:
                result = work()
            except Exception as raised:
                error = raised
            except BaseException as raised:     # sys.exit() of a system ends one call, not the run
                error = RuntimeError(f"{type(raised).__name__}: {raised}")
            with suppress(RuntimeError):     # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_tell, future, result, error)


def _tell(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):     # a future cannot hold it
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    else:
        future.set_exception(error)


def _seen(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()

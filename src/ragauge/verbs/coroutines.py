"""Plain verbs over coroutines: they work in a script, a notebook and inside any running loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import wraps
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
POLL_INTERVAL_S = 0.2  # seconds between looks for Ctrl-C, where waiting on a lock cannot be interrupted


def run_coroutine(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end in a private thread with a loop of its own.

    The caller's loop, if there is one, is neither used nor patched; it waits, as in any plain call. Ctrl-C cancels
    the coroutine, waits until it has put away what is done, and is raised again.
    """
    result: Future[T] = Future()
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = Future()

    async def work() -> T:
        task = asyncio.ensure_future(make())
        started.set_result((asyncio.get_running_loop(), task))
        return await task

    def thread() -> None:
        try:
            result.set_result(asyncio.run(work()))
        except BaseException as error:  # handed to the caller, whatever it is
            result.set_exception(error)

    worker = threading.Thread(target=copy_context().run, args=(thread,), name="ragauge", daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(POLL_INTERVAL_S)
    except KeyboardInterrupt:
        loop, task = started.result()
        with suppress(RuntimeError):  # the loop is closed: it came to its end just now
            loop.call_soon_threadsafe(task.cancel)
        worker.join()
        raise
    return result.result()


def make_async(verb: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The coroutine form of a plain verb: the same arguments and documentation, read in a thread beside the loop."""

    @wraps(verb)
    async def awaited(*args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(verb, *args, **kwargs)

    return awaited


def make_sync(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The plain form of a coroutine verb: the same arguments and documentation, waits for the result."""

    @wraps(verb)
    def waits(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_coroutine(lambda: verb(*args, **kwargs))

    return waits

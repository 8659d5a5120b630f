"""Calls of metrics of the user's own: whatever they do, only that score fails.

A loop in a daemon thread starts the calls and bounds their time. Functions run in daemon threads, the coroutines of
each metric on a loop of its own, since one that blocks would stop the clock of all the others. Nobody waits for a call
that hangs.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from ragauge.engine.metric_values import told
from ragauge.metrics.base import Failed, Measured, Metric
from ragauge.metrics.catalogue import is_own
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import Known, find_values
from ragauge.metrics.own_class import FunctionMetric, code_of, read_result, runs_own_code
from ragauge.systems.base import Threads

MAX_THREADS, MAX_COROUTINES = 4, 16  # calls at once
MAX_TRIES = 3  # of a call that another one keeps from returning
MAX_HANGS = 3  # calls of a metric that do not return; then it is not called again
MAX_REASON = 1_000  # characters of an exception's text
GRACE_S = 1.0  # that a loop has to answer, before it counts as blocked


@dataclass(frozen=True, slots=True)
class OwnCall:
    """One call of a metric's code."""

    metric: Metric
    given: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OwnBatch:
    """Calls that may be made at the same time; what they give is awaited in this order."""

    calls: Sequence[OwnCall]


def prepare(metrics: Sequence[Metric], facts: Facts) -> dict[str, OwnCall | Measured]:
    """Printed name -> what has to be called for the metrics of the user's own, or why there is no value.

    What missing verdicts leave open of a subclass of Metric is found where other metrics are measured.
    """
    found: dict[str, OwnCall | Measured] = {}
    known: Known = {}
    for metric in metrics:
        if not (is_own(metric) and runs_own_code(metric)):
            continue
        try:
            given, whole = find_values(metric, facts, known)
        except Exception as error:
            given, whole = Measured.failed(told(error), metric.range), True
        if isinstance(given, Measured):
            found[str(metric)] = given
        elif whole:
            found[str(metric)] = OwnCall(metric, given)
        elif isinstance(metric, FunctionMetric):
            lost = (value.reason for value in given.values() if isinstance(value, Failed))
            found[str(metric)] = Measured.failed(next(lost, "a verdict is missing"), metric.range)
    return found


class OwnCalls:
    """Calls metrics' code for one evaluation."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clock: asyncio.AbstractEventLoop | None = None
        self._user: dict[str, asyncio.AbstractEventLoop] = {}  # metric -> of its coroutines, until it is blocked
        self._threads = Threads()
        self._turns: dict[bool, asyncio.Semaphore] = {}
        self._hangs: Counter[str] = Counter()

    def start(self, calls: Sequence[OwnCall]) -> Future[list[Measured]]:
        """Begins to make calls; their results in the same order."""
        with self._lock:
            if self._clock is None:
                self._clock = _loop_in_thread()
                self._turns = {False: asyncio.Semaphore(MAX_THREADS), True: asyncio.Semaphore(MAX_COROUTINES)}
            return asyncio.run_coroutine_threadsafe(self._all(calls), self._clock)

    def stop(self) -> None:
        """Gives up the calls under way; the next ones begin anew."""
        with self._lock:
            for loop in filter(None, (self._clock, *self._user.values())):
                loop.call_soon_threadsafe(loop.stop)
            self._clock, self._user = None, {}
            self._threads.close()

    async def _all(self, calls: Sequence[OwnCall]) -> list[Measured]:
        return list(await asyncio.gather(*map(self._one, calls)))

    async def _one(self, call: OwnCall) -> Measured:
        metric = call.metric
        code, awaited, timeout = code_of(metric)
        async with self._turns[awaited]:
            if self._hangs[str(metric)] >= MAX_HANGS:
                reason = f"not called: {MAX_HANGS} calls did not return within {timeout:g} s, so it was given up"
                return Measured.failed(reason, metric.range)
            bound = partial(code, **call.given)
            for _ in range(MAX_TRIES):
                if awaited:
                    loop = self._user.get(str(metric)) or self._user.setdefault(str(metric), _loop_in_thread())
                    future = asyncio.run_coroutine_threadsafe(_awaited(metric, bound, str(id(call))), loop)
                    task: asyncio.Future[Measured] = asyncio.wrap_future(future)
                else:
                    task = asyncio.ensure_future(self._threads.call(lambda: measured(metric, bound)))
                await asyncio.wait([task], timeout=timeout)
                if task.done():
                    return task.result()
                task.cancel()
                if not awaited or await self._hangs_itself(metric, str(id(call)), loop):
                    break
            self._hangs[str(metric)] += 1
            return Measured.failed(f"{metric} did not return within {timeout:g} s", metric.range)

    async def _hangs_itself(self, metric: Metric, name: str, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether a call is why it does not return; a call beside it may block their loop, which is given up then."""
        ping: Future[None] = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop)
        done, _ = await asyncio.wait([asyncio.wrap_future(ping)], timeout=GRACE_S)
        if done:
            return True
        if self._user.get(str(metric)) is loop:
            del self._user[str(metric)]
        running = asyncio.current_task(loop)
        return running is not None and running.get_name() == name


def measured(metric: Metric, code: Callable[[], Any]) -> Measured:
    """What a metric's code gives, whatever it raises."""
    try:
        return Measured.of(read_result(metric, code()))
    except BaseException as error:
        return _raised(metric, error)


async def _awaited(metric: Metric, code: Callable[[], Any], name: str) -> Measured:
    task = asyncio.current_task()
    if task is not None:
        task.set_name(name)
    try:
        return Measured.of(read_result(metric, await code()))
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():  # we gave it up
            raise
        return _raised(metric, error)


def _raised(metric: Metric, error: BaseException) -> Measured:
    try:
        reason = told(error)
    except Exception:
        reason = type(error).__name__
    return Measured.failed(reason if len(reason) <= MAX_REASON else f"{reason[:MAX_REASON]}…", metric.range)


def _loop_in_thread() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=_run, args=(loop,), name="ragauge-metrics", daemon=True).start()
    return loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        with suppress(Exception):
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

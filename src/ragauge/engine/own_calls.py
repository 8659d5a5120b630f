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

from ragauge.engine.metric_values import format_error
from ragauge.metrics.base import Failed, Metric, MetricResult
from ragauge.metrics.catalogue import is_own
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import KnownFacts, find_values
from ragauge.metrics.own_class import FunctionMetric, get_code, has_own_code, read_result
from ragauge.metrics.reasons import VERDICTS_MISSING
from ragauge.systems.base import Threads

MAX_THREADS, MAX_COROUTINES = 4, 16  # calls at once
MAX_TRIES = 3  # of a call that another one keeps from returning
MAX_HANGS = 3  # calls of a metric that do not return; then it is not called again
MAX_REASON_CHARS = 1_000  # characters of an exception's text
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


def prepare_calls(metrics: Sequence[Metric], facts: Facts) -> dict[str, OwnCall | MetricResult]:
    """Printed name -> what has to be called for the metrics of the user's own, or why there is no value.

    What missing verdicts leave open of a subclass of Metric is found where other metrics are measured.
    """
    calls_by_metric: dict[str, OwnCall | MetricResult] = {}
    known_values: KnownFacts = {}
    for metric in metrics:
        if not (is_own(metric) and has_own_code(metric)):
            continue
        try:
            values, is_complete = find_values(metric, facts, known_values)
        except Exception as error:
            values, is_complete = MetricResult.failed(format_error(error), metric.range), True
        if isinstance(values, MetricResult):
            calls_by_metric[str(metric)] = values
        elif is_complete:
            calls_by_metric[str(metric)] = OwnCall(metric, values)
        elif isinstance(metric, FunctionMetric):
            reasons = (value.reason for value in values.values() if isinstance(value, Failed))
            calls_by_metric[str(metric)] = MetricResult.failed(
                next(reasons, VERDICTS_MISSING.build_reason("a verdict is")), metric.range
            )
    return calls_by_metric


class OwnCalls:
    """Calls metrics' code for one evaluation."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clock: asyncio.AbstractEventLoop | None = None
        self._user: dict[str, asyncio.AbstractEventLoop] = {}  # metric -> of its coroutines, until it is blocked
        self._threads = Threads()
        self._turns: dict[bool, asyncio.Semaphore] = {}
        self._hangs: Counter[str] = Counter()

    def start(self, calls: Sequence[OwnCall]) -> Future[list[MetricResult]]:
        """Begins to make calls; their results in the same order."""
        with self._lock:
            if self._clock is None:
                self._clock = _start_loop_thread()
                self._turns = {False: asyncio.Semaphore(MAX_THREADS), True: asyncio.Semaphore(MAX_COROUTINES)}
            return asyncio.run_coroutine_threadsafe(self._run_calls(calls), self._clock)

    def stop(self) -> None:
        """Gives up the calls under way; the next ones begin anew."""
        with self._lock:
            for loop in filter(None, (self._clock, *self._user.values())):
                loop.call_soon_threadsafe(loop.stop)
            self._clock, self._user = None, {}
            self._threads.close()

    async def _run_calls(self, calls: Sequence[OwnCall]) -> list[MetricResult]:
        return list(await asyncio.gather(*map(self._run_call, calls)))

    async def _run_call(self, call: OwnCall) -> MetricResult:
        metric = call.metric
        code, is_coroutine, timeout = get_code(metric)
        async with self._turns[is_coroutine]:
            if self._hangs[str(metric)] >= MAX_HANGS:
                reason = f"not called: {MAX_HANGS} calls did not return within {timeout:g} s, so it was abandoned"
                return MetricResult.failed(reason, metric.range)
            bound_code = partial(code, **call.given)
            for _ in range(MAX_TRIES):
                if is_coroutine:
                    loop = self._user.get(str(metric)) or self._user.setdefault(str(metric), _start_loop_thread())
                    future = asyncio.run_coroutine_threadsafe(_await_code(metric, bound_code, str(id(call))), loop)
                    task: asyncio.Future[MetricResult] = asyncio.wrap_future(future)
                else:
                    task = asyncio.ensure_future(
                        self._threads.call_in_thread(lambda: measure_safely(metric, bound_code))
                    )
                await asyncio.wait([task], timeout=timeout)
                if task.done():
                    return task.result()
                task.cancel()
                if not is_coroutine or await self._is_hanging(metric, str(id(call)), loop):
                    break
            self._hangs[str(metric)] += 1
            return MetricResult.failed(f"{metric} did not return within {timeout:g} s", metric.range)

    async def _is_hanging(self, metric: Metric, name: str, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether a call is why it does not return; a call beside it may block their loop, which is given up then."""
        ping: Future[None] = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop)
        finished, _ = await asyncio.wait([asyncio.wrap_future(ping)], timeout=GRACE_S)
        if finished:
            return True
        if self._user.get(str(metric)) is loop:
            del self._user[str(metric)]
        running = asyncio.current_task(loop)
        return running is not None and running.get_name() == name


def measure_safely(metric: Metric, code: Callable[[], Any]) -> MetricResult:
    """What a metric's code gives, whatever it raises."""
    try:
        return MetricResult.of(read_result(metric, code()))
    except BaseException as error:
        return _build_failure(metric, error)


async def _await_code(metric: Metric, code: Callable[[], Any], name: str) -> MetricResult:
    task = asyncio.current_task()
    if task is not None:
        task.set_name(name)
    try:
        return MetricResult.of(read_result(metric, await code()))
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():  # we gave it up
            raise
        return _build_failure(metric, error)


def _build_failure(metric: Metric, error: BaseException) -> MetricResult:
    try:
        reason = format_error(error)
    except Exception:
        reason = type(error).__name__
    return MetricResult.failed(
        reason if len(reason) <= MAX_REASON_CHARS else f"{reason[:MAX_REASON_CHARS]}…", metric.range
    )


def _start_loop_thread() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=_run_loop, args=(loop,), name="ragauge-metrics", daemon=True).start()
    return loop


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
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

"""Judges batches on all cores.

Workers are processes of their own (`python -c …`, see `worker.py`), not `multiprocessing`: that would import the user's
script anew in every worker, which breaks a plain script without `if __name__ == "__main__"`; a process of our own also
tells how it ended, and takes no other worker with it. Threads of this process each talk to one worker, so the pool
works in any event loop and on any platform.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from ragauge.core.errors import JudgeError, RagaugeError, StoreError
from ragauge.engine import worker as wire
from ragauge.engine.caller import CallCounts
from ragauge.engine.judge_batch import BatchResult, JudgedResponse, Work
from ragauge.engine.worker import Task, judge_numbers
from ragauge.metrics.base import Metric, MetricResult
from ragauge.store.store_access import Store

FIRST_BATCH_RESPONSES, MIN_BATCH_RESPONSES, MAX_BATCH_RESPONSES = 16, 8, 256  # responses a batch
BATCH_SECONDS = 1.0  # a batch takes about so long: what a kill costs, at most, per worker
WORKER_COMMAND = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from ragauge.engine.worker import main; main()"
)
# one thread a worker: there is a worker for every core already
ERROR_KINDS: Mapping[str, type[RagaugeError]] = {"JudgeError": JudgeError, "StoreError": StoreError}
THREAD_VARIABLES = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class TimedResult:
    """A batch's result and how long it took."""

    result: BatchResult
    seconds: float


class Pool(Protocol):
    """Judges batches of responses, several at a time, and tells how far it is."""

    workers: int  #: batches judged at a time.
    notes: list[str]  #: what went wrong and was mended.
    size: int  #: responses that the next batch should have.
    slow: bool  #: a batch may take minutes, so that whoever waits is told in the middle of one.

    @property
    def under_way(self) -> float:
        """What is done of the batches under way, in responses."""

    def judge(self, numbers: Sequence[int]) -> Future[TimedResult]:
        """Judges responses by number."""

    def took(self, timed: TimedResult) -> None:
        """Learns from a batch that is done how large the next should be."""

    def count_calls(self) -> CallCounts | None:
        """Calls to models so far; None for a pool that makes none."""

    def stop(self) -> None:
        """Ends at once; what is in flight is lost."""

    async def close(self) -> None:
        """Writes and closes what only its event loop can; `stop` comes after it."""


class SpeedSizedPool:
    """Batches that take about a second each, on this machine's processors."""

    slow = False
    under_way = 0.0  # a batch is too short to be told apart

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.size = FIRST_BATCH_RESPONSES

    def took(self, timed: TimedResult) -> None:
        """The next batch is as large as a second allows, at most twice the last, between LEAST and MOST."""
        n_judged = len(timed.result.judged)
        if n_judged:
            n_fitting = int(n_judged * BATCH_SECONDS / max(timed.seconds, 1e-6))
            self.size = max(MIN_BATCH_RESPONSES, min(MAX_BATCH_RESPONSES, n_fitting, self.size * 2))

    def count_calls(self) -> None:
        """No model is called."""
        return

    async def close(self) -> None:
        """Nothing is open in the event loop."""


class WorkerDied(Exception):  # noqa: N818 - what happened
    """A worker process ended in the middle of its work; the text says how."""


class InProcessPool(SpeedSizedPool):
    """A pool of one thread of this process: no start-up, for little work, and for judges that exist only here."""

    def __init__(self, work: Work, store: Store) -> None:
        super().__init__()
        self.workers = 1
        self._work, self._store = work, store
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="ragauge-judge")

    def judge(self, numbers: Sequence[int]) -> Future[TimedResult]:
        """Judges responses by number."""
        return self._threads.submit(self._judge_batch, numbers)

    def stop(self) -> None:
        """Waits for the batch in hand, but for the calls of metrics of the user's own: a thread cannot be ended."""
        self._work.own_calls.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _judge_batch(self, numbers: Sequence[int]) -> TimedResult:
        started = time.perf_counter()
        result = judge_numbers(numbers, self._work, self._store)
        return TimedResult(result, time.perf_counter() - started)


class ProcessPool(SpeedSizedPool):
    """A pool of worker processes, started when they are first needed.

    Args:
        task: what each is built from.
        metrics: that they measure.
        workers: the processes, already there but without a task; others replace those that die.
    """

    def __init__(self, task: Task, metrics: Sequence[Metric], workers: Sequence[Worker]) -> None:
        super().__init__()
        self.workers = len(workers)
        self._task, self._metrics = task, tuple(metrics)
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="ragauge-worker")
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._new = list(workers)
        self._all = set(workers)
        self._stopped = False

    def judge(self, numbers: Sequence[int]) -> Future[TimedResult]:
        """Judges responses by number.

        When the worker dies, each response of the batch is tried once more, alone and in a fresh worker, and one
        that takes its worker with it again has failed: one poisonous example does not spoil the others.
        """
        return self._threads.submit(self._judge_batch, numbers)

    def stop(self) -> None:
        """Ends every worker at once."""
        with self._lock:
            self._stopped = True
            workers = list(self._all)
        for worker in workers:
            worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _judge_batch(self, numbers: Sequence[int]) -> TimedResult:
        try:
            return self._run_on_worker(numbers)
        except WorkerDied as death:
            if self._stopped:
                raise
            n = len(numbers)
            self.notes.append(f"a worker process ended ({death}); its {n} responses were retried one by one")
        retries = [self._retry_response(number) for number in numbers]
        results = [retry.result for retry in retries]
        return TimedResult(
            BatchResult(
                tuple(response for result in results for response in result.judged),
                n_asked=sum(result.n_asked for result in results),
                reused=sum(result.reused for result in results),
                failed=sum(result.failed for result in results),
            ),
            sum(retry.seconds for retry in retries),
        )

    def _retry_response(self, number: int) -> TimedResult:
        try:
            return self._run_on_worker([number])
        except WorkerDied as death:
            if self._stopped:
                raise
            reason = f"the worker process ended twice on this response ({death})"
            measured = tuple(MetricResult.failed(reason, metric.range) for metric in self._metrics)
            return TimedResult(
                BatchResult((JudgedResponse(number, (), measured, None),), failed=len(self._task.questions)), 0.0
            )

    def _run_on_worker(self, numbers: Sequence[int]) -> TimedResult:
        worker = self._take_worker()
        try:
            timed = worker.judge(numbers)
        except BaseException:
            worker.kill()
            with self._lock:
                self._all.discard(worker)
            raise
        with self._lock:
            self._idle.append(worker)
        return timed

    def _take_worker(self) -> Worker:
        with self._lock:
            if self._stopped:
                raise WorkerDied("stopped")
            if self._idle:
                return self._idle.pop()
            worker = self._new.pop() if self._new else Worker()
            self._all.add(worker)
        worker.start(self._task)
        return worker


class Worker:
    """One worker process, seen from its owner: it imports what it needs while nobody has given it a task."""

    def __init__(self) -> None:
        environment = os.environ | dict.fromkeys(THREAD_VARIABLES, "1") | {"PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-P", "-c", WORKER_COMMAND, json.dumps([str(path) for path in sys.path])]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own code
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, encoding="utf-8"
            )
        except (OSError, TypeError) as error:
            raise JudgeError(f"cannot start a worker process: {error}. Use workers=1.") from error

    def start(self, task: Task) -> None:
        """Sends the task and waits until the judge is built."""
        try:
            self._exchange_line(task.to_json())
        except WorkerDied as death:
            raise JudgeError(f"a worker process ended before it was ready ({death}). Use workers=1.") from death

    def judge(self, numbers: Sequence[int]) -> TimedResult:
        """Judges responses by number. WorkerDied when the process ends meanwhile."""
        line = self._exchange_line(json.dumps(list(numbers)))
        head, _, result_text = line.partition(',"result":')
        return TimedResult(wire.decode_result(result_text.rstrip()[:-1]), float(head.partition(":")[2]))

    def kill(self) -> None:
        """Ends the process and takes its exit."""
        self._process.kill()
        self._process.wait()  # before the pipes: a thread that reads one of them holds it until it has ended
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _exchange_line(self, request: str) -> str:
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise WorkerDied("no pipe")
        try:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            line = ""
        if not line.endswith("\n"):
            raise WorkerDied(_describe_exit(process.wait()))
        if line.startswith('{"error"'):
            failure = json.loads(line)
            raise ERROR_KINDS.get(failure["kind"], RagaugeError)(failure["error"])
        return line


def _describe_exit(code: int) -> str:
    """How a process ended, in words."""
    if code < 0:
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"

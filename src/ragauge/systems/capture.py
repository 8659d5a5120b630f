"""Records what a running system retrieves and answers, without changing it.

Lines appended to a file that several processes may share, durable when written, rotated when large.
"""

from __future__ import annotations

import atexit
import logging
import os
import queue
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, Unpack, overload

from ragauge.core.errors import UsageError
from ragauge.systems.capture_wrap import wrap_answer_function, wrap_retrieval_function
from ragauge.systems.captured_call import AddedFields, CapturedCall, build_id, copy_containers

NEWLINE = b"\n"


class RotatingLines:
    """A file that lines are appended to.

    Each batch is one write at the end of the file, so that lines of several processes do not mix, and it is on disk
    when `append` returns. A file that would grow beyond the limit is renamed to NAME.TIME-PROCESS.ENDING first.

    Args:
        path: its folder is made where it is missing.
        most_bytes: of one file; a single batch may be larger.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path, self._most = path, max_bytes
        self._file: int | None = None

    def append(self, lines: Sequence[str]) -> None:
        """Writes the lines.

        Raises:
            OSError: nothing of the batch is in the file, or as little as could not be taken back.
        """
        data = b"".join(line.encode("utf-8", "replace") + NEWLINE for line in lines)
        file = self._open_current(len(data))
        start = os.fstat(file).st_size
        if start and not _ends_with_newline(self._path, start):  # a line that a crash cut short must not spoil the next
            data = NEWLINE + data
        written = 0
        try:
            while written < len(data):
                written += os.write(file, data[written:])
            os.fsync(file)
        except OSError:
            with suppress(OSError):
                if written and os.fstat(file).st_size == start + written:  # nobody else wrote meanwhile
                    os.ftruncate(file, start)
            self.close()
            raise

    def close(self) -> None:
        """Closes the file; the next line opens it again."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None

    def _open_current(self, more: int) -> int:
        """The file that the path names now: another process may have rotated it."""
        if self._file is not None and not self._is_current(self._file):
            self.close()
        if self._file is None:
            self._file = self._open_file()
        size = os.fstat(self._file).st_size
        if size and size + more > self._most:
            self._path.rename(self._build_rotated_path())
            self.close()
            self._file = self._open_file()
        return self._file

    def _open_file(self) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def _is_current(self, file: int) -> bool:
        try:
            path_stat = self._path.stat()
        except OSError:
            return False
        file_stat = os.fstat(file)
        return (path_stat.st_ino, path_stat.st_dev) == (file_stat.st_ino, file_stat.st_dev)

    def _build_rotated_path(self) -> Path:
        time = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
        return self._path.with_name(f"{self._path.stem}.{time}-{os.getpid()}{self._path.suffix}")


def _ends_with_newline(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) == NEWLINE


F = TypeVar("F", bound=Callable[..., Any])
MEGABYTE = 1_048_576
MAX_WAITING_CALLS = 10_000  # calls that wait for the disk; beyond it they are lost, and counted
BATCH_SIZE_CALLS = 500
logger = logging.getLogger("ragauge.capture")


class Capture:
    """Appends one line a question to a file, in the form that `ragauge evaluate FILE --traffic` reads.

    As a decorator it records the function that answers: the question is its argument called query or question (or its
    first), the return value is read like any system's. Functions, coroutines, generators and async generators of text
    do what they did: results, chunks and exceptions pass unchanged. Calls inside a recorded call belong to it.

    Nothing here raises into the system: what cannot be read is said in the line's `missing`, and what cannot be written
    is one warning of the logger `ragauge.capture` and a count. Lines are written by a thread of their own and are on
    disk a moment later; `close`, the end of `with` and the end of the program wait for them.

    Args:
        path: appended to, by several processes if need be.
        sample: the share of questions that is recorded; each line carries its weight, 1 / sample.
        rotate_mb: a file beyond it is renamed to NAME.TIME-PROCESS.jsonl, and a new one begun.

    Raises:
        UsageError: sample is not above 0 and at most 1, or rotate_mb not above 0.

    Attributes:
        recorded: lines on disk.
        lost: questions that could not be written.
    """

    def __init__(self, path: str | Path, *, sample: float = 1.0, rotate_mb: float = 256) -> None:
        if not 0 < sample <= 1:
            raise UsageError(f"capture: sample must be above 0 and at most 1, got {sample!r}.")
        if not rotate_mb > 0:
            raise UsageError(f"capture: rotate_mb must be above 0, got {rotate_mb!r}.")
        self.recorded = self.lost = 0
        self._path, self._sample, self._most = Path(path), sample, int(rotate_mb * MEGABYTE)
        self._current: ContextVar[CapturedCall | None] = ContextVar("call", default=None)
        self._random = random.Random()  # noqa: S311 - which questions are drawn is no secret
        self._lock = threading.Lock()
        self._closed = self._warned = False
        self._pid = 0
        self._start_writer()
        atexit.register(self.close)

    @overload
    def __call__(self, function: F) -> F: ...
    @overload
    def __call__(self, *, query: str) -> Callable[[F], F]: ...
    def __call__(self, function: Any = None, *, query: str = "") -> Any:
        """Records a function that answers questions.

        Args:
            function: the function.
            query: which of its arguments is the question, where it is neither the first nor called so.
        """
        if function is None:
            return lambda target: wrap_answer_function(self, target, query)
        return wrap_answer_function(self, function, query)

    def retrieval(self, function: F) -> F:
        """Records what a function retrieves while a question is answered; several are hops, in order."""
        return wrap_retrieval_function(self, function, "passages")

    def candidates(self, function: F) -> F:
        """Records the longer ranking that a function gives to a reranker or filter."""
        return wrap_retrieval_function(self, function, "candidates")

    @contextmanager
    def question(self, query: str) -> Iterator[CapturedCall]:
        """Records what happens inside as the answering of a question; say the rest with `add`.

        Args:
            query: the question.

        Yields:
            The question; `add` says what became of it. Inside of another question it is that one.
        """
        call = self.begin_call(query)
        if call is None:
            yield self._current.get() or CapturedCall(query, "", 0.0)  # closed: what is added goes nowhere
            return
        token = self._current.set(call)
        try:
            yield call
        except BaseException as error:
            self.end(call, error=error)
            raise
        finally:
            self._current.reset(token)
        self.end(call)

    def add(self, **fields: Unpack[AddedFields]) -> None:
        """Says more of the question that is being answered; outside of one, nothing happens.

        Args:
            fields: answer, passages, candidates, citations, tokens, cost, outcome, segments, as in a recorded file.
        """
        call = self._current.get()
        if call is not None:
            call.add(**fields)

    def flush(self, timeout: float = 10.0) -> bool:
        """Waits until all that was recorded is on disk; False if that took too long."""
        if self._closed or self._pid != os.getpid():
            return True
        written = threading.Event()
        self._waiting.put(written)
        return written.wait(timeout)

    def close(self) -> None:
        """Writes what waits, and records nothing more."""
        if self._closed:
            return
        self.flush()
        self._closed = True
        self._waiting.put(None)
        if self._pid == os.getpid():
            self._thread.join(1.0)
        atexit.unregister(self.close)

    def __enter__(self) -> Capture:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes."""
        self.close()

    def begin_call(self, question: Any) -> CapturedCall | None:
        """The start of a question; None where one is being answered already. A weight of 0 = it was not drawn."""
        if self._closed or self._current.get() is not None:
            return None
        is_sampled = self._sample == 1 or self._random.random() < self._sample
        return CapturedCall(
            question, build_id(f"{self._random.getrandbits(32):08x}"), 1 / self._sample if is_sampled else 0.0
        )

    def end(self, call: CapturedCall | None, returned: Any = None, error: BaseException | None = None) -> None:
        """The end of a question, to be written."""
        if call is not None:
            self._end_safely(call, lambda: call.end(returned, error))

    def cut(self, call: CapturedCall, characters: int) -> None:
        """The end of a stream whose reader stopped early, to be written."""
        self._end_safely(call, lambda: call.cut(characters))

    def record_hop(self, kind: str, returned: Any, milliseconds: float) -> None:
        """What a function retrieved."""
        call = self._current.get()
        if call is not None:
            call.hops.append((kind, copy_containers(returned), milliseconds))

    def _end_safely(self, call: CapturedCall, ended: Callable[[], None]) -> None:
        """Ends a call and hands it to the writing thread; whatever goes wrong, the system does not feel it."""
        if not call.weight:
            return
        try:
            ended()
            self._enqueue_call(call)
        except Exception as error:  # a user's exception that cannot be printed, no more threads ...
            self._count_lost(f"{type(error).__name__}", 1)

    def _enqueue_call(self, call: CapturedCall) -> None:
        if self._pid != os.getpid():  # a process that was forked off: threads and queues stay behind
            with self._lock:
                self._start_writer()
        if self._waiting.qsize() >= MAX_WAITING_CALLS:
            self._count_lost(f"more than {MAX_WAITING_CALLS:,} questions are waiting to be written", 1)
        else:
            self._waiting.put(call)

    @property
    def current_call(self) -> ContextVar[CapturedCall | None]:
        """The question that is being answered here."""
        return self._current

    def _start_writer(self) -> None:
        if self._pid == os.getpid():
            return
        self._waiting: queue.SimpleQueue[CapturedCall | threading.Event | None] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=self._write_batches, args=[self._waiting], name="ragauge-capture", daemon=True
        )
        self._pid = os.getpid()
        self._thread.start()

    def _write_batches(self, waiting: queue.SimpleQueue[CapturedCall | threading.Event | None]) -> None:
        lines = RotatingLines(self._path, self._most)
        while True:
            batch = [waiting.get()]
            while len(batch) < BATCH_SIZE_CALLS and not waiting.empty():
                batch.append(waiting.get())
            self._append_calls(lines, [entry for entry in batch if isinstance(entry, CapturedCall)])
            for entry in batch:
                if isinstance(entry, threading.Event):
                    entry.set()
            if None in batch:
                lines.close()
                return

    def _append_calls(self, lines: RotatingLines, calls: list[CapturedCall]) -> None:
        ready = []
        for call in calls:
            try:
                ready.append(call.line())
            except Exception as error:  # whatever a user's objects do when they are read
                self._count_lost(f"{type(error).__name__}: {error}", 1)
        if not ready:
            return
        try:
            lines.append(ready)
        except OSError as error:
            self._count_lost(f"{self._path} cannot be written: {error.strerror or error}", len(ready))
        else:
            self.recorded += len(ready)

    def _count_lost(self, what: str, n: int) -> None:
        """Counts what is lost; the first time, says so."""
        with self._lock:
            self.lost += n
            first, self._warned = not self._warned, True
        if first:
            logger.warning("Some data was not captured: %s. Lost data is counted; this message appears once.", what)


def capture(path: str | Path, *, sample: float = 1.0, rotate_mb: float = 256) -> Capture:
    """Records what a running system retrieves and answers: a decorator and a context manager, see `Capture`.

        seen = rg.capture("answers.jsonl")

        @seen.retrieval
        def retrieve(question): ...

        @seen
        def answer(question): ...

    Args:
        path: one line a question is appended; `ragauge evaluate answers.jsonl --traffic` reads it.
        sample: the share of questions that is recorded.
        rotate_mb: size from which a new file is begun.
    """
    return Capture(path, sample=sample, rotate_mb=rotate_mb)

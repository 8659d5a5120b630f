"""Durable intake of traces: kept before the sender hears of it, and ahead of other work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf

from ragauge.core.errors import StoreError
from ragauge.engine.reply_writer import GroupCommitWriter
from ragauge.monitoring.intake.bodies import MEBIBYTE, RequestRefusedError
from ragauge.monitoring.series.gauge_monitors import SignalPoint
from ragauge.store.inbox import Batch, ReadDelay
from ragauge.store.store_access import Store

MAX_MEAN_WAIT_S = 0.025  # seconds: senders whose answers take longer on average go first
MAX_REST_FACTOR, REST_STEP = (
    4.0,
    1.0,
)  # times as long as the work took: the longest rest, and what one round changes of it
IDLE_AFTER_S = 0.05  # seconds without an answer from which on nobody is sending
POLL_S = 0.02  # seconds between two looks at whether anybody is


class SenderWaits:
    """What senders wait for, told by the loop that answers them.

    Attributes:
        answers: that were given since the start.
        seconds: that senders waited for them, in all.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._waiting, self._last = clock, 0, -inf
        self.answers, self.seconds = 0, 0.0

    @contextmanager
    def one(self) -> Iterator[None]:
        """A block at whose end a sender has an answer."""
        began = self._clock()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            self._last = self._clock()
            self.answers += 1
            self.seconds += self._last - began

    def is_busy(self) -> bool:
        """Whether anybody waits, or had an answer just now."""
        return self._waiting > 0 or self._clock() - self._last < IDLE_AFTER_S


class WorkerPauses:
    """One worker's rests, as long as senders wait too long: up to four times as long as it worked.

    Args:
        answering: what senders wait for.
        wait: waits so many seconds; True = the server ends.
        clock: seconds.
    """

    def __init__(
        self, answering: SenderWaits, wait: Callable[[float], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._answering, self._wait, self._clock = answering, wait, clock
        self._seen, self._rest = (0, 0.0), 0.0

    @property
    def is_pausing(self) -> bool:
        """Whether it rested lately: then it works in small parts."""
        return self._rest > 0

    def rest(self, worked: float) -> None:
        """Rests after so many seconds of work, until nobody sends any more or it is its turn again."""
        totals = (self._answering.answers, self._answering.seconds)
        answers, waited = totals[0] - self._seen[0], totals[1] - self._seen[1]
        self._seen = totals
        if not self._answering.is_busy():
            self._rest = 0.0
            return
        # without an answer all of that time, everybody waited through it
        long = waited > MAX_MEAN_WAIT_S * answers if answers else worked > MAX_MEAN_WAIT_S
        self._rest = min(MAX_REST_FACTOR, self._rest + REST_STEP) if long else max(0.0, self._rest - REST_STEP)
        until = self._clock() + self._rest * worked
        while (remaining := until - self._clock()) > 0 and self._answering.is_busy():
            if self._wait(min(remaining, POLL_S)):
                return


MAX_WAITING_BYTES = 128 * MEBIBYTE  # bytes of bodies, unpacked, that have come and are read or wait for the disk
SHORT_RETRY_S, LONG_RETRY_S = "1", "10"  # seconds


class Intake:
    """Writes batches, many to a commit.

    Args:
        store: with the inbox.
        patience: how long a trace waits for more.

    Attributes:
        answering: how long senders wait.
    """

    def __init__(self, store: Store, patience: ReadDelay | None = None) -> None:
        self._store, self._patience = store, patience or ReadDelay()
        self._writer = GroupCommitWriter[Batch, int](self._write_batches)
        self._bytes = 0
        self.answering = SenderWaits()
        self.taken = 0  # batches since the start

    @contextmanager
    def reserve_room(self) -> Iterator[Callable[[int], None]]:
        """Room for one body: called with a size, it grows by so many bytes; at the end all of it is given back.

        It grows as bytes come, so who declares much and sends nothing takes nothing.

        Raises:
            Refused: 429 where it would grow and too much waits already.
        """
        reserved = 0

        def grow(size: int) -> None:
            nonlocal reserved
            if self._bytes + size > MAX_WAITING_BYTES:
                raise RequestRefusedError(
                    429,
                    "too much data is waiting to be written; send this again in a second.",
                    retry_after=SHORT_RETRY_S,
                )
            self._bytes += size
            reserved += size

        try:
            yield grow
        finally:
            self._bytes -= reserved

    async def save_batch(self, batch: Batch) -> None:
        """Returns when the batch is on disk.

        Raises:
            Refused: 503, where the store cannot take it.
        """
        try:
            with self.answering.one():
                await self._writer.write_item(batch)
        except StoreError as error:
            raise RequestRefusedError(
                503, f"{error} Nothing from this request was saved; you can send it again.", retry_after=LONG_RETRY_S
            ) from error
        self.taken += 1

    def save_points(self, points: Sequence[tuple[str, SignalPoint]]) -> None:
        """Returns when values of gauges are on disk.

        Raises:
            Refused: 503, where the store cannot take them.
        """
        try:
            self._store.inbox.add_signals(points)
        except StoreError as error:
            raise RequestRefusedError(
                503, f"{error} Nothing from this request was saved.", retry_after=LONG_RETRY_S
            ) from error

    async def close(self) -> None:
        """Writes what waits."""
        await self._writer.close()

    def _write_batches(self, batches: Sequence[Batch]) -> list[int]:
        return self._store.inbox.add(batches, self._patience)

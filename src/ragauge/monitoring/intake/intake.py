"""Durable intake of traces: a batch is on disk before its sender is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ragauge.core.errors import StoreError
from ragauge.engine.reply_writer import GroupCommitWriter
from ragauge.monitoring.intake.bodies import MEBIBYTE, RequestRefusedError
from ragauge.monitoring.series.gauge_monitors import SignalPoint
from ragauge.store.inbox import Batch, ReadDelay
from ragauge.store.store_access import Store

MAX_WAITING_BYTES = 128 * MEBIBYTE  # bytes of bodies, unpacked, that have come and are read or wait for the disk
SHORT_RETRY_S, LONG_RETRY_S = "1", "10"  # seconds


class Intake:
    """Writes batches, many to a commit.

    Args:
        store: with the inbox.
        patience: how long a trace waits for more.
    """

    def __init__(self, store: Store, patience: ReadDelay | None = None) -> None:
        self._store, self._patience = store, patience or ReadDelay()
        self._writer = GroupCommitWriter[Batch, int](self._write_batches)
        self._bytes = 0

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
            await self._writer.write_item(batch)
        except StoreError as error:
            raise RequestRefusedError(
                503, f"{error} Nothing from this request was saved; you can send it again.", retry_after=LONG_RETRY_S
            ) from error

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

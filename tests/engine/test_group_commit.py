"""The writer with group commit: what was handed over is written, and each who waits is told what became of his item."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from ragauge.core.errors import StoreError
from ragauge.engine.reply_writer import MAX_BATCH_ITEMS, GroupCommitWriter


class Log:
    """Keeps the batches that it is given; a negative number cannot be kept, and fails its batch."""

    def __init__(self, *, open_gate: bool = True) -> None:
        self.batches: list[list[int]] = []
        self.gate = threading.Event()
        if open_gate:
            self.gate.set()

    def write(self, batch: Sequence[int]) -> list[int]:
        self.gate.wait(100)
        if any(number < 0 for number in batch):
            raise ValueError(f"{min(batch)} cannot be kept")
        self.batches.append(list(batch))
        return [10 * number for number in batch]


async def put_all(writer: GroupCommitWriter[int, int], numbers: Sequence[int]) -> list[Any]:
    found = await asyncio.gather(*(writer.write_item(number) for number in numbers), return_exceptions=True)
    await writer.close()
    return found


def test_one_alone_waits_for_nobody() -> None:
    """An item that is handed over while nothing else is under way is a batch of its own, and its result comes back."""
    log = Log()
    assert asyncio.run(put_all(GroupCommitWriter(log.write), [3])) == [30]
    assert log.batches == [[3]]


def test_what_gathers_is_one_batch_and_no_larger_than_the_most() -> None:
    """What gathers while a batch is under way is written together, in order, at most MOST at a time."""
    log = Log(open_gate=False)

    async def main() -> list[Any]:
        asyncio.get_running_loop().call_later(0.2, log.gate.set)
        return await put_all(GroupCommitWriter(log.write), range(2 * MAX_BATCH_ITEMS))

    assert asyncio.run(main()) == [10 * number for number in range(2 * MAX_BATCH_ITEMS)]
    assert [number for batch in log.batches for number in batch] == list(range(2 * MAX_BATCH_ITEMS))
    assert len(log.batches) <= 4
    assert max(map(len, log.batches)) <= MAX_BATCH_ITEMS


@pytest.mark.parametrize("alone", [True, False])
def test_one_that_cannot_be_stored(alone: bool) -> None:
    """Tried again one by one, the others of a failed batch are kept; otherwise all who wait are told of the failure."""
    log = Log()

    async def main() -> list[Any]:
        writer = GroupCommitWriter(log.write, pace=(0.1, 0.1), alone=alone)
        await writer.write_item(0)  # what follows within a tenth of a second is one batch
        return await put_all(writer, [1, -2, 3])

    found = asyncio.run(main())
    assert [isinstance(one, ValueError) for one in found] == ([False, True, False] if alone else [True] * 3)
    assert log.batches == ([[0], [1], [3]] if alone else [[0]])


@pytest.mark.parametrize("alone", [True, False])
def test_what_nobody_waits_for_is_told_at_the_end(alone: bool) -> None:
    """Where an item that nobody waits for cannot be written, close says why."""

    async def main() -> None:
        writer: GroupCommitWriter[int, int] = GroupCommitWriter(Log().write, alone=alone)
        writer.leave(-1)
        await writer.close()

    with pytest.raises(ValueError, match="-1 cannot be kept"):
        asyncio.run(main())


def test_a_writer_that_dies_answers_and_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends the thread is told to all who wait, those under way too, and another one writes the next item."""
    log, ends = Log(), [SystemExit("cut"), OverflowError("no such time")]

    def write(batch: Sequence[int]) -> list[int]:
        if ends:
            raise ends.pop()
        return log.write(batch)

    async def main() -> list[Any]:
        writer: GroupCommitWriter[int, int] = GroupCommitWriter(write)
        first = await asyncio.wait_for(asyncio.gather(writer.write_item(1), return_exceptions=True), 5)
        second = await asyncio.wait_for(asyncio.gather(writer.write_item(2), return_exceptions=True), 5)
        monkeypatch.setattr(time, "sleep", lambda _: (_ for _ in ()).throw(OSError(22, "Invalid argument")))
        third = await asyncio.wait_for(writer.write_item(3), 5)
        await writer.close()
        return [*first, *second, third]

    overflow, ended, third = asyncio.run(main())
    assert isinstance(overflow, OverflowError)
    assert isinstance(ended, StoreError)
    assert "the thread that writes to the store ended: SystemExit: cut" in str(ended)
    assert (third, log.batches) == (30, [[3]])

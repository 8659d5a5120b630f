"""Work on traces gives way to taking them in, and never stands still."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from ragauge.monitoring.intake.intake import IDLE_AFTER_S, MAX_MEAN_WAIT_S, MAX_REST_FACTOR, SenderWaits, WorkerPauses

WORK = 0.1  # seconds that a part of the work takes


class Clock:
    """A clock that is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        """Moves on."""
        self.now += seconds
        return False

    def answer(self, answering: SenderWaits, seconds: float) -> None:
        """Answers one sender after so many seconds."""
        with answering.one():
            self.now += seconds


def worker(clock: Clock, answering: SenderWaits, sent: Callable[[], None]) -> Callable[[], float]:
    """Does a part of the work and rests; gives how long the rest was. While it rests, senders send."""

    def wait(seconds: float) -> bool:
        end = clock.now + seconds
        sent()
        clock.now = max(clock.now, end)
        return False

    way = WorkerPauses(answering, wait, clock)

    def part() -> float:
        began = clock.now
        clock.now += WORK / 2
        sent()
        clock.now = began + WORK
        way.rest(WORK)
        return clock.now - began - WORK

    return part


def test_slow_answers_go_first() -> None:
    """While answers are slow the work rests the longer, up to four fifths of the time, but never longer than that."""
    clock = Clock()
    answering = SenderWaits(clock)
    part = worker(clock, answering, lambda: clock.answer(answering, 2 * MAX_MEAN_WAIT_S))
    rests = [part() for _ in range(20)]
    assert rests[0] < rests[1] < rests[2]
    assert rests[-1] == pytest.approx(MAX_REST_FACTOR * WORK, abs=2 * MAX_MEAN_WAIT_S)
    assert 20 * WORK / (20 * WORK + sum(rests)) > 0.9 / (1 + MAX_REST_FACTOR)


def test_fast_answers_stop_nobody() -> None:
    """Where answers are fast all the time goes to the work, and what rested before works on."""
    clock = Clock()
    answering, seconds = SenderWaits(clock), [2 * MAX_MEAN_WAIT_S]
    part = worker(clock, answering, lambda: clock.answer(answering, seconds[0]))
    for _ in range(5):
        part()
    seconds[0] = MAX_MEAN_WAIT_S / 10
    rests = [part() for _ in range(10)]
    assert rests[-1] == pytest.approx(0.0)
    assert all(later < before + MAX_MEAN_WAIT_S for before, later in pairwise(rests))


def test_nobody_sends() -> None:
    """A rest ends as soon as nobody sends any more, however slow the last answers were."""
    clock = Clock()
    answering = SenderWaits(clock)
    way = WorkerPauses(answering, clock.wait, clock)
    for _ in range(10):
        clock.answer(answering, 10 * MAX_MEAN_WAIT_S)
        began = clock.now
        way.rest(10 * WORK)
        assert clock.now - began < 2 * IDLE_AFTER_S


def test_everybody_waits() -> None:
    """Where nobody had an answer while the work went on, it rests too."""
    clock = Clock()
    answering, rested = SenderWaits(clock), list[float]()

    def wait(seconds: float) -> bool:
        rested.append(seconds)
        clock.now += seconds
        return len(rested) == 3  # the server ends

    with answering.one():
        WorkerPauses(answering, wait, clock).rest(WORK)
    assert len(rested) == 3

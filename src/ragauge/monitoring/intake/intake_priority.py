"""Taking in goes first: other work on the same processor rests while senders wait long for their answers.

What rests is on disk already. It has a share of the time in any case, so that it never stands still.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf

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

"""How many calls to one endpoint are in flight at once: rises and falls with what it accepts."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf

from ragauge.models.endpoints import Endpoint

MIN_CALLS = 1
MAX_RISE, MAX_CALLS = 4, 256  # how far a start may be exceeded: so many times, and never beyond
SLOWER_FACTOR = 1.5  # times the quickest window: the place only queues what more calls ask
PAUSE_S, MAX_PAUSE_S = 1.0, 60.0  # seconds without new calls after a 429 that names no time
MIN_PAUSE_S = 0.05  # after one that names a time, even "at once"; doubled likewise


def compute_ceiling(start: int) -> int:
    """How many calls a start may grow to: four times as many, at most 256; one at a time stays one at a time.

    >>> compute_ceiling(1), compute_ceiling(16), compute_ceiling(100), compute_ceiling(500)
    (1, 64, 256, 500)
    """
    return start if start == 1 else max(start, min(MAX_RISE * start, MAX_CALLS))


class Limiter:
    """Concurrency that falls by half when a place says "too many", and rises by one a window of successes.

    It starts at what the user said. Beyond the start it rises only as long as no 429 ever came and answers take no
    longer for it: a server that queues gains nothing. A 429 pauses all new calls: as long as it asks (Retry-After),
    else one second, doubled with each further one. Calls that were already under way when it fell neither make it fall
    again nor let it rise. What became of a call is told before its slot is given back: else the next one would slip
    into the pause.

    Those who call one endpoint, as a judge and the system under test may, each have a limiter of their own bound at the
    same `Endpoint`: a 429 to one of them makes all of them fall and pause, and together they never have more calls
    under way than the one that may have most.

    Attributes:
        start: what the user said.
        most: how far it may rise; the start, after a 429.
        allowed: what is allowed now.
        running: calls under way.
        waiting: calls that wait for a place among them.
        place: what it calls, shared with others that call it.
    """

    def __init__(self, start: int, max_calls: int | None = None, endpoint: Endpoint | None = None) -> None:
        """A limiter.

        Args:
            start: calls at once to begin with.
            max_calls: calls at once that it may rise to; None = the start.
            endpoint: what is called; None = a place that nobody else calls.
        """
        self.start = max(MIN_CALLS, start)
        self.most = max(self.start, max_calls or 0)
        self.allowed = self.start
        self.running = 0
        self.falls = 0
        self.waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self.place = endpoint or Endpoint()
        self.place.add_caller(self)
        self._good = 0
        self._seconds, self._quickest = 0.0, inf  # of this window's calls; a call's mean in the quickest window

    @asynccontextmanager
    async def take_slot(self) -> AsyncIterator[None]:
        """A place among the calls under way."""
        await self.place.enter(self)
        try:
            yield
        finally:
            self.place.leave(self)

    def record_success(self, began: float) -> None:
        """A call that began at this moment was answered; a window is as many of them as are allowed at once."""
        if began < self.place.fell_at:
            return
        self.place.strikes = 0
        self._good += 1
        self._seconds += _read_time() - began
        if self._good >= self.allowed:
            self._close_window(self._seconds / self._good)
            self._good, self._seconds = 0, 0.0

    def _close_window(self, mean: float) -> None:
        """A window of successes is full, a call of which took so many seconds on average."""
        self._quickest = min(self._quickest, mean)
        if self.allowed > self.start and mean > SLOWER_FACTOR * self._quickest:
            self.allowed -= 1
        elif self.allowed < (self.start if mean > SLOWER_FACTOR * self._quickest or not self._is_full() else self.most):
            self.allowed += 1
            self.place.start_waiting()

    def _is_full(self) -> bool:
        """Whether more calls would be made if more were allowed."""
        return self.running >= self.allowed

    def record_refusal(self, began: float, retry_after: float | None) -> None:
        """A call that began at this moment met "too many": all who call the place fall, and wait."""
        now, endpoint = _read_time(), self.place
        if began >= endpoint.fell_at:
            endpoint.fell_at = now
            endpoint.strikes += 1
            endpoint.halve_callers()
        doubled = 2 ** min(max(endpoint.strikes - 1, 0), 6)
        pause = min(MAX_PAUSE_S, PAUSE_S * doubled)
        if retry_after is not None:
            pause = max(retry_after, MIN_PAUSE_S * doubled)
        endpoint.pause(now + pause * random.uniform(1.0, 1.1))  # noqa: S311 - spreads calls in time

    def halve_calls(self) -> None:
        """Half as many calls from now on, and never again more than at the start."""
        self.allowed = max(MIN_CALLS, self.allowed // 2)
        self.most = self.start
        self._good, self._seconds = 0, 0.0
        self.falls += 1


def _read_time() -> float:
    """The time of the loop, which is also the one that `began` is told in."""
    return asyncio.get_running_loop().time()

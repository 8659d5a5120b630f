"""How many calls to one place are under way at once: as many as it bears."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LEAST = 1
PAUSE, LONGEST_PAUSE = 1.0, 60.0     # seconds without new calls after a 429 that names no time
LEAST_PAUSE = 0.05     # after one that names a time, even "at once"; doubled likewise


class Limiter:
    """Concurrency that falls by half when a place says "too many", and rises by one a window of successes.

    It never exceeds what the user allowed, and is shared by everything that calls the same place. A 429 pauses all new
    calls: as long as it asks (Retry-After), else one second, doubled with each further one. Calls that were already
    under way when it fell neither make it fall again nor let it rise. What became of a call is told before its slot is
    given back: else the next one would slip into the pause.

    Attributes:
        most: what the user allowed.
        allowed: what is allowed now.
        running: calls under way.
    """

    def __init__(self, most: int) -> None:
        self.most = max(LEAST, most)
        self.allowed = self.most
        self.running = 0
        self.falls = 0
        self._good = 0
        self._strikes = 0
        self._fell_at = -1.0
        self._until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A place among the calls under way."""
        await self._enter()
        try:
            yield
        finally:
            self.running -= 1
            self._wake()

    def succeeded(self, began: float) -> None:
        """A call that began at this moment was answered; after as many as are allowed at once, one more is allowed."""
        if began < self._fell_at:
            return
        self._strikes = 0
        self._good += 1
        if self._good >= self.allowed and self.allowed < self.most:
            self.allowed += 1
            self._good = 0
            self._wake()

    def refused(self, began: float, retry_after: float | None) -> None:
        """A call that began at this moment met "too many": fall, and wait."""
        now = _now()
        if began >= self._fell_at:
            self.allowed = max(LEAST, self.allowed // 2)
            self._fell_at, self._good = now, 0
            self.falls += 1
            self._strikes += 1
        doubled = 2 ** min(max(self._strikes - 1, 0), 6)
        pause = min(LONGEST_PAUSE, PAUSE * doubled)
        if retry_after is not None:
            pause = max(retry_after, LEAST_PAUSE * doubled)
        self._until = max(self._until, now + pause * random.uniform(1.0, 1.1))  # noqa: S311 - spreads calls in time

    async def _enter(self) -> None:
        if not self._open():
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._set_timer()
            try:
                await turn     # whoever wakes it has counted it as running
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self.running -= 1
                    self._wake()
                raise
            return
        self.running += 1

    def _open(self) -> bool:
        return self.running < self.allowed and _now() >= self._until

    def _wake(self) -> None:
        while self._waiting and self._open():
            turn = self._waiting.popleft()
            if not turn.done():
                self.running += 1
                turn.set_result(None)
        self._set_timer()

    def _set_timer(self) -> None:
        left = self._until - _now()
        if self._waiting and left > 0 and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(left, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self._wake()


def _now() -> float:
    """The time of the loop, which is also the one that `began` is told in."""
    return asyncio.get_running_loop().time()

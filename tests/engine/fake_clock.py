"""An event loop whose clock jumps to the next timer: hours of waiting take no time, and times are exact."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
STUCK = 5.0  # real seconds without anything to do, after which a test has hung


class _Jumping(selectors.DefaultSelector):
    """Waits by moving the clock; where nothing is due ever, for other threads."""

    loop: FakeLoop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            found = super().select(STUCK)
            assert found, "nothing is under way and nothing is due: a task waits for ever"
            return found
        found = super().select(0)
        if not found and timeout > 0:
            self.loop.now += timeout
        return found


class FakeLoop(asyncio.SelectorEventLoop):
    """A loop at time `now`, which starts at 1,000 s."""

    def __init__(self) -> None:
        selector = _Jumping()
        selector.loop = self
        self.now = 1_000.0
        super().__init__(selector)

    def time(self) -> float:
        """What every timer goes by."""
        return self.now


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on a loop of its own whose clock jumps."""
    with asyncio.Runner(loop_factory=FakeLoop) as runner:
        return runner.run(main)

"""Work on a run by one process or thread at a time: the second waits, and then has only what is left to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.store.store_access import Store

POLL_INTERVAL_S = 0.3  # seconds between two tries to take the lock


@asynccontextmanager
async def wait_for_turn(store: Store, run: Run, doing: str, warn: Callable[[str], None]) -> AsyncIterator[bool]:
    """A block that works on a run alone; True where another process or thread was at it first and was waited for.

    Who is killed lets go of the run. Where no file can be locked nobody waits.

    Args:
        store: where the run is.
        run: what is worked on.
        doing: "evaluated" or "asked": what is done to it; of each kind there is one turn.
        warn: receives that this one waits.
    """
    waited = False
    while True:
        with store.lock_run(run.run_id if doing == "evaluated" else f"{run.run_id} {doing}") as is_alone:
            if is_alone:
                yield waited
                return
        if not waited:
            warn(
                f"{run.name} ({run.run_id}) is being {doing} by another process or thread. This one waits "
                "until it finishes, then does the rest; nothing is paid for twice. Press Ctrl-C to stop waiting."
            )
        waited = True
        await asyncio.sleep(POLL_INTERVAL_S)

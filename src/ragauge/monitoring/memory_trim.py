"""How a server that runs for months gets its memory, and gives it back."""

from __future__ import annotations

import ctypes
import sys

MAX_ARENAS, MAPPED_BLOCK_BYTES = (
    2,
    1 << 20,
)  # at most; bytes from which on a block is mapped, and given back when it is freed
M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3  # of malloc.h


def share_arenas() -> bool:
    """Lets the threads of this process take memory from few arenas; to be called before they begin.

    glibc gives each thread an arena of its own, and what one has freed no other takes: after four days of traffic 66 of
    190 MB in them were free and not given back, and 4 MB of 119 in two arenas.

    Returns:
        Whether that was set; other C libraries have nothing like it.
    """
    if sys.platform != "linux":
        return False
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is None:
        return False
    results = [
        setting(name, value) for name, value in ((M_ARENA_MAX, MAX_ARENAS), (M_MMAP_THRESHOLD, MAPPED_BLOCK_BYTES))
    ]
    return all(results)

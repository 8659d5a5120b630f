"""Fewer passes of Python's collector of cycles while work is under way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

GC_THRESHOLD = (20_000, 20, 50)  # objects, young and middle collections between two of the next generation
_LOCK = threading.Lock()


class _OpenBlocks:
    """How many blocks are open in this process, and what the collector was set to before the first."""

    open = 0
    before = (0, 0, 0)
    froze = False


@contextmanager
def reduce_garbage_collection() -> Iterator[None]:
    """Lets the collector pass over the objects that exist now, and look at new ones every 20,000 objects.

    Modules stay until the process ends, and a model call makes hundreds of objects that no cycle holds: with Python's
    own threshold of 700, looking for cycles took a quarter of a call. Blocks may overlap, in several threads; when the
    last one ends all is as before. A collector that is off, or looks more rarely, is left as it is.
    """
    with _LOCK:
        if not _OpenBlocks.open:
            _OpenBlocks.before, _OpenBlocks.froze = gc.get_threshold(), not gc.get_freeze_count()
            gc.freeze()
            if 0 < _OpenBlocks.before[0] < GC_THRESHOLD[0]:
                gc.set_threshold(*GC_THRESHOLD)
        _OpenBlocks.open += 1
    try:
        yield
    finally:
        with _LOCK:
            _OpenBlocks.open -= 1
            if not _OpenBlocks.open:
                gc.set_threshold(*_OpenBlocks.before)
                if _OpenBlocks.froze:
                    gc.unfreeze()

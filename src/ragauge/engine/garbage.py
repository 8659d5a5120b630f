"""Fewer passes of the garbage collector while a run is under way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

APART = 50_000     # new objects between two passes, at the least; Python's own 700 made them a third of a call's time
_lock = threading.Lock()
_inside = 0
_before = (0, 0, 0)
_frozen = False     # by none_collected


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Lets the collector look for cycles after 50,000 new objects instead of 700, until the last such block ends.

    Whoever turned it off, or has it come more rarely, is left alone. Blocks may overlap, in several threads.
    """
    global _inside, _before, _frozen  # noqa: PLW0603 - the collector is one for the whole process too
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = gc.get_threshold()
            if 0 < _before[0] < APART:
                gc.set_threshold(APART, *_before[1:])
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and gc.get_threshold() != _before:
                gc.set_threshold(*_before)
            if not _inside and _frozen:
                gc.unfreeze()
                _frozen = False


@contextmanager
def none_collected() -> Iterator[None]:
    """Looks for no cycles while a large library is loaded: nearly all of the many objects that it makes stay.

    Inside `rarely_collected` they are then left out of later passes, until its last block ends.
    """
    global _frozen  # noqa: PLW0603 - the collector is one for the whole process too
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        with _lock:
            if was and _inside and not gc.get_freeze_count():
                gc.freeze()
                _frozen = True
        if was:
            gc.enable()


@contextmanager
def set_apart() -> Iterator[None]:
    """Leaves all that is there now out of the collector's passes, until the block ends.

    Where the collector comes as often as Python has it come, its first passes would go through everything that was
    loaded. Whoever turned it off, or set something apart before, is left alone.
    """
    apart = gc.isenabled() and not gc.get_freeze_count()
    if apart:
        gc.freeze()
    try:
        yield
    finally:
        if apart:
            gc.unfreeze()

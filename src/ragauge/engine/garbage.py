"""Fewer passes of the garbage collector while a run is under way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

APART = 50_000     # new objects between two passes, at the least; Python's own 700 made them a third of a call's time
_lock = threading.Lock()
_inside = 0     # blocks of `rarely_collected`
_around = 0     # blocks of `set_apart`
_before = (0, 0, 0)
_frozen = False     # by this module


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Lets the collector look for cycles after 50,000 new objects instead of 700, until the last such block ends.

    Whoever turned it off, or has it come more rarely, is left alone. Blocks may overlap, in several threads.
    """
    global _inside, _before  # noqa: PLW0603 - the collector is one for the whole process too
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
            _thaw()


@contextmanager
def none_collected() -> Iterator[None]:
    """Looks for no cycles while a large library is loaded: nearly all of the many objects that it makes stay.

    Inside `rarely_collected` they are then left out of later passes, until its last block ends.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            with _lock:
                if _inside:
                    _freeze()
            gc.enable()


@contextmanager
def set_apart() -> Iterator[None]:
    """Leaves all that is there now out of the collector's passes, until the last such block ends.

    Where the collector comes as often as Python has it come, its first passes would go through everything that was
    loaded. Whoever turned it off, or set something apart before, is left alone.
    """
    global _around  # noqa: PLW0603 - the collector is one for the whole process too
    with _lock:
        _around += 1
        if gc.isenabled():
            gc.collect(0)     # the youngest: what the work before has left over would be kept with the rest
            _freeze()
    try:
        yield
    finally:
        with _lock:
            _around -= 1
            _thaw()


def _freeze() -> None:
    global _frozen  # noqa: PLW0603 - the collector is one for the whole process too
    if _frozen or not gc.get_freeze_count():
        gc.freeze()
        _frozen = True


def _thaw() -> None:
    global _frozen  # noqa: PLW0603 - the collector is one for the whole process too
    if _frozen and not _inside and not _around:
        gc.unfreeze()
        _frozen = False

"""Fewer passes of the collector of cycles, and no more than that."""

from __future__ import annotations

import subprocess
import sys

COLLECTED = """
import gc, threading, weakref
from ragauge.engine.garbage import reduce_garbage_collection
class Held: pass
before = gc.get_threshold()
with reduce_garbage_collection():
    assert gc.get_freeze_count() > 1_000
    with reduce_garbage_collection():
        pass
    assert gc.get_threshold()[0] == 20_000
    one = Held()
    one.itself = one
    gone = weakref.ref(one)
    del one
    kept = [[] for _ in range(25_000)]
    assert gone() is None
assert gc.get_threshold() == before and not gc.get_freeze_count()
gc.set_threshold(50_000)
with reduce_garbage_collection():
    assert gc.get_threshold()[0] == 50_000
assert gc.get_threshold()[0] == 50_000
gc.disable()
with reduce_garbage_collection():
    assert not gc.isenabled()
assert not gc.isenabled()
"""


def test_cycles_are_still_found() -> None:
    """A cycle made inside is gone 20,000 objects later; nested blocks change nothing; then all is as before."""
    subprocess.run([sys.executable, "-c", COLLECTED], check=True, timeout=120)

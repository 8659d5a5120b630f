"""Who works on a run now, in whatever process: told by locks of the operating system, which end with their process."""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

PREFIX = "sqlite:///"
SUFFIX = ".working"

_guard = threading.Lock()
_files: dict[str, int] = {}              # never closed: closing one would end every lock of this process on the file
_mine: set[tuple[str, str]] = set()      # such locks do not see their own process


@contextmanager
def held(url: str, run_id: str) -> Iterator[bool]:
    """Holds a run while the block works on it; True where nobody else holds it, in this process or another.

    The lock is a byte of an empty file beside the store. A process that is killed leaves none behind. Nobody waits.
    Where the system has no such locks (Windows, some network folders) it is always True.

    Args:
        url: of the store.
        run_id: the run.
    """
    path = url.removeprefix(PREFIX) + SUFFIX
    with _guard:
        alone = (path, run_id) not in _mine and _locked(path, _byte(run_id))
        if alone:
            _mine.add((path, run_id))
    try:
        yield alone
    finally:
        if alone:
            with _guard:
                _mine.discard((path, run_id))
                _freed(path, _byte(run_id))


def _byte(run_id: str) -> int:
    return zlib.crc32(run_id.encode()) & 0x7FFF_FFFF


def _locked(path: str, at: int) -> bool:
    """Takes the lock of a byte; False where another process has it."""
    try:
        import fcntl

        if path not in _files:
            _files[path] = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        fcntl.lockf(_files[path], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
    except BlockingIOError:
        return False
    except (ImportError, OSError):     # no such locks here
        return True
    return True


def _freed(path: str, at: int) -> None:
    try:
        import fcntl

        fcntl.lockf(_files[path], fcntl.LOCK_UN, 1, at)
    except (ImportError, OSError, KeyError):
        return

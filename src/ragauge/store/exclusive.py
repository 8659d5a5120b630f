"""A block of code that one process of a machine is in at a time."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

from ragauge.core.errors import StoreError

PATIENCE = 60.0  # seconds to wait for who writes the same file


@contextmanager
def alone(lock: Path, patience: float = PATIENCE) -> Iterator[None]:
    """A block that one process is in at a time; a killed one leaves it.

    SQLite's lock on a file of its own: the same on every platform, and the system takes it back from the dead.

    Args:
        lock: the file; it and its folder are made, and stay.
        patience: seconds to wait.

    Raises:
        StoreError: another process is still in it.
    """
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(sqlite3.connect(lock, timeout=patience, isolation_level=None)) as held:
        try:
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            told = f"{lock}: {error}, after {patience:g} seconds. Is another ragauge at work on the same file?"
            raise StoreError(told) from None
        yield
        held.execute("ROLLBACK")


@contextmanager
def changing(path: str | Path) -> Iterator[None]:
    """A block that reads a file and writes it anew, while no other such block of this user does the same.

    The lock stands in the machine's folder of temporary files: none is left beside a file under version control.

    Raises:
        StoreError: another process has had it for a minute.
    """
    name = sha256(str(Path(path).resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    user = os.getuid() if hasattr(os, "getuid") else "user"  # elsewhere the folder is the user's own
    with alone(Path(tempfile.gettempdir()) / f"ragauge-{user}" / f"{name}.lock"):
        yield

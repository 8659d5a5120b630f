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

LOCK_TIMEOUT_S = 60.0  # seconds to wait for who writes the same file


@contextmanager
def lock_file(lock: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """A block that one process is in at a time; a killed one leaves it.

    SQLite's lock on a file of its own: the same on every platform, and the system takes it back from the dead.

    Args:
        lock: the file; it and its folder are made, and stay.
        timeout_s: seconds to wait.

    Raises:
        StoreError: another process is still in it.
    """
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(sqlite3.connect(lock, timeout=timeout_s, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            message = (
                f"{lock}: {error}, after {timeout_s:g} seconds. Check whether another ragauge is writing the same file."
            )
            raise StoreError(message) from None
        yield
        connection.execute("ROLLBACK")


@contextmanager
def lock_for_change(path: str | Path) -> Iterator[None]:
    """A block that reads a file and writes it anew, while no other such block of this user does the same.

    The lock stands in the machine's folder of temporary files: none is left beside a file under version control.

    Raises:
        StoreError: another process has had it for a minute.
    """
    name = sha256(str(Path(path).resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    user = os.getuid() if hasattr(os, "getuid") else "user"  # elsewhere the folder is the user's own
    with lock_file(Path(tempfile.gettempdir()) / f"ragauge-{user}" / f"{name}.lock"):
        yield

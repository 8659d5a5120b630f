"""Reading a SQLite file that cannot be written to, such as a CI artifact or a colleague's folder.

A store is in WAL mode, and a reader of such a file needs two files beside it, -wal and -shm, which SQLite makes where
they are missing. In a folder that cannot be written to there are three cases:

- There is no log, or an empty one: everything is in the file. It is opened as immutable, which needs no other file and
  no lock. SQLite then sees no change of the file, so every read looks whether it changed meanwhile.
- There is a log with its -shm file, left by a process that works on the store or was killed: SQLite reads both.
- There is a log alone: it cannot be read where no -shm file can be made.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from ragauge.errors import StoreError

PREFIX = "sqlite:///"
ELSEWHERE = "Copy its folder to one that you may write to, and name the copy with --store or RAGAUGE_STORE."

Access = Literal["write", "read", "immutable"]


class Stamp(NamedTuple):
    """What tells whether a file changed."""

    inode: int
    size: int
    changed: int


def access_of(url: str) -> Access:
    """How a store's file can be opened: "write" as well where it is not there yet.

    Raises:
        StoreError: it can be read neither with its log nor without.
    """
    path = _path(url)
    if not path.exists() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return "write"
    log, shared = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
    if not log.exists() or not log.stat().st_size:
        return "immutable"
    if not shared.exists() and not os.access(path.parent, os.W_OK):
        raise StoreError(
            f"the store {url} cannot be read: its last changes are in {log}, which cannot be read without writing to "
            f"{path.parent}. {ELSEWHERE}"
        )
    return "read"


def connect(url: str, access: Access, wait: float) -> sqlite3.Connection:
    """A connection that reads and never writes, to no file beside the store either where it is immutable."""
    more = "&immutable=1" if access == "immutable" else ""
    address = f"{_path(url).as_uri()}?mode=ro{more}"
    return sqlite3.connect(address, uri=True, timeout=wait, check_same_thread=False)


def stamp(url: str) -> Stamp | None:
    """The file as it is now; None where it is gone."""
    try:
        found = _path(url).stat()
    except OSError:
        return None
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


@contextmanager
def unchanged(url: str, before: Stamp | None) -> Iterator[None]:
    """A block that fails, whatever it found, where the file is not what it was."""
    try:
        yield
    finally:
        if stamp(url) != before:
            raise StoreError(
                f"the store {url} was changed by another process while it was read. Run the same command again."
            )


def refused(url: str) -> StoreError:
    """The refusal of a write."""
    return StoreError(f"the store {url} can be read but not written to: its file or folder is read-only. {ELSEWHERE}")


def _path(url: str) -> Path:
    return Path(url.removeprefix(PREFIX))

"""Stores of earlier versions: copied before they are upgraded, and read without being changed."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from pathlib import Path
from threading import Lock

from ragauge.store import sqlite
from ragauge.store.database import Database
from ragauge.store.migrations.upgrade import HEAD, VERSIONS, upgrade

_LOCK = Lock()
_COPIES: dict[tuple[str, sqlite.Stamp | None], str] = {}  # an older store as it is -> its upgraded copy


def find_readable_url(url: str, *, only_reads: bool = False) -> str:
    """The store to open for a URL: an upgraded temporary copy where it is older and may not be changed; else itself.

    The copy lasts as long as the process. What is written to it, such as kept scorecards, goes with it.

    Args:
        url: as `open_store` takes it.
        only_reads: whoever opens it changes nothing, whatever its file allows.

    Raises:
        StoreError: the store cannot be read, or there is no room for the copy.
    """
    if not only_reads and not url.startswith(sqlite.READ_PREFIX) and sqlite.can_write(url):
        return url
    absolute_url = sqlite.resolve_url(url)
    version = sqlite.read_version(absolute_url)
    if version not in VERSIONS[:-1]:
        return url
    with _LOCK:
        key = (absolute_url, sqlite.read_stamp(absolute_url))
        if key not in _COPIES:
            _COPIES[key] = _make_upgraded_copy(absolute_url, version)
        return _COPIES[key]


def _make_upgraded_copy(url: str, version: str) -> str:
    folder = Path(tempfile.mkdtemp(prefix="ragauge-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / sqlite.get_path(url).name
    sqlite.copy_store(url, path)
    copied = Database(f"{sqlite.PREFIX}{path.as_posix()}")
    try:
        copied.prepare_file()
        upgrade(copied, copy_first=False)
    finally:
        copied.close()
    warnings.warn(
        f"the store {sqlite.get_path(url)} was written by an older ragauge (version {version}): it is read through a "
        f"temporary copy, upgraded to version {HEAD}, and is not changed. A command that writes to it, such as ragauge "
        "evaluate, upgrades it and saves a copy of it as it was.",
        UserWarning,
        stacklevel=2,
    )
    return copied.url

"""Stores for the contracts, one fixture per back end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragauge.store.store_access import Store, open_store


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a store that is not there yet."""
    return f"sqlite:///{tmp_path / 'folder' / 'store.db'}"


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[Store]:
    """An empty SQLite store."""
    with open_store(sqlite_url) as store:
        yield store

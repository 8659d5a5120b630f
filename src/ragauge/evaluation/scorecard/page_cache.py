"""A store as a server reads it: one opening a page, and what pages show again is kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.store.store_access import Store


class PageCache:
    """What the pages of a server read their store by.

    Args:
        url: of the store.
    """

    def __init__(self, url: str) -> None:
        from ragauge.store.store_access import ServedStore

        self._url, self._store, self._watched = url, ServedStore(url), False

    def has_traffic(self) -> bool:
        """Whether anything of production is in the store; once there is, that is not asked again."""
        from ragauge.store.store_access import open_store

        if not self._watched:
            with open_store(self._url) as store:
                self._watched = store.monitors.has_any()
        return self._watched

    def open_page(self) -> AbstractContextManager[None]:
        """A block that makes one page.

        Raises:
            StoreError: the store cannot be opened.
        """
        return self._store.serve_store()

    def get_or_build(self, key: Hashable, make: Callable[[], str]) -> str:
        """A text that was made before under this key; made now where it was not.

        Args:
            key: of what, with all that it is made of, or counts of the writes that could change that.
            make: makes it.
        """
        from ragauge.store.store_access import open_store

        with open_store(self._url) as store:
            return store.get_or_make(key, make)


class ChartCache:
    """The charts that a store keeps; where it is gone meanwhile, none, and none is kept.

    Args:
        url: of the store.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def read(self, digests: Iterable[bytes]) -> Mapping[bytes, str]:
        """Digest -> SVG, of those that are kept."""
        with self._open_store() as store:
            return store.charts.read(digests) if store is not None else {}

    def save(self, charts: Mapping[bytes, str]) -> None:
        """Keeps charts by their digests."""
        with self._open_store() as store:
            if store is not None:
                store.charts.save(charts)

    @contextmanager
    def _open_store(self) -> Iterator[Store | None]:
        from ragauge.store.sqlite import read_stamp
        from ragauge.store.store_access import open_store

        if read_stamp(self._url) is None:
            yield None
            return
        with open_store(self._url) as store:
            yield store

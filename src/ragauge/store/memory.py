"""What a process remembers of a store between two readings: answers under the state that they were made of."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

MOST = 24_000_000  # characters of what is remembered
LIGHT = 200  # of an entry, whatever it holds

T = TypeVar("T")


class Memory:
    """The answers that were asked for last, up to a size.

    Args:
        most: characters.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most, self._size = most, 0
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The answer under a key; made where it is not known.

        Args:
            key: what is asked for, with counts of the writes that could change it, read before it is made.
            make: makes the answer; two who ask at once may both make it.
        """
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                found: T = self._known[key]
                return found
        made = make()
        with self._lock:
            self._size += _weight(made) - (_weight(self._known.pop(key)) if key in self._known else 0)
            self._known[key] = made
            while self._size > self._most:
                self._size -= _weight(self._known.popitem(last=False)[1])
        return made


def _weight(value: object) -> int:
    size: int | None = getattr(value, "nbytes", None)  # of what holds arrays, whose text leaves most of them out
    return (len(value if isinstance(value, str) else repr(value)) if size is None else size) + LIGHT

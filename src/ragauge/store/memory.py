"""What a process remembers of a store between two readings: answers under the state that they were made of."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

MAX_CHARS = 24_000_000  # characters of what is remembered
MIN_ENTRY_CHARS = 200  # of an entry, whatever it holds

T = TypeVar("T")


class Memory:
    """The answers that were asked for last, up to a size.

    Args:
        most: characters.
    """

    def __init__(self, max_chars: int = MAX_CHARS) -> None:
        self._most, self._size = max_chars, 0
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make_answer: Callable[[], T]) -> T:
        """The answer under a key; made where it is not known.

        Args:
            key: what is asked for, with counts of the writes that could change it, read before it is made.
            make_answer: makes the answer; two who ask at once may both make it.
        """
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                cached: T = self._known[key]
                return cached
        answer = make_answer()
        with self._lock:
            self._size += _measure_weight(answer) - (_measure_weight(self._known.pop(key)) if key in self._known else 0)
            self._known[key] = answer
            while self._size > self._most:
                self._size -= _measure_weight(self._known.popitem(last=False)[1])
        return answer


def _measure_weight(value: object) -> int:
    size: int | None = getattr(value, "nbytes", None)  # of what holds arrays, whose text leaves most of them out
    return (len(value if isinstance(value, str) else repr(value)) if size is None else size) + MIN_ENTRY_CHARS

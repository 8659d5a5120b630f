"""The responses of a run by number, in a few bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload


class Order(Sequence[tuple[int, int]]):
    """Pairs of a response's number and the hash of its question: sixteen bytes each, where objects would take 130.

    Attributes:
        numbers: of the responses.
        keys: hashes of their questions.
    """

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self.numbers, self.keys = array("q"), array("q")
        for number, key in pairs:
            self.numbers.append(number)
            self.keys.append(key)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.numbers, self.keys, strict=True)

    @overload
    def __getitem__(self, at: int) -> tuple[int, int]: ...

    @overload
    def __getitem__(self, at: slice) -> Order: ...

    def __getitem__(self, at: int | slice) -> tuple[int, int] | Order:
        if isinstance(at, int):
            return self.numbers[at], self.keys[at]
        part = Order()
        part.numbers, part.keys = self.numbers[at], self.keys[at]
        return part

    def __repr__(self) -> str:
        return f"<{len(self)} responses>"

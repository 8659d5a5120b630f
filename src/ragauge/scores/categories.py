"""Columns of few different values, in a byte or two an entry.

What a scorecard needs of every example (its segments, its cause) takes one of a few values. As objects, or as texts of
a frame, such a column takes tens of bytes an entry, and every step over it as many again; as numbers it takes one.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ragauge.scores.arrays import number_values

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Numbers = npt.NDArray[np.unsignedinteger]

T = TypeVar("T", bound=Hashable)
WIDER_TYPECODE = {"B": "H", "H": "I", "I": "Q"}  # 1, 2, 4 and 8 bytes


@dataclass(frozen=True, slots=True, eq=False)
class CategoryColumn(Generic[T]):
    """The different values of a column, and for each entry the number of its own."""

    values: tuple[T, ...]  #: by number; some may belong to no entry.
    codes: Numbers  #: shape (n,), from 0.

    @classmethod
    def of(cls, column: pl.Series) -> CategoryColumn[Any]:
        """Reads a column of a frame; null is None."""
        values, codes = number_values(column)
        return CategoryColumn(values, narrow_codes(codes.to_numpy(), len(values)))

    def __len__(self) -> int:
        return int(self.codes.size)

    def __iter__(self) -> Iterator[T]:
        return (self.values[code] for code in self.codes.tolist())

    def __getitem__(self, entry: int) -> T:
        return self.values[int(self.codes[entry])]

    def take(self, entries: Any) -> CategoryColumn[T]:
        """Only these entries: their numbers, a mask or a slice."""
        return CategoryColumn(self.values, self.codes[entries])

    def counts(self) -> list[int]:
        """How many entries each value has."""
        import numpy as np

        return [int(n) for n in np.bincount(self.codes, minlength=len(self.values))]

    def rename_values(self, names: Sequence[T]) -> CategoryColumn[T]:
        """The same entries under other values, one for each; equal ones become one, and those of no entry go."""
        import numpy as np

        number: dict[T, int] = {}
        counted_names = zip(names, self.counts(), strict=True)
        value_numbers = [number.setdefault(name, len(number)) if count else 0 for name, count in counted_names]
        return CategoryColumn(
            tuple(number), narrow_codes(np.array(value_numbers, dtype=np.int64), len(number))[self.codes]
        )

    def series(self, name: str) -> pl.Series:
        """The column as texts of a frame, null for None."""
        import polars as pl

        return pl.Series(name, self.values, dtype=pl.String).gather(self.codes)


class CategoryCollector(Generic[T]):
    """Takes in a column, one value after another."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}
        self._codes: array[int] = array("B")

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def n_values(self) -> int:
        """How many different values there are."""
        return len(self._numbers)

    def add(self, value: T, times: int = 1) -> None:
        """The value of the next entry, or of the next few."""
        number = self._numbers.setdefault(value, len(self._numbers))
        try:
            self._codes.extend([number] * times)
        except OverflowError:
            self._codes = array(WIDER_TYPECODE[self._codes.typecode], self._codes)
            self.add(value, times)

    def build_column(self) -> CategoryColumn[T]:
        """The column."""
        import numpy as np

        return CategoryColumn(tuple(self._numbers), np.array(self._codes, dtype=self._codes.typecode))


def narrow_codes(numbers: npt.NDArray[np.integer], n_values: int) -> Numbers:
    """Numbers from 0 in as few bytes as so many different ones need."""
    import numpy as np

    return numbers.astype(np.min_scalar_type(max(0, n_values - 1)))

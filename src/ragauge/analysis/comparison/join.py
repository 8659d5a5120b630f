"""Which examples of two runs are the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.analysis.scores.arrays import Columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Codes = npt.NDArray[np.int64]


class Join:
    """Which examples of two runs are the same, by query_id.

    Args:
        new: ids of the examples of this run, in the order of their numbers.
        base: of the baseline.

    Attributes:
        matched: examples in both.
        only_here: examples only in this run.
        only_there: examples only in the baseline.
    """

    def __init__(self, new: Sequence[str], base: Sequence[str]) -> None:
        import numpy as np

        numbers = {query_id: number for number, query_id in enumerate(base)}
        self._there = np.fromiter((numbers.get(query_id, -1) for query_id in new), dtype=np.int64, count=len(new))
        self._size = len(base)
        self.matched = int((self._there >= 0).sum())
        self.only_here, self.only_there = len(new) - self.matched, len(base) - self.matched

    def rows(self, new: Columns, base: Columns) -> tuple[Codes, Codes]:
        """Rows of both, shape (pairs,), such that the same example stands at the same place."""
        import numpy as np

        at = np.full(self._size + 1, -1, dtype=np.int64)
        at[base.query] = np.arange(base.query.size)
        matched = at[self._there[new.query]]     # the last entry, which -1 reads, is that of no example
        kept = np.flatnonzero(matched >= 0)
        return kept, matched[kept]

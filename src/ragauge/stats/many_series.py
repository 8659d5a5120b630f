"""Many series that are watched side by side, as simulations do: the evidence of each is that of `DropEvidence`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.stats.sequential import DropEvidence, compute_later_share

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


class ManySeries:
    """Series of one length of period, day by day; one whose period is over begins anew.

    Every day has as many scores of each series.

    Args:
        m: what each is held to, shape (series,), in (0, 1).
        days: of a period.
    """

    def __init__(self, m: Array, days: int) -> None:
        import numpy as np

        self._m, self._days = m, days
        self._bets = np.array([DropEvidence(float(mean), days).bets for mean in m])
        self._wealth, self._begun = np.zeros_like(self._bets), np.zeros(len(m), dtype=int)
        self._taken = np.zeros(len(m), dtype=int)

    def add_day(self, scores: Array, weights: Array | None = None) -> Array:
        """The evidence M after each score of a new day.

        Args:
            scores: shape (series, n), in [0, 1]; 1 stands for one that failed.
            weights: shape (series, n), in (0, 1]; None = all 1.
        """
        import numpy as np

        self.begin_periods(self._begun == self._days)
        self._wealth, self._begun = self._wealth + 1 / self._days / 2, self._begun + 1
        waiting = (self._days - self._begun) / self._days / 2
        edges = self._m[:, None] - scores
        edges = edges if weights is None else weights * edges
        course = np.empty(scores.shape)
        for index in range(scores.shape[1]):
            unspent = compute_later_share(self._taken) / 2
            self._taken += 1
            remaining = compute_later_share(self._taken) / 2
            self._wealth = (self._wealth + (unspent - remaining)[:, None]) * (1 + edges[:, index, None] * self._bets)
            course[:, index] = self._wealth.mean(axis=1) + waiting + remaining
        return course

    def begin_periods(self, which: npt.NDArray[np.bool_]) -> None:
        """A new period of some series."""
        self._wealth[which], self._begun[which], self._taken[which] = 0, 0, 0

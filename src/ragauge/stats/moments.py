"""Sums that say the mean of weighted values and its standard error, so that days are added without their values."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.stats.weighted import Values

ROUNDING = 1e-12  # of the sum of squares: what is below is 0


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over values xᵢ of weights wᵢ above 0."""

    n: int = 0  #: values.
    w: float = 0.0  #: Σ w.
    w2: float = 0.0  #: Σ w².
    w3: float = 0.0  #: Σ w³.
    wx: float = 0.0  #: Σ wx.
    w2x: float = 0.0  #: Σ w²x.
    w2x2: float = 0.0  #: Σ w²x².

    @staticmethod
    def of(values: Values, weights: Values | None = None) -> Moments:
        """The sums over some values.

        Args:
            values: shape (n,).
            weights: shape (n,), not negative; None = all 1.

        >>> Moments.of([1, 2, 3]).mean
        2.0
        """
        import numpy as np

        from ragauge.stats.weighted import read_weighted

        x, given_weights = read_weighted(values, weights)
        w = np.ones(x.size) if given_weights is None else given_weights
        w2 = w * w
        sums = (w, w2, w2 * w, w * x, w2 * x, w2 * x * x)
        return Moments(x.size, *(float(total.sum()) for total in sums))

    def __add__(self, other: Moments) -> Moments:
        return Moments(*(first + second for first, second in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Moments) -> Moments:
        """The sums without those of values that are among them."""
        return Moments(*(first - second for first, second in zip(astuple(self), astuple(other), strict=True)))

    @property
    def mean(self) -> float | None:
        """Σ wx / Σ w, Hájek's; None where there is no value."""
        return self.wx / self.w if self.n else None

    @property
    def error(self) -> float | None:
        """The standard error of the mean, as `stats.weighted.estimate` gives it; None for fewer than two values."""
        if self.n < 2:
            return None
        m = self.wx / self.w
        squares = self.w2x2 - 2 * m * self.w2x + m * m * self.w2
        if squares <= ROUNDING * self.w2:
            return 0.0
        pulled = self.w2 / (self.w2 - 2 * self.w3 / self.w + (self.w2 / self.w) ** 2)
        return sqrt(pulled * squares) / self.w

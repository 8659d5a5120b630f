"""Effects of several sources together: a mean, and how far the true effects lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from ragauge.errors import UsageError

CLOSE = 1e-12          # of the spread, relative to the largest that is thinkable
MOST_HALVINGS = 200    # 2^-200 of it is far below CLOSE


class Pooled(NamedTuple):
    """Effects of several sources together.

    Attributes:
        mean: over sources, each weighted by 1 / (its variance + tau²).
        error: standard error of that mean.
        tau: standard deviation of the true effects between sources.
        sources: how many.
    """

    mean: float
    error: float
    tau: float
    sources: int

    @property
    def spread(self) -> float:
        """Standard deviation of a new source's effect around the mean: sqrt(tau² + error²)."""
        return sqrt(self.tau**2 + self.error**2)


def pooled(effects: Sequence[float], variances: Sequence[float]) -> Pooled:
    """A random-effects mean by Paule and Mandel.

    tau² is the least value, at least 0, at which Σ w (y − m)² = k − 1, with w = 1 / (v + tau²) and m = Σ w y / Σ w

    Args:
        effects: shape (k,), y; one a source.
        variances: shape (k,), v, each above 0: how far chance moved the effect.

    Source: Paule and Mandel (1982), J. Res. Natl. Bur. Stand. 87; the estimate that Veroniki et al. (2016) advise.

    >>> found = pooled([0.1, 0.2, 0.6], [0.01, 0.01, 0.01])
    >>> round(found.mean, 3), round(found.tau, 3), round(found.spread, 3)
    (0.3, 0.245, 0.289)
    """
    if not effects or len(effects) != len(variances) or min(variances) <= 0:
        raise UsageError("pooled: effects and variances must be as many, at least one, and variances above 0.")
    low, high = 0.0, (max(effects) - min(effects)) ** 2 or 1.0
    if _excess(effects, variances, 0.0) > 0:
        most = high = high * len(effects)
        for _ in range(MOST_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _excess(effects, variances, middle) > 0 else (low, middle)
            if high - low <= CLOSE * most:
                break
    mean, total = _weighted(effects, variances, low)
    return Pooled(mean, total**-0.5, sqrt(low), len(effects))


def _excess(effects: Sequence[float], variances: Sequence[float], tau2: float) -> float:
    mean, _ = _weighted(effects, variances, tau2)
    return sum((y - mean) ** 2 / (v + tau2) for y, v in zip(effects, variances, strict=True)) - (len(effects) - 1)


def _weighted(effects: Sequence[float], variances: Sequence[float], tau2: float) -> tuple[float, float]:
    """The weighted mean and the sum of the weights."""
    weights = [1 / (v + tau2) for v in variances]
    total = sum(weights)
    return sum(w * y for w, y in zip(weights, effects, strict=True)) / total, total

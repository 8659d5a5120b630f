"""What failed scores could make of a mean and of its interval: the extremes over every mixture of their ends."""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, TypeVar

from ragauge.stats.distributions import normal_quantile
from ragauge.stats.skew_corrected_t import compute_least_reach
from ragauge.stats.weighted import estimate_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Entry = TypeVar("Entry", bound="np.generic")


def compute_reach(
    scored: Floats, weight: Floats | None, low: Floats, high: Floats, failed_weight: Floats | None
) -> tuple[float, float]:
    """The least and greatest mean over all mixtures of failed scores at their ends or left out."""
    from ragauge.scores.summarize import bound_mean

    total = float(scored.sum() if weight is None else (weight * scored).sum())
    size = float(scored.size if weight is None else weight.sum())
    lowest = bound_mean(low, failed_weight, -inf, total, size)
    highest = bound_mean(high, failed_weight, inf, total, size, sign=-1.0)
    return (-inf if lowest is None else lowest), (inf if highest is None else highest)


def compute_min_width(values: Floats, failed: int, level: float) -> float:
    """What the interval of the mean of these and of `failed` more reaches at least to either side."""
    spread = estimate_mean(values)
    if spread is None:
        return 0.0
    kept_share = spread.units / (spread.units + failed) * sqrt((spread.units - 1) / spread.units)
    return spread.error * kept_share * compute_least_reach(level, spread.units + failed)


def compute_min_width_of_shares(d: Floats, failed: int, level: float) -> float:
    """What Agresti and Min's interval reaches at least to either side of D/N, had nothing failed; N = n + failed.

    z · sqrt((N·Q + N + 2) / (N + 2)³) − 2(|D| + failed) / (N(n + 2)),  Q = S − D²/n,  S = Σ dᵢ²,  D = Σ dᵢ

    The half-width is z·sqrt(((S + 1)(N + 2) − D²) / (N + 2)³) of all N pairs, of which N·Q + N + 2 is the least; the
    second term is how far its middle, D/(N + 2), may lie from D/N. Not above 0 where only few pairs are known: 0.
    """
    n, total = d.size, float(d.sum())
    every, spread = n + failed, float((d * d).sum()) - total * total / n
    half = normal_quantile(level) * sqrt((every * spread + every + 2) / (every + 2) ** 3)
    return max(0.0, half - 2 * (abs(total) + failed) / (every * (n + 2)))


def concatenate(values: Floats, more: Floats) -> Floats:
    """Both, one after the other."""
    import numpy as np

    return np.concatenate([values, more])


def concatenate_both(entry: npt.NDArray[Entry] | None, other: npt.NDArray[Entry] | None) -> npt.NDArray[Entry] | None:
    """Both, one after the other; None where one is."""
    import numpy as np

    return None if entry is None or other is None else np.concatenate([entry, other])


def is_finite(*values: Floats) -> bool:
    """Whether no value is infinite."""
    return all(isfinite(float(abs(x).max())) if x.size else True for x in values)

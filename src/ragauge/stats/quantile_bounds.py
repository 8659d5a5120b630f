"""Quantiles of values of which some are known by bounds alone."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ragauge.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Values

    Floats = npt.NDArray[np.float64]
    Ranks = npt.NDArray[np.int64]

ROUNDING = 1e-9     # of a rank: what lies this little above one is that rank, whose neighbour may be infinite


def quantile_reach(values: Values, low: Values, high: Values, q: float) -> tuple[float, float]:
    """The least and the greatest quantile that values known by bounds alone allow, each of them there or not.

    least = min over k of Q(values, the k least of low),  greatest = max over k of Q(values, the k greatest of high)

    Q  the quantile of values together, interpolated between order statistics as NumPy does by default

    Q never falls when a value rises, so among k of the others Q is least for the k least lows. What lies anywhere from
    0 to infinity only moves ranks: both ends are values of the known ones, or lie between two of them, until about a
    share of 1 − q of all values is unknown.

    Args:
        values: shape (n,), known.
        low: shape (m,), least possible values of the others; −infinity is allowed.
        high: shape (m,), greatest possible values of them; infinity is allowed.
        q: the quantile, in (0, 1), such as 0.95.

    Returns:
        Both ends; −infinity and infinity where there is no value at all.

    >>> quantile_reach(range(1, 100), [0], [inf], 0.5)
    (49.5, 50.5)
    >>> quantile_reach(range(1, 20), [0, 0], [inf, inf], 0.95)
    (18.0, inf)
    """
    import numpy as np

    if not 0 < q < 1:
        raise UsageError(f"quantile_reach: q must lie between 0 and 1, got {q:g}.")
    known, lows, highs = (np.sort(np.asarray(of, dtype=float)) for of in (values, low, high))
    k = np.arange(0 if known.size else 1, lows.size + 1)
    if not k.size:
        return -inf, inf
    last = known.size + k - 1
    place = last * q
    below = np.floor(place).astype(np.int64)
    above, share = np.minimum(below + 1, last), np.where(place - below < ROUNDING, 0.0, place - below)
    least = _between(_at(below, known, lows, k), _at(above, known, lows, k), share)
    known, highs = -known[::-1], -highs[::-1]     # ranks from above
    greatest = _between(-_at(last - below, known, highs, k), -_at(last - above, known, highs, k), share)
    return float(least.min()), float(greatest.max())


def _at(rank: Ranks, known: Floats, more: Floats, k: Ranks) -> Floats:
    """The value of each rank, from 0, among the known values and the first k of more; both are sorted.

    Among all of both it is the same value, unless more than k of more come up to there: then all k lie before it.
    """
    import numpy as np

    every = np.concatenate([known, more])
    order = np.argsort(every, kind="stable")
    beyond = np.cumsum(order >= known.size)[rank] > k
    return np.where(beyond, known[np.where(beyond, rank - k, 0)] if known.size else inf, every[order][rank])


def _between(one: Floats, other: Floats, share: Floats) -> Floats:
    """A share of the way from one to the other, rounded as NumPy does; infinite where an end that counts is."""
    import numpy as np

    finite = np.isfinite(one) & np.isfinite(other)
    a, b = np.where(finite, one, 0.0), np.where(finite, other, 0.0)
    inner = np.where(share < 0.5, a + share * (b - a), b - (1 - share) * (b - a))
    return np.where(finite, inner, np.where((share > 0) & np.isfinite(one), other, one))

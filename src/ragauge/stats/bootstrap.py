"""Bootstrap of many metrics at once: the same resamples of examples for all of them.

A resample is a row of counts, how often each example was drawn. Counts times values is a matrix product, so that twenty
metrics cost little more than one, and what two metrics have in common stays so in every resample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.errors import UsageError
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]

Method = Literal["percentile", "bca"]
MAX_CELLS = 2_000_000  # counts held at a time: 16 MB of doubles
MAX_ROWS = 50  # resamples held at a time, where so many fit: counts that stay near the processor
TILE_PRODUCTS = (
    250_000  # products at a time: BLAS then stays on this thread, and starting others costs more than it saves
)
TIE_TOLERANCE = 1e-10  # of the spread: resampled means that are nearer to the estimate are equal to it


@dataclass(frozen=True, slots=True, eq=False)
class ResampledMeans:
    """Means of m metrics, and the same means over resamples of the examples."""

    estimates: Array  #: shape (m,), the means; NaN where nothing is scored.
    #: shape (resamples, m); a row is one resample, so differences of columns are differences of metrics on the same
    #: examples. NaN where a resample holds no example that the metric scored.
    draws: Array
    units: npt.NDArray[np.intp]  #: shape (m,), examples (or clusters) that the metric scored.
    #: shape (m,), how much the standard error changes with the mean, from the jackknife; NaN where the values are all
    #: alike.
    accelerations: Array

    def intervals(self, method: Method = "percentile", level: float = 0.95) -> tuple[Interval | None, ...]:
        """The bootstrap interval of each mean.

        percentile: the (1−level)/2 and (1+level)/2 quantiles of the draws
        BCa:        the Φ(z₀ + (z₀ + z) / (1 − a(z₀ + z))) quantiles, z = ± the normal quantile,
                    z₀ = Φ⁻¹(share of the draws below the estimate, ties half), a the acceleration

        Args:
            method: "percentile" or "bca" (bias-corrected and accelerated).
            level: confidence, in (0, 1).

        Returns:
            One for each metric; None for fewer than two examples or clusters with a score, and where all values are
            alike: resamples of them say nothing about the next example.

        Percentile is too short for small n, by about sqrt((n−1)/n), and centred wrongly for skewed scores; BCa puts the
        second right to the next order. Neither is at its level for small n: docs/statistics-tables.md has the figures.
        Source: Efron (1987); Efron and Tibshirani (1993), 13.3 and 14.3; equals scipy.stats.bootstrap but for noise.

        >>> resample_means([1.0, 2.0, 3.0, 6.0]).intervals()[0]
        Interval(low=1.5, high=5.0, method='bootstrap', level=0.95)
        """
        import numpy as np
        from scipy.special import ndtr, ndtri

        if not 0 < level < 1:
            raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
        shares = np.repeat([[(1 - level) / 2], [(1 + level) / 2]], self.estimates.size, axis=1)
        if method == "bca":
            with np.errstate(invalid="ignore"):
                z0 = ndtri(self._compute_share_below())
                shifted = z0 + ndtri(shares)
                shares = ndtr(z0 + shifted / (1 - self.accelerations * shifted))
        limits = _compute_quantiles(self.draws, shares)
        name = "bootstrap" if method == "percentile" else "bootstrap BCa"
        fine = (self.units > 1) & np.isfinite(self.accelerations) & np.isfinite(limits).all(axis=0)
        return tuple(
            Interval(float(low), float(high), name, level) if good else None
            for low, high, good in zip(*limits, fine, strict=True)
        )

    def _compute_share_below(self) -> Array:
        """The share of the draws below each estimate, ties half."""
        import numpy as np

        above = self.draws - self.estimates
        near = TIE_TOLERANCE * np.nanmax(np.abs(above), axis=0, initial=0.0)
        n_finite = np.maximum(np.isfinite(above).sum(axis=0), 1)
        return np.asarray(((above < -near).sum(axis=0) + (above <= near).sum(axis=0)) / (2 * n_finite))


def resample_means(
    values: Values,
    *,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> ResampledMeans:
    """Means of one or many metrics over resamples of the examples.

    mean*_bj = Σ_g c_bg Σ_{i in g} wᵢ x_ij / Σ_g c_bg Σ_{i in g} wᵢ s_ij

    c_bg  how often resample b drew cluster g (without clusters: example g) from all of them, with replacement
    s_ij  1 where metric j scored example i, else 0

    Args:
        values: shape (n,) or (n, m), a column a metric; NaN where an example has no score.
        weights: shape (n,), not negative; None = all alike.
        clusters: shape (n,), labels; a cluster is drawn whole.
        resamples: how many.
        seed: the same seed gives the same resamples, whatever the metrics.

    Returns:
        The means and their draws. Takes O(resamples · n · m) time in blocks of at most 16 MB (n below 2 million), and
        resamples · m numbers for the result.

    Raises:
        UsageError: weights or clusters are not as many as the rows, a weight is negative, or there are no resamples.

    Assumes that examples, or clusters, are independent and alike.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), 6.2; clusters: Cameron and Miller (2015).

    >>> result = resample_means([[1.0, 0.5], [0.0, float("nan")], [1.0, 1.0]], resamples=100)
    >>> result.estimates.round(2).tolist(), result.units.tolist(), result.draws.shape
    ([0.67, 0.75], [3, 2], (100, 2))
    """
    import numpy as np

    if resamples < 1:
        raise UsageError(f"resamples must be at least 1, got {resamples}. 10,000 is enough for most purposes.")
    top, bottom = _sum_parts(values, weights, clusters)
    scored = bottom > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        estimates = top.sum(axis=0) / bottom.sum(axis=0)
        draws = _resample_ratios(top, bottom, resamples, seed)
    return ResampledMeans(estimates, draws, scored.sum(axis=0), _compute_accelerations(top, bottom))


def resample_differences(
    new: Values,
    base: Values,
    *,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> ResampledMeans:
    """Mean differences new − base of pairs, over resamples of the pairs.

    `resample_means` of newᵢⱼ − baseᵢⱼ: a pair is drawn whole, and is missing where either side has no score.

    Args:
        new: shape (n,) or (n, m), a column a metric; NaN where an example has no score.
        base: in the same order and shape.
        weights: shape (n,), of the pairs, not negative; None = all alike.
        clusters: shape (n,), labels; a cluster is drawn whole.
        resamples: how many.
        seed: the same seed gives the same resamples.

    Returns:
        The mean differences and their draws.

    Raises:
        UsageError: as `resample_means`, or the sides differ in shape.

    >>> resample_differences([1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.5]).estimates.tolist()
    [0.375]
    """
    import numpy as np

    x, y = np.asarray(new, dtype=float), np.asarray(base, dtype=float)
    if x.shape != y.shape:
        raise UsageError(f"new and base must have the same shape, got {x.shape} and {y.shape}. Join them first.")
    return resample_means(x - y, weights=weights, clusters=clusters, resamples=resamples, seed=seed)


def bootstrap(
    values: Values,
    statistic: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 4_999,
    seed: int = 0,
) -> Interval | None:
    """Percentile bootstrap interval of any statistic; for means `resample_means` is faster.

    The (1−level)/2 and (1+level)/2 quantiles of the statistic over samples drawn with replacement.

    Args:
        values: shape (n, ...); rows are drawn.
        statistic: takes shape (b, n, ...), returns shape (b,), such as ``lambda s: np.median(s, axis=1)``; None = mean.
        level: confidence, in (0, 1).
        resamples: how many samples.
        seed: the same seed gives the same interval.

    Returns:
        The interval; None for n < 2 or where the statistic is not finite.

    Assumes independent rows. Too narrow for small n, by about sqrt((n−1)/n) in the mean; not for extreme quantiles.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), 13.3.

    >>> bootstrap([1.0, 2.0, 3.0, 6.0], lambda s: s.max(axis=1)).high
    6.0
    """
    import numpy as np

    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
    x = np.asarray(values, dtype=float)
    if len(x) < 2:
        return None
    if statistic is None:
        return resample_means(x, resamples=resamples, seed=seed).intervals("percentile", level)[0]
    generator = np.random.default_rng(seed)
    block = max(1, MAX_CELLS // x.size)
    statistics = []
    for start in range(0, resamples, block):
        rows = generator.integers(0, len(x), size=(min(block, resamples - start), len(x)))
        statistics.append(statistic(x[rows]))
    low, high = np.quantile(np.concatenate(statistics), [(1 - level) / 2, (1 + level) / 2])
    if not (np.isfinite(low) and np.isfinite(high)):
        return None
    return Interval(float(low), float(high), "bootstrap", level)


def _sum_parts(values: Values, weights: Values | None, clusters: Clusters | None) -> tuple[Array, Array]:
    """Weighted sums of the values and of the weights, a row a unit that is drawn, a column a metric."""
    import numpy as np

    x = np.asarray(values, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
    labels = np.arange(len(x)) if clusters is None else np.asarray(clusters)
    for name, array in (("weights", w), ("clusters", labels)):
        if len(array) != len(x):
            raise UsageError(f"{name} must be as long as the values, {len(x)}, got {len(array)}.")
    if w.size and not w.min() >= 0:
        raise UsageError(f"weights must not be negative, got {w.min():g}. A weight counts real requests.")
    if weights is not None and not w.all():
        x, labels, w = x[w > 0], labels[w > 0], w[w > 0]
    scored = ~np.isnan(x)
    bottom = np.where(scored, w[:, None], 0.0)
    top = np.where(scored, x, 0.0) * w[:, None]
    if clusters is None:
        return top, bottom
    names, groups = np.unique(labels, return_inverse=True)
    sums = np.zeros((2, names.size, x.shape[1]))
    np.add.at(sums[0], groups, top)
    np.add.at(sums[1], groups, bottom)
    return sums[0], sums[1]


def _resample_ratios(top: Array, bottom: Array, resamples: int, seed: int) -> Array:
    """Sums over sums, a row a resample of the units; a block of resamples at a time."""
    import numpy as np

    n, m = top.shape
    is_complete = bool((bottom == bottom[:, :1]).all())  # nothing missing: one sum of weights serves every metric
    both = np.hstack([top, bottom[:, :1] if is_complete else bottom])
    generator, ratios = np.random.default_rng(seed), np.empty((resamples, m))
    block = max(1, min(MAX_ROWS, MAX_CELLS // max(n, 1)))
    counts = np.empty((block, n))
    for start in range(0, resamples if n else 0, block):
        rows = counts[: min(block, resamples - start)]
        for row in rows:
            row[:] = np.bincount(generator.integers(0, n, size=n), minlength=n)
        sums = _multiply_in_tiles(rows, both)
        ratios[start : start + len(rows)] = sums[:, :m] / sums[:, m:]
    return ratios if n else np.full((resamples, m), np.nan)


def _multiply_in_tiles(counts: Array, values: Array) -> Array:
    """Counts @ values; for a few metrics in tiles."""
    import numpy as np

    (rows, n), m = counts.shape, values.shape[1]
    if m > 100:
        return np.asarray(counts @ values)
    step, sums = TILE_PRODUCTS // (rows * m), np.zeros((rows, m))
    for start in range(0, n, step):
        sums += counts[:, start : start + step] @ values[start : start + step]
    return sums


def _compute_accelerations(top: Array, bottom: Array) -> Array:
    """A = Σ dᵢ³ / (6 (Σ dᵢ²)^1.5), dᵢ the mean over i of the means without unit i, less the one without i."""
    import numpy as np

    if not len(top):
        return np.full(top.shape[1], np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        without = (top.sum(axis=0) - top) / (bottom.sum(axis=0) - bottom)
        d = without.mean(axis=0) - without
        spread = (d * d).sum(axis=0)
        is_constant = np.sqrt(spread) <= 1e-12 * np.abs(without).max(axis=0, initial=0.0)
        return np.asarray(np.where(is_constant, np.nan, (d**3).sum(axis=0) / (6 * spread**1.5)))


def _compute_quantiles(draws: Array, shares: Array) -> Array:
    """The quantiles of each column at its own shares, shape (2, m), between neighbours in proportion; NaN left out."""
    import numpy as np

    ordered = np.sort(draws.T, axis=1)  # NaN last
    position = shares * np.maximum(np.isfinite(ordered).sum(axis=1) - 1, 0)
    is_finite = np.isfinite(position)
    floor = np.floor(np.where(is_finite, position, 0)).astype(np.intp)
    columns = np.arange(draws.shape[1])
    low, high = ordered[columns, floor], ordered[columns, np.minimum(floor + 1, draws.shape[0] - 1)]
    fraction = np.where(is_finite, position - floor, np.nan)
    return np.asarray(np.where(fraction == 0, low, low + fraction * (high - low)))

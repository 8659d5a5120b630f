"""Confidence intervals for means, rates and quantiles.

Every function takes plain arrays and returns an `Interval`, or None where the data cannot carry one: fewer than two
values never give a standard error of 0. `mean_interval` chooses the method; the others are the methods.

Quantiles of values of which some are known by bounds alone.
"""

from __future__ import annotations

from bisect import bisect_left
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import binomial_cdf, check_level, normal_quantile, t_quantile
from ragauge.stats.skew_corrected_t import skew_corrected_t
from ragauge.stats.weighted import (
    Interval,
    compute_effective_n,
    compute_mean,
    count_groups,
    estimate_mean,
    number_groups,
    read_weighted,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Floats = npt.NDArray[np.float64]
    Ranks = npt.NDArray[np.int64]


def scaled_wilson(
    values: Values,
    bounds: tuple[float, float] = (0.0, 1.0),
    *,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
) -> Interval | None:
    """Wilson's score interval for a mean of values within bounds.

    (r + k/2 ± sqrt(k·r(1−r) + k²/4)) / (1 + k),  k = t(df)² · (se/w)² / (r(1−r)),  r = (m − low)/w,  scaled back

    w         high − low, the width of the bounds
    m, se, df as in `weighted.estimate`, so weights and clusters count

    A score of a mean near 1 has little room above and much below: its sample varies less when its mean is high, and
    Student's interval, which does not know that, is then too short on the side of the room. This one takes the
    variance to go with r(1−r), as a binomial's does, with its size from the data. Of 0/1 values it is Wilson's with t.

    Args:
        values: shape (n,), within the bounds.
        bounds: least and greatest possible value, both finite.
        weights: shape (n,), not negative; None = all alike.
        clusters: shape (n,), labels; values that share one are not independent.
        level: confidence, in (0, 1).

    Returns:
        The interval; None for fewer than two values or clusters. Constant values: width 0, see `mean_interval`.

    Assumes independent values (or clusters) of a bounded score. In simulation nearer to its level than Student's and
    the bootstrap for skewed and zero-inflated scores, for symmetric ones equal (docs/statistics-tables.md).
    Source: Wilson (1927) with an effective number of trials, m(1−m)/se², and t as Korn and Graubard (1998) and Kott
    and Carr (1997) use it for survey shares; variance in proportion to r(1−r): Wedderburn (1974).

    >>> result = scaled_wilson([1, 1, 0.5, 1, 0.75])
    >>> round(result.low, 3), round(result.high, 3)
    (0.462, 0.974)
    """
    low, high = bounds
    if not (isfinite(low) and isfinite(high) and low < high):
        raise UsageError(f"scaled_wilson: bounds must be two finite numbers, low first, got {low:g} and {high:g}.")
    sample = estimate_mean(values, weights, clusters)
    if sample is None:
        return None
    method = "scaled wilson" if clusters is None else "clustered scaled wilson"
    r = min(1.0, max(0.0, (sample.mean - low) / (high - low)))
    if r in (0.0, 1.0):
        return Interval(sample.mean, sample.mean, method, level)
    k = (t_quantile(sample.df, level) * sample.error / (high - low)) ** 2 / (r * (1 - r))
    return _scale_wilson(r, k, (low, high), method, level)


def wilson_interval(successes: float, n: float, level: float = 0.95) -> Interval | None:
    """Wilson's score interval of a rate.

    (p + z²/2n ± z·sqrt(p(1−p)/n + z²/4n²)) / (1 + z²/n),  p = successes/n

    Args:
        successes: between 0 and n; a fraction is allowed, for effective numbers.
        n: trials.
        level: confidence, in (0, 1).

    Returns:
        The interval, within [0, 1]; None for n = 0. For no successes it is [0, z²/(n+z²)], about 4/n at 95 %, so
        never of width 0; it holds from n = 1 on.

    Assumes independent trials. Coverage averages the level; near 0 and 1 it swings by a few points.
    Source: Wilson (1927); Brown, Cai and DasGupta (2001).

    >>> wilson_interval(0, 10).low
    0.0
    """
    check_level(level)
    if n <= 0:
        return None
    if not 0 <= successes <= n:
        raise UsageError(f"wilson: successes must be between 0 and n={n:g}, got {successes:g}.")
    interval = _scale_wilson(successes / n, normal_quantile(level) ** 2 / n, (0.0, 1.0), "wilson", level)
    low, high = (
        (0.0 if successes == 0 else interval.low),
        (1.0 if successes == n else interval.high),
    )  # without rounding
    return Interval(low, high, "wilson", level)


def order_statistics(
    values: Values, q: float, level: float = 0.95, bounds: tuple[float, float] | None = None
) -> Interval | None:
    """Interval of a quantile whose ends are two of the values themselves.

    [x_(l), x_(u)], l the largest rank with P(B < l) < (1−level)/2, u the smallest with P(B >= u) <= (1−level)/2

    B  number of values below the quantile, binomial with n trials of chance q

    Args:
        values: shape (n,), any unit.
        q: the quantile, in (0, 1), such as 0.95.
        level: confidence, in (0, 1).
        bounds: least and greatest possible value, which stand for an end that so few values do not hold; None = no
            interval then.

    Returns:
        The interval; without bounds None where so few values hold no such pair: below n = 6 for the median, 72 for the
        95th and 368 for the 99th percentile, all at level 0.95.

    Assumes independent values and nothing about their distribution; covers at least the level.
    Source: Conover, Practical Nonparametric Statistics (1999), 3.2.

    >>> order_statistics([1, 2, 3, 4, 5, 6], 0.5)
    Interval(low=1.0, high=6.0, method='order statistics', level=0.95)
    """
    import numpy as np

    check_level(level)
    if not 0 < q < 1:
        raise UsageError(f"order_statistics: q must lie between 0 and 1, got {q:g}.")
    x = np.sort(np.asarray(values, dtype=float))
    n = x.size
    if n == 0:
        return None
    tail = (1 - level) / 2
    first, last = (
        bisect_left(range(n + 1), share * (1 - 1e-12), key=lambda rank: binomial_cdf(rank, n, q))
        for share in (tail, 1 - tail)
    )
    first -= 1
    if bounds is None and (first < 0 or last >= n):
        return None
    low, high = bounds or (-inf, inf)
    limits = low if first < 0 else float(x[first]), high if last >= n else float(x[last])
    return Interval(*limits, "order statistics", level)


def mean_interval(
    values: Values,
    *,
    kind: Literal["rate", "mean", "amount"],
    weights: Values | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] = (-inf, inf),
) -> Interval | None:
    """The interval of a mean, by what the values are; it names the method.

    - a rate whose values are all 0 or 1: `wilson_interval`;
    - a score with two finite bounds, and a rate that is not all 0 or 1 or comes in clusters: `scaled_wilson`, which has
      the least shortfall of all that were tried (docs/statistics-tables.md);
    - an amount: `skew_corrected_t`, over clusters if any holds two values, clipped to the bounds;
    - constant values (or clusters) within finite bounds: `wilson_interval` with their rescaled sum as successes, scaled
      back, never a width of 0. A bounded score varies at most as a 0/1 score of the same mean does, so this errs on the
      wide side; for all at a bound it is the like of the rule of three;
    - constant values c without bounds: c ± u·|c|, u the upper end of `wilson_interval` for 0 of n; None if all are 0.

    Args:
        values: shape (n,).
        kind: of the metric.
        weights: shape (n,), not negative; None = all alike. Wilson then uses Kish's effective number.
        clusters: shape (n,), labels; Wilson of constant values then counts clusters.
        level: confidence, in (0, 1).
        bounds: least and greatest possible value.

    Returns:
        The interval; None for fewer than two values with a weight above 0, or fewer than two clusters.
    """
    import numpy as np

    low, high = (0.0, 1.0) if kind == "rate" else bounds
    x, w = read_weighted(values, weights)
    count = x.size if clusters is None else count_groups(number_groups(values, weights, clusters))
    if count < 2:
        return None
    n = min(float(count), compute_effective_n(w, x.size))
    smallest, largest = float(x.min()), float(x.max())
    if largest - smallest <= 1e-12 * max(1.0, abs(largest)):
        return _build_constant_interval(smallest, n, low, high, "wilson, constant values", level)
    if count == x.size and kind == "rate" and bool(np.all((x == 0) | (x == 1))):
        return wilson_interval(compute_mean(x, w) * n, n, level)
    if clusters is None or count == x.size:
        clusters, values, weights = None, x, w
    interval = _build_varying_interval(values, weights, clusters, (low, high), level)
    if interval and interval.high - interval.low <= 1e-12 * max(1.0, abs(largest)):  # clusters that are all alike
        return _build_constant_interval(interval.low, n, low, high, "wilson, clusters alike", level)
    return interval


def _build_varying_interval(
    values: Values, weights: Values | None, clusters: Clusters | None, bounds: tuple[float, float], level: float
) -> Interval | None:
    low, high = bounds
    if isfinite(low) and isfinite(high):
        return scaled_wilson(values, bounds, weights=weights, clusters=clusters, level=level)
    interval = skew_corrected_t(values, weights, clusters, level)
    return interval and Interval(max(low, interval.low), min(high, interval.high), interval.method, level)


def _scale_wilson(r: float, k: float, bounds: tuple[float, float], method: str, level: float) -> Interval:
    """Wilson's interval around a share r, scaled to the bounds."""
    middle, half = r + k / 2, sqrt(k * r * (1 - r) + k * k / 4)
    low, high = max(0.0, (middle - half) / (1 + k)), min(1.0, (middle + half) / (1 + k))
    width = bounds[1] - bounds[0]
    return Interval(bounds[0] + width * low, bounds[0] + width * high, method, level)


def _build_constant_interval(
    value: float, n: float, low: float, high: float, method: str, level: float
) -> Interval | None:
    """Without bounds: at most a share u of other values differs, taken to be by no more than what was seen."""
    if not (isfinite(low) and isfinite(high)):
        other = wilson_interval(0, n, level) if value else None
        reach = abs(value) * other.high if other else 0.0
        method_name = method.replace("wilson", "rule of three")
        return Interval(max(low, value - reach), min(high, value + reach), method_name, level) if other else None
    width = high - low
    interval = wilson_interval(n * min(1.0, max(0.0, (value - low) / width)), n, level)
    return interval and Interval(low + width * interval.low, low + width * interval.high, method, level)


ROUNDING = 1e-9  # of a rank: what lies this little above one is that rank, whose neighbour may be infinite


def compute_quantile_reach(values: Values, low: Values, high: Values, q: float) -> tuple[float, float]:
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

    >>> compute_quantile_reach(range(1, 100), [0], [inf], 0.5)
    (49.5, 50.5)
    >>> compute_quantile_reach(range(1, 20), [0, 0], [inf, inf], 0.95)
    (18.0, inf)
    """
    import numpy as np

    if not 0 < q < 1:
        raise UsageError(f"quantile_reach: q must lie between 0 and 1, got {q:g}.")
    known, lows, highs = (np.sort(np.asarray(numbers, dtype=float)) for numbers in (values, low, high))
    k = np.arange(0 if known.size else 1, lows.size + 1)
    if not k.size:
        return -inf, inf
    last = known.size + k - 1
    position = last * q
    below = np.floor(position).astype(np.int64)
    above, share = np.minimum(below + 1, last), np.where(position - below < ROUNDING, 0.0, position - below)
    lowest = _interpolate_values(_select_ranks(below, known, lows, k), _select_ranks(above, known, lows, k), share)
    known, highs = -known[::-1], -highs[::-1]  # ranks from above
    greatest = _interpolate_values(
        -_select_ranks(last - below, known, highs, k), -_select_ranks(last - above, known, highs, k), share
    )
    return float(lowest.min()), float(greatest.max())


def _select_ranks(rank: Ranks, known: Floats, more: Floats, k: Ranks) -> Floats:
    """The value of each rank, from 0, among the known values and the first k of more; both are sorted.

    Among all of both it is the same value, unless more than k of more come up to there: then all k lie before it.
    """
    import numpy as np

    every = np.concatenate([known, more])
    order = np.argsort(every, kind="stable")
    beyond = np.cumsum(order >= known.size)[rank] > k
    return np.where(beyond, known[np.where(beyond, rank - k, 0)] if known.size else inf, every[order][rank])


def _interpolate_values(lower: Floats, other: Floats, share: Floats) -> Floats:
    """A share of the way from one to the other, rounded as NumPy does; infinite where an end that counts is."""
    import numpy as np

    finite = np.isfinite(lower) & np.isfinite(other)
    a, b = np.where(finite, lower, 0.0), np.where(finite, other, 0.0)
    inner = np.where(share < 0.5, a + share * (b - a), b - (1 - share) * (b - a))
    return np.where(finite, inner, np.where((share > 0) & np.isfinite(lower), other, lower))

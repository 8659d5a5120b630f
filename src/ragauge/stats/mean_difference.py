"""Confidence intervals for the difference of two means: of pairs, and of two samples that have nothing in common.

`paired_interval` and `unpaired_interval` choose the method by what the values are and name it, as
`intervals.mean_interval` does for one mean.

The interval of pairs leaves 0 out where `difference.paired_test` has p < 1 − level, but for two cases: where few pairs
differ or their differences repeat, the test also asks sign flips and may be less sure; and of 0/1 pairs McNemar's test
is exact and Agresti and Min's interval near it, so that one may lie just within and the other without.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.intervals import mean_interval, wilson_interval
from ragauge.stats.sign_flips import compute_parts, is_coarse
from ragauge.stats.skew_corrected_t import skew_corrected_t
from ragauge.stats.weighted import Interval, is_binary, read_clusters

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]

Kind = Literal["rate", "mean", "amount"]


def paired_interval(
    new: Values,
    base: Values,
    *,
    kind: Kind,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] = (-inf, inf),
) -> Interval | None:
    """The interval of the mean difference of pairs, the weighted mean of newᵢ − baseᵢ.

    - a rate or a mean, every value 0 or 1 on both sides, pairs independent: `agresti_min`;
    - anything else: `skew_corrected_t`, clipped to ± the width of the bounds; not shortened if `sign_flips.is_coarse`;
    - all alike: `_build_constant_interval`, never a width of 0; None where every amount is 0.

    Args:
        new: shape (n,), any unit.
        base: shape (n,), in the same order.
        kind: of the metric; an amount is never taken for a rate.
        weights: shape (n,), of the pairs, not negative; None = all alike. n is then Kish's effective number.
        clusters: shape (n,), labels of what pairs depend on.
        level: confidence, in (0, 1).
        bounds: least and greatest possible value of either side.

    Returns:
        None for fewer than two pairs with a weight above 0, or fewer than two clusters; both count as independent.

    >>> round(paired_interval([1, 2, 3], [0, 2, 1], kind="amount").low, 3)
    -1.484
    """
    import numpy as np

    x, y = _read_pairs(new, base)
    width = 1.0 if kind == "rate" else bounds[1] - bounds[0]
    groups = read_clusters(x.size, clusters)
    shorten = not is_coarse(compute_parts(x - y, weights, groups)[0])
    if (interval := skew_corrected_t(x - y, weights, groups, level, shorten=shorten)) is None:
        return None
    w = np.ones(x.size) if weights is None else np.asarray(weights, dtype=float)
    has_weight, n = w > 0, float(w.sum()) ** 2 / float((w * w).sum())
    d, w = (x - y)[has_weight], w[has_weight]
    if float(np.ptp(d)) <= 1e-12 * max(1.0, abs(float(d[0]))):
        reach = width if isfinite(width) else float(np.abs([x[has_weight], y[has_weight]]).max())
        units = n if groups is None else min(n, np.unique(groups[has_weight]).size)
        return _build_constant_interval(float(d[0]), units, reach, level)
    if kind != "amount" and groups is None and is_binary(x[has_weight], y[has_weight]):
        gained, lost = (float(w[d == sign].sum() / w.sum()) * n for sign in (1, -1))
        return agresti_min(gained, lost, n, level)
    return Interval(max(-width, interval.low), min(width, interval.high), f"paired {interval.method}", level)


def agresti_min(gained: float, lost: float, n: float, level: float = 0.95) -> Interval | None:
    """Agresti and Min's interval of the difference of two rates of the same n pairs.

    d ± z·sqrt((p + q − d²) / (n + 2)),  d = q − p,  q = (gained + 1/2) / (n + 2),  p = (lost + 1/2) / (n + 2)

    The Wald interval after half a pair is added to each of the four cells (both, gained, lost, neither).

    Args:
        gained: pairs that are 1 now and were 0, at least 0; a fraction is allowed, for effective numbers.
        lost: pairs that are 0 now and were 1.
        n: pairs, at least gained + lost.
        level: confidence, in (0, 1).

    Returns:
        The interval, within [−1, 1]; None for n = 0. For no pair that differs it is ± z / (n + 2), never of width 0.

    Assumes independent pairs. Coverage is at or above the level on average, also for n of 10, where it is on the wide
    side.
    Source: Agresti and Min (2005), Statistics in Medicine 24, 729.

    >>> result = agresti_min(2, 8, 50)
    >>> round(result.low, 4), round(result.high, 4)
    (-0.2364, 0.0056)
    """
    if not (gained >= 0 and lost >= 0 and gained + lost <= n + 1e-9):
        raise UsageError(f"agresti_min: gained and lost must be 0 to n={n:g} together, got {gained:g} and {lost:g}.")
    z = normal_quantile(level)
    if n <= 0:
        return None
    up, down = (gained + 0.5) / (n + 2), (lost + 0.5) / (n + 2)
    middle = up - down
    half = z * sqrt((up + down - middle * middle) / (n + 2))
    return Interval(max(-1.0, middle - half), min(1.0, middle + half), "paired, Agresti-Min", level)


def unpaired_interval(
    new: Values,
    base: Values,
    *,
    kind: Kind,
    weights: tuple[Values | None, Values | None] = (None, None),
    clusters: tuple[Clusters | None, Clusters | None] = (None, None),
    level: float = 0.95,
    bounds: tuple[float, float] = (-inf, inf),
) -> Interval | None:
    """The interval of the difference of the means of two independent samples, such as two stretches of traffic.

    [d − sqrt((m₁ − l₁)² + (u₂ − m₂)²),  d + sqrt((u₁ − m₁)² + (m₂ − l₂)²)],  d = m₁ − m₂

    [l₁, u₁] and [l₂, u₂] are the `mean_interval`s of the two means, so weights, clusters and rates are taken as there
    and constant samples keep a width. For rates it is Newcombe's score interval; for t intervals about Welch's.

    Args:
        new: shape (n₁,), any unit.
        base: shape (n₂,).
        kind: of the metric.
        weights: of new and of base; None = all alike.
        clusters: of new and of base; None = all independent.
        level: confidence, in (0, 1).
        bounds: least and greatest possible value of either sample.

    Returns:
        The interval; None where one of the two means has none.

    Assumes that the samples are independent, and what their intervals assume.
    Source: Newcombe (1998), Statistics in Medicine 17, 873, method 10; Zou and Donner (2008) for other means.

    >>> result = unpaired_interval([1, 1, 0, 1], [0, 0, 1, 0], kind="rate")
    >>> round(result.low, 3), round(result.high, 3)
    (-0.135, 0.789)
    """
    import numpy as np

    estimates = []
    for values, w, groups in zip((new, base), weights, clusters, strict=True):
        interval = mean_interval(values, kind=kind, weights=w, clusters=groups, level=level, bounds=bounds)
        if interval is None:
            return None
        estimates.append((float(np.average(np.asarray(values, dtype=float), weights=w)), interval))
    return build_independent_interval(*estimates)


def build_independent_interval(new: tuple[float, Interval], base: tuple[float, Interval]) -> Interval:
    """The interval of the difference of two independent estimates, from theirs: see `unpaired_interval`.

    Args:
        new: the estimate and its interval.
        base: likewise, at the same level.

    >>> result = build_independent_interval((0.5, Interval(0.4, 0.6, "t", 0.95)), (0.2, Interval(0.1, 0.3, "t", 0.95)))
    >>> round(result.low, 3), round(result.high, 3)
    (0.159, 0.441)
    """
    (m1, first), (m2, two) = new, base
    low = m1 - m2 - sqrt((m1 - first.low) ** 2 + (two.high - m2) ** 2)
    high = m1 - m2 + sqrt((first.high - m1) ** 2 + (m2 - two.low) ** 2)
    methods = " and ".join(dict.fromkeys((first.method, two.method)))
    return Interval(low, high, f"unpaired, from {methods}", first.level)


def _read_pairs(new: Values, base: Values) -> tuple[Array, Array]:
    import numpy as np

    x, y = np.asarray(new, dtype=float), np.asarray(base, dtype=float)
    if x.shape != y.shape:
        raise UsageError(f"paired_interval: new and base differ in length: {x.size} and {y.size}. Join them first.")
    return x, y


def _build_constant_interval(value: float, n: float, width: float, level: float) -> Interval | None:
    """[c − u·(c + w), c + u·(w − c)] for n differences that are all c, u the upper end of `wilson_interval` for 0 of n.

    At most a share u of other pairs differs from c, by no more than the width w of the bounds allows: the rule of
    three. Two runs that agree on all of 100 examples may still differ on 3.7 % of others. Of an amount without bounds
    w is the largest that was seen: a cost that rose by a cent on each of 200 examples has risen.
    """
    share = wilson_interval(0, n, level)
    if share is None or not width:
        return None
    low, high = value - share.high * (value + width), value + share.high * (width - value)
    return Interval(low, high, "paired, all alike", level)

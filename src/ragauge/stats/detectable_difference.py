"""What a comparison that was made could have found, and how many pairs such as its own find a difference of a size."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.stats.power import detectable_rate, find_least_shift, pairs_for_mean, pairs_for_rate
from ragauge.stats.sign_flips import MIN_FLIPPED, compute_parts
from ragauge.stats.weighted import compute_effective_n, estimate_mean, is_binary, read_clusters

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Floats = npt.NDArray[np.float64]

MAX_COUNTED = 50  # pairs that changed up to which a rate is counted out; of more the normal shape is within 2 %
DECIMALS = 10  # decimals up to which differences that are alike agree


def compute_detectable_difference(
    new: Values,
    base: Values,
    *,
    kind: Literal["rate", "mean", "amount"],
    weights: Values | None = None,
    clusters: Clusters | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> float | None:
    """What a comparison that was made could have found: the least difference with this power, from its own pairs.

    A rate or a mean, every value 0 or 1, independent and weighted alike, of which at most 50 changed: `detectable_rate`
    from the share that changed. Anything else: δ · se, δ the shift of a noncentral t that is found with this power, se
    and degrees of freedom as in `weighted.estimate`, so weights and clusters count.

    Args:
        new: shape (n,), any unit.
        base: shape (n,), in the same order.
        kind: of the metric.
        weights: shape (n,), of the pairs, not negative; None = all alike.
        clusters: shape (n,), labels of what pairs depend on.
        power: chance to find it.
        alpha: level of the two-sided test.

    Returns:
        The difference, above 0; None for fewer than two pairs or clusters, where no pair differs (nothing tells how
        much pairs vary), and where so few vary, 5 or less, that no difference of such pairs is found.

    >>> round(compute_detectable_difference([1, 2, 3, 4, 6, 8, 9], [0, 1, 3, 2, 3, 6, 8], kind="amount"), 2)
    1.24
    """
    spread = _measure_spread(new, base, kind, weights, clusters)
    if spread is None:
        return None
    if spread.changed is not None:
        return detectable_rate(spread.changed, spread.n, power=power, alpha=alpha)
    return find_least_shift(spread.df, power, alpha, 2) * spread.error


def count_pairs_to_detect(
    effect: float,
    new: Values,
    base: Values,
    *,
    kind: Literal["rate", "mean", "amount"],
    weights: Values | None = None,
    clusters: Clusters | None = None,
    alpha: float = 0.05,
) -> int | None:
    """How many pairs such as these find a difference of this size with power 0.8.

    `compute_detectable_difference` solved for their number.

    By `pairs_for_rate` from the share that changed where `compute_detectable_difference` takes that, else by
    `pairs_for_mean` from
    se · sqrt(n), which has weights and clusters in it: more examples are taken to be clustered as these are.

    Args:
        effect: the difference, above 0.
        new: shape (n,), any unit.
        base: shape (n,), in the same order.
        kind: of the metric.
        weights: shape (n,), of the pairs; None = all alike.
        clusters: shape (n,), labels of what pairs depend on.
        alpha: level of the two-sided test.

    Returns:
        All pairs that are needed, those there included; None where `compute_detectable_difference` cannot tell how much
        pairs vary.

    >>> count_pairs_to_detect(1.25, [1, 2, 3, 4, 6, 8, 9], [0, 1, 3, 2, 3, 6, 8], kind="amount")
    7
    """
    spread = _measure_spread(new, base, kind, weights, clusters)
    if spread is None:
        return None
    if spread.changed is not None:
        changed = max(spread.changed, effect)  # no smaller share of changes makes such a difference
        if changed > 1:
            return None
        return pairs_for_rate((changed + effect) / 2, (changed - effect) / 2, alpha=alpha)
    return pairs_for_mean(effect, spread.error * sqrt(spread.n), alpha=alpha)


class _PairSpread(NamedTuple):
    """How far pairs differ: their number, the standard error of the mean difference and its degrees of freedom.

    `changed` is the share that changed where a rate is counted out from it, else None.
    """

    n: int
    error: float
    df: float
    changed: float | None


def _measure_spread(
    new: Values, base: Values, kind: str, weights: Values | None, clusters: Clusters | None
) -> _PairSpread | None:
    import numpy as np

    x, y = np.asarray(new, dtype=float), np.asarray(base, dtype=float)
    if x.shape != y.shape:
        raise UsageError(f"detectable: new and base differ in length: {x.size} and {y.size}. Join them first.")
    groups = read_clusters(x.size, clusters)
    spread = estimate_mean(x - y, weights, groups)
    if spread is None or spread.error == 0:
        return None
    is_uniform = weights is None or compute_effective_n(np.asarray(weights, dtype=float), x.size) > x.size - 1e-9
    changed = int((x != y).sum())
    counted = kind != "amount" and groups is None and is_uniform and changed <= MAX_COUNTED and is_binary(x, y)
    if not counted and _count_varying(x - y, weights, groups) < MIN_FLIPPED:
        return None
    return _PairSpread(x.size, spread.error, spread.df, changed / x.size if counted else None)


def _count_varying(differences: Floats, weights: Values | None, groups: Clusters | None) -> int:
    """How many independent differences are neither 0 nor the one that most pairs share.

    A difference that most share is that of one run's scores to their mean where hardly any score varies.
    """
    import numpy as np

    values, counts = np.unique(np.round(differences, DECIMALS), return_counts=True)
    shared = [0.0, *([float(values[counts.argmax()])] if 2 * counts.max() > differences.size else [])]
    moved = (compute_parts(differences - value, weights, groups)[0] for value in shared)
    return min(int((np.abs(parts) > 10.0**-DECIMALS).sum()) for parts in moved)

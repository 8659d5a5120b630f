"""Is there a difference? The hypothesis test that fits the metric, for pairs and for two samples.

`paired_test` and `unpaired_test` choose the test by what the values are and name it, as `paired.paired_interval` and
`paired.unpaired_interval` choose the interval. Neither is told the bounds: no test needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ragauge.errors import UsageError
from ragauge.stats.permutation import sign_flip
from ragauge.stats.proportions import fisher_mid_p, mcnemar
from ragauge.stats.result import Alternative, Tested
from ragauge.stats.student import paired_t, welch_t
from ragauge.stats.weighted import binary, together

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]

__all__ = ["Tested", "paired_test", "unpaired_test"]

Kind = Literal["rate", "mean", "amount"]
LEAST_FLIPPED = 6      # pairs: of fewer all patterns of signs are too common
MOST_FLIPPED = 200     # pairs that differ: from here on t and sign flips agree, and t costs nothing


def paired_test(
    new: Values,
    base: Values,
    *,
    kind: Kind,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    alternative: Alternative = "two-sided",
    seed: int = 0,
) -> Tested | None:
    """The test that the mean difference of pairs is 0.

    - a rate, every value 0 or 1, pairs independent and weighted alike: mid-p `mcnemar`;
    - anything else where at most 200 pairs (or clusters) differ: `sign_flip`;
    - where more differ, and where there are fewer than 6 at all: `paired_t`, with clusters from the clustered standard
      error; pairs that are all alike flip their signs in any case.

    Both hold their level in simulation (docs/statistics.md). Sign flips hold it whatever number of pairs happened to
    differ: four of a thousand that all moved one way are p = 0.05 to t, and 0.125 to sign flips. From 200 on the two
    differ by less than the noise of 10,000 flips; of fewer than 6 pairs no pattern of signs is rarer than 0.05.

    Args:
        new: shape (n,), any unit.
        base: shape (n,), in the same order.
        kind: of the metric.
        weights: shape (n,), of the pairs, not negative; None = all alike.
        clusters: shape (n,), labels of what pairs depend on.
        alternative: "greater" asks whether new is greater.
        seed: of the sign flips.

    Returns:
        The test; None for fewer than two pairs with a weight above 0, or fewer than two clusters.

    Assumes independent pairs, or clusters; sign flips also that a difference is as likely as its opposite if nothing
    changed.

    >>> paired_test([1, 1, 1, 0, 1, 1], [0, 0, 0, 1, 1, 1], kind="rate").method
    'mid-p McNemar'
    """
    import numpy as np

    x, y = np.asarray(new, dtype=float), np.asarray(base, dtype=float)
    _check_sides(x, y)
    groups = together(x.size, clusters)
    w = _unequal(x.size, weights)
    d = x - y
    if kind == "rate" and groups is None and w is None and binary(x, y):
        return mcnemar(int((d > 0).sum()), int((d < 0).sum()), x.size, alternative)
    by_t = paired_t(d, weights=w, clusters=groups, alternative=alternative) if _suits_t(d, w, groups) else None
    return by_t or sign_flip(d, weights=w, clusters=groups, alternative=alternative, seed=seed)


def unpaired_test(
    new: Values,
    base: Values,
    *,
    kind: Kind,
    weights: tuple[Values | None, Values | None] = (None, None),
    clusters: tuple[Clusters | None, Clusters | None] = (None, None),
    alternative: Alternative = "two-sided",
) -> Tested | None:
    """The test that two independent samples, such as two stretches of traffic, have one mean.

    - a rate, every value 0 or 1, independent and weighted alike: `fisher_mid_p`;
    - anything else: `welch_t`, with clusters from the clustered standard errors;
    - two constant samples that differ: `fisher_mid_p` of how many are at the higher value, clusters counted once.

    Args:
        new: shape (n₁,), any unit.
        base: shape (n₂,).
        kind: of the metric.
        weights: of new and of base; None = all alike.
        clusters: of new and of base; None = all independent.
        alternative: "greater" asks whether new is greater.

    Returns:
        The test; None where one sample has fewer than two values with a weight above 0, or fewer than two clusters.

    Assumes that the samples are independent; Welch's t that the means are about normal.

    >>> round(unpaired_test([1, 1, 1, 1], [0, 0, 0, 0], kind="rate").p_value, 4)
    0.0143
    """
    import numpy as np

    sides = [np.asarray(side, dtype=float) for side in (new, base)]
    w = (_unequal(sides[0].size, weights[0]), _unequal(sides[1].size, weights[1]))
    groups = (together(sides[0].size, clusters[0]), together(sides[1].size, clusters[1]))
    plain = all(extra is None for extra in (*w, *groups))
    if plain and kind == "rate" and min(side.size for side in sides) > 1 and binary(*sides):
        hits, other_hits = (int(side.sum()) for side in sides)
        return fisher_mid_p(hits, sides[0].size, other_hits, sides[1].size, alternative)
    found = welch_t(sides[0], sides[1], weights=w, clusters=groups, alternative=alternative)
    if found is not None:
        return found
    units = [_units(*side) for side in zip(sides, w, groups, strict=True)]
    if min(units) < 2:
        return None
    means = [float(np.average(side, weights=weight)) for side, weight in zip(sides, w, strict=True)]
    above = means[0] > means[1]
    found = fisher_mid_p(units[0] if above else 0, units[0], 0 if above else units[1], units[1], alternative)
    return found and Tested(found.p_value, found.method, means[0] - means[1], found.n, alternative)


def _check_sides(x: Array, y: Array) -> None:
    import numpy as np

    if x.shape != y.shape:
        raise UsageError(f"paired_test: new and base must be as many, got {x.size} and {y.size}. Join them first.")
    if not bool(np.isfinite(x).all() and np.isfinite(y).all()):
        raise UsageError("paired_test: scores must be finite. Leave out the pairs of which one side has no score.")


def _suits_t(d: Array, w: Array | None, groups: npt.NDArray[Any] | None) -> bool:
    """Whether so many pairs (or clusters) differ, or there are so few, that t serves better than sign flips."""
    import numpy as np

    moved = d != 0 if w is None else (d != 0) & (w > 0)
    differing = np.count_nonzero(moved) if groups is None else np.unique(groups[moved]).size
    return bool(differing > MOST_FLIPPED) or _units(d, w, groups) < LEAST_FLIPPED


def _unequal(n: int, weights: Values | None) -> Array | None:
    """The weights as an array; None where all are alike and above 0."""
    import numpy as np

    if weights is None:
        return None
    w = np.asarray(weights, dtype=float)
    if w.shape != (n,):
        raise UsageError(f"weights must be as many as the values, {n}, got {w.size}.")
    return None if n and w[0] > 0 and bool((w == w[0]).all()) else w


def _units(x: Array, w: Array | None, groups: npt.NDArray[Any] | None) -> int:
    import numpy as np

    kept = np.ones(x.size, dtype=bool) if w is None else w > 0
    return int(kept.sum()) if groups is None else int(np.unique(groups[kept]).size)

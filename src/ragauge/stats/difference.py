"""Is there a difference? The hypothesis test that fits the metric, for pairs and for two samples.

`paired_test` and `unpaired_test` choose and name the test by the values, as `mean_difference.paired_interval` and
`mean_difference.unpaired_interval` choose the interval. Neither is told the bounds: no test needs them.

Pairs that are all 0 or 1 on both sides are a rate, whatever the metric may say elsewhere: recall with one labelled
document, faithfulness of one claim. Their differences are −1, 0 or 1, so if their mean is 0 they are symmetric, and
McNemar's test needs no correction for skewness.

Of other pairs: differences that are skewed give Student's t and sign flips of the mean false alarms (8 % at n = 20), t
corrected for skewness hardly; held against random signs it is exact where nothing changed (`skewed`, `signed`).
Differences of which few are not 0, or which repeat, are too coarse for it: four of a thousand that all moved one way
are p = 0.05 to t, and 0.125 to sign flips. So these take Student's distribution and sign flips of the mean, whichever
is less sure (docs/decisions/0008-skewed-differences.md). From 200 pairs that differ the two agree; of fewer than 6
pairs no pattern of signs is rarer than 0.05, and t stands alone. Where t says p > 0.2 sign flips are spared. Where
random signs could only say "below 1 in a thousand", Hoeffding's bound on what all signs would say stands for them:
exp(−(Σ d)² / 2 Σ d²), twice that for two sides.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.errors import UsageError
from ragauge.stats.sign_flips import compute_parts, is_coarse, sign_flip
from ragauge.stats.skew_corrected_t import skew_corrected_test
from ragauge.stats.textbook_tests import fisher_mid_p, mcnemar_test, welch_t
from ragauge.stats.weighted import Alternative, HypothesisTest, is_binary, read_clusters

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]

__all__ = ["HypothesisTest", "paired_test", "unpaired_test"]

Kind = Literal["rate", "mean", "amount"]
MAX_P_FOR_FLIPS = 0.2  # p of t from which sign flips are not asked: they could only make it larger
MAX_EXACT_PAIRS = 13  # pairs that differ, up to which every pattern of signs is counted
MIN_RANDOM_P = 1e-3  # p that random signs tell only roughly; below, a bound serves


def paired_test(
    new: Values,
    base: Values,
    *,
    kind: Kind,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    alternative: Alternative = "two-sided",
    seed: int = 0,
) -> HypothesisTest | None:
    """The test that nothing changed between the two sides of pairs, against a mean difference that is not 0.

    - a rate or a mean, every value 0 or 1 on both sides, pairs independent and weighted alike: `mcnemar_test`;
    - anything else: `skew_corrected_test`, over clusters where there are any;
    - where more than a tenth of the differences are 0 or repeat another's size and at most 200 pairs (or clusters)
      differ: the larger of its p by Student's t and that of `sign_flip`; pairs all alike flip their signs alone.

    Args:
        new: shape (n,), any unit.
        base: shape (n,), in the same order.
        kind: of the metric; an amount is never taken for a rate.
        weights: shape (n,), of the pairs, not negative; None = all alike.
        clusters: shape (n,), labels of what pairs depend on.
        alternative: "greater" asks whether new is greater.
        seed: of the sign flips where differences repeat.

    Returns:
        The test; None for fewer than two pairs with a weight above 0, or fewer than two clusters.

    Assumes independent pairs, or clusters. If nothing changed, old and new can be swapped, and it rejects in 5 % of
    cases whatever the scores, of 7 pairs in 4.7, in fewer where few differ or scores repeat (0/1 scores: at most 5.2).
    Of fewer than 6 clusters or pairs that rests on their being normal. Where the mean alone stayed no test knows of
    gains too rare to be seen: up to 16 % (docs/statistics-tables.md).

    >>> paired_test([1, 1, 1, 0, 1, 1], [0, 0, 0, 1, 1, 1], kind="rate").method
    'mid-p McNemar'
    """
    import numpy as np

    x, y = np.asarray(new, dtype=float), np.asarray(base, dtype=float)
    _check_sides(x, y)
    groups, w, d = read_clusters(x.size, clusters), _read_unequal_weights(x.size, weights), x - y
    if kind != "amount" and groups is None and w is None and is_binary(x, y):
        return mcnemar_test(int((d > 0).sum()), int((d < 0).sum()), x.size, alternative)
    parts, _, _ = compute_parts(d, w, groups)
    has_repeats = is_coarse(parts)
    by_t = skew_corrected_test(d, weights=w, clusters=groups, alternative=alternative, shorten=not has_repeats)
    if by_t is None:  # fewer than two, or all alike
        return sign_flip(d, weights=w, clusters=groups, alternative=alternative, seed=seed)
    return _add_sign_flips(by_t, parts, seed) if has_repeats else by_t


def unpaired_test(
    new: Values,
    base: Values,
    *,
    kind: Kind,
    weights: tuple[Values | None, Values | None] = (None, None),
    clusters: tuple[Clusters | None, Clusters | None] = (None, None),
    alternative: Alternative = "two-sided",
) -> HypothesisTest | None:
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

    samples = [np.asarray(sample, dtype=float) for sample in (new, base)]
    w = (_read_unequal_weights(samples[0].size, weights[0]), _read_unequal_weights(samples[1].size, weights[1]))
    groups = (read_clusters(samples[0].size, clusters[0]), read_clusters(samples[1].size, clusters[1]))
    is_plain = all(extra is None for extra in (*w, *groups))
    if is_plain and kind == "rate" and min(sample.size for sample in samples) > 1 and is_binary(*samples):
        hits, other_hits = (int(sample.sum()) for sample in samples)
        return fisher_mid_p(hits, samples[0].size, other_hits, samples[1].size, alternative)
    tested = welch_t(samples[0], samples[1], weights=w, clusters=groups, alternative=alternative)
    if tested is not None:
        return tested
    units = [_count_units(*sample) for sample in zip(samples, w, groups, strict=True)]
    if min(units) < 2:
        return None
    means = [float(np.average(sample, weights=weight)) for sample, weight in zip(samples, w, strict=True)]
    above = means[0] > means[1]
    tested = fisher_mid_p(units[0] if above else 0, units[0], 0 if above else units[1], units[1], alternative)
    return tested and HypothesisTest(tested.p_value, tested.method, means[0] - means[1], tested.n, alternative)


def _check_sides(x: Array, y: Array) -> None:
    import numpy as np

    if x.shape != y.shape:
        raise UsageError(f"paired_test: new and base differ in length: {x.size} and {y.size}. Join them first.")
    if not bool(np.isfinite(x).all() and np.isfinite(y).all()):
        raise UsageError("paired_test: scores must be finite. Leave out pairs in which one side has no score.")


def _add_sign_flips(by_t: HypothesisTest, parts: Array, seed: int) -> HypothesisTest:
    """The larger p of t and of sign flips, as far as they are asked."""
    import numpy as np

    p = by_t.p_value
    if p <= MAX_P_FOR_FLIPS:
        total, spread = float(parts.sum()), float((parts * parts).sum())
        bound = (2 if by_t.alternative == "two-sided" else 1) * exp(-min(700.0, total * total / (2 * spread)))
        if bound >= MIN_RANDOM_P or np.count_nonzero(parts) <= MAX_EXACT_PAIRS:
            flipped = sign_flip(parts, alternative=by_t.alternative, seed=seed)
            bound = 1.0 if flipped is None else flipped.p_value
        p = max(p, bound)
    return replace(by_t, p_value=p, method=f"{by_t.method} and sign flips")


def _read_unequal_weights(n: int, weights: Values | None) -> Array | None:
    """The weights as an array; None where all are alike and above 0."""
    import numpy as np

    if weights is None:
        return None
    w = np.asarray(weights, dtype=float)
    if w.shape != (n,):
        raise UsageError(f"weights must be as long as the values, {n}, got {w.size}.")
    return None if n and w[0] > 0 and bool((w == w[0]).all()) else w


def _count_units(x: Array, w: Array | None, groups: npt.NDArray[Any] | None) -> int:
    import numpy as np

    has_weight = np.ones(x.size, dtype=bool) if w is None else w > 0
    return int(has_weight.sum()) if groups is None else int(np.unique(groups[has_weight]).size)

"""Sign flips: a test of pairs that assumes only that new and base could have been swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.errors import UsageError
from ragauge.stats.result import Alternative, Tested
from ragauge.stats.weighted import group_numbers, summed_up, weighted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]

LEAST_FLIPPED = 6     # pairs: of fewer all patterns of signs are too common
MOST_FLIPPED = 200    # pairs that differ: from here on t and sign flips agree, and t costs nothing
REPEATED = 0.1        # share of the differences that may repeat another (0 too) and still pass for continuous
ROUNDING = 1e-10      # of the sum of the absolute parts: sums that differ by less are tied


def sign_flip(
    differences: Values,
    *,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    alternative: Alternative = "two-sided",
    resamples: int = 9_999,
    seed: int = 0,
) -> Tested | None:
    """Permutation test of pairs: how often random signs carry the sum of the differences as far as it is.

    p = (#{|T*| >= |T|} + 1) / (resamples + 1),  T = Σ_g d_g,  T* = Σ_g ±d_g,  d_g = Σ_{i in g} wᵢ dᵢ

    g runs over the clusters, without clusters over the pairs. Where there are no more than resamples + 1 patterns of
    signs all are taken, once each, and p = #{|T*| >= |T|} / 2^k is exact; k counts the d_g that are not 0, the others
    have no sign. p is never 0, and with k below 6 never below 0.05: so few examples that moved prove nothing.

    Args:
        differences: shape (n,), new − base, any unit.
        weights: shape (n,), not negative; None = all alike.
        clusters: shape (n,), labels; all differences of a cluster keep or change their sign together.
        alternative: "greater" counts T* >= T, "less" T* <= T.
        resamples: random patterns, where not all are taken.
        seed: the same seed gives the same p.

    Returns:
        The test, its statistic the weighted mean difference; None for fewer than two pairs, or two clusters.

    Assumes that pairs (or clusters) are independent and that, if nothing changed, a difference is as likely as its
    opposite; then it is exact for every n. Where only the means are equal it is right for large n, as t is.
    Source: Fisher (1935); (count + 1) / (resamples + 1): Phipson and Smyth (2010).

    >>> sign_flip([1, 2, 3, 4, 5, 6, 0]).p_value == 2 / 2**6
    True
    """
    import numpy as np

    parts, n, total = parts_of(differences, weights, clusters)
    if parts.size < 2:
        return None
    mean, scale = float(parts.sum()) / total, float(np.abs(parts).sum())
    moved = parts[np.abs(parts) > ROUNDING * scale]
    flipped = "sign flips" if parts.size == n else "sign flips of clusters"
    side = -1.0 if alternative == "less" else 1.0
    (sums,), every = signed_sums(side * moved[None], resamples, seed)
    observed, slack = side * float(moved.sum()), ROUNDING * scale
    far = np.abs(sums) >= abs(observed) - slack if alternative == "two-sided" else sums >= observed - slack
    beyond = int(np.count_nonzero(far))
    p = beyond / sums.size if every else (beyond + 1) / (sums.size + 1)
    return Tested(p, f"{flipped}, exact" if every else flipped, mean, n, alternative, mean)


def parts_of(differences: Values, weights: Values | None, clusters: Clusters | None) -> tuple[Array, int, float]:
    """What flips its sign as one, how many pairs that is, and the sum of their weights."""
    import numpy as np

    d, w = weighted(differences, weights)
    if d.size and not bool(np.isfinite(d).all()):
        raise UsageError("sign_flip: differences must be finite. Leave out the pairs of which one side has no score.")
    total = float(d.size) if w is None else float(w.sum())
    groups = None if clusters is None else group_numbers(differences, weights, clusters)
    return summed_up(d, w, groups)[0], d.size, total


def coarse(parts: Array) -> bool:
    """Whether t alone would be too sure: many differences are 0 or alike in size, and few are not 0.

    So it is where at least 6 parts are there, at most 200 of them are not 0, and more than a tenth repeat another.
    """
    import numpy as np

    sizes = np.abs(parts)
    alike = ROUNDING * float(sizes.sum())
    if sizes.size < LEAST_FLIPPED or np.count_nonzero(sizes > alike) > MOST_FLIPPED:
        return False
    return bool(np.count_nonzero(np.diff(np.sort(sizes)) <= alike) > REPEATED * sizes.size)


def signed_sums(rows: Array, resamples: int, seed: int) -> tuple[Array, bool]:
    """The sums of each row under the same patterns of signs, and whether these are all that there are.

    Args:
        rows: shape (k, n).
        resamples: random patterns, where there are more than resamples + 1.
        seed: of them.

    Returns:
        Shape (k, resamples), or (k, 2ⁿ) with every pattern once, among them that without any change.
    """
    import numpy as np

    n = rows.shape[1]
    every = n < (resamples + 1).bit_length()
    tables = np.stack([_table(row) for row in rows], axis=2)
    places = tables.shape[0]
    if every:
        patterns = np.arange(2**n, dtype="<u8").view(np.uint8).reshape(-1, 8)
    else:
        drawn = np.random.default_rng(seed).bytes(resamples * places)
        patterns = np.frombuffer(drawn, dtype=np.uint8).reshape(resamples, places)
    found = np.zeros((len(patterns), len(rows)))
    for place in range(places):
        found += tables[place].take(patterns[:, place], axis=0)
    return np.ascontiguousarray(found.T), every


def _table(parts: Array) -> Array:
    """The sums of eight parts at a time under each of the 256 patterns of their signs, shape (parts / 8, 256)."""
    import numpy as np

    eights = np.zeros((max(1, -(-parts.size // 8)), 8))
    eights.ravel()[: parts.size] = parts
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return np.asarray(eights @ (2.0 * bits.T - 1))

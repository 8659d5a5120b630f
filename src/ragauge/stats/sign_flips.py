"""Sign flips: a test of pairs that assumes only that new and base could have been swapped.

The distribution of a test statistic under random signs, and the means at which it begins to reject.

If nothing changed, old and new could be swapped, and every difference be its opposite. So what a statistic could have
been is known: what it is under every pattern of signs. That is exact whatever the values look like, where tables of
Student's t err: two humps, scores of 0 and nearly 1, a few values that lie far off.

A mean μ lies within the interval where the test of x − μ does not reject. The statistic is a function of three moments
of the signed values, and these are polynomials in μ of sums that are made once; so trying another μ is cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.weighted import Alternative, HypothesisTest, number_groups, read_weighted, sum_parts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]


MIN_FLIPPED = 6  # pairs: of fewer all patterns of signs are too common
MAX_FLIPPED = 200  # pairs that differ: from here on t and sign flips agree, and t costs nothing
MAX_REPEATED_SHARE = 0.1  # share of the differences that may repeat another (0 too) and still pass for continuous
ROUNDING = 1e-10  # of the sum of the absolute parts: sums that differ by less are tied


def sign_flip(
    differences: Values,
    *,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    alternative: Alternative = "two-sided",
    resamples: int = 9_999,
    seed: int = 0,
) -> HypothesisTest | None:
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

    parts, n, total = compute_parts(differences, weights, clusters)
    if parts.size < 2:
        return None
    mean, scale = float(parts.sum()) / total, float(np.abs(parts).sum())
    moved = parts[np.abs(parts) > ROUNDING * scale]
    flipped = "sign flips" if parts.size == n else "sign flips of clusters"
    direction = -1.0 if alternative == "less" else 1.0
    (sums,), every = sum_sign_flips(direction * moved[None], resamples, seed)
    observed, slack = direction * float(moved.sum()), ROUNDING * scale
    far = np.abs(sums) >= abs(observed) - slack if alternative == "two-sided" else sums >= observed - slack
    beyond = int(np.count_nonzero(far))
    p = beyond / sums.size if every else (beyond + 1) / (sums.size + 1)
    return HypothesisTest(p, f"{flipped}, exact" if every else flipped, mean, n, alternative, mean)


def compute_parts(differences: Values, weights: Values | None, clusters: Clusters | None) -> tuple[Array, int, float]:
    """What flips its sign as one, how many pairs that is, and the sum of their weights."""
    import numpy as np

    d, w = read_weighted(differences, weights)
    if d.size and not bool(np.isfinite(d).all()):
        raise UsageError("sign_flip: differences must be finite. Leave out pairs in which one side has no score.")
    total = float(d.size) if w is None else float(w.sum())
    groups = None if clusters is None else number_groups(differences, weights, clusters)
    return sum_parts(d, w, groups)[0], d.size, total


def is_coarse(parts: Array) -> bool:
    """Whether t alone would be too sure: many differences are 0 or alike in size, and few are not 0.

    So it is where at least 6 parts are there, at most 200 of them are not 0, and more than a tenth repeat another.
    """
    import numpy as np

    sizes = np.abs(parts)
    tolerance = ROUNDING * float(sizes.sum())
    if sizes.size < MIN_FLIPPED or np.count_nonzero(sizes > tolerance) > MAX_FLIPPED:
        return False
    return bool(np.count_nonzero(np.diff(np.sort(sizes)) <= tolerance) > MAX_REPEATED_SHARE * sizes.size)


def sum_sign_flips(rows: Array, resamples: int, seed: int) -> tuple[Array, bool]:
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
    tables = np.stack([_build_table(row) for row in rows], axis=2)
    n_tables = tables.shape[0]
    if every:
        patterns = np.arange(2**n, dtype="<u8").view(np.uint8).reshape(-1, 8)
    else:
        random_bytes = np.random.default_rng(seed).bytes(resamples * n_tables)
        patterns = np.frombuffer(random_bytes, dtype=np.uint8).reshape(resamples, n_tables)
    sums = np.zeros((len(patterns), len(rows)))
    for column in range(n_tables):
        sums += tables[column].take(patterns[:, column], axis=0)
    return np.ascontiguousarray(sums.T), every


def _build_table(parts: Array) -> Array:
    """The sums of eight parts at a time under each of the 256 patterns of their signs, shape (parts / 8, 256)."""
    import numpy as np

    eights = np.zeros((max(1, -(-parts.size // 8)), 8))
    eights.ravel()[: parts.size] = parts
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return np.asarray(eights @ (2.0 * bits.T - 1))


N_PATTERNS = 9_999
MAX_BLOCKS = 1_000  # what flips its sign as one; of more values neighbours flip together, which is as exact
MIN_VARIATION = 1e-12  # of the squares: values that vary by less are all alike
TIE_TOLERANCE = 1e-9  # of the statistic: what differs by less is tied
RANDOM_PRECISION = 1e-3  # relative error of an end: random patterns leave it unsure by ten times as much
EXACT_PRECISION = 1e-6  # where all patterns are taken
CLOSE_RATIO = 1.1  # ratio of two places from which an end is sought between them
MAX_SLOW_TRIES = 12  # tries until the stretch between two places is halved
MAX_TRIES = 100  # places that are tried for an end


class Shape(NamedTuple):
    """t and the moments of its values, for as many patterns as there are."""

    t: Array  #: |mean| over its standard error.
    #: κ = Σ p³ / (Σ p²)^1.5, p what a value differs from the mean, times the sign of the mean: above 0 where the long
    #: tail lies beyond the mean.
    skewness: Array
    kurtosis: Array  #: Σ p⁴ / (Σ p²)², about 3/n for normal values.


class SignFlips:
    """A statistic under random signs of values less a mean.

    p(μ) = (#{T*(μ) >= T(μ)} + 1) / (2 · (patterns + 1)), one-sided; where all 2ⁿ patterns are taken, #{…} / 2ⁿ⁺¹

    T is the statistic of x − μ, T* of ±(x − μ). It has to be the same for all signs turned, so both sides have the
    same p-values, and the two-sided one is twice that.

    Args:
        mean: of the values.
        parts: shape (n,), what each adds to it: weight times value less the mean, with clusters the sums of both.
        sizes: shape (n,), the weights of the parts.
        statistic: of n and the moments, the greater the less like nothing.
        least_t: the least t for which the statistic can be as large as that.

    Assumes that a value is as likely above the mean as it is as far below. Of more than 1,000 parts neighbours flip
    together, which is exact too.
    Source: Fisher (1935); with a statistic in standard errors it is right for skewed values too if there are many:
    Janssen (1997), Statistics and Probability Letters 36, 9.
    """

    def __init__(
        self,
        mean: float,
        parts: Array,
        sizes: Array,
        statistic: Callable[[int, Shape], Array],
        least_t: Callable[[float], float],
    ) -> None:
        import numpy as np

        self._statistic, self._least_t, self._mean = statistic, least_t, mean
        rows = np.stack([parts, sizes])
        if rows.shape[1] > MAX_BLOCKS:
            width = -(-rows.shape[1] // MAX_BLOCKS)
            rows = np.add.reduceat(rows, np.arange(0, rows.shape[1], width), axis=1)
        scales = np.abs(rows).max(axis=1)  # fourth powers would vanish, or have no end
        self._parts, self._sizes = rows / scales[:, None]
        self._unit = float(scales[0] / scales[1])
        self._sums, self._every = _sum_moments(self._parts, self._sizes)
        self._patterns: int = self._sums.shape[1] + (not self._every)

    @property
    def least(self) -> float:
        """The smallest one-sided p there can be."""
        return (2 if self._every else 1) / (2 * self._patterns)

    def p_value(self, mean: float = 0.0) -> float:
        """Of the test that this is the mean, against one on the side where the mean of the values lies."""
        return self._compute_p((mean - self._mean) / self._unit)

    def end(self, alpha: float, start: float) -> float:
        """The end of the interval that leaves out alpha on its side, on the side of the mean where `start` lies.

        0 is tried too where it lies on that side, so that it is outside exactly where its p is at most alpha. Where no
        pattern is as rare as alpha it is what the rarest says, and where p does not fall all the way, as of few values
        it may not, one of the places where it passes alpha. Infinite where it never does.
        """
        alpha, direction = max(alpha, self.least), 1.0 if start > self._mean else -1.0
        position, zero = direction * (start - self._mean) / self._unit, -direction * self._mean / self._unit
        if alpha > 0.25 and self._compute_p(direction * 1e-9 * position) <= alpha:
            return self._mean
        first, target_quantile = [position] if zero <= 0 else [position, zero], normal_quantile(1 - 2 * alpha)
        inner, outer, halved = (0.0, 0.0), (inf, inf), False  # places and their normal quantiles
        for attempt in range(MAX_TRIES):
            position = first.pop() if first else position
            if not inner[0] < position < outer[0] or halved:
                position = (inner[0] + outer[0]) / 2 if outer[0] < inf else 2 * inner[0]
            p = self._compute_p(direction * position)
            quantile = normal_quantile(1 - min(0.9, 2 * p))
            inner, outer = (inner, (position, quantile)) if p <= alpha else ((position, quantile), outer)
            if inner[0] * (1 + (EXACT_PRECISION if self._every else RANDOM_PRECISION)) >= outer[0]:
                return self._mean + direction * self._unit * (inner[0] + outer[0]) / 2
            previous, near = position, inner[0] * CLOSE_RATIO >= outer[0]
            halved = attempt > MAX_SLOW_TRIES or (self._every and near)  # few patterns: steps
            if near:  # as if it were straight between the two
                position = inner[0] + (target_quantile - inner[1]) / max(1e-9, outer[1] - inner[1]) * (
                    outer[0] - inner[0]
                )
            else:  # as if it were normal
                position *= target_quantile / quantile
            if abs(position - previous) <= RANDOM_PRECISION * previous and not (self._every or first):
                if near and inner[0] < position < outer[0]:
                    return self._mean + direction * self._unit * position
                position = previous * (
                    1 - RANDOM_PRECISION if p <= alpha else 1 + RANDOM_PRECISION
                )  # to have a place on its other side
        return direction * inf

    def _compute_p(self, moved: float) -> float:
        import numpy as np

        q = self._parts - moved * self._sizes
        squares = q * q
        spread, fourth, n = float(squares.sum()), float((squares * squares).sum()), q.size
        observed_shape = _compute_shape(q.sum(), (squares * q).sum(), spread, fourth, n)
        observed = float(self._statistic(n, observed_shape)) * (1 - TIE_TOLERANCE)
        p, w, ppp, ppw, pww, www = self._sums
        totals = p - moved * w
        # where the statistic gets as far t is at least `least`, and the total at least this: it tells of most patterns
        min_t = self._least_t(observed)
        candidates = np.flatnonzero(np.abs(totals) >= (1 - TIE_TOLERANCE) * sqrt(n * spread / (1 + (n - 1) / min_t**2)))
        ppp, ppw, pww, www = (column[candidates] for column in (ppp, ppw, pww, www))
        cubes = ppp - moved * (3 * ppw - moved * (3 * pww - moved * www))
        reached = self._statistic(n, _compute_shape(totals[candidates], cubes, spread, fourth, n)) >= observed
        count = int(np.count_nonzero(reached))
        return (max(2, count) if self._every else count + 1) / (2 * self._patterns)


def _sum_moments(parts: Array, sizes: Array) -> tuple[Array, bool]:
    """Signed sums of P, W, P³, P²W, PW² and W³ of the parts P and their weights W, and whether of every pattern."""
    import numpy as np

    squares = parts * parts
    if not np.ptp(sizes):  # W is 1
        sums, every = sum_sign_flips(np.stack([parts, sizes, squares * parts, squares]), N_PATTERNS, 0)
        return sums[[0, 1, 2, 3, 0, 1]], every
    weights = sizes * sizes
    rows = np.stack([parts, sizes, squares * parts, squares * sizes, parts * weights, weights * sizes])
    return sum_sign_flips(rows, N_PATTERNS, 0)


def _compute_t(totals: Array, spread: float, n: int) -> Array:
    """|mean| over its standard error, from the sums of signed values."""
    import numpy as np

    squared = totals * totals / n
    statistic: Array = np.sqrt((n - 1) * squared / np.maximum(spread - squared, MIN_VARIATION * spread))
    return statistic


def _compute_shape(totals: Array, cubes: Array, spread: float, fourth: float, n: int) -> Shape:
    """The moments of signed values about their mean from the sums of them and of their cubes."""
    import numpy as np

    mean = totals / n
    squared = mean * mean
    squares_left = np.maximum(spread - n * squared, MIN_VARIATION * spread)
    third = cubes - mean * (3 * spread - 2 * n * squared)
    fourth_moment = fourth - mean * (4 * cubes - mean * (6 * spread - 3 * n * squared))
    skewness = np.where(mean < 0, -third, third) / (squares_left * np.sqrt(squares_left))
    return Shape(_compute_t(totals, spread, n), skewness, fourth_moment / squares_left**2)

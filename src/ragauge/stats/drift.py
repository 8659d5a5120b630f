"""How far what comes in now differs from what came in before: embeddings, clusters, distances, neighbours.

One decides, the distance of mean embeddings with its permutation test; the others explain.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Values = Sequence[float] | npt.NDArray[np.floating] | npt.NDArray[np.integer]
    Vectors = Sequence[Sequence[float]] | npt.NDArray[np.floating]

N_PERMUTATIONS = 999
BATCH_SIZE_PERMUTATIONS = 100  # permutations at once
MAX_AS_FAR = 100  # as far apart, after which p is large whatever the rest would say
N_BINS = 20
MAX_PAIRS = 20_000  # distances that a histogram is made of, at most


@dataclass(frozen=True, slots=True)
class MeanShift:
    """The distance of two mean embeddings."""

    distance: float  #: squared, MMD² with a linear kernel; at least 0. Of samples without change it is above 0 too.
    p: float  #: the share of relabelled samples that are as far apart, itself counted; in (0, 1].


def mean_shift(before: Vectors, now: Vectors, *, permutations: int = N_PERMUTATIONS, seed: int = 0) -> MeanShift:
    """Whether the mean of embeddings moved: MMD with a linear kernel, and its permutation test.

    distance = |mean(before) − mean(now)|²;  p = (1 + #{permutations as far apart}) / (1 + permutations)

    Args:
        before: shape (n, d).
        now: shape (m, d).
        permutations: of the labels before and now, at most; the smallest p is 1 / (1 + permutations). It ends where
            100 of them are as far apart, and p is the share of those that were tried.
        seed: of the permutations.

    Raises:
        UsageError: fewer than two vectors on a side, different dimensions, or no permutation.

    Source: Gretton et al. (2012), A kernel two-sample test; Phipson and Smyth (2010) for p; Besag and Clifford (1991)
    for where it ends.

    >>> mean_shift([[0.0, 0.0], [0.0, 2.0]], [[3.0, 1.0], [3.0, 1.0]], permutations=9).distance
    9.0
    """
    import numpy as np

    first, second = _read_vectors(before, "before"), _read_vectors(now, "now")
    if first.shape[1] != second.shape[1]:
        raise UsageError(f"embeddings differ in dimension: {first.shape[1]} before, {second.shape[1]} now.")
    if permutations < 1:
        raise UsageError(f"permutations must be at least 1, got {permutations!r}.")
    pooled = np.concatenate([first, second])
    pooled = pooled - pooled.mean(axis=0)  # so that rounding stays small where all vectors lie far from 0
    n, total = len(first), len(pooled)
    # with the pooled mean at 0, mean(before) − mean(now) = sum(before) · (1/n + 1/m)
    scale = (1 / n + 1 / (total - n)) ** 2
    observed = float((pooled[:n].sum(axis=0) ** 2).sum() * scale)
    draw, as_far, tried = np.random.default_rng(seed), 0, 0
    while tried < permutations and as_far < MAX_AS_FAR:
        size = min(BATCH_SIZE_PERMUTATIONS, permutations - tried)
        drawn_rows = draw.random((size, total)).argpartition(n - 1, axis=1)[:, :n]
        member = np.zeros((size, total))
        np.put_along_axis(member, drawn_rows, 1.0, axis=1)
        distances = ((member @ pooled) ** 2).sum(axis=1) * scale
        as_far, tried = as_far + int((distances >= observed * (1 - 1e-9)).sum()), tried + size
    return MeanShift(observed, (1 + as_far) / (1 + tried))


def _read_vectors(raw: Vectors, name: str) -> Array:
    import numpy as np

    vectors = np.asarray(raw, dtype=float)
    if vectors.ndim != 2 or len(vectors) < 2:
        raise UsageError(f"{name}: expected at least two embeddings, shape (n, d), got shape {vectors.shape}.")
    return vectors


def js_divergence(before: Values, now: Values) -> float | None:
    """The Jensen-Shannon divergence of two histograms, base 2.

    JS = ½ Σ p log₂(p/q̄) + ½ Σ q log₂(q/q̄),  q̄ = (p + q) / 2;  0 = alike, 1 = nothing in common

    Args:
        before: counts of each cluster, shape (k,), at least 0; p is their shares.
        now: counts of the same clusters; q.

    Returns:
        In [0, 1]; None where a side has no count at all.

    Raises:
        UsageError: different numbers of clusters, or counts below 0.

    Source: Lin (1991). SciPy's jensenshannon is its square root.

    >>> js_divergence([1, 1, 0], [1, 1, 0]), js_divergence([1, 0], [0, 1]), js_divergence([0, 0], [1, 1])
    (0.0, 1.0, None)
    """
    import numpy as np
    from scipy.special import rel_entr

    p, q = _read_counts(before, now)
    if not p.sum() or not q.sum():
        return None
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    divergence = float((rel_entr(p, middle) + rel_entr(q, middle)).sum()) / (2 * np.log(2))
    return float(min(1.0, max(0.0, divergence)))


def _read_counts(before: Values, now: Values) -> tuple[Array, Array]:
    import numpy as np

    p, q = np.asarray(before, dtype=float), np.asarray(now, dtype=float)
    if p.ndim != 1 or p.shape != q.shape or (p < 0).any() or (q < 0).any():
        problem = f"counts must be for the same clusters and at least 0, got {p.shape} before and {q.shape} now."
        raise UsageError(problem)
    return p, q


def neighbour_overlap(before: Sequence[Sequence[Hashable]], now: Sequence[Sequence[Hashable]], k: int) -> float | None:
    """How much of what was found stayed: the mean share of the first k that two rankings of a query have in common.

    overlap = mean over queries of |top k before ∩ top k now| / k', k' the longer of the two, at most k

    Args:
        before: ids in order, one list a query.
        now: the same queries.
        k: at least 1.

    Returns:
        In [0, 1]; None where no query found anything on either side.

    Raises:
        UsageError: different numbers of queries, or k below 1.

    >>> neighbour_overlap([["a", "b"], ["c", "d"]], [["b", "a"], ["c", "e"]], 2)
    0.75
    """
    if len(before) != len(now) or k < 1:
        problem = f"expected the same queries and k of at least 1, got {len(before)} before, {len(now)} now, k = {k}."
        raise UsageError(problem)
    shares = []
    for old, new in zip(before, now, strict=True):
        first, second = set(old[:k]), set(new[:k])
        if longer := max(len(first), len(second)):
            shares.append(len(first & second) / longer)
    return sum(shares) / len(shares) if shares else None


def pairwise_kl(before: Vectors, now: Vectors, *, bins: int = N_BINS, seed: int = 0) -> float:
    """How far the shape of a cloud of embeddings changed: KL of the histograms of distances between its points.

    KL = Σ q log(q / p), p and q the shares of distances before and now in equal bins over the range of both, each
    count raised by ½. It does not see a cloud that moved as a whole; an embedder that was exchanged it does.

    Args:
        before: shape (n, d).
        now: shape (m, e); the dimensions may differ.
        bins: of the histograms, at least 2.
        seed: of the pairs that are drawn where there are more than 20,000.

    Returns:
        In [0, ∞), natural logarithm; 0 = the same histogram.

    Raises:
        UsageError: fewer than two vectors on a side, or fewer than two bins.

    >>> pairwise_kl([[0.0], [1.0], [3.0]], [[5.0], [6.0], [8.0]])
    0.0
    """
    import numpy as np
    from scipy.special import rel_entr

    if bins < 2:
        raise UsageError(f"bins must be at least 2, got {bins!r}.")
    draw = np.random.default_rng(seed)
    old, new = (
        _sample_distances(_read_vectors(before, "before"), draw),
        _sample_distances(_read_vectors(now, "now"), draw),
    )
    low, high = min(old.min(), new.min()), max(old.max(), new.max())
    if low == high:
        return 0.0
    counts = [np.histogram(values, bins=bins, range=(low, high))[0] + 0.5 for values in (old, new)]
    p, q = (values / values.sum() for values in counts)
    return max(0.0, float(rel_entr(q, p).sum()))


def _sample_distances(vectors: Array, draw: np.random.Generator) -> Array:
    """Distances between pairs of different vectors: of all pairs, or of as many as are looked at."""
    import numpy as np
    from scipy.spatial.distance import pdist

    n = len(vectors)
    if n * (n - 1) // 2 <= MAX_PAIRS:
        return np.asarray(pdist(vectors))
    first = draw.integers(0, n, MAX_PAIRS)
    second = (first + draw.integers(1, n, MAX_PAIRS)) % n
    return np.asarray(np.linalg.norm(vectors[first] - vectors[second], axis=1))

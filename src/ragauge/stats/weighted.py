"""Means of weighted and clustered values, and how far they may be off: what intervals and tests share.

What statistics return: small frozen values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ragauge.core.errors import UsageError
from ragauge.core.json_keys import json_keys

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.intp]
    Values = Sequence[float] | npt.NDArray[Any]
    Clusters = Sequence[Any] | npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its standard error."""

    mean: float  #: m = Σ wᵢxᵢ / Σ wᵢ.
    error: float  #: its standard error; 0 for values that are all alike.
    df: float  #: degrees of freedom, at least 1.
    units: int  #: what is independent: values with a weight above 0, or their clusters.
    values: int  #: with a weight above 0.
    #: of the mean, κ = Σ p³ / (Σ p²)^1.5 over the parts p = wᵢ(xᵢ−m), with clusters their sums; within ±1. For equal
    #: weights the skewness of the values over sqrt(n); 0 where all are alike.
    skewness: float
    #: kurtosis of the mean, over the same parts, beyond that of normal values: Σ p⁴ / (Σ p²)² − 3(N − 1) / (N + 1) · Σ
    #: Wp² / (Σ W · Σ p²), W the weights of the parts. For equal weights the excess kurtosis of the values over n; 0
    #: where all are alike.
    excess: float
    parts: float  #: N = (Σ W²)² / Σ W⁴, how many equal parts would tell as much of the spread and its shape.
    #: (Σ p²)² / Σ p⁴, how many equal parts would carry the spread: about N / 3 for normal values, little above 1 where
    #: one lies far off; N where all are alike.
    carriers: float


def estimate_mean(values: Values, weights: Values | None = None, clusters: Clusters | None = None) -> Estimate | None:
    """The mean of values that are independent, or independent between clusters.

    se² = c · Σ wᵢ²(xᵢ−m)² / (Σ wᵢ)²,  with clusters G/(G−1) · Σ_g (Σ_{i in g} wᵢ(xᵢ−m))² / (Σ wᵢ)²

    c = Σ wᵢ² / Σ wᵢ²((1−sᵢ)² + Σ_{j≠i} sⱼ²) with the shares s = w / Σ w makes se² right on average for values of one
    variance; for equal weights it is n/(n−1). A few large weights pull the mean to their own values, which would hide
    how far these lie off.

    The degrees of freedom are n_eff − 1, with clusters the smaller of that and G − 1, at least 1;
    n_eff = (Σ wᵢ)² / Σ wᵢ², Kish's effective number, is n for equal weights.

    Args:
        values: shape (n,).
        weights: shape (n,), not negative; None = all alike. Only their ratios matter.
        clusters: shape (n,), labels; None = all independent.

    Returns:
        The estimate; None for fewer than two values, or two clusters, with a weight above 0: never an error of 0
        because there is nothing to see.

    Source: Cochran, Sampling Techniques (1977), 6.8; Liang and Zeger (1986); Cameron and Miller (2015) for CR1.

    >>> estimate_mean([1, 2, 3]).error == (1 / 3) ** 0.5
    True
    """
    x, w = read_weighted(values, weights)
    groups = None if clusters is None else number_groups(values, weights, clusters)
    units = x.size if groups is None else count_groups(groups)
    if units < 2:
        return None
    mean = compute_mean(x, w)
    parts, size = sum_parts(x - mean, w, groups)
    total = float(x.size) if w is None else float(w.sum())
    factor = units / (units - 1) if w is None or groups is not None else _compute_pull_factor(w)
    error = sqrt(factor * float((parts * parts).sum())) / total
    df = max(min(float(units), compute_effective_n(w, x.size)) - 1, 1.0)
    n = compute_effective_n(size * size, units)
    skewness, kurtosis, normal = _compute_shape(parts, size, n)
    carriers = 1 / kurtosis if kurtosis else n
    return Estimate(mean, error, df, units, x.size, skewness, kurtosis - normal, n, carriers)


def sum_parts(x: Array, w: Array | None, groups: Numbers | None) -> tuple[Array, Array]:
    """The parts wᵢxᵢ of a mean and their weights wᵢ; with clusters the sums of both over each."""
    import numpy as np

    parts, size = (x, np.ones(x.size)) if w is None else (w * x, w)
    if groups is None:
        return parts, size
    count = count_groups(groups)
    parts, size = (np.bincount(groups, weights=sums, minlength=count).astype(float) for sums in (parts, size))
    return parts, size


def _compute_pull_factor(w: Array) -> float:
    """By how much Σ w²(x−m)² is too small, since m lies near to what weighs much."""
    shares = w / w.sum()
    squares = shares * shares
    others = squares.sum() - squares
    return float(squares.sum() / (squares * ((1 - shares) ** 2 + others)).sum())


def _compute_shape(parts: Array, size: Array, n: float) -> tuple[float, float, float]:
    """Skewness and kurtosis of the mean that is made of these parts, and the kurtosis that normal values have."""
    largest = max(float(parts.max()), -float(parts.min()))
    if largest == 0:
        return 0.0, 0.0, 0.0
    parts = parts / largest  # cubes of very small parts would vanish
    squares = parts * parts
    total = float(squares.sum())
    normal = 3 * (n - 1) / (n + 1) * float((size * squares).sum()) / (float(size.sum()) * total)
    return float((squares * parts).sum()) / sqrt(total) ** 3, float((squares * squares).sum()) / total**2, normal


def read_weighted(values: Values, weights: Values | None) -> tuple[Array, Array | None]:
    """Values and weights as arrays, without what has no weight; None = all alike."""
    import numpy as np

    x = np.asarray(values, dtype=float)
    if weights is None:
        return x, None
    w = np.asarray(weights, dtype=float)
    if w.shape != x.shape:
        raise UsageError(f"weights must be as long as the values, {x.size}, got {w.size}.")
    if w.size and not w.min() >= 0:
        raise UsageError(f"weights must not be negative, got {w.min():g}. A weight counts real requests.")
    has_weight = w > 0
    return (x, w) if bool(has_weight.all()) else (x[has_weight], w[has_weight])


def number_groups(values: Values, weights: Values | None, clusters: Clusters) -> Numbers:
    """Cluster numbers from 0 in the order in which they come first, without what has no weight."""
    import numpy as np

    labels = np.asarray(clusters)
    if len(labels) != len(values):
        raise UsageError(f"clusters must be as long as the values, {len(values)}, got {len(labels)}.")
    if weights is not None:
        labels = labels[np.asarray(weights, dtype=float) > 0]
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def count_groups(groups: Numbers) -> int:
    """How many clusters the numbers name."""
    return int(groups.max()) + 1 if groups.size else 0


# sums of products, not dot products: those start threads for large arrays, which costs more than it saves


def compute_mean(x: Array, w: Array | None) -> float:
    """The mean, weighted where there are weights."""
    return float(x.mean()) if w is None else float((w * x).sum() / w.sum())


def compute_effective_n(w: Array | None, n: int) -> float:
    """Kish's effective number of n values with these weights."""
    return float(n) if w is None else float(w.sum()) ** 2 / float((w * w).sum())


def read_clusters(n: int, clusters: Clusters | None) -> npt.NDArray[Any] | None:
    """The clusters of n values as an array; None where every value stands alone."""
    import numpy as np

    if clusters is None:
        return None
    if len(clusters) != n:
        raise UsageError(f"clusters must be as long as the values, {n}, got {len(clusters)}.")
    groups = np.asarray(clusters)
    return None if np.unique(groups).size == n else groups


def is_binary(*values: Array) -> bool:
    """Whether every value of all of them is 0 or 1."""
    return all(bool(((x == 0) | (x == 1)).all()) for x in values)


Alternative = Literal["two-sided", "greater", "less"]


@json_keys("low high", as_list=True)
@json_keys("low high level method", view="interval")
@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made."""

    low: float  #: lower end.
    high: float  #: upper end.
    method: str  #: such as "t", "wilson" or "order statistics".
    level: float = 0.95  #: such as 0.95.


@dataclass(frozen=True, slots=True)
class HypothesisTest:
    """What a hypothesis test found."""

    __test__: ClassVar[bool] = False  # not a test class, though pytest would take it for one by its name

    p_value: float  #: in (0, 1], never 0: the chance of a difference at least so large where there is none.
    method: str  #: such as "mid-p McNemar" or "sign flips of clusters".
    estimate: float  #: the difference of the means, new − base, whatever the test looks at.
    n: int  #: pairs (or values of both samples) that counted.
    #: "greater" asks whether new is greater than base, "less" whether it is less.
    alternative: Alternative = "two-sided"
    #: what was held against the null distribution; None where counts are looked at directly.
    statistic: float | None = None

"""Correlation: of two scores, pooled or within groups, and of ranks with marks that depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, isfinite, sqrt, tanh
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import normal_quantile, t_quantile
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Counts = npt.NDArray[np.integer]
    Floats = npt.NDArray[np.float64]

MAX_CELLS = 50_000  # of the tables of one block of clusters: 400 kB of integers, so that memory stays flat


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation."""

    value: float  #: in [-1, 1].
    interval: Interval | None  #: None for |value| = 1 and where there are too few pairs.
    n: int  #: pairs.
    groups: int  #: groups that it is taken within; 1 = pooled.


def correlate(
    x: Values,
    y: Values,
    *,
    method: Literal["pearson", "spearman"] = "pearson",
    within: Clusters | None = None,
    level: float = 0.95,
) -> Correlation | None:
    """Correlation of two scores of the same things, such as a metric and what people say; pooled or within groups.

    r = Σ aᵢbᵢ / sqrt(Σ aᵢ² · Σ bᵢ²);  tanh(atanh(r) ± z · e),  e² = c / (n − G − 2), c = 1, for ranks 1 + r²/2

    aᵢ, bᵢ  the scores (for Spearman their mid-ranks within the group), less the mean of their group
    G       groups; 1 = pooled

    Pooled over systems a metric may correlate with people only because both tell good systems from bad ones, while
    within a system, which is what tells good answers from bad ones, it says nothing (Simpson's paradox). With `within`
    only what differs inside the groups counts: the partial correlation given the group.

    Args:
        x: shape (n,), finite.
        y: shape (n,), finite.
        method: "pearson", or "spearman" for ranks.
        within: shape (n,), labels of the groups, such as systems; None = pooled.
        level: confidence, in (0, 1).

    Returns:
        The correlation; None where one of the two does not vary. Without an interval for n below G + 3.

    Assumes independent pairs; for Pearson's interval also that they are about normal, else it is too short for skewed
    scores. Two labels of one answer are not independent: its interval is then too short.
    Source: Fisher (1921); ranks: Bonett and Wright (2000); within groups: partial correlation, Fisher (1924).

    >>> pooled = correlate([1, 2, 3, 11, 12, 13], [3, 2, 1, 13, 12, 11])
    >>> inside = correlate([1, 2, 3, 11, 12, 13], [3, 2, 1, 13, 12, 11], within=list("aaabbb"))
    >>> round(pooled.value, 3), inside.value
    (0.948, -1.0)
    """
    a, b, groups = _read_scores(x, y, within)
    count = int(groups.max()) + 1 if groups.size else 0
    a, b = (_center_scores(scores, groups, count, method == "spearman") for scores in (a, b))
    spread = float((a * a).sum()) * float((b * b).sum())
    if spread <= 0:
        return None
    r = max(-1.0, min(1.0, float((a * b).sum()) / sqrt(spread)))
    return Correlation(r, _build_fisher_interval(r, a.size - count - 2, method, level), a.size, count)


def spearman_of_marks(
    values: Values, marks: Values, clusters: Clusters, level: float = 0.95
) -> tuple[float | None, Interval | None]:
    """Spearman's correlation of a value with a yes-or-no mark, and its interval where pairs come in clusters.

    rho = Pearson's correlation of the mid-ranks;  tanh(z ± t(G − 1) · se),  z = atanh(rho),
    se² = (G − 1)/G · Σ_g (z_(g) − mean of z_(g))²

    z_(g)  z without cluster g, ranks taken anew
    G      clusters

    A mark has two mid-ranks, so its ranking is the mark itself up to scale, and everything follows from one small
    table: how many pairs and how many marks there are at each value. Nothing is drawn at random, and the order of
    the pairs does not matter.

    Args:
        values: shape (n,), such as ranks; few different ones.
        marks: shape (n,), 0 or 1.
        clusters: shape (n,), labels; pairs that share one are not independent.
        level: confidence, in (0, 1).

    Returns:
        rho in [-1, 1], None where the values or the marks are all alike; its interval, None for fewer than three
        clusters, for |rho| = 1, or where one cluster holds all the marks (or all that is unmarked), since without it
        there is no correlation.

    Raises:
        UsageError: the three differ in length, or a mark is neither 0 nor 1.

    Assumes independent clusters; from about 20 on its coverage is near the level.
    Source: Spearman (1904); Fisher's z; the delete-one-group jackknife, Efron and Tibshirani (1993), chapter 11.

    >>> rho, interval = spearman_of_marks([1, 2, 3, 4], [1, 1, 0, 0], ["a", "b", "c", "d"])
    >>> round(rho, 4), interval.method
    (-0.8944, 'jackknife over clusters')
    """
    import numpy as np

    x, y, groups = _read_arrays(values, marks, clusters)
    if not x.size:
        return None, None
    codes = _encode_labels(x)
    width = int(codes.max()) + 1
    pairs = np.bincount(codes, minlength=width)
    hits = np.bincount(codes[y == 1], minlength=width)
    rho = float(_compute_rho(pairs[None], hits[None])[0])
    if not isfinite(rho):
        return None, None
    return rho, _build_jackknife_interval(rho, pairs, hits, codes, y, groups, level)


def _read_scores(x: Values, y: Values, within: Clusters | None) -> tuple[Floats, Floats, Counts]:
    """Both scores and the group numbers from 0, checked."""
    import numpy as np

    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    labels = np.zeros(a.size) if within is None else np.asarray(within)
    if not a.size == b.size == labels.size:
        raise UsageError(f"x, y and groups differ in length: {a.size}, {b.size}, {labels.size}.")
    if not bool(np.isfinite(a).all() and np.isfinite(b).all()):
        raise UsageError("correlate: scores must be finite. Leave out pairs in which one side has no score.")
    return a, b, np.unique(labels, return_inverse=True)[1]


def _center_scores(scores: Floats, groups: Counts, count: int, ranked: bool) -> Floats:
    """Scores or mid-ranks less the mean of their group; what rounding leaves of equal scores is 0."""
    import numpy as np

    out = np.zeros(scores.size)
    for group in range(count):
        in_group = groups == group
        values = scores[in_group]
        if ranked:
            _, positions, sizes = np.unique(values, return_inverse=True, return_counts=True)
            values = (np.cumsum(sizes) - (sizes - 1) / 2)[positions]
        out[in_group] = values - values.mean() if float(np.ptp(values)) > 0 else 0.0
    return out


def _build_fisher_interval(r: float, freedom: int, method: str, level: float) -> Interval | None:
    if abs(r) > 1 - 1e-12 or freedom < 1:
        return None
    half = normal_quantile(level) * sqrt((1 + r * r / 2 if method == "spearman" else 1.0) / freedom)
    return Interval(tanh(atanh(r) - half), tanh(atanh(r) + half), "Fisher's z", level)


def _read_arrays(values: Values, marks: Values, clusters: Clusters) -> tuple[npt.NDArray[Any], Counts, Counts]:
    """Values, marks and cluster numbers from 0, checked."""
    import numpy as np

    x, y = np.asarray(values), np.asarray(marks)
    groups = _encode_labels(np.asarray(clusters))
    if not x.size == y.size == groups.size:
        raise UsageError(f"values, marks and clusters differ in length: {x.size}, {y.size}, {groups.size}.")
    if y.size and not bool(np.isin(y, (0, 1)).all()):
        raise UsageError("marks must be 0 or 1.")
    return x, y.astype(np.int8), groups


def _encode_labels(labels: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Numbers from 0 in the order of the labels, in a tenth of the room that `np.unique` takes for them."""
    import numpy as np

    return np.searchsorted(np.unique(labels), labels).astype(np.int32)


def _build_jackknife_interval(
    rho: float, pairs: Counts, hits: Counts, codes: Counts, y: Counts, groups: Counts, level: float
) -> Interval | None:
    """The interval from the correlations without one cluster each; a block of clusters at a time."""
    import numpy as np

    count, width = int(groups.max()) + 1, pairs.size
    if count < 3 or abs(rho) > 1 - 1e-12:
        return None
    order = np.argsort(groups, kind="stable")
    groups, codes, y = groups[order], codes[order], y[order]
    block, without = max(1, MAX_CELLS // width), []
    for first in range(0, count, block):
        last = min(first + block, count)
        block_rows = slice(*np.searchsorted(groups, (first, last)))
        cells = (groups[block_rows] - first) * width + codes[block_rows]
        size = (last - first) * width
        gone = np.bincount(cells, minlength=size).reshape(-1, width)
        gone_hits = np.bincount(cells[y[block_rows] == 1], minlength=size).reshape(-1, width)
        without.append(_compute_rho(pairs - gone, hits - gone_hits))
    estimates = np.concatenate(without)
    if not bool((np.abs(estimates) < 1 - 1e-12).all()):  # false for what is not a number too
        return None
    z = np.arctanh(estimates)
    error = sqrt((count - 1) / count * float(((z - z.mean()) ** 2).sum()))
    half = t_quantile(count - 1, level) * error
    return Interval(tanh(atanh(rho) - half), tanh(atanh(rho) + half), "jackknife over clusters", level)


def _compute_rho(pairs: Counts, hits: Counts) -> Floats:
    """Spearman's correlation of each row of a table: pairs and marks at each value, values ascending."""
    import numpy as np

    n, marked = pairs.sum(axis=1), hits.sum(axis=1)
    middle = (n + 1)[:, None] / 2
    rank = np.cumsum(pairs, axis=1) - (pairs - 1) / 2 - middle  # mid-ranks, their mean taken off
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (pairs * rank * rank).sum(axis=1) * marked * (n - marked) / n
        return np.asarray((hits * rank).sum(axis=1) / np.sqrt(spread))

"""Rank correlation of marks that depend on each other within groups."""

from __future__ import annotations

from math import atanh, isfinite, sqrt, tanh
from typing import TYPE_CHECKING, Any

from ragauge.errors import UsageError
from ragauge.stats.intervals import t_quantile
from ragauge.stats.result import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Counts = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

CELLS = 2_000_000     # of the tables of one block of clusters: 16 MB of integers


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

    x, y, groups = _arrays(values, marks, clusters)
    if not x.size:
        return None, None
    codes = np.unique(x, return_inverse=True)[1]
    width = int(codes.max()) + 1
    pairs = np.bincount(codes, minlength=width)
    hits = np.bincount(codes[y == 1], minlength=width)
    rho = float(_rho(pairs[None], hits[None])[0])
    if not isfinite(rho):
        return None, None
    return rho, _jackknife(rho, pairs, hits, codes, y, groups, level)


def _arrays(values: Values, marks: Values, clusters: Clusters) -> tuple[npt.NDArray[Any], Counts, Counts]:
    """Values, marks and cluster numbers from 0, checked."""
    import numpy as np

    x, y = np.asarray(values), np.asarray(marks, dtype=np.int64)
    groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    if not x.size == y.size == groups.size:
        raise UsageError(f"values, marks and clusters must be as many, got {x.size}, {y.size}, {groups.size}.")
    if y.size and not bool(np.isin(y, (0, 1)).all()):
        raise UsageError("marks must be 0 or 1.")
    return x, y, groups


def _jackknife(
    rho: float, pairs: Counts, hits: Counts, codes: Counts, y: Counts, groups: Counts, level: float
) -> Interval | None:
    """The interval from the correlations without one cluster each; a block of clusters at a time."""
    import numpy as np

    count, width = int(groups.max()) + 1, pairs.size
    if count < 3 or abs(rho) > 1 - 1e-12:
        return None
    order = np.argsort(groups, kind="stable")
    groups, codes, y = groups[order], codes[order], y[order]
    block, without = max(1, CELLS // width), []
    for first in range(0, count, block):
        last = min(first + block, count)
        mine = slice(*np.searchsorted(groups, (first, last)))
        cells = (groups[mine] - first) * width + codes[mine]
        size = (last - first) * width
        gone = np.bincount(cells, minlength=size).reshape(-1, width)
        gone_hits = np.bincount(cells[y[mine] == 1], minlength=size).reshape(-1, width)
        without.append(_rho(pairs - gone, hits - gone_hits))
    found = np.concatenate(without)
    if not bool((np.abs(found) < 1 - 1e-12).all()):     # false for what is not a number too
        return None
    z = np.arctanh(found)
    error = sqrt((count - 1) / count * float(((z - z.mean()) ** 2).sum()))
    half = t_quantile(count - 1, level) * error
    return Interval(tanh(atanh(rho) - half), tanh(atanh(rho) + half), "jackknife over clusters", level)


def _rho(pairs: Counts, hits: Counts) -> Floats:
    """Spearman's correlation of each row of a table: pairs and marks at each value, values ascending."""
    import numpy as np

    n, marked = pairs.sum(axis=1), hits.sum(axis=1)
    middle = (n + 1)[:, None] / 2
    rank = np.cumsum(pairs, axis=1) - (pairs - 1) / 2 - middle      # mid-ranks, their mean taken off
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (pairs * rank * rank).sum(axis=1) * marked * (n - marked) / n
        return np.asarray((hits * rank).sum(axis=1) / np.sqrt(spread))

"""Many tests at once, and which of several settings may be the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragauge.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters

    Array = npt.NDArray[np.float64]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: the chance of even one false alarm among all of them stays below the level.

    adjusted p of rank i (smallest first, of m) = max over j <= i of min(1, (m − j + 1) p_(j))

    Args:
        p_values: of one family, in any order; they may depend on each other.

    Returns:
        The adjusted ones in the order given.

    Source: Holm (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, least = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = least
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p-values: of what stays below the level, that share is false on average.

    adjusted p of rank i (smallest first, of m) = min over j >= i of min(1, m p_(j) / j)

    Milder than `holm`: it bounds the share of false alarms among the alarms, not the chance of a single one. For
    looking over many metrics and segments; a verdict that blocks a release takes `holm`.

    Args:
        p_values: of one family, in any order; independent, or positively dependent as metrics of the same examples are.

    Returns:
        The adjusted ones in the order given; never below p, never above Holm's.

    Source: Benjamini and Hochberg (1995); dependence: Benjamini and Yekutieli (2001).

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    m, adjusted, least = len(p_values), [0.0] * len(p_values), 1.0
    for rank, index in zip(range(m, 0, -1), sorted(range(m), key=p_values.__getitem__, reverse=True), strict=True):
        least = min(least, p_values[index] * (m / rank))     # not below p by rounding
        adjusted[index] = least
    return adjusted


def may_be_best(
    values: npt.ArrayLike, clusters: Clusters | None = None, *, level: float = 0.95, draws: int = 2_000, seed: int = 0
) -> tuple[bool, ...]:
    """Which columns belong to the set that holds the one of the greatest true mean, with confidence `level`.

    Column i stays unless T_i = max over j of (m_j − m_i) / se_ij exceeds the `level` quantile of
    max over j of (e_j − e_i) / se_ij, where e are the means of the centred values times one normal draw an example.

    m_j    mean of column j
    se_ij  standard error of the mean difference of the pairs

    Args:
        values: shape (n, m), a row an example, a column a setting, larger is better; rows with a NaN are left out.
        clusters: shape (n,), labels; examples of one cluster share their draw, so that clusters stay whole.
        level: in (0, 1).
        draws: of the multiplier bootstrap.
        seed: the same seed gives the same set.

    Returns:
        One mark a column. All of them for fewer than two rows or clusters: nothing is known then. Equal columns stay or
        go together; one that another exceeds by the same amount everywhere goes.

    Raises:
        UsageError: values have no column, or level does not lie between 0 and 1.

    Assumes independent examples, or clusters. Source: Gupta (1965); Hsu (1984); the multiplier bootstrap:
    Chernozhukov, Chetverikov and Kato (2013).

    >>> may_be_best([[1.0, 0.0, 0.9], [1.0, 0.1, 1.0], [0.9, 0.0, 1.0], [1.0, 0.2, 0.9]])
    (True, False, True)
    """
    import numpy as np

    x = np.asarray(values, dtype=float)
    if x.ndim != 2 or not x.shape[1]:
        raise UsageError(f"may_be_best: values must be of shape (n, m) with m above 0, got {x.shape}.")
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
    whole = ~np.isnan(x).any(axis=1)
    labels = np.arange(len(x)) if clusters is None else np.asarray(clusters)
    x, labels = x[whole], labels[whole]
    names, groups = np.unique(labels, return_inverse=True)
    if names.size < 2:
        return tuple([True] * int(x.shape[1]))
    means = x.mean(axis=0)
    sums = np.zeros((names.size, x.shape[1]))
    np.add.at(sums, groups, (x - means) / len(x))
    sums *= np.sqrt(names.size / (names.size - 1))     # so that the multipliers' variance is the sample's
    noise = np.random.default_rng(seed).standard_normal((draws, names.size)) @ sums
    return tuple([_stays(i, means, sums, noise, level) for i in range(x.shape[1])])


def _stays(i: int, means: Array, sums: Array, noise: Array, level: float) -> bool:
    import numpy as np

    errors: npt.NDArray[Any] = np.sqrt(((sums - sums[:, [i]]) ** 2).sum(axis=0))
    gaps = means - means[i]
    alike = errors <= 1e-12 * max(1.0, float(np.abs(means).max()))
    if (alike & (gaps > 1e-9)).any():
        return False
    rivals = ~alike
    if not rivals.any():
        return True
    worst = (gaps[rivals] / errors[rivals]).max()
    null = ((noise[:, rivals] - noise[:, [i]]) / errors[rivals]).max(axis=1)
    return bool(worst <= np.quantile(null, level))

"""Many tests at once.

Which of several settings may be the best, at one look at the data or at several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import e, inf, log
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError

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
    adjusted, bound = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        bound = max(bound, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = bound
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
    m, adjusted, bound = len(p_values), [0.0] * len(p_values), 1.0
    for rank, index in zip(range(m, 0, -1), sorted(range(m), key=p_values.__getitem__, reverse=True), strict=True):
        bound = min(bound, p_values[index] * (m / rank))  # not below p by rounding
        adjusted[index] = bound
    return adjusted


@dataclass(frozen=True, slots=True)
class Rivalry:
    """How a setting stands against the one that speaks most against it."""

    rival: int | None  #: column of that one; None where nothing can be compared.
    difference: float = 0.0  #: mean of the rival less mean of this one, over the examples that both have.
    t: float = -inf  #: the difference in standard errors.
    critical: float = inf  #: the setting is out where t lies above this.

    @property
    def is_beaten(self) -> bool:
        """Whether another is better beyond doubt at the level asked for."""
        return self.t > self.critical


def find_possible_best(
    values: npt.ArrayLike,
    clusters: Clusters | None = None,
    *,
    level: float = 0.95,
    span: float = 0.0,
    draws: int = 2_000,
    seed: int = 0,
) -> tuple[bool, ...]:
    """Which columns belong to the set that holds the one of the greatest true mean, with confidence `level`.

    Column i stays unless T_i = max over j of (m_j − m_i) / se_ij exceeds the `level` quantile of
    max over j of (e_j − e_i) / se_ij, where e are the means of the centred values times one normal draw an example.

    m_j    mean of column j over the examples that i and j both have
    se_ij  standard error of the mean difference of the pairs

    Args:
        values: shape (n, m), a row an example, a column a setting, larger is better; NaN where there is no score.
        clusters: shape (n,), labels; examples of one cluster share their draw, so that clusters stay whole.
        level: in (0, 1).
        span: of possible scores, see `compare_rivals`.
        draws: of the multiplier bootstrap.
        seed: the same seed gives the same set.

    Returns:
        One mark a column. All of them for fewer than two rows or clusters: nothing is known then. Equal columns stay or
        go together; one that another exceeds by the same amount everywhere goes.

    Raises:
        UsageError: values have no column, or level does not lie between 0 and 1.

    Assumes independent examples, or clusters. Source: Gupta (1965); Hsu (1984); the multiplier bootstrap:
    Chernozhukov, Chetverikov and Kato (2013).

    >>> find_possible_best([[1.0, 0.0, 0.9], [1.0, 0.1, 1.0], [0.9, 0.0, 1.0], [1.0, 0.2, 0.9], [0.9, 0.1, 1.0]])
    (True, False, True)
    """
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
    rivals = compare_rivals(values, clusters=clusters, alpha=1 - level, span=span, draws=draws, seed=seed)
    return tuple([not rivalry.is_beaten for rivalry in rivals])


def compare_rivals(
    low: npt.ArrayLike,
    high: npt.ArrayLike | None = None,
    *,
    clusters: Clusters | None = None,
    alpha: float = 0.05,
    span: float = 0.0,
    draws: int = 2_000,
    seed: int = 0,
) -> tuple[Rivalry, ...]:
    """Each setting against all others: the test behind `find_possible_best`, with what it rests on.

    A score that is known only between bounds speaks against a setting by its upper bound and for a rival by its lower
    one, so that a setting is beaten only if it loses at its best.

    Args:
        low: shape (n, m), the least that each score may be, larger is better; NaN where an example has none.
        high: shape (n, m), the most that it may be; None = scores are known exactly.
        clusters: shape (n,), labels; drawn whole.
        alpha: chance that the best is beaten, in (0, 1).
        span: greatest less least possible score, where there are such; a pair that differs by all of it, against the
            rival, is added to the variance, since few examples may show none of a rare failure. 0 = none is added.
        draws: of the multiplier bootstrap.
        seed: of the draws.

    Nothing is beaten by a rival with which it shares so few examples (clusters) that even a sign test, all signs alike,
    would not reach alpha: below log2(1/alpha).

    The critical value is taken through Student's distribution with one less degree of freedom than there are examples
    (clusters), since standard errors are estimated.
    """
    import numpy as np

    lows = np.asarray(low, dtype=float)
    if lows.ndim != 2 or not lows.shape[1]:
        raise UsageError(f"may_be_best: values must be of shape (n, m) with m above 0, got {lows.shape}.")
    highs = lows if high is None else np.asarray(high, dtype=float)
    groups = np.arange(len(lows)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    size = int(groups.max()) + 1 if len(groups) else 0
    if size < 2:
        return tuple([Rivalry(None)] * lows.shape[1])
    noise = np.random.default_rng(seed).standard_normal((draws, size + 1))  # the last one is of the added pair
    return tuple([_find_rivalry(i, (lows, highs), groups, noise, alpha, span) for i in range(lows.shape[1])])


def compute_p_values_against(
    low: npt.ArrayLike,
    column: int,
    high: npt.ArrayLike | None = None,
    *,
    clusters: Clusters | None = None,
    span: float = 0.0,
    draws: int = 2_000,
    seed: int = 0,
) -> list[float | None]:
    """How surely each setting is better or worse than one of them, by the test of `compare_rivals`.

    p_j = the chance, were all rivals equal, of a greatest t above that of the pair, whose better one is the rival

    Args:
        low: shape (n, m), the least that each score may be, as of `compare_rivals`.
        column: the setting that others are compared with.
        high: shape (n, m), the most that it may be; None = scores are known exactly.
        clusters: shape (n,), labels; drawn whole.
        span: greatest less least possible score, as of `compare_rivals`.
        draws: of the multiplier bootstrap.
        seed: of the draws.

    Returns:
        One a column, one-sided: below alpha where the better of the pair beats the other at alpha. None for the column
        itself and where nothing can be compared.
    """
    import numpy as np

    lows = np.asarray(low, dtype=float)
    highs = lows if high is None else np.asarray(high, dtype=float)
    groups = np.arange(len(lows)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    size = int(groups.max()) + 1 if len(groups) else 0
    p_values: list[float | None] = [None] * lows.shape[1]
    if size < 2:
        return p_values
    noise = np.random.default_rng(seed).standard_normal((draws, size + 1))
    column_standing = _Standing((lows, highs), column, groups, size + 1, span)
    for j in range(lows.shape[1]):
        if j == column or not column_standing.units[j]:
            continue
        standing, rival = column_standing, j
        if column_standing.means[j] <= 0:
            standing, rival = _Standing((lows, highs), j, groups, size + 1, span), column
        p_values[j] = _compute_p_value(standing, rival, noise)
    return p_values


def _compute_p_value(standing: _Standing, rival: int, noise: npt.NDArray[np.float64]) -> float | None:
    """One-sided, that a setting is no better than a rival; None where nothing can be compared."""
    import numpy as np
    from scipy.special import ndtr, ndtri, stdtr

    if standing.units[rival] < 2:
        return None
    if standing.errors[rival] <= 1e-12:  # alike everywhere, or apart by the same everywhere
        return 0.0 if standing.means[rival] > 1e-9 else 1.0
    usable = np.flatnonzero((standing.units > 1) & (standing.errors > 1e-12))
    freedom = int(standing.units[usable].min()) - 1
    z = float(-ndtri(stdtr(freedom, -standing.means[rival] / standing.errors[rival])))
    null = (noise @ (standing.sums[:, usable] / standing.errors[usable])).max(axis=1)
    return min(1.0, max(float((null >= z).mean()), float(ndtr(-z))))


class _Standing:
    """The differences of all settings to one of them.

    Attributes:
        means: shape (m,), over the examples that both have.
        sums: shape (clusters + 1, m), what each cluster adds to the mean's error; the last row is of the added pair.
        units: shape (m,), clusters that both have.
        errors: shape (m,), standard errors of the means.
    """

    def __init__(
        self, bounds: tuple[Array, Array], i: int, groups: npt.NDArray[np.intp], rows: int, span: float
    ) -> None:
        import numpy as np

        low, high = bounds
        gaps = low - high[:, [i]]
        both = ~np.isnan(gaps)
        pairs = both.sum(axis=0)
        self.means: Array = np.where(both, gaps, 0).sum(axis=0) / np.maximum(pairs, 1)
        self.sums: Array = np.zeros((rows, low.shape[1]))  # a row a cluster, and one for the added pair
        np.add.at(self.sums, groups, np.where(both, gaps - self.means, 0) / np.maximum(pairs, 1))
        present = np.zeros((rows, low.shape[1]), dtype=bool)
        np.logical_or.at(present, groups, both)
        self.units: npt.NDArray[Any] = present.sum(axis=0)
        self.units[i] = 0
        self.sums *= np.sqrt(self.units / np.maximum(self.units - 1, 1))  # the multipliers' variance is the sample's
        if span:
            self.sums[-1] = (span + self.means) / np.maximum(pairs, 1)
        self.errors: npt.NDArray[Any] = np.sqrt((self.sums**2).sum(axis=0))


def _find_rivalry(
    i: int, bounds: tuple[Array, Array], groups: npt.NDArray[np.intp], noise: Array, alpha: float, span: float
) -> Rivalry:
    import numpy as np
    from scipy.special import ndtr, ndtri, stdtrit

    standing = _Standing(bounds, i, groups, noise.shape[1], span)
    means, errors, units = standing.means, standing.errors, standing.units
    is_same_everywhere = errors <= 1e-12 * max(1.0, float(np.abs(means).max()))
    usable = (units > 1) & (units >= -np.log2(alpha))
    constant = np.flatnonzero(usable & is_same_everywhere & (means > 1e-9))  # only where no pair was added
    if constant.size:
        j = int(constant[means[constant].argmax()])
        return Rivalry(j, float(means[j]), inf, 0.0)
    rivals = np.flatnonzero(usable & ~is_same_everywhere)
    if not rivals.size:
        return Rivalry(None)
    scaled = means[rivals] / errors[rivals]
    j = int(rivals[scaled.argmax()])
    t, freedom = float(scaled.max()), int(units[rivals].min()) - 1
    min_critical = float(-stdtrit(freedom, alpha))  # of one rival alone: the maximum over more is never below it
    if t <= min_critical:
        return Rivalry(j, float(means[j]), t, min_critical)
    null = (noise @ (standing.sums[:, rivals] / errors[rivals])).max(axis=1)
    normal = max(float(np.quantile(null, 1 - alpha)), float(ndtri(1 - alpha)))
    return Rivalry(j, float(means[j]), t, float(-stdtrit(freedom, ndtr(-normal))))


def spend_alpha(shares: Sequence[float], alpha: float = 0.05) -> tuple[float, ...]:
    """What each look at growing data may spend of the chance of an error.

    increment at look l = a(t_l) − a(t_(l−1)),  a(t) = alpha · ln(1 + (e − 1) t)

    Args:
        shares: t, the share of all examples seen at each look, increasing, the last one at most 1.
        alpha: chance of an error over all looks.

    Source: Lan and DeMets (1983), the spending function that resembles Pocock's boundary.

    >>> [round(one, 4) for one in spend_alpha([0.25, 0.5, 1.0])]
    [0.0179, 0.0131, 0.019]
    """
    total = [alpha * log(1 + (e - 1) * share) for share in shares]
    if any(b <= a for a, b in zip([0.0, *total], total, strict=False)) or total[-1] > alpha * (1 + 1e-12):
        raise UsageError(f"checkpoint shares must increase from above 0 to at most 1, got {list(shares)}.")
    return tuple(b - a for a, b in zip([0.0, *total], total, strict=False))


def plan_checkpoints(n: int, first: int = 30, factor: float = 1.5) -> tuple[int, ...]:
    """After how many of n examples to look: first, first·factor, … and n.

    A look that would leave less than a third of a step to n is left out.

    >>> plan_checkpoints(200)
    (30, 45, 68, 101, 152, 200)
    >>> plan_checkpoints(20)
    (20,)
    """
    numbers, size = [], float(first)
    while round(size) < n:
        numbers.append(round(size))
        size *= factor
    return (*numbers, n)

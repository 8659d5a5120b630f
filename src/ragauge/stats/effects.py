"""How large a difference is, apart from its unit: standardized differences, Cohen's h, wins and losses.

Effects of several sources together: a mean, and how far the true effects lie apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import asin, copysign, erfc, exp, inf, lgamma, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.stats.intervals import mean_interval
from ragauge.stats.weighted import Interval, estimate_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Floats = npt.NDArray[np.float64]


ROOT_2 = sqrt(2)
MAX_STEPS = 200  # of a search that takes five or so


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect size."""

    value: float  #: the estimate.
    interval: Interval  #: its confidence interval.
    n: int  #: pairs.


@dataclass(frozen=True, slots=True)
class WinTieLoss:
    """On how many pairs new is above base, level with it, and below it."""

    wins: int  #: pairs with new above base.
    ties: int  #: pairs that are level.
    losses: int  #: pairs with new below base.
    #: probability of superiority, (wins + ties/2) / pairs, weighted where there are weights; 0.5 = level.
    superiority: float
    interval: Interval | None  #: of the superiority; None for fewer than two pairs or clusters.


def standardized_difference(differences: Values, level: float = 0.95) -> Effect | None:
    """Cohen's d of pairs with Hedges' correction: the mean difference in standard deviations of the differences.

    g_z = J · m / s,  J = Γ(df/2) / (sqrt(df/2) Γ((df−1)/2)),  df = n − 1

    The interval holds the δ for which the observed t lies between the (1−level)/2 and (1+level)/2 quantiles of the
    noncentral t with mean δ·sqrt(n).

    Args:
        differences: shape (n,), new − base, any unit.
        level: confidence, in (0, 1).

    Returns:
        The effect; None for n < 3 (J needs two degrees of freedom) and for differences that are all alike.

    Assumes independent, normal differences; for others the estimate stands, the interval is approximate. It is relative
    to how much pairs differ, so it does not compare across eval sets: for that take the difference itself.
    Source: Cohen (1988); Hedges (1981); interval: Steiger and Fouladi (1997).

    >>> result = standardized_difference([1, 2, 3, 0, 2])
    >>> round(result.value, 3), round(result.interval.low, 3), round(result.interval.high, 3)
    (1.12, 0.087, 2.652)
    """
    import numpy as np

    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
    d = np.asarray(differences, dtype=float)
    paired = estimate_mean(d)
    if paired is None or d.size < 3 or paired.error <= 1e-12 * abs(paired.mean):
        return None
    df, root = d.size - 1, sqrt(d.size)
    t = paired.mean / paired.error
    correction = exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2)
    low, high = (_solve_noncentrality(t, df, share) / root for share in ((1 + level) / 2, (1 - level) / 2))
    return Effect(correction * t / root, Interval(low, high, "noncentral t", level), d.size)


def cohens_h(new: float, base: float) -> float:
    """Cohen's h: the difference of two rates on a scale where a step is equally hard to see everywhere.

    h = 2·arcsin(sqrt(new)) − 2·arcsin(sqrt(base)), in [−π, π]

    0.2 is small, 0.5 medium, 0.8 large, as Cohen put it; from 0.98 to 0.99 is h = 0.08, from 0.50 to 0.51 it is 0.02.

    Args:
        new: a rate, in [0, 1].
        base: a rate.

    Source: Cohen (1988), chapter 6; equals statsmodels' proportion_effectsize.

    >>> round(cohens_h(0.99, 0.98), 3)
    0.083
    """
    for name, rate in (("new", new), ("base", base)):
        if not 0 <= rate <= 1:
            raise UsageError(f"cohens_h: {name} must be a rate between 0 and 1, got {rate:g}.")
    return 2 * asin(sqrt(new)) - 2 * asin(sqrt(base))


def win_tie_loss(
    new: Values,
    base: Values,
    *,
    within: float = 0.0,
    weights: Values | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
) -> WinTieLoss | None:
    """Wins, ties and losses of pairs, and the probability that new is better on an example, ties counted half.

    superiority = Σ wᵢ sᵢ / Σ wᵢ,  sᵢ = 1 where newᵢ > baseᵢ, 1/2 where level, 0 where below

    Args:
        new: shape (n,), any unit.
        base: shape (n,), in the same order. For a metric that should be low swap the two.
        within: differences of at most this size are ties.
        weights: shape (n,), of the pairs, not negative; None = all alike. The counts are of pairs in any case.
        clusters: shape (n,), labels of what pairs depend on.
        level: of the interval, `mean_interval` of the sᵢ.

    Returns:
        The counts; None without pairs.

    Assumes independent pairs, or clusters.
    Source: Grissom and Kim, Effect Sizes for Research (2012), chapter 5.

    >>> result = win_tie_loss([1, 1, 0, 1], [0, 1, 1, 0])
    >>> result.wins, result.ties, result.losses, result.superiority
    (2, 1, 1, 0.625)
    """
    import numpy as np

    x, y = np.asarray(new, dtype=float), np.asarray(base, dtype=float)
    if x.shape != y.shape:
        raise UsageError(f"win_tie_loss: new and base differ in length: {x.size} and {y.size}. Join them first.")
    w = np.ones(x.size) if weights is None else np.asarray(weights, dtype=float)
    if not bool((w > 0).any()):
        return None
    d = x - y
    score = np.where(d > within, 1.0, np.where(d < -within, 0.0, 0.5))
    interval = mean_interval(score, kind="mean", weights=weights, clusters=clusters, level=level, bounds=(0, 1))
    wins, ties, losses = (int(((score == value) & (w > 0)).sum()) for value in (1.0, 0.5, 0.0))
    return WinTieLoss(wins, ties, losses, float((w * score).sum() / w.sum()), interval)


def _solve_noncentrality(t: float, df: float, share: float) -> float:
    """The δ of the noncentral t of which a share lies below t: by Newton's steps, halving where one leads astray."""
    weights, points = _build_chi_grid(t, df)
    spread = sqrt(1 + t * t / (2 * df))
    low, high = -inf, inf
    shift = t - NormalDist().inv_cdf(share) * spread  # right for a normal distribution
    for _ in range(MAX_STEPS):
        below, slope = _evaluate_noncentral_t(weights, points, shift)
        step = (below - share) / slope if slope > 0 else inf
        if abs(step) <= 1e-14 * (spread + abs(t)):
            break
        low, high = (shift, high) if below > share else (low, shift)
        near = shift + copysign(min(abs(step), 2 * spread), below - share)
        shift = near if low < near < high else (low + high) / 2
    return shift


def _evaluate_noncentral_t(weights: Floats, points: Floats, shift: float) -> tuple[float, float]:
    """P(T <= t) of the noncentral t with mean parameter `shift`, and how fast it falls as that grows.

    P(T <= t) = ∫ Φ(t·w − δ) f(w) dw,  f the density of sqrt(χ²/df)

    Equals scipy.special.nctdtr, which takes longer to load than everything else here to run.
    """
    import numpy as np

    z = points - shift
    normal = np.array([0.5 * erfc(-bound / ROOT_2) for bound in z.tolist()])
    return float((weights * normal).sum()), float((weights * np.exp(-z * z / 2)).sum()) / sqrt(2 * pi)


def _build_chi_grid(t: float, df: float) -> tuple[Floats, Floats]:
    """Weights that sum to 1, and t·w at them, for the integral over w = sqrt(χ²/df).

    Over u = log w the density is exp(df·(u − e^(2u)/2)), falling fast on both sides: there the trapezoidal rule is as
    exact as floats are, once its step resolves both the density and Φ(t·w − δ).
    """
    import numpy as np

    step = min(0.1, 0.5 / sqrt(2 * df + t * t))
    low = -10 / sqrt(2 * df) - 40 / df  # below e^-40 of the height; left of the mode it falls as exp(df·u) at least
    u = np.arange(low, 10 / sqrt(2 * df) + step, step)
    density = np.exp(df * (u - np.expm1(2 * u) / 2))
    return density / density.sum(), t * np.exp(u)


TOLERANCE = 1e-12  # of the spread, relative to the largest that is thinkable
MAX_HALVINGS = 200  # 2^-200 of it is far below CLOSE


class PooledEffect(NamedTuple):
    """Effects of several sources together."""

    mean: float  #: over sources, each weighted by 1 / (its variance + tau²).
    error: float  #: standard error of that mean.
    tau: float  #: standard deviation of the true effects between sources.
    sources: int  #: how many.

    @property
    def spread(self) -> float:
        """Standard deviation of a new source's effect around the mean: sqrt(tau² + error²)."""
        return sqrt(self.tau**2 + self.error**2)


def pool_effects(effects: Sequence[float], variances: Sequence[float]) -> PooledEffect:
    """A random-effects mean by Paule and Mandel.

    tau² is the least value, at least 0, at which Σ w (y − m)² = k − 1, with w = 1 / (v + tau²) and m = Σ w y / Σ w

    Args:
        effects: shape (k,), y; one a source.
        variances: shape (k,), v, each above 0: how far chance moved the effect.

    Source: Paule and Mandel (1982), J. Res. Natl. Bur. Stand. 87; the estimate that Veroniki et al. (2016) advise.

    >>> result = pool_effects([0.1, 0.2, 0.6], [0.01, 0.01, 0.01])
    >>> round(result.mean, 3), round(result.tau, 3), round(result.spread, 3)
    (0.3, 0.245, 0.289)
    """
    if not effects or len(effects) != len(variances) or min(variances) <= 0:
        raise UsageError("pooled: effects and variances must be equally long, at least one, and variances above 0.")
    low, high = 0.0, (max(effects) - min(effects)) ** 2 or 1.0
    if _compute_excess(effects, variances, 0.0) > 0:
        largest = high = high * len(effects)
        for _ in range(MAX_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _compute_excess(effects, variances, middle) > 0 else (low, middle)
            if high - low <= TOLERANCE * largest:
                break
    mean, total = _compute_weighted_mean(effects, variances, low)
    return PooledEffect(mean, total**-0.5, sqrt(low), len(effects))


def _compute_excess(effects: Sequence[float], variances: Sequence[float], tau2: float) -> float:
    mean, _ = _compute_weighted_mean(effects, variances, tau2)
    return sum((y - mean) ** 2 / (v + tau2) for y, v in zip(effects, variances, strict=True)) - (len(effects) - 1)


def _compute_weighted_mean(effects: Sequence[float], variances: Sequence[float], tau2: float) -> tuple[float, float]:
    """The weighted mean and the sum of the weights."""
    weights = [1 / (v + tau2) for v in variances]
    total = sum(weights)
    return sum(w * y for w, y in zip(weights, effects, strict=True)) / total, total

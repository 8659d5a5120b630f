"""How many pairs a comparison needs, what it can see with those it has, and how likely it is to see it.

Before a run take the deviation of the differences (or the share of examples that change) from a pilot; after it
`stats.detectable_difference` takes its own pairs. Power is for a true effect of the size given, never the one that was
observed: that would only be the p-value again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import t_quantile
from ragauge.stats.textbook_tests import MAX_MID_P_SHARE
from ragauge.stats.weighted import estimate_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters, Values

    Array = npt.NDArray[np.float64]

Sides = Literal[1, 2]
MAX_PAIRS = 1_000_000_000
WINDOW = 9.0  # standard deviations of the number of pairs that change: what lies beyond has no weight


def power_of_mean(
    effect: float, deviation: float, n: float, *, alpha: float = 0.05, sides: Sides = 2, design_effect: float = 1.0
) -> float:
    """The chance that the t test of n pairs finds a mean difference of this size.

    P(T > t) (+ P(T < −t) for two sides)

    T   noncentral t with n' − 1 degrees of freedom and noncentrality effect·sqrt(n') / deviation
    t   the 1 − alpha/sides quantile of Student's t with n' − 1 degrees of freedom
    n'  n / design_effect, at least 2

    Args:
        effect: the true mean difference, in the metric's unit; its sign does not matter.
        deviation: standard deviation of the differences of pairs (not of the scores), above 0.
        n: pairs.
        alpha: level of the test.
        sides: 1 or 2; a gate's max_drop is one-sided.
        design_effect: from `design_effect_of`; 1 = independent pairs.

    Returns:
        The power, in (0, 1). Exact for normal differences, also for small n; within 3 points for others from n = 50 on.

    Source: Cohen (1988), chapter 2; equals statsmodels' TTestPower.

    >>> round(power_of_mean(0.05, 0.2, 128), 3)
    0.802
    """
    _check_arguments(alpha, sides, deviation=deviation, design_effect=design_effect, n=n - 1)
    effective = max(2.0, n / design_effect)
    return _power_of_t(abs(effect) / deviation * sqrt(effective), effective - 1, alpha, sides)


def detectable_mean(
    deviation: float, n: float, *, power: float = 0.8, alpha: float = 0.05, sides: Sides = 2, design_effect: float = 1.0
) -> float:
    """The least mean difference that n pairs find with this power: `power_of_mean` solved for the effect.

    Args:
        deviation: standard deviation of the differences, from a pilot.
        n: pairs, at least 2.
        power: chance to find it, in (alpha, 1).
        alpha: level of the test.
        sides: 1 or 2.
        design_effect: from `design_effect_of`.

    Returns:
        The difference, in the metric's unit, above 0.

    >>> round(detectable_mean(0.2, 128), 3)
    0.05
    """
    _check_arguments(alpha, sides, deviation=deviation, design_effect=design_effect, n=n - 1)
    effective = max(2.0, n / design_effect)
    return find_least_shift(effective - 1, power, alpha, sides) * deviation / sqrt(effective)


def pairs_for_mean(
    effect: float,
    deviation: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: Sides = 2,
    design_effect: float = 1.0,
) -> int:
    """The least number of pairs that finds this mean difference with this power.

    Args:
        effect: the mean difference worth finding, not 0.
        deviation: standard deviation of the differences, from a pilot.
        power: chance to find it.
        alpha: level of the test.
        sides: 1 or 2.
        design_effect: from `design_effect_of`.

    Returns:
        n, at least 2.

    >>> pairs_for_mean(0.05, 0.2)
    128
    """
    if effect == 0 or not isfinite(effect):
        raise UsageError(f"effect must be a nonzero number, got {effect:g}. No sample can detect a zero difference.")

    def compute_power(n: int) -> float:
        return power_of_mean(effect, deviation, n, alpha=alpha, sides=sides, design_effect=design_effect)

    return _find_least_pairs(compute_power, power)


def power_of_rate(
    gained: float, lost: float, n: float, *, alpha: float = 0.05, sides: Sides = 2, design_effect: float = 1.0
) -> float:
    """The chance that McNemar's test (`textbook_tests.mcnemar_test`) of n pairs finds a difference between two rates.

    Σ_d P(D = d) · P(reject | d)

    D  pairs that change, binomial(n', gained + lost); those gained of d are binomial(d, gained / (gained + lost))

    Args:
        gained: share of all examples that turn from 0 to 1, in [0, 1].
        lost: share that turns from 1 to 0; the difference of the rates is gained − lost.
        n: pairs.
        alpha: level of the test.
        sides: 1 = a change in the direction that the shares have.
        design_effect: from `design_effect_of`; n' = n / design_effect, rounded down.

    Returns:
        The power, in [0, 1]; exact for the test as it is done.

    Source: the unconditional power of McNemar's test, Miettinen (1968), Duffy (1984), with mid-p for the rejection.

    >>> round(power_of_rate(0.05, 0.12, 300), 3)
    0.851
    """
    import numpy as np
    from scipy.special import bdtr, bdtrc, bdtrik, gammaln, xlog1py, xlogy

    changed = gained + lost
    _check_arguments(alpha, sides, design_effect=design_effect, n=n - 1)
    if not (gained >= 0 and lost >= 0 and changed <= 1):
        raise UsageError(f"gained and lost must be shares of all examples, got {gained:g} and {lost:g}.")
    trials, tail = int(n / design_effect), alpha / sides
    middle, half = trials * changed, WINDOW * sqrt(trials * changed * (1 - changed)) + 1
    d = np.arange(max(1, int(middle - half)), min(trials, ceil(middle + half)) + 1)
    if not d.size or changed == 0:
        return 0.0
    choose = gammaln(trials + 1) - gammaln(d + 1) - gammaln(trials - d + 1)
    chance = np.exp(choose + xlogy(d, changed) + xlog1py(trials - d, -changed))
    last = np.floor(np.nan_to_num(bdtrik(tail, d, 0.5), nan=-1.0)) - 1  # a start below: then the last that rejects
    for _ in range(3):
        more = last + 1
        middle_p = (_fair_coin_cdf(bdtr, more, d) + _fair_coin_cdf(bdtr, more - (d <= MAX_MID_P_SHARE * trials), d)) / 2
        last = np.where((middle_p <= tail) & (more <= d), more, last)
    fewer = min(gained, lost) / changed
    power = np.where(last >= 0, bdtr(np.maximum(last, 0), d, fewer), 0.0)
    if sides == 2:
        power = power + np.where(last >= 0, bdtrc(np.maximum(d - last - 1, 0), d, fewer), 0.0)
    return float((chance * power).sum())


def detectable_rate(
    changed: float, n: float, *, power: float = 0.8, alpha: float = 0.05, sides: Sides = 2, design_effect: float = 1.0
) -> float | None:
    """The least difference of two rates that n pairs find with this power, if this share of examples changes.

    Args:
        changed: share of the examples whose 0 or 1 differs between the runs, either way, from a pilot; in (0, 1].
        n: pairs, at least 2.
        power: chance to find it.
        alpha: level of the test.
        sides: 1 or 2.
        design_effect: from `design_effect_of`.

    Returns:
        gained − lost, above 0 and at most `changed`; None where even a change all in one direction is not found.

    >>> round(detectable_rate(0.1, 500), 3)
    0.039
    """

    def compute_power(effect: float) -> float:
        up, down = (changed + effect) / 2, max(0.0, (changed - effect) / 2)
        return power_of_rate(up, down, n, alpha=alpha, sides=sides, design_effect=design_effect)

    if not changed > 0 or compute_power(changed) < power:
        return None
    return _find_root(compute_power, power, 0.0, changed)


def pairs_for_rate(
    gained: float, lost: float, *, power: float = 0.8, alpha: float = 0.05, sides: Sides = 2, design_effect: float = 1.0
) -> int:
    """The number of pairs that finds this difference of two rates with this power.

    Args:
        gained: share of all examples that turn from 0 to 1.
        lost: share that turns from 1 to 0; other than gained.
        power: chance to find it.
        alpha: level of the test.
        sides: 1 or 2.
        design_effect: from `design_effect_of`.

    Returns:
        n. Counts make power rise in small steps back and forth; n is the first that reaches it on the way of halving.

    >>> pairs_for_rate(0.05, 0.12)
    263
    """
    if gained == lost:
        raise UsageError(f"gained and lost must differ, got {gained:g} twice. No sample can detect a zero difference.")

    def compute_power(n: int) -> float:
        return power_of_rate(gained, lost, n, alpha=alpha, sides=sides, design_effect=design_effect)

    return _find_least_pairs(compute_power, power)


def design_effect_of(differences: Values, clusters: Clusters, weights: Values | None = None) -> float | None:
    """How many times more pairs a clustered comparison needs than one of independent pairs.

    (clustered standard error / standard error)²; for clusters of m with correlation ρ within them about 1 + (m − 1)ρ

    Args:
        differences: shape (n,), new − base, of a pilot that is clustered as the run will be.
        clusters: shape (n,), labels.
        weights: shape (n,), not negative; None = all alike.

    Returns:
        The factor, above 0, usually above 1; None for fewer than two clusters or differences that are all alike. From
        few clusters it is itself uncertain by a factor of about 1 ± sqrt(2 / clusters).

    Source: Kish, Survey Sampling (1965), 8.2.

    >>> design_effect_of([1, 1, 1, 3, 3, 3, 2, 2, 2], list("aaabbbccc"))
    4.0
    """
    grouped, alone = estimate_mean(differences, weights, clusters), estimate_mean(differences, weights)
    if grouped is None or alone is None or alone.error == 0:
        return None
    return round((grouped.error / alone.error) ** 2, 12)


def _power_of_t(shift: float, df: float, alpha: float, sides: Sides) -> float:
    """The chance that t with this noncentrality lies beyond the critical value."""
    from scipy.special import nctdtr

    critical = t_quantile(df, 1 - 2 * alpha / sides)
    power = 1 - float(nctdtr(df, shift, critical))
    return power + float(nctdtr(df, shift, -critical)) if sides == 2 else power


def find_least_shift(df: float, power: float, alpha: float, sides: Sides) -> float:
    """The noncentrality that reaches the power."""
    _check_arguments(alpha, sides)
    _check_power(power, alpha)
    top = 1.0
    while _power_of_t(top, df, alpha, sides) < power:
        top *= 2
    return _find_root(lambda shift: _power_of_t(shift, df, alpha, sides), power, 0.0, top)


def _find_least_pairs(compute_power: Callable[[int], float], power: float) -> int:
    """The least n of at least 2 that reaches the power, by doubling and halving."""
    _check_power(power, 0.0)
    top = 2
    while compute_power(top) < power:
        top *= 2
        if top > MAX_PAIRS:
            raise UsageError(f"the effect must be larger: {MAX_PAIRS:,} pairs cannot detect it with power {power:g}.")
    low = top // 2
    while top - low > 1:
        middle = (low + top) // 2
        low, top = (low, middle) if compute_power(middle) >= power else (middle, top)
    return top


def _find_root(compute_power: Callable[[float], float], target: float, low: float, high: float) -> float:
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if compute_power(middle) >= target else (middle, high)
    return high


def _fair_coin_cdf(bdtr: Callable[..., Array], k: Array, n: npt.NDArray[np.int64]) -> Array:
    """P(B <= k) of a fair coin, 0 for k below 0."""
    import numpy as np

    return np.where(k >= 0, bdtr(np.clip(k, 0, n), n, 0.5), 0.0)


def _check_power(power: float, alpha: float) -> None:
    if not alpha < power < 1:
        raise UsageError(f"power must lie between {alpha:g} and 1, got {power:g}. 0.8 is customary.")


def _check_arguments(alpha: float, sides: int, **positive: float) -> None:
    if not 0 < alpha < 0.5 or sides not in (1, 2):
        raise UsageError(f"alpha must lie between 0 and 0.5 and sides be 1 or 2, got {alpha:g} and {sides}.")
    for name, value in positive.items():
        if not (value > 0 and isfinite(value)):
            if name == "n":
                raise UsageError(f"n must be above 1, got {value + 1:g}. A single pair has no spread.")
            raise UsageError(f"{name} must be above 0, got {value:g}.")

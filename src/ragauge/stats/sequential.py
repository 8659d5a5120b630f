"""Whether a score fell, asked after every new value: alarms that are seldom false however often one looks.

A bet against the claim that the mean is still at least m: whoever bets wins nothing on average while the claim holds,
so that wealth of K / α is seen with a chance of at most α / K, at any time (Ville's inequality).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, fsum, log, sqrt
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.stats.moments import Moments

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Values

    Array = npt.NDArray[np.float64]

N_BETS = 10  # λ, log-spaced
SMALLEST_BET_SHARE = 0.02  # of the largest
BASELINE_DOUBT_SHARE = 0.25  # of a series' chance of a false alarm: that its baseline is taken for higher than it is
UNSEEN_VARIANCE = 0.22  # with it a baseline without one failure is doubted as much as Bernoulli's exact bound does
MAX_DOUBT_RATIO = 2.0  # the allowed drop times this: more doubt about a baseline is not enough data
SOON, SLOWLY = 10, 0.2  # how bets are spread over 10 to 100,000 scores: nearly as if one knew how many come
MAX_LOSS_SHARE = 0.9  # of what a score of 1 could lose: the wealth never reaches 0
MAX_EVIDENCE = 1e290  # the greatest M that is told: a week of nothing but failures would end above any number


@dataclass(frozen=True, slots=True)
class DropReference:
    """What scores are held to."""

    m: float | None  #: the mean that they must not fall below; None = the baseline is not known well enough.
    baseline: float | None  #: its mean, Hájek's for weighted values; None where there are fewer than two values.
    error: float | None  #: the standard error of the baseline.
    needed: int  #: how many values like these it takes; 0 where fewer than two say nothing of it.
    certain: bool = True  #: whether m lets the scores lose no more than is allowed, without doubt about the baseline.


def drop_reference(
    values: Values, max_drop: float, weights: Values | None = None, false_alarm: float = 0.05
) -> DropReference:
    """The mean that scores must not fall below: baseline · (1 − max_drop), or less where the baseline is in doubt.

    See `compute_reference`.

    Args:
        values: scores of the baseline, shape (n,), in [0, 1], higher better.
        max_drop: the share of the baseline that may be lost, in (0, 1).
        weights: shape (n,), above 0; how many each stands for.
        false_alarm: α / K, the chance of a false alarm that this series has, in (0, 1).

    Raises:
        UsageError: max_drop outside (0, 1).

    >>> drop_reference([0.8, 1.0] * 500, 0.1).m
    0.81
    >>> few = drop_reference([0, 1] * 5, 0.1)
    >>> few.m, few.baseline, few.needed
    (None, 0.5, 445)
    """
    if not 0 < max_drop < 1:
        raise UsageError(f"max_drop must be above 0 and below 1, got {max_drop!r}. Write 0.03 for 3 %.")
    moments = Moments.of(values, weights)
    return compute_reference(moments, (moments.mean or 0.0) * max_drop, false_alarm)


def compute_reference(moments: Moments, allowed: float, false_alarm: float) -> DropReference:
    """The mean that scores must not fall below: the baseline less what it may lose, or less its doubt if that is more.

    A baseline that is too high by what may be lost alarms while nothing has changed. Its doubt is a one-sided bound
    that leaves a quarter of `false_alarm` to that (Bernstein's, with the variance of failures too rare to have been
    seen). It counts as known when its standard error is at most half of what may be lost, and its doubt at most twice.

    Args:
        moments: of the baseline's scores, in [0, 1], higher better.
        allowed: what may be lost, in the scores' unit.
        false_alarm: α / K, the chance of a false alarm that the series has, in (0, 1).
    """
    mean, error = moments.mean, moments.error
    if mean is None or error is None:
        return DropReference(None, None, None, 0, certain=False)
    doubt = _compute_doubt(moments, moments.n, false_alarm)
    enough = 0 < allowed < mean and error <= allowed / 2 and doubt <= MAX_DOUBT_RATIO * allowed
    m = mean - max(allowed, doubt)
    needed = _count_needed(moments, allowed, false_alarm)
    return DropReference(m if enough and m > 0 else None, mean, error, needed, certain=enough and doubt <= allowed)


def _compute_doubt(moments: Moments, n: float, false_alarm: float) -> float:
    """How far below the mean of n values like these the true mean may lie."""
    bits = log(1 / (BASELINE_DOUBT_SHARE * false_alarm))
    effective = n * moments.w**2 / (moments.w2 * moments.n)  # of equal weights as many
    variance = (moments.error or 0.0) ** 2 * moments.w**2 / moments.w2
    return sqrt(2 * bits * (variance + UNSEEN_VARIANCE * bits / effective) / effective) + bits / (3 * effective)


def _count_needed(moments: Moments, allowed: float, false_alarm: float) -> int:
    """How many values like these it takes until a baseline counts as known."""
    if allowed <= 0:
        return 0
    low = max(2, ceil(moments.n * (2 * (moments.error or 0.0) / allowed) ** 2))
    high = low
    while _compute_doubt(moments, high, false_alarm) > MAX_DOUBT_RATIO * allowed:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high)
            if _compute_doubt(moments, middle, false_alarm) > MAX_DOUBT_RATIO * allowed
            else (low, middle)
        )
    return high


def alarm_limit(false_alarms: float, series: int = 1) -> float:
    """The evidence that raises an alarm: K / α, for a chance of at most α that any of K series alarms falsely.

    Args:
        false_alarms: α, in (0, 1), over a whole period.
        series: K, monitors × segments, at least 1.

    >>> alarm_limit(0.05, 20)
    400.0
    """
    if not 0 < false_alarms < 1 or series < 1:
        raise UsageError(f"false alarms must be in (0, 1) and series at least 1, got {false_alarms!r} and {series!r}.")
    return series / false_alarms


@dataclass(frozen=True, slots=True)
class DropEvidence:
    """The evidence of one series that its mean fell below m, within one period of J days.

    M(t) = Σ_{s ≤ t} w_s E_s(t) + (1 − Σ_{s ≤ t} w_s),  E_s(t) = mean over λ of Π_{i = s..t} (1 + λ wᵢ (m − xᵢ))

    s     the scores before which a bet begins that the mean fell there: every score
    w_s   its share of what is bet in a period, 1 in all. One half is for the first scores of days, 1 / J of it each. Of
          the other half (1 + n / 10)^−0.2 is left for what comes behind n scores of the period, however many come
    λ     10 values, log-spaced from 0.02 L to L = 0.9 / (1 − m)
    x     scores in [0, 1], higher better; a score that failed counts 1, which speaks against alarm
    wᵢ    p_min / p: the smallest chance of any to be scored, over that of this one; in (0, 1]

    While the mean is at least m, M is 1 on average, and reaches K / α with a chance of at most α / K: the shares are
    known before the scores that they bet on. After J days a new period begins with a new object. Values are frozen:
    each day and each score gives a new one, and scores that come in several calls give exactly what one call does.

    Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting; Shin, Ramdas and
    Rinaldo (2024), E-detectors: their sum over restarts (e-SR), with shares that bound false alarms in a period, where
    equal ones bound how often they come; the likeliest restart by Page (1954).

    >>> evidence = DropEvidence(0.9, 30).next_day()
    >>> evidence.value, evidence.after([0.0] * 12)[0].value > alarm_limit(0.05)
    (1.0, True)
    """

    m: float  #: in (0, 1).
    days: int  #: J, at least 1.
    whole: float = 1.0  #: what is bet in the period, in (0, 1]: less than 1 where an earlier object has bet the rest.
    begun: int = 0  #: days that have begun.
    wealth: tuple[float, ...] = (0.0,) * N_BETS  #: by λ: Σ w_s Π.
    best: tuple[float, ...] = (1.0,) * N_BETS  #: by λ: the greatest Π of any s, as Page's sum takes it; at least 1.
    since: tuple[int, ...] = (0,) * N_BETS  #: by λ: how many scores were taken before that s.
    n: int = 0  #: scores that were taken.

    def __post_init__(self) -> None:
        if not 0 < self.m < 1:
            raise UsageError(f"the mean that scores are compared with must be above 0 and below 1, got {self.m!r}.")
        if self.days < self.begun or self.days < 1:
            raise UsageError(f"a period must have at least 1 day and no fewer than have begun, got {self.days!r}.")

    @property
    def bets(self) -> Array:
        """The λ, ascending, shape (10,)."""
        import numpy as np

        largest = MAX_LOSS_SHARE / (1 - self.m)
        return np.geomspace(SMALLEST_BET_SHARE * largest, largest, N_BETS)

    @property
    def is_over(self) -> bool:
        """Whether all days of the period have begun."""
        return self.begun == self.days

    def next_day(self) -> DropEvidence:
        """The next day begins, and a bet that the mean fell from it on.

        Raises:
            UsageError: the period is over.
        """
        if self.is_over:
            raise UsageError(f"the period of {self.days} days is over. Start a new one.")
        share = self.whole / 2 / self.days
        return replace(self, begun=self.begun + 1, wealth=tuple(amount + share for amount in self.wealth))

    def after(self, scores: Values, weights: Values | None = None) -> tuple[DropEvidence, Array]:
        """The evidence with more scores of the latest day, and its course: M after each of them, shape (n,).

        Args:
            scores: shape (n,), in [0, 1], in order of arrival; NaN = failed.
            weights: shape (n,), in (0, 1]; None = all 1.

        Raises:
            UsageError: no day has begun, or a value is outside its range.
        """
        import numpy as np

        if not self.begun:
            raise UsageError("no day of the period has started. Call next_day first.")
        factors = 1 + np.outer(self._compute_edges(scores, weights), self.bets)
        taken, course = len(factors), np.empty(len(factors))
        unspent = self.whole / 2 * compute_later_share(np.arange(self.n, self.n + taken + 1))
        shares, waiting = unspent[:-1] - unspent[1:], self._waiting_share
        wealth, best, since = np.array(self.wealth), np.array(self.best), np.array(self.since)
        for index, factor in enumerate(factors):
            since[best <= 1] = self.n + index
            wealth = np.minimum((wealth + shares[index]) * factor, MAX_EVIDENCE)
            best = np.minimum(np.maximum(best, 1) * factor, MAX_EVIDENCE)
            course[index] = wealth.mean() + waiting + unspent[index + 1]
        return replace(
            self,
            n=self.n + taken,
            wealth=tuple(wealth.tolist()),
            best=tuple(best.tolist()),
            since=tuple(since.tolist()),
        ), course

    def _compute_edges(self, scores: Values, weights: Values | None) -> Array:
        """What each score adds to a bet of 1, w (m − x).

        Raises:
            UsageError: a value is outside its range.
        """
        import numpy as np

        x = np.asarray(scores, dtype=float)
        x = np.where(np.isnan(x), 1.0, x)
        w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
        if x.size and (x.min() < 0 or x.max() > 1):
            raise UsageError(f"scores must be in [0, 1], got {x.min():g} to {x.max():g}.")
        if w.shape != x.shape or (w.size and (w.min() <= 0 or w.max() > 1)):
            raise UsageError("weights must be one per score, above 0 and at most 1: p_min / p.")
        return np.asarray(w * (self.m - x))

    @property
    def value(self) -> float:
        """M now; `whole` before the first day."""
        return fsum(self.wealth) / N_BETS + self.remaining

    @property
    def remaining(self) -> float:
        """What is not bet yet, in [0, 1]."""
        return self._waiting_share + self.whole / 2 * float(compute_later_share(self.n))

    @property
    def _waiting_share(self) -> float:
        """What days bet that have not begun."""
        return self.whole / 2 * (self.days - self.begun) / self.days

    @property
    def likeliest_start(self) -> int:
        """How many of the scores that were taken came before the drop most likely began."""
        best = max(self.best)
        return self.n if best <= 1 else self.since[self.best.index(best)]


def compute_later_share(n: Any) -> Any:
    """The share of what scores bet, whichever day they are of, that is left for those behind n; n may be an array.

    >>> compute_later_share(0), round(compute_later_share(1000), 2)
    (1.0, 0.4)
    """
    return (1 + n / SOON) ** -SLOWLY

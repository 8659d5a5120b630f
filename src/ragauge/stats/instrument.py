"""How far a judge's mean may lie from what people would say, on data from a source that nobody labelled.

A judge's mean is not people's: where everything is right it gives less than 1, where nothing is more than 0, and both
ends differ from source to source. From labelled sources a random-effects estimate says where the ends lie on a new one.
The true share is then every share for which such a judge could have given the mean that it gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import copysign, inf, sqrt
from typing import NamedTuple

from ragauge.errors import UsageError
from ragauge.stats.quantiles import t_quantile
from ragauge.stats.result import Interval

FEWEST_SOURCES = 3     # a spread between sources and a prediction from it need k − 2 >= 1 degrees of freedom
WITH_ERROR = ", with the judge's error"
CLOSE = 1e-12          # of the spread, relative to the largest that is thinkable
MOST_HALVINGS = 200    # 2^-200 of it is far below CLOSE


class Pooled(NamedTuple):
    """Effects of several sources together.

    Attributes:
        mean: over sources, each weighted by 1 / (its variance + tau²).
        error: standard error of that mean.
        tau: standard deviation of the true effects between sources.
        sources: how many.
    """

    mean: float
    error: float
    tau: float
    sources: int

    @property
    def spread(self) -> float:
        """Standard deviation of a new source's effect around the mean: sqrt(tau² + error²)."""
        return sqrt(self.tau**2 + self.error**2)


def pooled(effects: Sequence[float], variances: Sequence[float]) -> Pooled:
    """A random-effects mean by Paule and Mandel.

    tau² is the least value, at least 0, at which Σ w (y − m)² = k − 1, with w = 1 / (v + tau²) and m = Σ w y / Σ w

    Args:
        effects: shape (k,), y; one a source.
        variances: shape (k,), v, each above 0: how far chance moved the effect.

    Source: Paule and Mandel (1982), J. Res. Natl. Bur. Stand. 87; the estimate that Veroniki et al. (2016) advise.

    >>> found = pooled([0.1, 0.2, 0.6], [0.01, 0.01, 0.01])
    >>> round(found.mean, 3), round(found.tau, 3), round(found.spread, 3)
    (0.3, 0.245, 0.289)
    """
    if not effects or len(effects) != len(variances) or min(variances) <= 0:
        raise UsageError("pooled: effects and variances must be as many, at least one, and variances above 0.")
    low, high = 0.0, (max(effects) - min(effects)) ** 2 or 1.0
    if _excess(effects, variances, 0.0) > 0:
        most = high = high * len(effects)
        for _ in range(MOST_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _excess(effects, variances, middle) > 0 else (low, middle)
            if high - low <= CLOSE * most:
                break
    mean, total = _weighted(effects, variances, low)
    return Pooled(mean, total**-0.5, sqrt(low), len(effects))


def _excess(effects: Sequence[float], variances: Sequence[float], tau2: float) -> float:
    mean, _ = _weighted(effects, variances, tau2)
    return sum((y - mean) ** 2 / (v + tau2) for y, v in zip(effects, variances, strict=True)) - (len(effects) - 1)


def _weighted(effects: Sequence[float], variances: Sequence[float], tau2: float) -> tuple[float, float]:
    """The weighted mean and the sum of the weights."""
    weights = [1 / (v + tau2) for v in variances]
    total = sum(weights)
    return sum(w * y for w, y in zip(weights, effects, strict=True)) / total, total


@dataclass(frozen=True, slots=True)
class JudgeError:
    """What a judge's mean is on a new source where all is right and where nothing is, and how far both may be off.

    Attributes:
        right: its mean where people call everything right; 1 for a judge without error.
        wrong: its mean where people call nothing right; 0 for a judge without error.
        right_spread: standard deviation of that for a new source.
        wrong_spread: likewise.
        together: correlation of both between sources, in [0, 1].
        paired: standard deviation, between sources, of the difference that it sees between two systems between which
            people see none, were every example changed.
        lost: standard deviation, between sources, of what it sees too little or too much of a true difference.
        sources: on how many it rests, at least 3.
        origin: whose labels, in words: "9 public sets of labels".
    """

    right: float
    wrong: float
    right_spread: float
    wrong_spread: float
    together: float
    paired: float
    lost: float
    sources: int
    origin: str = ""

    def factor(self, level: float) -> float:
        """Of a spread: Student's t of k − 2 degrees of freedom, as for the prediction of one more source.

        Source: Higgins, Thompson and Spiegelhalter (2009), J. R. Stat. Soc. A 172.
        """
        return t_quantile(max(1, self.sources - 2), level)

    def mirrored(self) -> JudgeError:
        """That of 1 less the metric, as unsupported is 1 less faithfulness."""
        return replace(
            self, right=1 - self.wrong, wrong=1 - self.right,
            right_spread=self.wrong_spread, wrong_spread=self.right_spread,
        )     # fmt: skip


def widened(interval: Interval, mean: float, error: JudgeError) -> Interval:
    """The interval of a mean in [0, 1] by a judge, with the judge's error: which true shares could have given it.

    s belongs to it where |mean − a(s)| <= sqrt(h² + t² · v(s)), with a(s) = wrong + (right − wrong) · s and
    v(s) = s² · rightₛ² + (1 − s)² · wrongₛ² + 2 s (1 − s) · together · rightₛ · wrongₛ

    h is the sampling interval's half on that side, t as `JudgeError.factor`. The whole sampling interval belongs to it
    too. This is calibration in reverse (Eisenhart 1939, Fieller 1954) with the ends as random effects of sources, so
    no share of right answers is taken for likelier than another.

    Args:
        interval: of the mean, by sampling alone.
        mean: within it.
        error: of the judge on this metric.

    >>> perfect = JudgeError(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9)
    >>> widened(Interval(0.6, 0.8, "t"), 0.7, perfect)
    Interval(low=0.6, high=0.8, method="t, with the judge's error", level=0.95)
    >>> wide = widened(Interval(0.66, 0.74, "t"), 0.7, JudgeError(0.8, 0.2, 0.08, 0.08, 0.0, 0.0, 0.0, 9))
    >>> round(wide.low, 2), round(wide.high, 2)
    (0.6, 1.0)
    """
    t = error.factor(interval.level)
    shares = [interval.low, interval.high, *_possible(mean, (mean - interval.low, interval.high - mean), error, t)]
    low, high = (min(1.0, max(0.0, round(end, 12))) for end in (min(shares), max(shares)))
    return Interval(low, high, interval.method + WITH_ERROR, interval.level)


def _possible(mean: float, halves: tuple[float, float], error: JudgeError, t: float) -> Iterator[float]:
    """Ends of the sets of shares that could have given the mean; the nearer end of [0, 1] where none could."""
    slope = error.right - error.wrong
    one, other = (t * error.right_spread) ** 2, (t * error.wrong_spread) ** 2
    both = 2 * error.together * sqrt(one * other)
    # (mean − a(s))² − h² − t² v(s) = square · s² + linear · s + constant
    square = slope**2 - one - other + both
    linear = -2 * slope * (mean - error.wrong) + 2 * other - both
    far = inf, 0.0
    found = False
    for half, sign in zip(halves, (1.0, -1.0), strict=True):
        constant = (mean - error.wrong) ** 2 - half**2 - other
        for share in (0.0, 1.0, *_roots(square, linear, constant)):
            left = square * share**2 + linear * share + constant
            beyond = mean - error.wrong - slope * share      # above 0: the judge gives this share less than the mean
            if not 0 <= share <= 1 or (beyond * sign < 0):
                continue
            far = min(far, (abs(beyond), share))
            if left <= CLOSE:
                found = True
                yield share
    if not found:
        yield far[1]


def _roots(square: float, linear: float, constant: float) -> tuple[float, ...]:
    """Real roots of a quadratic, or of the line that is left of it."""
    if abs(square) < CLOSE:
        return (-constant / linear,) if linear else ()
    inside = linear**2 - 4 * square * constant
    if inside < 0:
        return ()
    q = -(linear + copysign(sqrt(inside), linear)) / 2      # without cancellation
    return (q / square, constant / q) if q else (0.0,)


def widened_difference(
    interval: Interval, difference: float, error: JudgeError, changed: float = 1.0, *, seen: bool = False
) -> Interval:
    """The interval of a difference of two systems' means by one judge, with what this judge's error adds to it.

    The judge errs alike on both systems, so nearly all of its error drops out. What is left, in quadrature with the
    sampling interval's half: on both sides t · paired · changed, how much it sees where there is nothing; away from 0
    also t · lost, since it sees a true difference too small, and on both sides where both signs remain possible. No
    more is lost than the share of examples that changed.

    Args:
        interval: of the difference, by sampling alone.
        difference: within it.
        error: of the judge on this metric.
        changed: share of the examples whose value is not the same, in [0, 1]: unchanged answers have the same error.
        seen: of the difference that the judge would see on many examples, not of the true one: nothing is lost then.
    """
    t = error.factor(interval.level)
    near = t * error.paired * changed
    away = near if seen else sqrt(near**2 + min(t * error.lost, changed) ** 2)
    below, above = difference - interval.low, interval.high - difference
    sure_up, sure_down = difference > sqrt(below**2 + near**2), difference < -sqrt(above**2 + near**2)
    low = difference - sqrt(below**2 + (near if sure_up else away) ** 2)
    high = difference + sqrt(above**2 + (near if sure_down else away) ** 2)
    return Interval(max(-1.0, low), min(1.0, high), interval.method + WITH_ERROR, interval.level)

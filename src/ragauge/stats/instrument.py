"""How far a judge's mean may lie from what people would say, on data from a source that nobody labelled.

A judge's mean is not people's, and how far it is off differs from source to source and by how sure the judge is. From
labelled sources a random-effects estimate says, by band of the score, how far it may be off on a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ragauge.errors import UsageError
from ragauge.stats.quantiles import t_quantile
from ragauge.stats.result import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

WITH_ERROR = ", with the judge's error"
TOGETHER = 0.5         # correlation of the bands of one source; 0 holds 90.9 % of what is left out, 1 98.5 %
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
    """How far a judge's mean lies from people's on a source that nobody labelled, by band of an example's score.

    Attributes:
        edges: between the bands, ascending, within (0, 1); a score on an edge belongs to the band above it.
        shifts: by band, people's mean less the judge's, over sources; one more than edges.
        spreads: by band, standard deviation of that for a new source.
        paired: standard deviation, between sources, of the difference that it sees between two systems between which
            people see none, were every example changed.
        lost: standard deviation, between sources, of what it sees too little or too much of a true difference.
        sources: on how many it rests, at least 3: a prediction from them has k − 2 degrees of freedom.
        origin: whose labels, in words: "9 public sets of labels".
    """

    edges: tuple[float, ...]
    shifts: tuple[float, ...]
    spreads: tuple[float, ...]
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
            self, edges=tuple(1 - edge for edge in reversed(self.edges)),
            shifts=tuple(-shift for shift in reversed(self.shifts)), spreads=self.spreads[::-1],
        )     # fmt: skip

    def of(self, values: Floats, weights: Floats | None = None) -> tuple[float, float]:
        """Shift and spread of a mean over these scores.

        shift = Σ w · shift and spread² = r · (Σ w · spread)² + (1 − r) · Σ (w · spread)² over the bands, w being the
        share of the scores in a band and r = TOGETHER

        Args:
            values: shape (n,), scores in [0, 1], at least one.
            weights: shape (n,); None = all alike.
        """
        import numpy as np

        band = np.searchsorted(np.array(self.edges), values, side="right")
        counts = np.bincount(band, weights=weights, minlength=len(self.shifts))
        shares = counts / counts.sum()
        parts = shares * np.array(self.spreads)
        spread = np.sqrt(TOGETHER * parts.sum() ** 2 + (1 - TOGETHER) * np.square(parts).sum())
        return float(shares @ np.array(self.shifts)), float(spread)


def widened(
    interval: Interval, mean: float, error: JudgeError, values: Floats, weights: Floats | None = None
) -> Interval:
    """The interval of a mean in [0, 1] by a judge, with the judge's error: where people's mean may lie.

    [m + b − sqrt(h² + t² s²), m + b + sqrt(h² + t² s²)], joined with the sampling interval, within [0, 1]

    m is the mean, b and s its shift and spread by `JudgeError.of`, h the sampling interval's half on that side, t as
    `JudgeError.factor`.

    Args:
        interval: of the mean, by sampling alone.
        mean: within it.
        error: of the judge on this metric.
        values: shape (n,), the scores that the mean is over.
        weights: shape (n,); None = all alike.

    >>> import numpy as np
    >>> perfect = JudgeError((0.5,), (0.0, 0.0), (0.0, 0.0), 0.0, 0.0, 9)
    >>> widened(Interval(0.6, 0.8, "t"), 0.7, perfect, np.array([0.6, 0.8]))
    Interval(low=0.6, high=0.8, method="t, with the judge's error", level=0.95)
    >>> wide = widened(
    ...     Interval(0.66, 0.74, "t"), 0.7, JudgeError((0.5,), (0.0, -0.1), (0.1, 0.05), 0.0, 0.0, 9), np.array([0.7])
    ... )
    >>> round(wide.low, 2), round(wide.high, 2)
    (0.48, 0.74)
    """
    shift, spread = error.of(values, weights)
    reach = error.factor(interval.level) * spread
    low = mean + shift - sqrt((mean - interval.low) ** 2 + reach**2)
    high = mean + shift + sqrt((interval.high - mean) ** 2 + reach**2)
    low, high = max(0.0, min(low, interval.low)), min(1.0, max(high, interval.high))
    return Interval(round(low, 12), round(high, 12), interval.method + WITH_ERROR, interval.level)


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

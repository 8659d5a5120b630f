"""Means of a judge's scores, rectified by human labels on some of them: prediction-powered inference.

It is right whatever the judge is worth: a useless one gets a weight near 0, which leaves the labels' own interval.
Student's t with n − 2 degrees of freedom instead of the normal quantile holds the level below 50 labels too, where the
usual recipe is too narrow; two are lost since both a mean and the weight are estimated. For rates near 0 or 1 with few
labels it is too short on one side, as Student's t is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from ragauge.errors import UsageError
from ragauge.stats.quantiles import t_quantile
from ragauge.stats.result import Alternative, Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Values = Sequence[float] | npt.NDArray[Any]

FEWEST = 4     # labelled pairs: two are spent on the mean and the weight


@dataclass(frozen=True, slots=True)
class Rectified:
    """A mean that rests on people where they looked, and on the judge elsewhere.

    Attributes:
        mean: the rectified mean.
        interval: of it, clipped to the bounds; one-sided where asked, the other end is the bound or infinite.
        weight: how far the judge was followed, λ: 0 = the labels alone, 1 = a judge that is off by a constant at most.
        classical: the mean of the labels alone.
        judged: the mean of the judge's scores alone, over everything.
        n: labelled.
        others: judged only.
        effective: labels alone that would give as narrow an interval; None where that cannot be said.
    """

    mean: float
    interval: Interval
    weight: float
    classical: float
    judged: float
    n: int
    others: int
    effective: float | None


def rectified_mean(
    labels: Values, judged: Values, others: Values, *, weight: float | None = None,
    alternative: Alternative = "two-sided", level: float = 0.95, bounds: tuple[float, float] = (-inf, inf),
) -> Rectified | None:     # fmt: skip
    """The mean of what people would say of everything, from labels on some and a judge's scores of all.

    θ = ȳ + λ (g − f̄),  se² = s²/n + λ² v/N,  θ ± t(n − 2) se

    ȳ, f̄  means of the labels and of the judge's scores on the n labelled
    g, v   mean and variance of the judge's scores on the N others
    s²     Σ ((yᵢ − ȳ) − λ (fᵢ − f̄))² / (n − 2)
    λ      Σ (yᵢ − ȳ)(fᵢ − f̄) / ((1 + n/N) Σ (fᵢ − f̄)²), which makes se smallest, in [0, 1]; unless given

    Assumes that the labelled examples are a random sample of all.

    Args:
        labels: shape (n,), what people said, any unit.
        judged: shape (n,), the judge's scores of the same examples, in the same order.
        others: shape (N,), its scores of the examples without labels.
        weight: λ, where it is not to be estimated: 1 is plain prediction-powered inference.
        alternative: "two-sided"; "greater" gives a lower bound only, "less" an upper bound only, at the whole level.
        level: confidence, in (0, 1).
        bounds: least and greatest possible value.

    Returns:
        The mean with its interval; None for fewer than 4 labels or 2 others.

    Raises:
        UsageError: labels and judged scores are not as many.

    Source: Angelopoulos et al. (2023), Prediction-powered inference; Angelopoulos, Duchi and Zrnic (2023), PPI++, for
    λ; degrees of freedom as of the regression estimator, Cochran, Sampling Techniques (1977), 7.3.

    >>> found = rectified_mean([1, 0, 1, 1], [1, 0, 1, 0], [1, 1, 0, 1, 1, 0])
    >>> round(found.mean, 3), round(found.weight, 3)
    (0.8, 0.3)
    """
    import numpy as np

    y, f, g = (np.asarray(one, dtype=float) for one in (labels, judged, others))
    if y.shape != f.shape:
        raise UsageError(f"rectified_mean: labels and judged scores must be as many, got {y.size} and {f.size}.")
    if (n := int(y.size)) < FEWEST or (rest := int(g.size)) < 2:
        return None
    weight, error, alone = _error(y, f, g, weight)
    mean = float(y.mean()) + weight * float(g.mean() - f.mean())
    interval = _interval(mean, error, n, alternative, level, bounds)
    whole = float((f.sum() + g.sum()) / (n + rest))
    effective = alone / (error * error) if error > 0 else None
    return Rectified(mean, interval, weight, float(y.mean()), whole, n, rest, effective)


def _error(y: Array, f: Array, g: Array, weight: float | None) -> tuple[float, float, float]:
    """The weight, the standard error with it, and the variance of the labels alone."""
    n, rest = y.size, g.size
    dy, df = y - y.mean(), f - f.mean()
    spread = float((df * df).sum())
    if weight is None:
        weight = 0.0 if spread == 0 else float((dy * df).sum()) / spread / (1 + n / rest)
        weight = min(1.0, max(0.0, weight))
    residual = dy - weight * df
    variance = float((residual * residual).sum()) / (n - 2)
    error = sqrt(variance / n + weight * weight * float(g.var(ddof=1)) / rest)
    return weight, error, float((dy * dy).sum()) / (n - 1)


def _interval(
    mean: float, error: float, n: int, alternative: Alternative, level: float, bounds: tuple[float, float]
) -> Interval:
    """One-sided intervals spend the whole of 1 − level on their one end."""
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
    both = alternative == "two-sided"
    if not both and level <= 0.5:
        raise UsageError(f"a one-sided interval needs a level above 0.5, got {level:g}.")
    half = t_quantile(n - 2, level if both else 2 * level - 1) * error
    low = -inf if alternative == "less" else mean - half
    high = inf if alternative == "greater" else mean + half
    method = "rectified t" if both else f"rectified t, one-sided ({alternative})"
    return Interval(max(bounds[0], low), min(bounds[1], high), method, level)

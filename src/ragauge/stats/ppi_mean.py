"""Means of a judge's scores, rectified by human labels on some of them: prediction-powered inference.

It is right whatever the judge is worth: a useless one gets a weight near 0, which leaves the labels' own interval; one
that says the opposite of people gets a weight below 0, and informs too. Means of a bounded score get Wilson's interval,
scaled to the standard error: near 0 and 1 Student's interval would be too short on the side of the room.

Where the labels come from another run, only `stats.rate_transfer` is allowed, which says what it takes for granted.

Within finite bounds the interval is Wilson's, with t(n − 2) and k = n/d trials, d = n·se²/s_y² held within
[0.02, 1.25], and 1 where all labels are alike; for labels other than 0 and 1, k grows by ȳ(1 − ȳ)/s_y². Without
bounds it is θ ± t(n − 2) se.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.core.json_keys import json_keys, key
from ragauge.stats.distributions import t_quantile
from ragauge.stats.weighted import Alternative, Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.intp]
    Values = Sequence[float] | npt.NDArray[Any]
    Names = Sequence[Any] | npt.NDArray[Any]


MIN_LABELS = 4  # labelled values, or clusters of them: two are spent on the mean and the weight
MIN_VARIANCE_RATIO, MAX_VARIANCE_RATIO = 0.02, 1.25  # variance of a rectified mean over that of the labels alone
DIFFERENCE_DOUBT = (
    2.0  # squared gaps added to those of a difference: one label of +1 and one of −1 are thought of besides
)
HALF_LABEL = 0.5  # the same for unequal chances: half a label at each end


@dataclass(frozen=True, slots=True, eq=False)
class LabelSample:
    """Human labels on some examples of a run, and a judge's scores of all of them.

    What changes in `rectified_mean`, whose symbols these are:

    - **Inclusion** (Hájek): means are weighted by 1/chance, the judge's mean is that over everything, and
      se² = Σ wᵢ²(rᵢ² + 1/2n)/(n(n − 2)) + λ² v/M + 2λ c/M, with r the residuals, w of mean 1, M = n + N, and c the
      covariance of residuals and scores; df = (Σw)²/Σw² − 2.
    - **Strata**: Σ W_h θ_h with a λ each; W_h is the share of all examples. One label at each end is added to the
      variance of a stratum, as labels that are all alike prove little.
    - **Clusters**: sums over clusters take the place of values in se², and n − 2 is clusters − 2.
    """

    labels: Values  #: shape (n,), what people said, any unit.
    judged: Values  #: shape (n,), the judge's scores of the same examples, in the same order.
    others: Values  #: shape (N,), its scores of the examples without labels.
    #: shape (n,), the chance that each labelled example had of being drawn, in (0, 1]; None = all alike.
    inclusion: Values | None = None
    #: shapes (n,) and (N,), labels of the groups within which examples were drawn at random; None = one group.
    strata: tuple[Names, Names] | None = None
    #: shapes (n,) and (N,), labels of what examples depend on, such as their document; None = independent.
    clusters: tuple[Names, Names] | None = None


@json_keys("mean interval judged classical n others effective weight")
@dataclass(frozen=True, slots=True)
class LabelCorrectedMean:
    """A mean that rests on people where they looked, and on the judge elsewhere."""

    mean: float  #: the rectified mean, clipped to the bounds.
    #: of it, clipped to the bounds; one-sided where asked, the other end is the bound or infinite.
    interval: Interval = field(metadata=key("ci"))
    #: how far the judge was followed, λ: 0 = the labels alone, 1 = a judge that is off by a constant at most, below 0 =
    #: one that says the opposite. Of strata the mean of theirs, by their sizes.
    weight: float
    classical: float = field(metadata=key("people"))  #: the mean of the labels alone.
    judged: float = field(metadata=key("judge"))  #: the mean of the judge's scores alone, over everything.
    n: int = field(metadata=key("labels"))  #: labelled.
    others: int = field(metadata=key("judged_only"))  #: judged only.
    #: labels alone that would tell as much; None where that cannot be said.
    effective: float | None = field(metadata=key("worth"))


class _FittedMean(NamedTuple):
    """A mean before its interval: standard error, degrees of freedom, and the labels' own mean and variance.

    The variance of a difference has the labels that are thought of besides in it, as its standard error has.
    """

    mean: float
    error: float
    weight: float
    df: float
    classical: float
    variance: float


class _Arrays(NamedTuple):
    y: Array
    f: Array
    g: Array
    inclusion: Array | None
    label_clusters: Codes | None
    other_clusters: Codes | None


def rectified_mean(
    sample: LabelSample,
    *,
    weight: float | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    bounds: tuple[float, float] = (-inf, inf),
) -> LabelCorrectedMean | None:
    """The mean of what people would say of everything, from labels on some and a judge's scores of all.

    θ = ȳ + λ (ḡ − f̄),  se² = s²/n + λ² v/N

    ȳ, f̄  means of the labels and of the judge's scores on the n labelled
    ḡ, v   mean and variance of the judge's scores on the N others
    s²     Σ ((yᵢ − ȳ) − λ (fᵢ − f̄))² / (n − 2)
    λ      Σ (yᵢ − ȳ)(fᵢ − f̄) / ((1 + n/N) Σ (fᵢ − f̄)²), which makes se smallest, in [−1, 1]; unless given

    See above for the interval and `LabelSample` for unequal chances, strata and clusters.
    Assumes that within a stratum labelled examples were drawn at random, or with the chances that are given.

    Args:
        sample: labels and scores.
        weight: λ, where it is given: 1 is plain prediction-powered inference.
        alternative: "greater" gives a lower bound only, "less" an upper bound only, at the whole level.
        level: confidence, in (0, 1).
        bounds: least and greatest possible value; strata need finite ones.

    Returns:
        The mean with its interval; None for fewer than 4 labels (clusters; in a stratum) or 2 others.

    Raises:
        UsageError: labels and judged scores are not as many, or a chance is not in (0, 1].

    Source: Angelopoulos et al. (2023), Prediction-powered inference; Angelopoulos, Duchi and Zrnic (2023), PPI++, for
    λ; degrees of freedom: Cochran, Sampling Techniques (1977), 7.3; Särndal, Swensson and Wretman (1992), Model
    Assisted Survey Sampling, 7; Wilson's interval of a survey: Korn and Graubard (1998).

    >>> result = rectified_mean(LabelSample([1, 0, 1, 1], [1, 0, 1, 0], [1, 1, 0, 1, 1, 0]))
    >>> round(result.mean, 3), round(result.weight, 3)
    (0.8, 0.3)
    """
    arrays = _read_arrays(sample)
    fitted = _fit_mean(arrays, sample, weight, bounds)
    if fitted is None:
        return None
    n, designs = arrays.y.size, (sample.inclusion, sample.strata, sample.clusters)
    d = _compute_variance_ratio(fitted, n, is_plain=all(part is None for part in designs))
    trials = n / d if isfinite(bounds[0]) and isfinite(bounds[1]) else None
    interval = _build_interval(fitted, trials, bounds, alternative, level)
    return _build_result(fitted, arrays, interval, bounds, n / d if fitted.error > 0 else None)


def rectified_difference(
    sample: LabelSample, *, alternative: Alternative = "two-sided", level: float = 0.95
) -> LabelCorrectedMean | None:
    """The mean of what people would say changed, from examples that are labelled in both runs.

    As `rectified_mean` of differences, new − base, of scores within [0, 1]: the interval is θ ± t(n − 2) se, with one
    label of +1 and one of −1 added to the squares of s²: where no label changed, that proves little.

    Args:
        sample: labels and scores, each new − base, in [−1, 1].
        alternative: as of `rectified_mean`.
        level: confidence, in (0, 1).

    Returns:
        The difference with its interval; None as `rectified_mean`.
    """
    arrays = _read_arrays(sample)
    fitted = _fit_mean(arrays, sample, None, (-1.0, 1.0), DIFFERENCE_DOUBT)
    if fitted is None:
        return None
    interval = _build_interval(fitted, None, (-1.0, 1.0), alternative, level)
    return _build_result(
        fitted, arrays, interval, (-1.0, 1.0), fitted.variance / fitted.error**2 if fitted.error > 0 else None
    )


def _build_result(
    fitted: _FittedMean, arrays: _Arrays, interval: Interval, bounds: tuple[float, float], effective: float | None
) -> LabelCorrectedMean:
    n, n_others = arrays.y.size, arrays.g.size
    judge_mean = float((arrays.f.sum() + arrays.g.sum()) / (n + n_others))
    mean = min(bounds[1], max(bounds[0], fitted.mean))
    return LabelCorrectedMean(mean, interval, fitted.weight, fitted.classical, judge_mean, n, n_others, effective)


def _read_arrays(sample: LabelSample) -> _Arrays:
    import numpy as np

    y, f, g = (np.asarray(numbers, dtype=float) for numbers in (sample.labels, sample.judged, sample.others))
    if y.shape != f.shape:
        raise UsageError(f"rectified_mean: labels and judge scores differ in length: {y.size} and {f.size}.")
    pi = None if sample.inclusion is None else np.asarray(sample.inclusion, dtype=float)
    if pi is not None and (pi.shape != y.shape or not ((pi > 0) & (pi <= 1)).all()):
        raise UsageError("rectified_mean: inclusion must be a probability in (0, 1] for each label.")
    label_clusters = other_clusters = None
    if sample.clusters is not None:
        label_clusters, other_clusters = (
            np.unique(np.asarray(cluster), return_inverse=True)[1] for cluster in sample.clusters
        )
    return _Arrays(y, f, g, pi, label_clusters, other_clusters)


def _fit_mean(
    arrays: _Arrays, sample: LabelSample, weight: float | None, bounds: tuple[float, float], doubt: float = 0.0
) -> _FittedMean | None:
    if sample.strata is not None:
        return _fit_stratified(arrays, sample.strata, weight, bounds, doubted=doubt > 0)
    if arrays.inclusion is not None:
        return _fit_hajek(arrays, weight, doubt)
    return _fit_simple(arrays, weight, doubt)


def _fit_simple(arrays: _Arrays, weight: float | None, doubt: float) -> _FittedMean | None:
    """A random sample, perhaps of clusters."""
    y, f, g = arrays.y, arrays.f, arrays.g
    n, n_others = y.size, g.size
    units = n if arrays.label_clusters is None else int(arrays.label_clusters.max(initial=-1)) + 1
    if units < MIN_LABELS or n_others < 2:
        return None
    dy, df, dg = y - y.mean(), f - f.mean(), g - g.mean()
    if weight is None:
        spread = float(df @ df)
        weight = 0.0 if spread == 0 else min(1.0, max(-1.0, float(dy @ df) / spread / (1 + n / n_others)))
    mean = float(y.mean()) + weight * float(g.mean() - f.mean())
    error = sqrt(
        _sum_variance(dy - weight * df, arrays.label_clusters, 2, doubt) / n**2
        + (weight**2 * _sum_variance(dg, arrays.other_clusters, 1) / n_others**2 if weight else 0.0)
    )
    return _FittedMean(mean, error, weight, units - 2, float(y.mean()), (float(dy @ dy) + doubt) / (n - 1))


def _sum_variance(residual: Array, groups: Codes | None, n_spent: int, doubt: float = 0.0) -> float:
    """Variance of a sum of residuals, from their squares or those of their clusters' sums."""
    import numpy as np

    sums = residual if groups is None else np.bincount(groups, weights=residual)
    units = sums.size
    return float(sums @ sums + doubt * residual.size / units) * units / max(1, units - n_spent)


def _fit_hajek(arrays: _Arrays, weight: float | None, doubt: float) -> _FittedMean | None:
    """Examples that were drawn with unequal chances, each on its own or in clusters."""
    import numpy as np

    y, f = arrays.y, arrays.f
    n, total = y.size, y.size + arrays.g.size
    units = n if arrays.label_clusters is None else int(arrays.label_clusters.max(initial=-1)) + 1
    if arrays.inclusion is None or units < MIN_LABELS or arrays.g.size < 2:
        return None
    w = 1 / arrays.inclusion
    w /= w.mean()
    everything = np.concatenate([f, arrays.g])
    my, mf = float(w @ y) / n, float(w @ f) / n
    dy, df = y - my, f - mf
    if weight is None:
        spread = float((w * df) @ (w * df))
        weight = 0.0 if spread == 0 else min(1.0, max(-1.0, float((w * dy) @ (w * df)) / spread))
    residual = dy - weight * df
    shared = float(w @ (residual * df)) / n
    judge_variance = weight**2 * float(everything.var()) + 2 * weight * shared
    square = (
        _sum_variance(w * residual, arrays.label_clusters, 2, max(HALF_LABEL, doubt) * float(w @ w) / n) / n**2
        + judge_variance / total
    )
    kish = n * n / float(w @ w) if arrays.label_clusters is None else units
    mean = my + weight * (float(everything.mean()) - mf)
    variance = (float(w @ (dy * dy)) + doubt) / (n - 1)
    return _FittedMean(mean, sqrt(max(0.0, square)), weight, max(1.0, kish - 2), my, variance)


def _fit_stratified(
    arrays: _Arrays, strata: tuple[Names, Names], weight: float | None, bounds: tuple[float, float], *, doubted: bool
) -> _FittedMean | None:
    """Random within each stratum; degrees of freedom by Satterthwaite."""
    import numpy as np

    width = bounds[1] - bounds[0]
    if not isfinite(width):
        raise UsageError("rectified_mean: strata need finite bounds. Give bounds=(0, 1) for shares.")
    label_strata, other_strata = (np.asarray(stratum) for stratum in strata)
    total = arrays.y.size + arrays.g.size
    mean = square = freedom = followed = classical = 0.0
    estimates: list[tuple[float, float, float]] = []
    for name in np.unique(np.concatenate([label_strata, other_strata])):
        y, f, g = arrays.y[label_strata == name], arrays.f[label_strata == name], arrays.g[other_strata == name]
        if y.size < MIN_LABELS:
            return None
        share, fitted = (y.size + g.size) / total, _fit_stratum(y, f, g, weight, bounds, doubted=doubted)
        mean, followed = mean + share * fitted.mean, followed + share * fitted.weight
        classical += share * fitted.classical
        square += (share * fitted.error) ** 2
        freedom += (share * fitted.error) ** 4 / fitted.df
        estimates.append((share, fitted.classical, fitted.variance))
    variance = sum(share * (spread + (value - classical) ** 2) for share, value, spread in estimates)
    return _FittedMean(mean, sqrt(square), followed, square**2 / freedom if freedom else 1.0, classical, variance)


def _fit_stratum(
    y: Array, f: Array, g: Array, weight: float | None, bounds: tuple[float, float], *, doubted: bool
) -> _FittedMean:
    """One stratum, with one label at each end added to its variance; without others its labels are all there is."""
    n, n_others = y.size, g.size
    dy, df = y - y.mean(), f - f.mean()
    spread = float(df @ df)
    if weight is None:
        weight = 0.0 if spread == 0 or n_others < 2 else float(dy @ df) / spread / (1 + n / n_others)
        weight = min(1.0, max(-1.0, weight))
    middle = (float(y.sum()) + bounds[0] + bounds[1]) / (n + 2)
    added = (bounds[0] - middle) ** 2 + (bounds[1] - middle) ** 2
    residual = dy - weight * df
    square = (float(residual @ residual) + added) / n / n
    shift = 0.0
    if n_others >= 2 and weight:
        shift = weight * float(g.mean() - f.mean())
        square += weight**2 * float(g.var(ddof=1)) / n_others
    variance = (float(dy @ dy) + (added if doubted else 0.0)) / (n - 1)
    return _FittedMean(float(y.mean()) + shift, sqrt(square), weight, n - 2, float(y.mean()), variance)


def _compute_variance_ratio(fitted: _FittedMean, n: int, *, is_plain: bool) -> float:
    """d: the variance of the mean over that of the mean of n labels alone."""
    if fitted.variance == 0 or fitted.error == 0:
        return 1.0
    d = n * fitted.error**2 / fitted.variance
    return max(MIN_VARIANCE_RATIO, min(MAX_VARIANCE_RATIO, d) if is_plain else d)


def _build_interval(
    fitted: _FittedMean, trials: float | None, bounds: tuple[float, float], alternative: Alternative, level: float
) -> Interval:
    """Wilson's interval of the mean, by as many trials as it is worth; None = Student's."""
    low, high = bounds
    z = _find_quantile(fitted.df, alternative, level)
    if trials is None:
        limits = (fitted.mean - z * fitted.error, fitted.mean + z * fitted.error)
        return _clip_interval(limits, bounds, alternative, level, "rectified t")
    width = high - low
    r = min(1.0, max(0.0, (fitted.mean - low) / width))
    classical_share = min(1.0, max(0.0, (fitted.classical - low) / width))
    if fitted.variance > 0:  # labels between the bounds vary less than 0 and 1 with the same mean
        trials *= max(1.0, classical_share * (1 - classical_share) * width * width / fitted.variance)
    k = z * z / trials
    half = sqrt(k * r * (1 - r) + k * k / 4)
    limits = ((r + k / 2 - half) / (1 + k), (r + k / 2 + half) / (1 + k))
    return _clip_interval(
        (low + width * max(0.0, limits[0]), low + width * min(1.0, limits[1])),
        bounds,
        alternative,
        level,
        "rectified wilson",
    )


def _find_quantile(df: float, alternative: Alternative, level: float) -> float:
    """One-sided intervals spend the whole of 1 − level on their one end."""
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level:g}. Write 0.95 for 95 %.")
    if alternative == "two-sided":
        return t_quantile(df, level)
    if level <= 0.5:
        raise UsageError(f"a one-sided interval needs a level above 0.5, got {level:g}.")
    return t_quantile(df, 2 * level - 1)


def _clip_interval(
    limits: tuple[float, float], bounds: tuple[float, float], alternative: Alternative, level: float, method: str
) -> Interval:
    low = -inf if alternative == "less" else limits[0]
    high = inf if alternative == "greater" else limits[1]
    method_name = method if alternative == "two-sided" else f"{method}, one-sided ({alternative})"
    return Interval(max(bounds[0], low), min(bounds[1], high), method_name, level)

"""Krippendorff's alpha: how far any number of people agree, on any scale, with gaps, beyond chance.

A resample without any difference in it counts as 1. Units are resampled as by Zapf et al. (2016), BMC Medical Research
Methodology 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UsageError
from ragauge.stats.distributions import check_level
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Scale = Literal["nominal", "ordinal", "interval"]
N_RESAMPLES, SEED = 2_000, 0


@dataclass(frozen=True, slots=True)
class KrippendorffAlpha:
    """Krippendorff's alpha."""

    value: float  #: 1 = all agree, 0 = as chance would have it, below 0 = less than that.
    interval: Interval  #: by resampling units.
    units: int  #: with two values or more.
    values: int  #: in those.


def compute_krippendorff_alpha(
    units: Sequence[Sequence[float]],
    scale: Scale = "nominal",
    *,
    weights: Sequence[float] | None = None,
    level: float = 0.95,
) -> KrippendorffAlpha | None:
    """How far those who gave values to the same units agree, beyond chance.

    α = 1 − Dₒ/Dₑ,  Dₒ = Σ_ck o_ck δ²_ck / n,  Dₑ = Σ_ck n_c n_k δ²_ck / (n (n − 1))

    o_ck  pairs of values c and k within a unit, each pair counted 1/(values of the unit − 1) times
    n_c   Σ_k o_ck, how often c was given;  n = Σ_c n_c
    δ²    nominal: 1 where c ≠ k; ordinal: (n_c/2 + n between c and k + n_k/2)²; interval: (c − k)²

    Units with one value are left out. Weights, of mean 1, multiply a unit's pairs in every sum. The interval is from
    percentiles of 2,000 resamples of units, always the same; a resample without any difference counts as 1.

    Args:
        units: the values that each unit was given, by whomever; for "nominal" any numbers that stand for labels.
        scale: what differences mean.
        weights: how much units count, above 0; None = all alike.
        level: confidence, in (0, 1).

    Returns:
        Alpha; None where no unit has two values, or all values are the same: then there is no chance to differ.

    Raises:
        UsageError: no such scale.

    Source: Krippendorff (2011), Computing Krippendorff's alpha-reliability; resamples: Zapf et al. (2016), BMC MRM 16.

    >>> round(compute_krippendorff_alpha([[1, 1], [2, 2], [3, 3], [1, 2], [3, 3, 3]], "ordinal").value, 3)
    0.915
    """
    import numpy as np

    check_level(level)
    if scale not in ("nominal", "ordinal", "interval"):
        raise UsageError(f"krippendorff_alpha: scale must be nominal, ordinal or interval, got {scale!r}.")
    several, w = _select_units(units, weights)
    names = np.unique(np.array([value for unit in several for value in unit], dtype=np.float64))
    if names.size < 2:
        return None
    counts = [_count_coincidences(np.searchsorted(names, np.array(unit, float)), names.size) for unit in several]
    pairs = np.array(counts) * w[:, None, None]
    overall = _compute_alpha(pairs.sum(axis=0), names, scale)
    low, high = np.quantile(_resample_alphas(pairs, names, scale), [(1 - level) / 2, (1 + level) / 2])
    interval = Interval(float(low), float(high), "percentiles over units", level)
    return KrippendorffAlpha(overall, interval, len(several), sum(map(len, several)))


def _resample_alphas(pairs: Floats, names: Floats, scale: Scale) -> list[float]:
    """Alphas of units drawn again with replacement; units whose coincidences are alike are drawn together."""
    import numpy as np

    patterns, often = np.unique(pairs.reshape(len(pairs), -1), axis=0, return_counts=True)
    draws = np.random.default_rng(SEED).multinomial(len(pairs), often / len(pairs), N_RESAMPLES)
    return [_compute_alpha(matrix.reshape(names.size, names.size), names, scale) for matrix in draws @ patterns]


def _select_units(
    units: Sequence[Sequence[float]], weights: Sequence[float] | None
) -> tuple[list[Sequence[float]], Floats]:
    """The units with two values or more, and how much each counts."""
    import numpy as np

    indices = [n for n, unit in enumerate(units) if len(unit) > 1]
    w = np.ones(len(indices)) if weights is None else np.array([weights[n] for n in indices], dtype=np.float64)
    return [units[n] for n in indices], w / w.mean() if w.size else w


def _count_coincidences(codes: npt.NDArray[np.intp], size: int) -> Floats:
    """Coincidences of one unit: how often each two values meet."""
    import numpy as np

    counts = np.bincount(codes, minlength=size).astype(np.float64)
    return (np.outer(counts, counts) - np.diag(counts)) / (codes.size - 1)


def _compute_alpha(coincidences: Floats, names: Floats, scale: Scale) -> float:
    """From coincidences; 1 where nothing differs at all."""
    import numpy as np

    totals = coincidences.sum(axis=1)
    if scale == "nominal":
        distances = 1 - np.eye(names.size)
    elif scale == "interval":
        distances = (names[:, None] - names) ** 2
    else:
        middle = np.cumsum(totals) - totals / 2  # ranks of the values
        distances = (middle[:, None] - middle) ** 2
    expected = float(totals @ distances @ totals)
    return 1.0 if expected == 0 else float(1 - (totals.sum() - 1) * (coincidences * distances).sum() / expected)

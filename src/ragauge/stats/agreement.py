"""Agreement of annotators: Krippendorff's alpha and the alternative annotator test."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import UsageError
from ragauge.core.json_keys import json_keys, key
from ragauge.stats.distributions import check_level, student_cdf
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


MIN_ANNOTATORS, MIN_ITEMS = 3, 30
MIN_WINNING_RATE = 0.5  # of the annotators it must win against


@json_keys("epsilon winning advantage annotators items passes")
@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """What the test says of a judge."""

    #: ω, share of the annotators whom the judge may replace, in [0, 1].
    winning: float = field(metadata=key("winning_rate"))
    #: mean over annotators of the share of items on which the judge agrees with the others at least as well as that
    #: annotator does, in [0, 1].
    advantage: float
    epsilon: float  #: how much worse the judge may be, for being cheaper.
    annotators: int  #: that were held against it, each with 30 items or more.
    items: int  #: judged by it and by two annotators or more.

    @property
    def passes(self) -> bool:
        """Whether the judge may replace at least half of the annotators."""
        return self.winning >= MIN_WINNING_RATE


def alternative_annotator(
    people: Sequence[Mapping[str, Hashable]],
    judge: Sequence[Hashable | None],
    epsilon: float,
    *,
    level: float = 0.05,
    weights: Sequence[float] | None = None,
) -> AlternativeAnnotator | None:
    """The alternative-annotator test of a judge.

    d_i = 1{a_i ≥ s_i} − 1{s_i ≥ a_i},  t = (d̄ − ε) √n / s_d,  p = P(T_{n−1} < t)

    a_i  share of the other annotators of item i with whom annotator j agrees;  s_i  the same of the judge
    ε    cost-benefit allowance: 0.2 against experts, 0.15 skilled people, 0.1 crowd workers, as the authors say
    d̄, s_d  weighted where items have weights w of mean 1: d̄ = Σ w_i d_i / n, s_d² = Σ w_i² (d_i − d̄)² / (n − 1)
    ω    share of annotators whose p is rejected by Benjamini and Yekutieli's procedure, at the level

    Args:
        people: annotator -> label, an item each.
        judge: its label of each item; None = none: the item is left out.
        epsilon: in [0, 1).
        level: false discovery rate.
        weights: how much items count, above 0; None = all alike.

    Returns:
        The result; None with fewer than 3 annotators who share 30 items or more with others.

    Raises:
        UsageError: labels and verdicts are not as many.

    Source: Calderon, Reichart and Dror (2025), arXiv:2501.10970; Benjamini and Yekutieli (2001).
    """
    if len(people) != len(judge):
        raise UsageError(f"alternative_annotator: people and judge differ in length: {len(people)} and {len(judge)}.")
    every = zip(people, judge, weights or (1.0,) * len(people), strict=True)
    items = [(labels, item, weight) for labels, item, weight in every if item is not None and len(labels) > 1]
    compared = {name: each for name, each in _compare_annotators(items).items() if len(each) >= MIN_ITEMS}
    if len(compared) < MIN_ANNOTATORS:
        return None
    p_values = [
        _p_value([float(they) - float(it) for it, they, _ in each], [item[2] for item in each], epsilon)
        for each in compared.values()
    ]
    advantages = [
        sum(it * weight for it, _, weight in each) / sum(item[2] for item in each) for each in compared.values()
    ]
    won = sum(item <= level for item in benjamini_yekutieli(p_values))
    return AlternativeAnnotator(
        won / len(p_values), sum(advantages) / len(advantages), epsilon, len(p_values), len(items)
    )


def _compare_annotators(
    items: Sequence[tuple[Mapping[str, Hashable], Hashable, float]],
) -> dict[str, list[tuple[bool, bool, float]]]:
    """Annotator -> whether the judge is as good or better, whether the annotator is, and the weight, an item each."""
    compared: dict[str, list[tuple[bool, bool, float]]] = {}
    for labels, verdict, weight in items:
        for name, own_label in labels.items():
            others = [label for other, label in labels.items() if other != name]
            own_matches, judge_matches = others.count(own_label), others.count(verdict)
            compared.setdefault(name, []).append((judge_matches >= own_matches, own_matches >= judge_matches, weight))
    return compared


def _p_value(differences: Sequence[float], weights: Sequence[float], epsilon: float) -> float:
    n, total = len(differences), sum(weights)
    mean = sum(value * weight for value, weight in zip(differences, weights, strict=True)) / total
    scaled = [(value - mean) * weight * n / total for value, weight in zip(differences, weights, strict=True)]
    spread = sqrt(sum(value**2 for value in scaled) / (n - 1))
    if spread == 0:
        return 0.0 if mean < epsilon else 1.0
    return student_cdf(n - 1, (mean - epsilon) * sqrt(n) / spread)


def benjamini_yekutieli(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Yekutieli's adjusted p-values: as Benjamini and Hochberg's, whatever the dependence.

    adjusted p of rank i (smallest first, of m) = min over j >= i of min(1, m p_(j) Σ_k (1/k) / j)

    >>> [round(one, 4) for one in benjamini_yekutieli([0.01, 0.04, 0.03])]
    [0.055, 0.0733, 0.0733]
    """
    m, adjusted, bound = len(p_values), [0.0] * len(p_values), 1.0
    harmonic = sum(1 / k for k in range(1, m + 1))
    for rank, index in zip(range(m, 0, -1), sorted(range(m), key=p_values.__getitem__, reverse=True), strict=True):
        bound = min(bound, p_values[index] * harmonic * m / rank)
        adjusted[index] = bound
    return adjusted

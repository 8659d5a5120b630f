"""How well a judge finds what people call not supported, and whether its probabilities mean what they say.

Items that share a cluster (claims of one answer) are not independent; every interval takes that into account. Where
items have weights, each counts so much; the number of items of a bin is no weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.scores.agreement import LEVEL, AgreementFigure, Clusters, Weights, compute_equal_share, normalize_weights
from ragauge.scores.estimation import ScoreSample, compute_mean_interval, compute_rate_interval, compute_ratio_of_means
from ragauge.stats.auroc import compute_auroc
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Groups = npt.NDArray[np.int64] | None

N_BINS = 5  # of a reliability curve, alike in width: 0 to 0.2 and so on


@dataclass(frozen=True, slots=True)
class Detection:
    """How well a judge finds the items that people call not supported."""

    base_rate: AgreementFigure  #: share of the items that people call not supported.
    majority: float | None  #: accuracy of always saying what people say most, which takes no judge.
    precision: AgreementFigure  #: share of what the judge calls not supported that people call so.
    recall: AgreementFigure  #: share of what people call not supported that the judge calls so.
    f1: AgreementFigure  #: 2·TP / (2·TP + FP + FN).


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Items with like probabilities: how many, the least and greatest, their mean, the share that people support."""

    n: int
    least: float
    most: float
    p: float
    supported: AgreementFigure


@dataclass(frozen=True, slots=True)
class Probabilities:
    """A judge's probabilities that items are supported, held against people."""

    n: int  #: items with a probability.
    #: chance that an item that people call supported has a higher probability than one that they do not.
    auroc: AgreementFigure
    brier: AgreementFigure  #: mean squared distance from 1 (supported) or 0; lower is better.
    brier_base: float  #: that of always saying the share that people call supported.
    #: mean distance of a bin's mean probability from its share of supported, weighted by size; in small files it is
    #: above 0 by chance alone.
    ece: float
    #: probabilities of 0 to 0.2, 0.2 to 0.4 and so on, ascending; empty ones are left out.
    curve: tuple[ReliabilityBin, ...]


def measure_detection(
    human: Sequence[bool], judge: Sequence[bool], clusters: Clusters = None, weights: Weights = None
) -> Detection:
    """Precision, recall and F1 of *not supported*.

    Args:
        human: whether people call each item supported.
        judge: whether the judge does, in the same order.
        clusters: what items depend on; None = all independent.
        weights: how much items count, above 0; None = all alike.

    >>> result = measure_detection([False, False, True, True], [False, True, False, True])
    >>> result.precision.value, result.recall.value, result.f1.value, result.majority
    (0.5, 0.5, 0.5, 0.5)
    """
    import numpy as np

    a, b = ~np.asarray(human, dtype=bool), ~np.asarray(judge, dtype=bool)
    basis = _Basis.of(clusters, weights, a.size)
    called = basis.share(np.arange(a.size), a)
    return Detection(
        called,
        None if called.value is None else max(called.value, 1 - called.value),
        _compute_part_share(b, a, basis, "the judge marks nothing as not supported"),
        _compute_part_share(a, b, basis, "annotators mark nothing as not supported"),
        _compute_f1(a, b, basis),
    )


def assess_probabilities(
    human: Sequence[bool], p: Sequence[float], clusters: Clusters = None, weights: Weights = None
) -> Probabilities | None:
    """What a judge's probabilities are worth; None where there are none.

    AUROC = Σᵢ wᵢ Vᵢ / m,  Vᵢ = share of the items j that are not supported with pᵢ > pⱼ, ties half, i supported
    se² = Σ_g (Σ_{i in g} dᵢ)²,  d = wᵢ (Vᵢ − AUROC)/m of a supported item, wⱼ (Vⱼ − AUROC)/n of another

    with Vⱼ the share of supported items above j, w the weights (1 where there are none), m and n their sums over what
    is supported and what is not, and g the clusters, one an item where there are none (DeLong). The
    interval is on the logit scale; where every pair is in order, or none, Wilson's of the rarer kind.

    Args:
        human: whether people call each item supported.
        p: the judge's probability that it is, in [0, 1].
        clusters: what items depend on; None = all independent.
        weights: how much items count, above 0; None = all alike.

    Source: DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44; Obuchowski (1997), Biometrics 53, for clusters;
    Brier (1950), Monthly Weather Review 78; Naeini, Cooper and Hauskrecht (2015), AAAI, for ECE.

    >>> result = assess_probabilities([True, True, False, False], [0.9, 0.6, 0.7, 0.1])
    >>> result.auroc.value, round(result.brier.value, 4)
    (0.75, 0.1675)
    """
    import numpy as np

    if not len(p):
        return None
    y, f = np.asarray(human, dtype=np.float64), np.asarray(p, dtype=np.float64)
    basis = _Basis.of(clusters, weights, f.size)
    squares, rate = (f - y) ** 2, float((basis.weights * y).mean())
    sample = ScoreSample(squares, "mean", (0.0, 1.0), None if weights is None else basis.weights, basis.groups)
    bins = np.minimum((f * N_BINS).astype(np.int64), N_BINS - 1)
    curve, ece = [], 0.0
    for indices in (np.flatnonzero(bins == number) for number in np.unique(bins)):
        mean, supported = float(np.average(f[indices], weights=basis.weights[indices])), basis.share(indices, y == 1)
        curve.append(ReliabilityBin(indices.size, float(f[indices].min()), float(f[indices].max()), mean, supported))
        ece += float(basis.weights[indices].sum()) * abs(mean - (supported.value or 0.0)) / f.size
    brier = AgreementFigure(float((basis.weights * squares).mean()), compute_mean_interval(sample, LEVEL))
    return Probabilities(int(f.size), _compute_auroc(y == 1, f, basis), brier, rate * (1 - rate), ece, tuple(curve))


@dataclass(frozen=True, slots=True, eq=False)
class _Basis:
    """What items depend on, and how much each counts: weights with a mean of 1."""

    groups: Groups
    weights: Floats
    alike: bool

    @staticmethod
    def of(clusters: Clusters, weights: Weights, n: int) -> _Basis:
        import numpy as np

        cluster_numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters or ()))}
        groups = None if clusters is None else np.array([cluster_numbers[name] for name in clusters], dtype=np.int64)
        return _Basis(groups, normalize_weights(weights, n), weights is None)

    def share(self, indices: npt.NDArray[Any], yes: npt.NDArray[np.bool_]) -> AgreementFigure:
        """The share of the items at some places, numbers or a mask, of which something is said."""
        import numpy as np

        groups = None if self.groups is None else self.groups[indices]
        selected = yes[indices]
        return compute_equal_share(
            selected, np.ones_like(selected), groups, None if self.alike else self.weights[indices]
        )


def _compute_part_share(
    mask: npt.NDArray[np.bool_], verdicts: npt.NDArray[np.bool_], basis: _Basis, reason: str
) -> AgreementFigure:
    """The share of some items of which something is said."""
    return basis.share(mask, verdicts) if mask.any() else AgreementFigure(None, reason=reason)


def _compute_f1(human: npt.NDArray[np.bool_], judge: npt.NDArray[np.bool_], basis: _Basis) -> AgreementFigure:
    """By the ratio of means; where all errors or no errors are alike, Wilson's of the items that either calls so."""
    both, either = basis.weights * (human & judge), basis.weights * (human.astype(float) + judge)
    ratio = compute_ratio_of_means(2 * both, either, basis.groups, LEVEL)
    if ratio is None:
        return AgreementFigure(None, reason="neither marks anything as not supported")
    value, interval = ratio
    if interval is None or value in (0.0, 1.0):
        called = float((either > 0).sum())
        return AgreementFigure(value, compute_rate_interval(value * called, called, LEVEL))
    return AgreementFigure(value, Interval(max(0.0, interval.low), min(1.0, interval.high), "ratio", LEVEL))


def _compute_auroc(positive: npt.NDArray[np.bool_], p: Floats, basis: _Basis) -> AgreementFigure:
    estimate = compute_auroc(positive, p, basis.groups, LEVEL, weights=None if basis.alike else basis.weights)
    return AgreementFigure(None, reason="all labels are the same") if estimate is None else AgreementFigure(*estimate)

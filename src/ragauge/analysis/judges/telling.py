"""How well a judge finds what people call not supported, and whether its probabilities mean what they say.

Items that share a cluster (claims of one answer) are not independent; every interval takes that into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import TYPE_CHECKING

from ragauge.analysis.estimating import ScoreSample, interval_of_mean, interval_of_rate, ratio_of_means
from ragauge.analysis.judges.agreement import LEVEL, AgreementFigure, Clusters, cluster_sums, share_alike
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Groups = npt.NDArray[np.int64] | None

BINS = 5     # of a reliability curve, alike in width: 0 to 0.2 and so on


@dataclass(frozen=True, slots=True)
class Detection:
    """How well a judge finds the items that people call not supported.

    Attributes:
        base_rate: share of the items that people call not supported.
        majority: accuracy of always saying what people say most, which takes no judge.
        precision: share of what the judge calls not supported that people call so.
        recall: share of what people call not supported that the judge calls so.
        f1: 2·TP / (2·TP + FP + FN).
    """

    base_rate: AgreementFigure
    majority: float | None
    precision: AgreementFigure
    recall: AgreementFigure
    f1: AgreementFigure


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
    """A judge's probabilities that items are supported, held against people.

    Attributes:
        n: items with a probability.
        auroc: chance that an item that people call supported has a higher probability than one that they do not.
        brier: mean squared distance from 1 (supported) or 0; lower is better.
        brier_base: that of always saying the share that people call supported.
        ece: mean distance of a bin's mean probability from its share of supported, weighted by size; in small files
            it is above 0 by chance alone.
        curve: probabilities of 0 to 0.2, 0.2 to 0.4 and so on, ascending; empty ones are left out.
    """

    n: int
    auroc: AgreementFigure
    brier: AgreementFigure
    brier_base: float
    ece: float
    curve: tuple[ReliabilityBin, ...]


def detection(human: Sequence[bool], judge: Sequence[bool], clusters: Clusters = None) -> Detection:
    """Precision, recall and F1 of *not supported*.

    Args:
        human: whether people call each item supported.
        judge: whether the judge does, in the same order.
        clusters: what items depend on; None = all independent.

    >>> found = detection([False, False, True, True], [False, True, False, True])
    >>> found.precision.value, found.recall.value, found.f1.value, found.majority
    (0.5, 0.5, 0.5, 0.5)
    """
    import numpy as np

    a, b = ~np.asarray(human, dtype=bool), ~np.asarray(judge, dtype=bool)
    groups = _numbers(clusters)
    rate = float(a.mean()) if a.size else None
    return Detection(
        share_alike(a, np.ones_like(a), groups), None if rate is None else max(rate, 1 - rate),
        _part(b, a, groups, "the judge calls nothing not supported"),
        _part(a, b, groups, "people call nothing not supported"), _f1(a, b, groups),
    )     # fmt: skip


def probabilities(human: Sequence[bool], p: Sequence[float], clusters: Clusters = None) -> Probabilities | None:
    """What a judge's probabilities are worth; None where there are none.

    AUROC = Σᵢ Vᵢ / m,  Vᵢ = share of the items j that are not supported with pᵢ > pⱼ, ties half, i supported
    se² = Σ_g (Σ_{i in g} dᵢ)²,  d = (Vᵢ − AUROC)/m of a supported item, (Vⱼ − AUROC)/n of another

    with Vⱼ the share of supported items above j, and g the clusters, one an item where there are none (DeLong). The
    interval is on the logit scale; where every pair is in order, or none, Wilson's of the rarer kind.

    Args:
        human: whether people call each item supported.
        p: the judge's probability that it is, in [0, 1].
        clusters: what items depend on; None = all independent.

    Source: DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44; Obuchowski (1997), Biometrics 53, for clusters;
    Brier (1950), Monthly Weather Review 78; Naeini, Cooper and Hauskrecht (2015), AAAI, for ECE.

    >>> found = probabilities([True, True, False, False], [0.9, 0.6, 0.7, 0.1])
    >>> found.auroc.value, round(found.brier.value, 4)
    (0.75, 0.1675)
    """
    import numpy as np

    if not len(p):
        return None
    y, f, groups = np.asarray(human, dtype=np.float64), np.asarray(p, dtype=np.float64), _numbers(clusters)
    squares, rate = (f - y) ** 2, float(y.mean())
    sample = ScoreSample(squares, "mean", (0.0, 1.0), clusters=groups)
    bins = np.minimum((f * BINS).astype(np.int64), BINS - 1)
    curve = tuple(
        ReliabilityBin(at.size, float(f[at].min()), float(f[at].max()), float(f[at].mean()),
                       share_alike(y[at], np.ones(at.size), None if groups is None else groups[at]))
        for at in (np.flatnonzero(bins == number) for number in np.unique(bins))
    )  # fmt: skip
    off = sum(point.n * abs(point.p - (point.supported.value or 0.0)) for point in curve) / f.size
    brier = AgreementFigure(float(squares.mean()), interval_of_mean(sample, LEVEL))
    return Probabilities(int(f.size), _auroc(y == 1, f, groups), brier, rate * (1 - rate), off, curve)


def _numbers(clusters: Clusters) -> Groups:
    import numpy as np

    if clusters is None:
        return None
    known = {name: n for n, name in enumerate(dict.fromkeys(clusters))}
    return np.array([known[name] for name in clusters], dtype=np.int64)


def _part(of: npt.NDArray[np.bool_], verdicts: npt.NDArray[np.bool_], groups: Groups, reason: str) -> AgreementFigure:
    """The share of some items of which something is said."""
    if not of.any():
        return AgreementFigure(None, reason=reason)
    return share_alike(verdicts[of], of[of], None if groups is None else groups[of])


def _f1(human: npt.NDArray[np.bool_], judge: npt.NDArray[np.bool_], groups: Groups) -> AgreementFigure:
    """By the ratio of means; where all errors or no errors are alike, Wilson's of the items that either calls so."""
    both, either = (human & judge).astype(float), human.astype(float) + judge
    ratio = ratio_of_means(2 * both, either, groups, LEVEL)
    if ratio is None:
        return AgreementFigure(None, reason="neither calls anything not supported")
    value, interval = ratio
    if interval is None or value in (0.0, 1.0):
        called = float((either > 0).sum())
        return AgreementFigure(value, interval_of_rate(value * called, called, LEVEL))
    return AgreementFigure(value, Interval(max(0.0, interval.low), min(1.0, interval.high), "ratio", LEVEL))


def _auroc(positive: npt.NDArray[np.bool_], p: Floats, groups: Groups) -> AgreementFigure:
    import numpy as np

    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return AgreementFigure(None, reason="people give one label only")
    high, low = np.sort(p[positive]), np.sort(p[~positive])
    v = np.empty(p.size)
    v[positive] = (np.searchsorted(low, p[positive], "left") + np.searchsorted(low, p[positive], "right")) / (2 * n)
    below = (np.searchsorted(high, p[~positive], "left") + np.searchsorted(high, p[~positive], "right")) / (2 * m)
    v[~positive] = 1 - below
    value = float(v[positive].mean())
    if value in (0.0, 1.0):
        return AgreementFigure(value, interval_of_rate(value * min(m, n), min(m, n), LEVEL))
    d = np.where(positive, (v - value) / m, (v - value) / n)
    error = sqrt(float((cluster_sums(d, groups) ** 2).sum()))
    middle, half = log(value / (1 - value)), normal_quantile(LEVEL) * error / (value * (1 - value))
    ends = [1 / (1 + exp(-min(700.0, max(-700.0, end)))) for end in (middle - half, middle + half)]
    return AgreementFigure(value, Interval(ends[0], ends[1], "DeLong, logit", LEVEL))

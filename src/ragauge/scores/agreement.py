"""How far a judge's labels agree with people's: counts, accuracy, Cohen's kappa, each with its interval.

Labels that share a cluster (claims of one answer) are not independent; every interval takes that into account. Where
items have weights, each counts so much in every share; tables and counts are of items.

How far the scores of several repeats of one judge lie apart.

Sources of kappa: Cohen (1960); weights: Cohen (1968), Cicchetti and Allison (1971); variance: Fleiss, Cohen and Everitt
(1969), Psychological Bulletin 72, 323. Where all agree every d is 0, and the interval is that of
`_bound_full_agreement`; where all differ in balance, that of the accuracy on kappa's scale. So the width is never 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.json_keys import json_keys, key
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import SCORED, Columns, merge_repeats
from ragauge.scores.estimation import ScoreSample, compute_difference_interval, compute_mean_interval
from ragauge.scores.results.judge_usage import JudgeSpread
from ragauge.scores.summarize import summarize_metric
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.weighted import Interval, compute_effective_n

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Counts = npt.NDArray[np.float64]
    Items = Sequence[object] | npt.NDArray[Any]


LEVEL = 0.95
BISECTION_STEPS = 50  # halvings of the interval in which an end is sought
MIN_HALF_WIDTH = 1e-12  # of a half width: rounding
LABEL_ORDER = ("contradicted", "not_in_context", "supported")  # worst first: both ends lie farther apart
Clusters = Sequence[Hashable] | None
Weights = Sequence[float] | None


class Basis(NamedTuple):
    """What items depend on and how much each counts; None = all independent, all alike."""

    clusters: Clusters
    weights: Weights

    def at(self, indices: Sequence[int]) -> Basis:
        """That of the items at some places."""
        clusters, weights = self
        return Basis(
            None if clusters is None else [clusters[k] for k in indices],
            None if weights is None else [weights[k] for k in indices],
        )


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """A number with its interval; value None where it is not defined, and then why."""

    value: float | None
    interval: Interval | None = field(default=None, metadata=key(at="low high method"))
    reason: str = ""


@json_keys("n labels table accuracy balanced_accuracy kappa weighted found", optional="weighted")
@dataclass(frozen=True, slots=True)
class Agreement:
    """How two lists of labels agree."""

    labels: tuple[str, ...]  #: those in use, in a fixed order.
    #: counts; a row a human label, a column a judge's.
    table: tuple[tuple[int, ...], ...] = field(metadata=key("confusion"))
    n: int  #: pairs.
    accuracy: AgreementFigure  #: share of equal pairs.
    balanced_accuracy: AgreementFigure  #: mean over human labels of the share that the judge finds.
    kappa: AgreementFigure  #: Cohen's, unweighted.
    #: human label -> share of them that the judge calls the same.
    found: Mapping[str, AgreementFigure] = field(default_factory=dict)
    #: kappa with linear weights, for three labels in an order; None for others.
    weighted: AgreementFigure | None = field(default=None, metadata=key("weighted_kappa"))


def compute_agreement(
    human: Sequence[str],
    judge: Sequence[str],
    labels: Sequence[str],
    clusters: Clusters = None,
    weights: Weights = None,
) -> Agreement:
    """How a judge's labels agree with human ones, item by item.

    Args:
        human: one label an item.
        judge: in the same order.
        labels: every label that may come, in the order of the table.
        clusters: what items depend on; None = all independent.
        weights: how much items count, above 0; None = all alike.
    """
    label_numbers = {label: n for n, label in enumerate(labels)}
    rows, columns = [label_numbers[label] for label in human], [label_numbers[label] for label in judge]
    table = [[0] * len(labels) for _ in labels]
    for row, column in zip(rows, columns, strict=True):
        table[row][column] += 1
    by_label = {label: _compute_recall(label, human, judge, clusters, weights) for label in labels if label in human}
    same = compute_equal_share(rows, columns, clusters, weights)
    return Agreement(
        tuple(labels),
        tuple(map(tuple, table)),
        len(rows),
        same,
        _average_recalls(by_label),
        compute_kappa(rows, columns, len(labels), clusters, weights),
        by_label,
        _compute_ordered_kappa(human, judge, labels, clusters, weights),
    )


def _compute_ordered_kappa(
    human: Sequence[str], judge: Sequence[str], labels: Sequence[str], clusters: Clusters, weights: Weights
) -> AgreementFigure | None:
    if set(labels) != set(LABEL_ORDER):
        return None
    return compute_kappa(
        [LABEL_ORDER.index(label) for label in human],
        [LABEL_ORDER.index(label) for label in judge],
        len(LABEL_ORDER),
        clusters,
        weights,
        in_order=True,
    )


def compute_kappa(
    human: Sequence[int],
    judge: Sequence[int],
    n_labels: int,
    clusters: Clusters = None,
    weights: Weights = None,
    *,
    in_order: bool = False,
) -> AgreementFigure:
    """Cohen's kappa: agreement beyond what the two would have by chance.

    kappa = (po − pe) / (1 − pe),  po = Σ_jk v_jk p_jk,  pe = Σ_jk v_jk r_j c_k
    p  shares of the table, by weight;  r, c  its row and column sums
    v  1 for equal labels, else 0; in_order: 1 − |j − k| / (labels − 1), which is called weighted kappa
    kappa ± z·sqrt(Σ_g (Σ_{i in g} w_i d_i)²) / n,  w  the weights, their mean 1
    d_i = (v_ab − po) / (1 − pe) − (1 − po)((v c)_a + (v r)_b − 2 pe) / (1 − pe)²,  item i with labels a and b

    n  items;  g  clusters, or single items: then it is Fleiss, Cohen and Everitt's large-sample interval, clipped to
    [−1, 1]. Where d is 0 everywhere, `_bound_full_agreement` or the accuracy's interval: the width is never 0.

    Undefined when n = 0, or when both use one and the same label only (pe = 1); without interval of one cluster.

    >>> result = compute_kappa([0] * 25 + [1] * 25, [0] * 20 + [1] * 5 + [0] * 10 + [1] * 15, 2)
    >>> round(result.value, 3), round(result.interval.low, 3), round(result.interval.high, 3)
    (0.4, 0.151, 0.649)
    """
    import numpy as np

    a, b = np.asarray(human, dtype=np.intp), np.asarray(judge, dtype=np.intp)
    if (n := a.size) < 2:
        return AgreementFigure(None, reason="one item" if n else "nothing to compare")
    w = normalize_weights(weights, n)
    r, c = (np.bincount(codes, weights=w, minlength=n_labels) / n for codes in (a, b))
    distances = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels)))
    v = 1 - distances / max(1, n_labels - 1) if in_order else (distances == 0).astype(np.float64)
    po, pe = float((w * v[a, b]).mean()), float(r @ v @ c)
    if pe >= 1 - 1e-12:
        return AgreementFigure(None, reason="both use only one label")
    value = (po - pe) / (1 - pe)
    d = (v[a, b] - po) / (1 - pe) - (1 - po) * ((v @ c)[a] + (v @ r)[b] - 2 * pe) / (1 - pe) ** 2
    cluster_totals = sum_by_cluster(w * d, clusters)
    if (units := n if clusters is None else cluster_totals.size) < 2:
        return AgreementFigure(value, None, "all items share one question and its passages")
    if (a == b).all():
        return AgreementFigure(value, _bound_full_agreement(r, min(float(units), compute_effective_n(w, n))))
    half = normal_quantile(LEVEL) * sqrt(float((cluster_totals**2).sum())) / n
    if half < MIN_HALF_WIDTH:
        accuracy = compute_equal_share(human, judge, clusters, weights)
        return AgreementFigure(value, _convert_to_kappa(accuracy.interval, pe))
    return AgreementFigure(value, _clip_interval(value - half, value + half, "Fleiss-Cohen-Everitt"))


def _clip_interval(low: float, high: float, method: str) -> Interval:
    return Interval(max(-1.0, low), min(1.0, high), method, LEVEL)


def _convert_to_kappa(share: Interval | None, pe: float) -> Interval | None:
    """The ends of an interval of accuracy as kappas, where this is the agreement by chance."""
    if share is None:
        return None
    return _clip_interval((share.low - pe) / (1 - pe), (share.high - pe) / (1 - pe), "wilson, on kappa's scale")


def _bound_full_agreement(shares: Counts, n: float) -> Interval:
    """The interval of a kappa of 1: from the least kappa that the shares of the labels allow, with 95 %, up to 1.

    Where labels have the shares s and two agree with kappa k, s_j² + k s_j (1 − s_j) of the items have both times label
    j, and (1 − k) Σ_j s_j (1 − s_j) differ. The low end is the least k whose χ² beside what was seen, s_j of the items
    and none, is at most z²:

    n · ((1 − k) Σ_j s_j (1 − s_j) + (1 − k)² Σ_j s_j (1 − s_j)² / (s_j + k (1 − s_j)))

    Few items of the rarer label say little: of 100 items, one of them rare, the low end is 0.24. Weighted kappa is k in
    that model too.

    Args:
        shares: s, shape (k,), by weight.
        n: items, or clusters, by Kish's effective number where weights say less.

    Source: the goodness-of-fit interval, Donner and Eliasziw (1992), Statistics in Medicine 11, 1511.
    """
    s = shares[shares > 0]
    room = s * (1 - s)
    max_chi2 = normal_quantile(LEVEL) ** 2

    def compute_chi2(k: float) -> float:
        return n * float(((1 - k) * room + s * (1 - s) ** 2 * (1 - k) ** 2 / (s + k * (1 - s))).sum())

    low, high = max(-1.0, -float((s / (1 - s)).min()) + 1e-9), 1.0
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if compute_chi2(middle) > max_chi2 else (low, middle)
    return Interval(low, 1.0, "Donner-Eliasziw", LEVEL)


def normalize_weights(weights: Weights | Counts, n: int) -> Counts:
    """Weights of n items brought to a mean of 1, so that they change no count; all 1 for None.

    >>> normalize_weights([1, 3], 2).tolist()
    [0.5, 1.5]
    """
    import numpy as np

    if weights is None:
        return np.ones(n)
    w = np.asarray(weights, dtype=np.float64)
    return np.asarray(w * n / w.sum())


def compute_fleiss_kappa(counts: Sequence[Sequence[int]], weights: Weights = None) -> AgreementFigure:
    """Fleiss' kappa of any number of annotators an item, who need not be the same people.

    kappa = (P − E) / (1 − E),  P = mean_i Σ_j n_ij (n_ij − 1) / (n_i (n_i − 1)),  E = Σ_j p_j²

    n_ij  annotators who gave item i label j;  n_i = Σ_j n_ij;  p_j = Σ_i n_ij / Σ_ij n_ij

    With weights mean and sums over i are weighted.
    Items with one annotator are left out. Undefined when none is left, or all gave one label.
    Source: Fleiss (1971), Psychological Bulletin 76, 378; with unequal n_i as in Fleiss, Levin and Paik (2003), 18.3.

    >>> round(compute_fleiss_kappa([(3, 0), (2, 1), (0, 3), (1, 2)]).value, 4)
    0.3333
    """
    import numpy as np

    several = [k for k, row in enumerate(counts) if sum(row) > 1]
    table = np.asarray([counts[k] for k in several], dtype=np.float64)
    if not len(table):
        return AgreementFigure(None, reason="no item has two annotators")
    w = normalize_weights(None if weights is None else [weights[k] for k in several], len(several))
    n = table.sum(axis=1)
    observed = float((w * (table * (table - 1)).sum(axis=1) / (n * (n - 1))).mean())
    expected = float(((w @ table / (w @ n)) ** 2).sum())
    if expected >= 1 - 1e-12:
        return AgreementFigure(None, reason="all labels are the same")
    return AgreementFigure((observed - expected) / (1 - expected))


def compare_accuracy(
    human: Sequence[str], new: Sequence[str], base: Sequence[str], clusters: Clusters = None, weights: Weights = None
) -> AgreementFigure:
    """Accuracy of one judge less that of another on the same items, paired.

    Σ_i w_i (1{new_i = h_i} − 1{base_i = h_i}) / n,  w  the weights, their mean 1

    The interval is `estimation.compute_difference_interval`'s. Undefined when n = 0.

    >>> compare_accuracy(["a", "b"], ["a", "b"], ["a", "a"]).value
    0.5
    """
    right = [float(label == h) for label, h in zip(new, human, strict=True)]
    base_right = [float(label == h) for label, h in zip(base, human, strict=True)]
    return compare_correctness(right, base_right, clusters, weights)


def compare_correctness(
    right: Sequence[float], base_right: Sequence[float], clusters: Clusters = None, weights: Weights = None
) -> AgreementFigure:
    """The same of verdicts that are right (1) or not (0)."""
    if not right:
        return AgreementFigure(None, reason="nothing to compare")
    w = normalize_weights(weights, len(right))
    value = sum(weight * (a - b) for weight, a, b in zip(w.tolist(), right, base_right, strict=True)) / len(right)
    sample_weights = None if weights is None else w
    new_side, base_side = (
        ScoreSample(correct, "rate", weights=sample_weights, clusters=clusters) for correct in (right, base_right)
    )
    return AgreementFigure(value, compute_difference_interval(new_side, base_side, LEVEL))


def compute_equal_share(
    items: Items, other: Items, clusters: Clusters | npt.NDArray[Any], weights: Weights | Counts = None
) -> AgreementFigure:
    """The share of items, by weight, of which two lists say the same, with its interval."""
    same = [float(a == b) for a, b in zip(items, other, strict=True)]
    if not same:
        return AgreementFigure(None, reason="nothing to compare")
    w = normalize_weights(weights, len(same))
    value = sum(weight * equal for weight, equal in zip(w.tolist(), same, strict=True)) / len(same)
    sample = ScoreSample(same, "rate", weights=None if weights is None else w, clusters=clusters)
    return AgreementFigure(value, compute_mean_interval(sample, LEVEL))


def _compute_recall(
    label: str, human: Sequence[str], judge: Sequence[str], clusters: Clusters, weights: Weights
) -> AgreementFigure:
    indices = [n for n, human_label in enumerate(human) if human_label == label]
    return compute_equal_share(
        [human[n] for n in indices], [judge[n] for n in indices], *Basis(clusters, weights).at(indices)
    )


def _average_recalls(by_label: Mapping[str, AgreementFigure]) -> AgreementFigure:
    """Mean of the shares; its interval is put together from theirs (Zou and Donner 2008), so its width is never 0."""
    if not by_label:
        return AgreementFigure(None, reason="nothing to compare")
    values = [figure.value or 0.0 for figure in by_label.values()]
    mean = sum(values) / len(values)
    intervals = [figure.interval for figure in by_label.values()]
    if any(interval is None for interval in intervals):
        return AgreementFigure(mean, reason="a label has fewer than two items")
    pairs = [(value, interval) for value, interval in zip(values, intervals, strict=True) if interval is not None]
    down = sqrt(sum((value - interval.low) ** 2 for value, interval in pairs)) / len(pairs)
    up = sqrt(sum((interval.high - value) ** 2 for value, interval in pairs)) / len(pairs)
    return AgreementFigure(
        mean, Interval(max(0.0, mean - down), min(1.0, mean + up), "from wilson of each label", LEVEL)
    )


def sum_by_cluster(values: Counts, clusters: Clusters | npt.NDArray[Any]) -> Counts:
    """Sums by cluster."""
    import numpy as np

    if clusters is None:
        return values
    numbers: dict[Hashable, int] = {}
    groups = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    return np.asarray(np.bincount(groups, weights=values), dtype=np.float64)


SAME_VALUE_TOLERANCE = 1e-9  # values that differ by less are the same


def measure_spread(metric: Metric, repeats: Sequence[Columns]) -> JudgeSpread:
    """A metric's means in several repeats, over the responses that all of them have scored, failed or left out.

    Args:
        metric: whose scores.
        repeats: one entry a response each.
    """
    import numpy as np

    shared = reduce(np.intersect1d, [repeat.place for repeat in repeats])
    shared_repeats = [repeat.take(np.isin(repeat.place, shared).nonzero()[0]) for repeat in repeats]
    means = tuple(summarize_metric(metric, merge_repeats(repeat_scores)).mean for repeat_scores in shared_repeats)
    scored = np.logical_and.reduce([repeat_scores.status == SCORED for repeat_scores in shared_repeats])
    values = np.stack([repeat_scores.value[scored] for repeat_scores in shared_repeats])
    changed = int((np.ptp(values, axis=0) > SAME_VALUE_TOLERANCE).sum()) if values.size else 0
    return JudgeSpread(str(metric), means, changed, int(scored.sum()))

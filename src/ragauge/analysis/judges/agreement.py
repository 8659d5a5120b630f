"""How far a judge's labels agree with people's: counts, accuracy, Cohen's kappa, each with its interval.

Labels that share a cluster (claims of one answer) are not independent; every interval takes that into account.

How far the scores of several repeats of one judge lie apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import sqrt
from typing import TYPE_CHECKING, Any

from ragauge.analysis.estimating import ScoreSample, interval_of_difference, interval_of_mean
from ragauge.analysis.results.judging import JudgeSpread
from ragauge.analysis.scores.arrays import SCORED, Columns, by_example
from ragauge.analysis.scores.summarize import summary
from ragauge.metrics.base import Metric
from ragauge.stats.distributions import normal_quantile
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Counts = npt.NDArray[np.float64]
    Items = Sequence[object] | npt.NDArray[Any]


LEVEL = 0.95
ORDER = ("contradicted", "not_in_context", "supported")     # worst first: both ends lie farther apart
Clusters = Sequence[Hashable] | None


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """A number with its interval; value None where it is not defined, and then why."""

    value: float | None
    interval: Interval | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two lists of labels agree.

    Attributes:
        labels: those in use, in a fixed order.
        table: counts; a row a human label, a column a judge's.
        n: pairs.
        accuracy: share of equal pairs.
        balanced_accuracy: mean over human labels of the share that the judge finds.
        kappa: Cohen's, unweighted.
        found: human label -> share of them that the judge calls the same.
        weighted: kappa with linear weights, for three labels in an order; None for others.
    """

    labels: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    n: int
    accuracy: AgreementFigure
    balanced_accuracy: AgreementFigure
    kappa: AgreementFigure
    found: Mapping[str, AgreementFigure] = field(default_factory=dict)
    weighted: AgreementFigure | None = None


def agreement(
    human: Sequence[str], judge: Sequence[str], labels: Sequence[str], clusters: Clusters = None
) -> Agreement:
    """How a judge's labels agree with human ones, item by item.

    Args:
        human: one label an item.
        judge: in the same order.
        labels: every label that may come, in the order of the table.
        clusters: what items depend on; None = all independent.
    """
    known = {label: n for n, label in enumerate(labels)}
    rows, columns = [known[label] for label in human], [known[label] for label in judge]
    table = [[0] * len(labels) for _ in labels]
    for row, column in zip(rows, columns, strict=True):
        table[row][column] += 1
    by_label = {label: _found(label, human, judge, clusters) for label in labels if label in human}
    return Agreement(
        tuple(labels), tuple(map(tuple, table)), len(rows), share_alike(rows, columns, clusters), _balanced(by_label),
        kappa(rows, columns, len(labels), clusters), by_label, _weighted(human, judge, labels, clusters),
    )  # fmt: skip


def _weighted(
    human: Sequence[str], judge: Sequence[str], labels: Sequence[str], clusters: Clusters
) -> AgreementFigure | None:
    if set(labels) != set(ORDER):
        return None
    return kappa([ORDER.index(one) for one in human], [ORDER.index(one) for one in judge], len(ORDER), clusters,
                 weighted=True)  # fmt: skip


def kappa(
    human: Sequence[int], judge: Sequence[int], n_labels: int, clusters: Clusters = None, *, weighted: bool = False
) -> AgreementFigure:
    """Cohen's kappa: agreement beyond what the two would have by chance.

    kappa = (po − pe) / (1 − pe),  po = Σ_jk v_jk p_jk,  pe = Σ_jk v_jk r_j c_k

    p  shares of the table;  r, c  its row and column sums
    v  1 for equal labels, else 0; weighted: 1 − |j − k| / (labels − 1), for labels in an order

    kappa ± z·sqrt(Σ_g (Σ_{i in g} d_i)²) / n
    d_i = (v_ab − po) / (1 − pe) − (1 − po)((v c)_a + (v r)_b − 2 pe) / (1 − pe)²,  item i with labels a and b

    n  items;  g  clusters, one an item where there are none: then it is Fleiss, Cohen and Everitt's large-sample
    interval. Where every d is 0 (all agree) the ends are those of the accuracy's Wilson interval on kappa's scale, so
    that the width is never 0. Clipped to [−1, 1].

    Undefined when n = 0, or when both use one and the same label only (pe = 1).
    Source: Cohen (1960); weights: Cohen (1968), Cicchetti and Allison (1971); variance: Fleiss, Cohen and Everitt
    (1969), Psychological Bulletin 72, 323.

    >>> found = kappa([0] * 25 + [1] * 25, [0] * 20 + [1] * 5 + [0] * 10 + [1] * 15, 2)
    >>> round(found.value, 3), round(found.interval.low, 3), round(found.interval.high, 3)
    (0.4, 0.151, 0.649)
    """
    import numpy as np

    a, b = np.asarray(human, dtype=np.intp), np.asarray(judge, dtype=np.intp)
    n = a.size
    if not n:
        return AgreementFigure(None, reason="nothing to compare")
    r, c = (np.bincount(codes, minlength=n_labels) / n for codes in (a, b))
    apart = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels)))
    v = 1 - apart / max(1, n_labels - 1) if weighted else (apart == 0).astype(np.float64)
    po, pe = float(v[a, b].mean()), float(r @ v @ c)
    if pe >= 1 - 1e-12:
        return AgreementFigure(None, reason="both use one label only")
    value = (po - pe) / (1 - pe)
    d = (v[a, b] - po) / (1 - pe) - (1 - po) * ((v @ c)[a] + (v @ r)[b] - 2 * pe) / (1 - pe) ** 2
    parts = cluster_sums(d, clusters)
    half = normal_quantile(LEVEL) * sqrt(float((parts**2).sum())) / n
    if n > 1 and half > 1e-12:
        return AgreementFigure(
            value, Interval(max(-1.0, value - half), min(1.0, value + half), "Fleiss-Cohen-Everitt", LEVEL)
        )
    share = share_alike(human, judge, clusters).interval
    if share is None:
        return AgreementFigure(value)
    low, high = ((end - pe) / (1 - pe) for end in (share.low, share.high))
    return AgreementFigure(value, Interval(max(-1.0, low), min(1.0, high), "wilson, on kappa's scale", LEVEL))


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> AgreementFigure:
    """Fleiss' kappa of any number of annotators an item, who need not be the same people.

    kappa = (P − E) / (1 − E),  P = mean_i Σ_j n_ij (n_ij − 1) / (n_i (n_i − 1)),  E = Σ_j p_j²

    n_ij  annotators who gave item i label j;  n_i = Σ_j n_ij;  p_j = Σ_i n_ij / Σ_ij n_ij

    Items with one annotator are left out. Undefined when none is left, or all gave one label.
    Source: Fleiss (1971), Psychological Bulletin 76, 378; with unequal n_i as in Fleiss, Levin and Paik (2003), 18.3.

    >>> round(fleiss_kappa([(3, 0), (2, 1), (0, 3), (1, 2)]).value, 4)
    0.3333
    """
    import numpy as np

    table = np.asarray([row for row in counts if sum(row) > 1], dtype=np.float64)
    if not len(table):
        return AgreementFigure(None, reason="no item has two annotators")
    n = table.sum(axis=1)
    observed = float(((table * (table - 1)).sum(axis=1) / (n * (n - 1))).mean())
    expected = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    if expected >= 1 - 1e-12:
        return AgreementFigure(None, reason="all gave one label")
    return AgreementFigure((observed - expected) / (1 - expected))


def difference(
    human: Sequence[str], new: Sequence[str], base: Sequence[str], clusters: Clusters = None
) -> AgreementFigure:
    """Accuracy of one judge less that of another on the same items, paired: Σ_i (1{new_i = h_i} − 1{base_i = h_i}) / n.

    The interval is `estimating.interval_of_difference`'s. Undefined when n = 0.

    >>> difference(["a", "b"], ["a", "b"], ["a", "a"]).value
    0.5
    """
    right = [float(label == h) for label, h in zip(new, human, strict=True)]
    before = [float(label == h) for label, h in zip(base, human, strict=True)]
    if not right:
        return AgreementFigure(None, reason="nothing to compare")
    value = (sum(right) - sum(before)) / len(right)
    new_side, base_side = (ScoreSample(side, "rate", clusters=clusters) for side in (right, before))
    return AgreementFigure(value, interval_of_difference(new_side, base_side, LEVEL))


def share_alike(items: Items, other: Items, clusters: Clusters | npt.NDArray[Any]) -> AgreementFigure:
    """The share of items of which two lists say the same, with its interval."""
    same = [float(a == b) for a, b in zip(items, other, strict=True)]
    if not same:
        return AgreementFigure(None, reason="nothing to compare")
    return AgreementFigure(sum(same) / len(same), interval_of_mean(ScoreSample(same, "rate", clusters=clusters), LEVEL))


def _found(label: str, human: Sequence[str], judge: Sequence[str], clusters: Clusters) -> AgreementFigure:
    places = [n for n, given in enumerate(human) if given == label]
    groups = None if clusters is None else [clusters[n] for n in places]
    return share_alike([human[n] for n in places], [judge[n] for n in places], groups)


def _balanced(by_label: Mapping[str, AgreementFigure]) -> AgreementFigure:
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


def cluster_sums(values: Counts, clusters: Clusters | npt.NDArray[Any]) -> Counts:
    """Sums by cluster."""
    import numpy as np

    if clusters is None:
        return values
    numbers: dict[Hashable, int] = {}
    groups = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    return np.asarray(np.bincount(groups, weights=values), dtype=np.float64)


SAME = 1e-9     # values that differ by less are the same


def spread(metric: Metric, repeats: Sequence[Columns]) -> JudgeSpread:
    """A metric's means in several repeats, over the responses that all of them have scored, failed or left out.

    Args:
        metric: whose scores.
        repeats: one entry a response each.
    """
    import numpy as np

    places = reduce(np.intersect1d, [repeat.place for repeat in repeats])
    parts = [repeat.take(np.isin(repeat.place, places).nonzero()[0]) for repeat in repeats]
    means = tuple(summary(metric, by_example(part)).mean for part in parts)
    scored = np.logical_and.reduce([part.status == SCORED for part in parts])
    values = np.stack([part.value[scored] for part in parts])
    changed = int((np.ptp(values, axis=0) > SAME).sum()) if values.size else 0
    return JudgeSpread(str(metric), means, changed, int(scored.sum()))

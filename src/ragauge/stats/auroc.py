"""How well scores tell two kinds of items apart: the area under the ROC curve, with its interval.

V         of a positive item the share, by weight, of the group's negative items that score below it, ties half; of
          a negative one the share of the positive items above it
m_g, n_g  weights of the positive and of the negative items of the group; without weights, their numbers
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import TYPE_CHECKING

from ragauge.stats.distributions import normal_quantile
from ragauge.stats.intervals import wilson_interval
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]

METHOD = "DeLong, logit"
MIN_SHARE = 1e-12  # below it a share is none: weighted sums round
# Scores of each fold's items by the model of the other folds: were nothing to tell, every pair of folds would count
# twice, once for either model, which doubles the variance. Where there is something to tell it is too wide, not narrow.
CROSS_FIT_FACTOR = sqrt(2)


def compute_auroc(
    positive: npt.NDArray[np.bool_],
    scores: Floats,
    clusters: Numbers | None = None,
    level: float = 0.95,
    *,
    weights: Floats | None = None,
    within: Numbers | None = None,
    widened: float = 1.0,
) -> tuple[float, Interval | None] | None:
    """The chance that a positive item scores above a negative one, ties counting half.

    A = Σ_g q_g · A_g,  A_g = Σᵢ wᵢ Vᵢ / m_g over the positive items of group g,  q_g = m_g·n_g / Σ m·n
    se² = Σ_c (Σ_{i in c} dᵢ)²,  d = q_g · wᵢ (Vᵢ − A_g) / m_g of a positive item, / n_g of a negative one

    c  clusters, one an item where there are none; V, m_g and n_g as above

    Groups keep apart scores of several models. Within them, d is that times sqrt(k / (k − 1)), k items of its kind.

    Args:
        positive: shape (n,).
        scores: shape (n,), finite; greater speaks for positive.
        clusters: shape (n,), numbers of what items depend on; None = all independent.
        level: of the interval.
        weights: shape (n,), how much items count, above 0; None = all alike.
        within: shape (n,), numbers of the groups; None = all one.
        widened: how many times DeLong's error the error is; see `CROSS_FIT_FACTOR`.

    Returns:
        A in [0, 1]; without weights and groups the Mann–Whitney statistic over m·n. Its interval is on the scale of log
        odds; where A is 0 or 1, Wilson's of the fewer items. None where no group has both kinds.

    Source: DeLong, DeLong and Clarke-Pearson (1988); Obuchowski (1997) for clusters.
    """
    import numpy as np

    groups = np.zeros(scores.size, dtype=np.int64) if within is None else within
    members = [
        indices for g in np.unique(groups) if 0 < positive[indices := np.flatnonzero(groups == g)].sum() < indices.size
    ]
    if not members:
        return None
    w = np.ones(scores.size) if weights is None else weights
    value, d = _combine_groups(positive, scores, w, members, small=within is not None)
    if min(value, 1 - value) < MIN_SHARE:
        marks = positive[np.concatenate(members)]
        fewer = float(min(marks.sum(), (~marks).sum()))
        return float(round(value)), wilson_interval(round(value) * fewer, fewer, level)
    sums = d if clusters is None else np.bincount(np.unique(clusters, return_inverse=True)[1], weights=d)
    return value, _build_log_odds_interval(value, widened * sqrt(float((sums**2).sum())), level)


def _build_log_odds_interval(value: float, error: float, level: float) -> Interval:
    """The interval on the scale of log odds."""
    middle, half = log(value / (1 - value)), normal_quantile(level) * error / (value * (1 - value))
    bounds = [1 / (1 + exp(-min(700.0, max(-700.0, end)))) for end in (middle - half, middle + half)]
    return Interval(bounds[0], bounds[1], METHOD, level)


def _combine_groups(
    positive: npt.NDArray[np.bool_], scores: Floats, w: Floats, members: list[npt.NDArray[np.intp]], *, small: bool
) -> tuple[float, Floats]:
    """A over the groups, and d of each item."""
    import numpy as np

    value, d = 0.0, np.zeros(scores.size)
    pairs = [float(w[indices][positive[indices]].sum() * w[indices][~positive[indices]].sum()) for indices in members]
    for indices, count in zip(members, pairs, strict=True):
        group_value, shifts = _compute_group_auroc(positive[indices], scores[indices], w[indices], small=small)
        value, d[indices] = value + count / sum(pairs) * group_value, count / sum(pairs) * shifts
    return value, d


def _compute_group_auroc(
    positive: npt.NDArray[np.bool_], scores: Floats, w: Floats, *, small: bool
) -> tuple[float, Floats]:
    """A of one group, and how far each item moves it."""
    import numpy as np

    v = np.empty(scores.size)
    v[positive] = _compute_share_below(scores[~positive], w[~positive], scores[positive])
    v[~positive] = 1 - _compute_share_below(scores[positive], w[positive], scores[~positive])
    value = float(np.average(v[positive], weights=w[positive]))
    d = w * (v - value) / np.where(positive, w[positive].sum(), w[~positive].sum())
    if small:
        counts = (int(positive.sum()), int((~positive).sum()))
        d = d * np.where(positive, *(sqrt(k / max(1, k - 1)) for k in counts))
    return value, d


def _compute_share_below(references: Floats, weights: Floats, scores: Floats) -> Floats:
    """The share, by weight, of some scores that lie below each of others; those that are equal count half."""
    import numpy as np

    order = np.argsort(references, kind="stable")
    sums = np.concatenate(([0.0], np.cumsum(weights[order])))
    positions = [np.searchsorted(references[order], scores, side) for side in ("left", "right")]
    return np.asarray((sums[positions[0]] + sums[positions[1]]) / (2 * sums[-1]))

"""Penalized logistic regression, and one with an offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]


N_FOLDS = 5
MAX_STEPS = 50
TOLERANCE = 1e-9  # a step below ends the fit


def fit_logistic(features: Floats, positive: Mask, penalty: float = 1.0) -> Floats:
    """The coefficients that minimise the penalised loss, the intercept last.

    Σ_i log(1 + exp(−y_i · z_i)) + penalty/2 · Σ_j b_j²,  z = features · b + b₀,  y = ±1

    Args:
        features: shape (n, p), of like scale: the penalty treats all alike.
        positive: shape (n,).
        penalty: above 0; the intercept has none.

    Returns:
        Shape (p + 1,), by Newton's method with halved steps. Finite for separable items too.
    """
    import numpy as np

    table = np.column_stack([features, np.ones(len(features))])
    ridge = np.append(np.full(features.shape[1], penalty), 1e-9)
    b = np.zeros(table.shape[1])
    y = np.where(positive, 1.0, -1.0)

    def compute_loss(coefficients: Floats) -> float:
        return float(np.logaddexp(0, -y * (table @ coefficients)).sum() + (ridge * coefficients**2).sum() / 2)

    current_loss = compute_loss(b)
    for _ in range(MAX_STEPS):
        p = (1 + np.tanh(table @ b / 2)) / 2
        slope = table.T @ (p - positive) + ridge * b
        step = np.linalg.solve((table * (p * (1 - p))[:, None]).T @ table + np.diag(ridge), slope)
        while (next_loss := compute_loss(b - step)) > current_loss + TOLERANCE and np.abs(step).max() > TOLERANCE:
            step = step / 2
        b, current_loss = b - step, next_loss
        if np.abs(step).max() < TOLERANCE:
            break
    return np.asarray(b)


def assign_balanced_folds(
    clusters: Sequence[int] | Numbers, positive: Mask, count: int = N_FOLDS, seed: int = 7
) -> Numbers:
    """The fold of each item, clusters kept whole, both kinds spread as evenly as they allow.

    Args:
        clusters: shape (n,), numbers of what items depend on.
        positive: shape (n,).
        count: of folds.
        seed: of the order in which clusters are dealt out.

    Returns:
        Shape (n,), from 0 to count − 1.
    """
    import numpy as np

    _, cluster_codes = np.unique(clusters, return_inverse=True)
    counts = np.column_stack(
        [np.bincount(cluster_codes, weights=positive), np.bincount(cluster_codes, weights=~positive)]
    )
    order = np.random.default_rng(seed).permutation(len(counts))
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    share, filled = np.maximum(1, counts.sum(axis=0)), np.zeros((count, 2))
    fold = np.empty(len(counts), dtype=np.int64)
    for cluster in order:
        fuller = (filled / share + counts[cluster] / share) ** 2 - (filled / share) ** 2
        fold[cluster] = int(np.argmin(fuller.sum(axis=1)))
        filled[fold[cluster]] += counts[cluster]
    return fold[cluster_codes]


def cross_fit(features: Floats, positive: Mask, fold: Numbers, penalty: float = 1.0) -> Floats:
    """Log odds of each item by the regression on the other folds.

    Features are centred and scaled by the other folds' mean and deviation; one that does not vary there is left out.

    Args:
        features: shape (n, p).
        positive: shape (n,).
        fold: shape (n,), from `assign_balanced_folds`.
        penalty: as of `fit_logistic`.

    Returns:
        Shape (n,). Log odds of two folds come from two models: compare them within folds.
    """
    import numpy as np

    z = np.zeros(len(features))
    for number in np.unique(fold):
        out = fold == number
        middle, spread = features[~out].mean(axis=0), features[~out].std(axis=0)
        varies = spread > TOLERANCE
        scaled = (features[:, varies] - middle[varies]) / spread[varies]
        b = fit_logistic(scaled[~out], positive[~out], penalty)
        z[out] = scaled[out] @ b[:-1] + b[-1]
    return z


OFFSET_LOGISTIC_MAX_STEPS = 100  # of Newton's method at most; it takes about ten
OFFSET_LOGISTIC_TOLERANCE = 1e-10  # the greatest step at which it has settled
MIN_SPREAD = 1e-12  # spread of a feature up to which it is the same everywhere, and tells nothing


@dataclass(frozen=True, slots=True)
class OffsetLogistic:
    """z = offset + shift + sum of coefficient x feature; the probability is 1 / (1 + exp(-z))."""

    shift: float  #: added to the log odds of every item.
    coefficients: tuple[float, ...]  #: one a feature, on the scale that the feature came in.


def fit_from_offset(features: Floats, offset: Floats, labels: Floats, ridge: float | Floats) -> OffsetLogistic:
    """The maximum of the penalised likelihood, by Newton's method.

    minimise  sum over items of log(1 + exp(z)) - y z,  plus ridge / 2 x sum of (coefficient x spread of its feature)²

    The shift is not penalised. As the ridge grows the coefficients go to 0, and z to offset + shift. A feature that is
    the same for every item has the coefficient 0.

    Args:
        features: n items by k features; k may be 0.
        offset: log odds of each item before anything was learned.
        labels: 1 or 0 of each; both occur.
        ridge: above 0; one for all coefficients, or one a feature.

    Raises:
        ValueError: a ridge of 0 or less, or labels that are all alike: the shift would be infinite.

    Source: Hoerl and Kennard (1970) for the ridge; le Cessie and van Houwelingen (1992), Applied Statistics 41, for
    its logistic form.
    """
    import numpy as np

    ridges = np.broadcast_to(np.asarray(ridge, dtype=np.float64), features.shape[1:])
    if np.any(ridges <= 0):
        raise ValueError(f"ridge must be above 0, got {ridges.min():g}")
    if not 0 < labels.sum() < labels.size:
        raise ValueError("labels must not all be the same")
    middle, spread = features.mean(axis=0), features.std(axis=0)
    tells = spread > MIN_SPREAD
    table = np.c_[np.ones(labels.size), (features[:, tells] - middle[tells]) / spread[tells]]
    penalty = np.r_[0.0, ridges[tells]]
    weights = np.zeros(table.shape[1])
    value = _compute_loss(table, offset, labels, penalty, weights)
    for _ in range(OFFSET_LOGISTIC_MAX_STEPS):
        p = inverse_logit(offset + table @ weights)
        slope = table.T @ (p - labels) + penalty * weights
        curve = (table.T * (p * (1 - p))) @ table + np.diag(penalty + MIN_SPREAD)
        step = np.linalg.solve(curve, slope)
        while (next_value := _compute_loss(table, offset, labels, penalty, weights - step)) > value and np.abs(
            step
        ).max() > OFFSET_LOGISTIC_TOLERANCE:
            step = step / 2  # Newton's step may overshoot where most probabilities are near 0 or 1
        weights, value = weights - step, next_value
        if np.abs(step).max() <= OFFSET_LOGISTIC_TOLERANCE:
            break
    coefficients = np.zeros(features.shape[1])
    coefficients[tells] = weights[1:] / spread[tells]
    return OffsetLogistic(
        float(weights[0] - coefficients @ middle), tuple(float(coefficient) for coefficient in coefficients)
    )


def inverse_logit(z: Floats) -> Floats:
    """1 / (1 + exp(-z)), without overflow."""
    import numpy as np

    return np.asarray(0.5 * (1 + np.tanh(z / 2)), dtype=np.float64)


def _compute_loss(table: Floats, offset: Floats, labels: Floats, penalty: Floats, weights: Floats) -> float:
    import numpy as np

    z = offset + table @ weights
    return float((np.logaddexp(0, z) - labels * z).sum() + penalty @ weights**2 / 2)

"""Logistic regression that starts from log odds already known, and is drawn back to them by a ridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

MAX_STEPS = 100  # of Newton's method at most; it takes about ten
TOLERANCE = 1e-10  # the greatest step at which it has settled
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
    for _ in range(MAX_STEPS):
        p = inverse_logit(offset + table @ weights)
        slope = table.T @ (p - labels) + penalty * weights
        curve = (table.T * (p * (1 - p))) @ table + np.diag(penalty + MIN_SPREAD)
        step = np.linalg.solve(curve, slope)
        while (next_value := _compute_loss(table, offset, labels, penalty, weights - step)) > value and np.abs(
            step
        ).max() > TOLERANCE:
            step = step / 2  # Newton's step may overshoot where most probabilities are near 0 or 1
        weights, value = weights - step, next_value
        if np.abs(step).max() <= TOLERANCE:
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

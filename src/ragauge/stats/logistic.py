"""Logistic regression with a penalty, and its predictions for items that it was not fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

FOLDS = 5
MOST_STEPS = 50
CLOSE = 1e-9  # a step below ends the fit


def logistic(features: Floats, positive: Mask, penalty: float = 1.0) -> Floats:
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

    def loss(at: Floats) -> float:
        return float(np.logaddexp(0, -y * (table @ at)).sum() + (ridge * at**2).sum() / 2)

    now = loss(b)
    for _ in range(MOST_STEPS):
        p = (1 + np.tanh(table @ b / 2)) / 2
        slope = table.T @ (p - positive) + ridge * b
        step = np.linalg.solve((table * (p * (1 - p))[:, None]).T @ table + np.diag(ridge), slope)
        while (then := loss(b - step)) > now + CLOSE and np.abs(step).max() > CLOSE:
            step = step / 2
        b, now = b - step, then
        if np.abs(step).max() < CLOSE:
            break
    return np.asarray(b)


def folds(clusters: Sequence[int] | Numbers, positive: Mask, count: int = FOLDS, seed: int = 7) -> Numbers:
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

    _, of = np.unique(clusters, return_inverse=True)
    held = np.column_stack([np.bincount(of, weights=positive), np.bincount(of, weights=~positive)])
    order = np.random.default_rng(seed).permutation(len(held))
    order = order[np.argsort(-held[order].sum(axis=1), kind="stable")]
    share, filled = np.maximum(1, held.sum(axis=0)), np.zeros((count, 2))
    fold = np.empty(len(held), dtype=np.int64)
    for at in order:
        fuller = (filled / share + held[at] / share) ** 2 - (filled / share) ** 2
        fold[at] = int(np.argmin(fuller.sum(axis=1)))
        filled[fold[at]] += held[at]
    return fold[of]


def cross_fitted(features: Floats, positive: Mask, fold: Numbers, penalty: float = 1.0) -> Floats:
    """Log odds of each item by the regression on the other folds.

    Features are centred and scaled by the other folds' mean and deviation; one that does not vary there is left out.

    Args:
        features: shape (n, p).
        positive: shape (n,).
        fold: shape (n,), from `folds`.
        penalty: as of `logistic`.

    Returns:
        Shape (n,). Log odds of two folds come from two models: compare them within folds.
    """
    import numpy as np

    z = np.zeros(len(features))
    for one in np.unique(fold):
        out = fold == one
        middle, spread = features[~out].mean(axis=0), features[~out].std(axis=0)
        varies = spread > CLOSE
        scaled = (features[:, varies] - middle[varies]) / spread[varies]
        b = logistic(scaled[~out], positive[~out], penalty)
        z[out] = scaled[out] @ b[:-1] + b[-1]
    return z

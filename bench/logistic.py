"""Logistic regression, Platt scaling and the measures of a probability, with numpy and scipy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import rankdata

Array = npt.NDArray[np.float64]
Bounds = Sequence[tuple[float | None, float | None]]


class Fitted(NamedTuple):
    """z = features @ coefficients + intercept."""

    coefficients: Array
    intercept: float

    def z(self, features: Array) -> Array:
        """Log odds."""
        return features @ self.coefficients + self.intercept


def fit(features: Array, labels: Array, weights: Array, penalty: float, bounds: Bounds) -> Fitted:
    """Weighted logistic regression with an L2 penalty on standardised features and bounds on their signs."""
    middle, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    table = np.c_[(features - middle) / spread, np.ones(len(features))]

    def loss(b: Array) -> tuple[float, Array]:
        z = table @ b
        slope = np.r_[b[:-1], 0.0]
        value = float(weights @ (np.logaddexp(0, z) - labels * z) + penalty / 2 * slope @ slope)
        return value, table.T @ (weights * (sigmoid(z) - labels)) + penalty * slope

    found = minimize(
        loss,
        np.zeros(table.shape[1]),
        jac=True,
        method="L-BFGS-B",
        bounds=[*bounds, (None, None)],
        options={"maxiter": 2_000, "ftol": 1e-12, "gtol": 1e-9},
    ).x
    coefficients = found[:-1] / spread
    return Fitted(coefficients, float(found[-1] - coefficients @ middle))


def platt(z: Array, labels: Array, weights: Array) -> tuple[float, float]:
    """Slope and shift that make sigmoid(slope * z + shift) calibrated on held-out log odds."""
    fitted = fit(z[:, None], labels, weights, 1e-6, [(0.0, None)])
    return float(fitted.coefficients[0]), fitted.intercept


def sigmoid(z: Array) -> Array:
    """1 / (1 + exp(-z)), without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(z / 2)), dtype=np.float64)


def auroc(labels: Array, scores: Array) -> float:
    """Chance that a positive scores above a negative, ties counting half."""
    ranks = rankdata(scores)
    n = float(labels.sum())
    return float((ranks[labels == 1].sum() - n * (n + 1) / 2) / (n * (len(labels) - n)))


def balanced_accuracy(labels: Array, yes: npt.NDArray[np.bool_]) -> float:
    """Mean of the shares of positives and of negatives that are told right."""
    return float((yes[labels == 1].mean() + (~yes[labels == 0]).mean()) / 2)


def brier(labels: Array, p: Array) -> float:
    """Mean squared error of a probability."""
    return float(((p - labels) ** 2).mean())


def ece(labels: Array, p: Array, bins: int = 10) -> float:
    """Expected calibration error over bins of equal width."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    return float(
        sum(abs(labels[place == b].mean() - p[place == b].mean()) * (place == b).mean() for b in np.unique(place))
    )


def evened(sources: npt.NDArray[np.str_]) -> Array:
    """Weights between one item one voice and one source one voice: the square root of a source's share."""
    weights = np.ones(len(sources))
    names = np.unique(sources)
    for name in names:
        weights[sources == name] = (len(sources) / len(names) / (sources == name).sum()) ** 0.5
    return weights

"""A mean of numbers that belong to responses, with an interval that knows which responses depend on each other."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal

from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.estimation import ScoreSample, compute_mean_interval
from ragauge.scores.results.overview import MeanEstimate

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.scores.arrays import Codes


def estimate_response_mean(
    values: npt.NDArray[np.float64],
    positions: npt.NDArray[np.int64],
    index: ResponseIndex,
    *,
    kind: Literal["rate", "mean", "amount"] = "mean",
    bounds: tuple[float, float] = (-inf, inf),
    level: float = 0.95,
    sampled: bool = False,
) -> MeanEstimate:
    """The mean over some numbers, weighted where responses are, and its interval by `estimation.compute_mean_interval`.

    Responses to one example, examples of one cluster, and several numbers of one response are not independent.

    Args:
        values: shape (n,), finite.
        positions: shape (n,), which response each belongs to.
        index: the responses.
        kind: rate for 0 and 1.
        bounds: least and greatest possible value.
        level: of the interval.
        sampled: a judge found them, see `ResponseIndex.weights`.
    """
    if not values.size:
        return MeanEstimate(None, None, 0)
    weights = index.select_weights(positions, sampled=sampled)
    total = float(values.size) if weights is None else float(weights.sum())
    if total <= 0:
        return MeanEstimate(None, None, int(values.size))
    mean = float(values.sum() if weights is None else (weights * values).sum()) / total
    interval = compute_mean_interval(
        ScoreSample(values, kind, bounds, weights, get_cluster_codes(index)[positions]), level
    )
    return MeanEstimate(mean, interval, int(values.size))


def get_cluster_codes(index: ResponseIndex) -> Codes:
    """Number of what each response depends on: its cluster, or its example where none has one."""
    return index.query if index.cluster is None else index.cluster

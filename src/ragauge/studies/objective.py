"""What a sweep decides by: a metric, or a declared mean of several, which is a metric too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]


def parse_objective(value: Any) -> Metric:
    """An objective as it is written: a metric's name, or {"composite": {name: weight}}.

    Raises:
        UnknownName: no such metric.
        UsageError: a weight that is not above 0, a metric that a composite does not take, no direction, another shape.

    >>> str(parse_objective({"composite": {"exact_match": 3, "token_f1": 1}}))
    'composite:of=exact_match+token_f1:weights=3+1'
    """
    if isinstance(value, Mapping) and set(value) == {"composite"} and isinstance(value["composite"], Mapping):
        weights_by_metric = value["composite"]
        weights = [
            f"{weight:g}" if isinstance(weight, int | float) else str(weight) for weight in weights_by_metric.values()
        ]
        weight_suffix = "" if len(set(weights)) == 1 and weights[0] == "1" else f":weights={'+'.join(weights)}"
        value = f"composite:of={'+'.join(map(str, weights_by_metric))}{weight_suffix}"
    if not isinstance(value, str | Metric):
        raise UsageError(f"objective: expected a metric, or composite: {{metric: weight}}, got {value!r}.")
    metric = parse_metric(value) if isinstance(value, str) else value
    if metric.direction == "neither":
        raise UsageError(f"objective: {metric} has no better direction. Choose a metric that has one.")
    return metric


def compute_score_bounds(metric: Metric, frame: pl.DataFrame, order: Sequence[str]) -> tuple[Floats, Floats]:
    """The least and the most that each example's score may be, larger is better: the sign is turned where less is.

    Args:
        metric: whose scores.
        frame: scores of a trial: query_id, metric, status, value, low, high.
        order: the examples wanted.

    Returns:
        Shapes (len(order),) twice: equal where the score is known, bounds where a failed call hides it, NaN where it is
        undefined, not there, or hidden and without a bound, as latency and cost are.
    """
    import numpy as np

    row_by_id = {query_id: n for n, query_id in enumerate(order)}
    limits = np.full((2, len(order)), np.nan)
    range_low, range_high = metric.range
    rows = frame.filter(frame["metric"] == str(metric)).select("query_id", "status", "value", "low", "high")
    for query_id, status, value, low, high in rows.iter_rows():
        if (n := row_by_id.get(query_id)) is None:
            continue
        if status == "scored":
            limits[:, n] = value
        elif status == "failed":
            bounds = (range_low if _is_missing(low) else low, range_high if _is_missing(high) else high)
            limits[:, n] = bounds if isfinite(bounds[1] - bounds[0]) else np.nan
    return (-limits[1], -limits[0]) if metric.direction == "lower" else (limits[0], limits[1])


def compute_score_span(metric: Metric) -> float:
    """Greatest less least possible score; 0 where there is no bound."""
    low, high = metric.range
    return high - low if isfinite(high - low) else 0.0


def _is_missing(value: float | None) -> bool:
    return value is None or isnan(value)

"""What a sweep decides by: a metric, or a declared mean of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import TYPE_CHECKING, Any

from ragauge.errors import UsageError
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Objective:
    """Which trial is better.

    Attributes:
        weights: printed name of a metric -> its weight. One alone is the metric itself; several are a composite, the
            weighted mean of their scores on each example, undefined where one of them is.
    """

    weights: Mapping[str, float]

    @classmethod
    def read(cls, value: Any) -> Objective:
        """An objective as it is written: a metric's name, or {"composite": {name: weight}}.

        Raises:
            UnknownName: no such metric.
            UsageError: a weight that is not above 0, a metric of which less is better in a composite, or another shape.
        """
        if isinstance(value, str | Metric):
            return cls({str(parse(value) if isinstance(value, str) else value): 1.0})
        parts = value.get("composite") if isinstance(value, Mapping) and set(value) == {"composite"} else None
        if not isinstance(parts, Mapping) or not parts:
            raise UsageError(f"objective: expected a metric, or composite: {{metric: weight}}, got {value!r}.")
        for name, weight in parts.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < inf:
                raise UsageError(f"objective: the weight of {name} must be above 0, got {weight!r}.")
            if parse(name).direction != "higher" or parse(name).range != (0.0, 1.0):
                raise UsageError(f"objective: a composite takes metrics from 0 to 1, more being better, not {name}.")
        return cls({str(parse(name)): float(weight) for name, weight in parts.items()})

    def __str__(self) -> str:
        return "composite" if len(self.weights) > 1 else next(iter(self.weights))

    @property
    def lower(self) -> bool:
        """Whether less is better."""
        return len(self.weights) == 1 and parse(str(self)).direction == "lower"

    def written(self) -> Any:
        """As it is written in ragauge.yaml."""
        return {"composite": dict(self.weights)} if len(self.weights) > 1 else str(self)

    def bounds(self, frame: pl.DataFrame, order: Sequence[str]) -> tuple[Floats, Floats]:
        """The least and the most that each example's score may be, larger is better, the sign turned where less is.

        Args:
            frame: scores of a trial: query_id, metric, status, value, low, high.
            order: the examples wanted.

        Returns:
            Shapes (len(order),) twice: equal where the score is known, bounds where a failed call hides it,
            NaN where it is undefined or not there.
        """
        import numpy as np

        place = {query_id: n for n, query_id in enumerate(order)}
        total = sum(self.weights.values())
        low, high = np.zeros(len(order)), np.zeros(len(order))
        for name, weight in self.weights.items():
            mine = np.full((2, len(order)), np.nan)
            least, most = (-inf, inf) if (metric := parse(name)).range is None else metric.range
            rows = frame.filter(frame["metric"] == name).select("query_id", "status", "value", "low", "high")
            for query_id, status, value, bottom, top in rows.iter_rows():
                n = place.get(query_id)
                if n is None:
                    continue
                if status == "scored":
                    mine[:, n] = value
                elif status == "failed":
                    mine[:, n] = (least if _lacks(bottom) else bottom, most if _lacks(top) else top)
            low += mine[0] * weight / total
            high += mine[1] * weight / total
        return (-high, -low) if self.lower else (low, high)


def _lacks(value: float | None) -> bool:
    return value is None or isnan(value)

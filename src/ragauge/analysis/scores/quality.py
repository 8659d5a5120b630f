"""How good each response is over all its scores, and which to look at first."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ragauge.analysis.scores.arrays import SCORED, Columns, ResponseIndex
from ragauge.metrics.base import Metric

if TYPE_CHECKING:
    import polars as pl


class Quality:
    """The mean of each response's scores on their ranges, 1 = best, made one metric at a time; amounts left out.

    Attributes:
        index: the responses.
    """

    def __init__(self, index: ResponseIndex) -> None:
        import numpy as np

        self.index = index
        self._sum, self._count = np.zeros(len(index)), np.zeros(len(index), dtype=np.int32)

    def read(self, metric: Metric, responses: Columns | None) -> None:
        """Takes in a metric's scores, one entry a response."""
        scale = _scale(metric)
        if scale is None or responses is None:
            return
        worst, best = scale
        scored = responses.status == SCORED
        place = responses.place[scored]
        self._sum[place] += (responses.value[scored] - worst) / (best - worst)
        self._count[place] += 1

    def frame(self) -> pl.DataFrame:
        """query_id, repeat and quality of the responses that have one, in example order."""
        import numpy as np
        import polars as pl

        place = np.flatnonzero(self._count)
        ids = pl.Series("query_id", self.index.query_ids, dtype=pl.String)
        return pl.DataFrame({
            "query_id": ids.gather(self.index.query[place]),
            "repeat": self.index.repeat[place],
            "quality": self._sum[place] / self._count[place],
        })     # fmt: skip


def pick_worst(causes: pl.DataFrame, scored: pl.DataFrame, count: int = 20) -> list[tuple[str, int]]:
    """The responses to look at first: (query_id, repeat), spread over the causes.

    One of each cause in turn, the most frequent cause first, within a cause the lowest quality first. Where fewer
    responses failed than asked for, those of the lowest quality below 1 follow.

    Args:
        causes: the failed responses.
        scored: query_id, repeat and quality, as `Quality.frame` gives them.
        count: how many at most.
    """
    import polars as pl

    key = ["query_id", "repeat"]
    often = pl.len().over("cause").alias("often")
    failed = (
        causes.select(*key, "cause", often)
        .join(scored, on=key, how="left")
        .with_columns(pl.col("quality").fill_null(0.0))
        .sort("quality", *key)
        .with_columns(pl.int_range(pl.len()).over("cause").alias("turn"))
        .sort("turn", "often", "cause", descending=[False, True, False], maintain_order=True)
    )
    rest = scored.filter(pl.col("quality") < 1).join(causes, on=key, how="anti").sort("quality", *key)
    return [*failed.select(key).head(count).rows(), *rest.select(key).head(max(0, count - failed.height)).rows()]


def _scale(metric: Metric) -> tuple[float, float] | None:
    """A metric's worst and best value; None where it has none."""
    low, high = metric.range
    if metric.direction == "neither" or not (isfinite(low) and isfinite(high)):
        return None
    return (low, high) if metric.direction == "higher" else (high, low)

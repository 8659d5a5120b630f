"""Scores as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragauge.data.score import Score

if TYPE_CHECKING:
    import polars as pl

COLUMNS = (
    "query_id", "repeat", "metric", "status", "value", "numerator", "denominator", "low", "high", "reason", "judge_id",
)


def score_table(scores: Iterable[Score]) -> pl.DataFrame:
    """One row a score, in their order.

    Returns:
        query_id, metric, status, reason, judge_id (text), repeat (integer), value, numerator, denominator, low, high
        (numbers; null where there is none). The same columns with the same types when there are no scores.
    """
    import polars as pl

    numbers = ("value", "numerator", "denominator", "low", "high")
    types = {name: pl.Float64 if name in numbers else pl.Int64 if name == "repeat" else pl.String for name in COLUMNS}
    rows = list(scores)
    return pl.DataFrame({name: [getattr(score, name) for score in rows] for name in COLUMNS}, schema=types)

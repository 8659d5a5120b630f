"""Calls that the system failed, in two runs: their answers have no scores, so no metric tells of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragauge.analysis.scores.arrays import SCORED, Columns, ResponseIndex, by_example
from ragauge.metrics.base import Direction, Measures, Metric, Scale

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class SystemFailed(Metric):
    """Whether the system gave an error instead of a response, as the cause of this name says.

    system_failed = 1 where the response has an error, else 0

    A row of comparisons where a call failed in one run or both; no metric that can be asked for.

    Source: ours.
    """

    measures: ClassVar[Measures] = "end_to_end"
    direction: ClassVar[Direction] = "lower"
    scale: ClassVar[Scale] = "rate"


NAME = SystemFailed.name()


def unanswered(index: ResponseIndex, causes: pl.DataFrame) -> Columns:
    """Which calls failed, as scores of `SystemFailed`, one entry an example.

    Args:
        index: the responses of a run.
        causes: cause frame of these responses.
    """
    import numpy as np

    failed = set(causes.filter(causes["cause"] == NAME).select("query_id", "repeat").iter_rows())
    value, none, zeros = np.zeros(len(index)), np.full(len(index), np.nan), np.zeros(len(index), dtype=np.int64)
    if failed:
        ids = index.query_ids
        value[:] = [(ids[q], r) in failed for q, r in zip(index.query.tolist(), index.repeat.tolist(), strict=True)]
    return by_example(
        Columns(
            np.arange(len(index)), index.query, zeros + SCORED, value, none, none, value, value, zeros, index.weight,
            index.cluster, ("",),
        )
    )     # fmt: skip

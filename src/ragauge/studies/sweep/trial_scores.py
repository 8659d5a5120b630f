"""The scores of a trial, as studies read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.comparison.comparability import FAILED_CALLS_NAME
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.store_access import Store

if TYPE_CHECKING:
    import polars as pl


def load_trial_scores(store: Store, run_id: str, judge_id: str | None) -> pl.DataFrame:
    """Scores as `store.scores.frame` has them, in which no failed call is a quick or cheap answer.

    The latency, tokens and cost of a call that the system failed count as failed, so that a trial that answers nothing
    is not the quickest of a study.
    """
    import polars as pl

    frame = store.scores.load_frame(run_id, judge_id)
    causes = store.causes.load_frame(run_id, judge_id)
    failed = causes.filter(pl.col("cause") == FAILED_CALLS_NAME).select("query_id", "repeat").unique()
    amounts = [name for name in frame["metric"].unique().to_list() if parse_metric(name).scale == "amount"]
    if not failed.height or not amounts:
        return frame
    is_failed = pl.struct("query_id", "repeat").is_in(failed.to_struct().implode())
    hit = is_failed & pl.col("metric").is_in(amounts) & (pl.col("status") == "scored")
    numbers = [name for name in ("value", "numerator", "denominator", "low", "high") if name in frame.columns]
    return frame.with_columns(
        pl.when(hit).then(pl.lit("failed")).otherwise(pl.col("status")).cast(frame["status"].dtype).alias("status"),
        *(pl.when(hit).then(None).otherwise(pl.col(name)).alias(name) for name in numbers),
    )

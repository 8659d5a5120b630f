"""Which causes stand out in which segment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragauge.analysis.scores.frames import failures

if TYPE_CHECKING:
    import polars as pl

CauseCounts = Mapping[str, Mapping[str, Mapping[str, int]]]


def causes_by_segment(
    causes: pl.DataFrame, segments: pl.DataFrame, shown: Mapping[str, Mapping[str, object]]
) -> CauseCounts:
    """Column -> value -> cause -> failed examples, over the failed examples of a run.

    An example of several failed repeats counts once, as in the causes of the whole run; so the counts of a column
    sum to the failed examples.

    Args:
        causes: a cause frame.
        segments: a tidy segment frame.
        shown: column -> value -> anything, as the scorecard shows segments: its columns and their order are kept.

    Returns:
        The values in the order shown, also those where nothing failed; the causes of each most frequent first.
    """
    import polars as pl

    failed = failures(causes).select("query_id", "cause").join(segments, on="query_id", how="inner")
    found: dict[str, dict[str, dict[str, int]]] = {}
    for column, values in shown.items():
        counts = failed.group_by(pl.col(column).alias("value"), "cause").agg(pl.len().alias("count"))
        cells: dict[str, dict[str, int]] = {value: {} for value in values}
        for value, cause, count in counts.sort("count", "cause", descending=[True, False]).iter_rows():
            cells.setdefault(value, {})[cause] = count
        found[column] = cells
    return found

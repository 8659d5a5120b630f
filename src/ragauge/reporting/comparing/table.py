"""A comparison as one flat table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.comparison import Compared, RunComparison

if TYPE_CHECKING:
    import polars as pl


def table(compared: Compared) -> pl.DataFrame:
    """A row a run, metric and segment; segment and value are null over all examples.

    Columns: run, base, segment, value, metric, n, before, after, difference, low, high, p, p_holm, p_bh, wins, ties,
    losses, failed, verdict, interval (its method), test.
    """
    import polars as pl

    text, real, whole = pl.String, pl.Float64, pl.Int64
    schema = {
        "run": text, "base": text, "segment": text, "value": text, "metric": text, "n": whole, "before": real,
        "after": real, "difference": real, "low": real, "high": real, "p": real, "p_holm": real, "p_bh": real,
        "wins": whole, "ties": whole, "losses": whole, "failed": whole, "verdict": text, "interval": text,
        "test": text,
    }     # fmt: skip
    rows = [row for run in compared.runs for row in _rows(run, compared.base.name)]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _rows(comparison: RunComparison, base: str) -> Iterator[tuple[Any, ...]]:
    for change in comparison.metrics:
        yield (comparison.run.name, base, None, None, *_cells(change))
    for part in comparison.segments:
        yield (comparison.run.name, base, part.column, part.value, *_cells(part.change))


def _cells(change: MetricChange) -> tuple[Any, ...]:
    ends = change.difference.interval
    return (
        change.metric, change.difference.n, change.base, change.new, change.difference.mean,
        None if ends is None else ends.low, None if ends is None else ends.high, change.p_value, change.holm,
        change.discovery, change.wins, change.ties, change.losses, change.failed, change.verdict,
        None if ends is None else ends.method, change.test or None,
    )     # fmt: skip

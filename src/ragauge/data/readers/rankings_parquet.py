"""Labels and runs in Parquet: one (query, document) a row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.data.readers.ranking_tables import QRELS, RUN, columns, qrels_table, run_table
from ragauge.data.readers.trec_order import ScoreBits
from ragauge.errors import DataError

if TYPE_CHECKING:
    import polars as pl


def read_qrels(path: Path) -> pl.DataFrame:
    """Labels with a query, document and grade column, under any of their usual names.

    Returns:
        Columns query_id, item, doc_id, grade.

    Raises:
        DataError: not Parquet, a column is missing, or a value is not what it must be.
    """
    return qrels_table(_read(path, QRELS), str(path))


def read_run(path: Path, score_bits: ScoreBits = 64) -> pl.DataFrame:
    """A run with a query, document and score column; one without scores is ordered by its rank column.

    Returns:
        Columns query_id, doc_id, score (where there is one), rank; rows as in the file.

    Raises:
        DataError: not Parquet, a column is missing, or a value is not what it must be.
    """
    return run_table(_read(path, RUN), str(path), score_bits)


def _read(path: Path, wanted: Mapping[str, tuple[str, ...]]) -> pl.DataFrame:
    """The wanted columns alone, under our names."""
    import polars as pl

    try:
        table = pl.scan_parquet(path, glob=False)
        chosen = columns(table.collect_schema().names(), wanted, str(path))
        return table.select(pl.col(theirs).alias(ours) for ours, theirs in chosen.items()).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"is not a readable Parquet file ({reason}).", source=str(path)) from None

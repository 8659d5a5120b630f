"""A table of scores as CSV or Parquet, one score a row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.data.writers.jsonl import replaced

if TYPE_CHECKING:
    import polars as pl


def write_csv(path: str | Path, table: pl.DataFrame) -> int:
    """Writes a table of scores, and returns how many there were."""
    with replaced(Path(path)) as part:
        table.write_csv(part)
    return table.height


def write_parquet(path: str | Path, table: pl.DataFrame) -> int:
    """Writes a table of scores, and returns how many there were."""
    with replaced(Path(path)) as part:
        table.write_parquet(part)
    return table.height

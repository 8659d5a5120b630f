"""A table of scores as CSV or Parquet, one score a row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.jsonl_files import replaced
from ragauge.rendering.plain_csv import plain_csv

if TYPE_CHECKING:
    import polars as pl


def write_csv(path: str | Path, table: pl.DataFrame) -> int:
    """Writes a table of scores, and returns how many there were."""
    with replaced(Path(path)) as part:
        part.write_text(plain_csv(table), encoding="utf-8", newline="")
    return table.height


def write_parquet(path: str | Path, table: pl.DataFrame) -> int:
    """Writes a table of scores, and returns how many there were."""
    with replaced(Path(path)) as part:
        table.write_parquet(part)
    return table.height

"""A table of scores as CSV or Parquet, one score a row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.jsonl_files import replace_file
from ragauge.rendering.plain_csv import format_csv

if TYPE_CHECKING:
    import polars as pl


def write_csv(path: str | Path, table: pl.DataFrame) -> int:
    """Writes a table of scores, and returns how many there were."""
    with replace_file(Path(path)) as part_path:
        part_path.write_text(format_csv(table), encoding="utf-8", newline="")
    return table.height


def write_parquet(path: str | Path, table: pl.DataFrame) -> int:
    """Writes a table of scores, and returns how many there were."""
    with replace_file(Path(path)) as part_path:
        table.write_parquet(part_path)
    return table.height

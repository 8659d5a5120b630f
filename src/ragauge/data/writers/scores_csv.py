"""A table of scores as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.data.writers.jsonl import replaced

if TYPE_CHECKING:
    import polars as pl


def write_scores(path: str | Path, table: pl.DataFrame) -> int:
    """Writes a table of scores, one score a row, and returns how many there were."""
    with replaced(Path(path)) as part:
        table.write_csv(part)
    return table.height

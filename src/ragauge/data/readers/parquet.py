"""Parquet, in batches of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragauge.data.readers.rows import Row, Rows
from ragauge.errors import DataError

BATCH = 8_192


def read(path: Path) -> Rows:
    """The rows of the file, from 1."""
    return Rows(str(path), _rows(path), unit="row", cells=True)


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    import polars as pl

    frame, start = pl.scan_parquet(path, glob=False), 0
    while True:
        try:
            batch = frame.slice(start, BATCH).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            problem = f"not a readable Parquet file: {str(error).splitlines()[0]}."
            raise DataError(problem, source=str(path), hint="Write it again; is it cut off?") from None
        if batch.is_empty():
            return
        yield from enumerate(batch.iter_rows(named=True), start + 1)
        start += batch.height

"""What every format yields: numbered rows of named values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragauge.errors import DataError

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one source, read as they are asked for.

    Attributes:
        source: the file or table, as the user named it.
        rows: (number, row), numbers as the user would count them.
        unit: what is counted: line, row or entry.
        cells: texts may hold JSON, as the cells of CSV and Parquet files do.
        blank: why a value is null, where the format itself knows; otherwise "".
    """

    source: str
    rows: Iterator[tuple[int, Row]]
    unit: str = "line"
    cells: bool = False
    blank: str = ""

    def error(self, problem: str, n: int | None = None, hint: str = "") -> DataError:
        """The error about one of the rows, or about the whole source."""
        return DataError(problem, source=self.source, line=n, hint=hint, unit=self.unit)

"""Tables as CSV for people, where a text that a spreadsheet would take for a formula stays text, and as Parquet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.jsonl_files import replace_file

if TYPE_CHECKING:
    import polars as pl

FORMULA_STARTS = "=+-@\t\r"  # what formulas, and links to other programs, begin with
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def escape_cell(value: Any) -> Any:
    """A value as a cell: a text that begins as a formula does, and is no number, gets an apostrophe before it.

    Args:
        value: text, number or None.

    >>> escape_cell("=1+1"), escape_cell("-0.5"), escape_cell("-a"), escape_cell(-0.5), escape_cell("a=b")
    ("'=1+1", '-0.5', "'-a", -0.5, 'a=b')
    """
    if isinstance(value, str) and value.startswith(tuple(FORMULA_STARTS)) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def format_csv(table: pl.DataFrame) -> str:
    """A table as CSV whose texts are `escape_cell`s, names of columns included."""
    import polars as pl

    text_columns = [name for name, kind in table.schema.items() if kind == pl.String]
    texts = [pl.col(name).map_elements(escape_cell, pl.String) for name in text_columns]
    escaped_table = table.with_columns(texts)
    return escaped_table.rename({name: escape_cell(name) for name in escaped_table.columns}).write_csv()


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

"""CSV for people: a text that a spreadsheet would take for a formula stays text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

RISKY = "=+-@\t\r"  # what formulas, and links to other programs, begin with
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def plain_cell(value: Any) -> Any:
    """A value as a cell: a text that begins as a formula does, and is no number, gets an apostrophe before it.

    Args:
        value: text, number or None.

    >>> plain_cell("=1+1"), plain_cell("-0.5"), plain_cell("-a"), plain_cell(-0.5), plain_cell("a=b")
    ("'=1+1", '-0.5', "'-a", -0.5, 'a=b')
    """
    if isinstance(value, str) and value.startswith(tuple(RISKY)) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def plain_csv(table: pl.DataFrame) -> str:
    """A table as CSV whose texts are `plain_cell`s, names of columns included."""
    import polars as pl

    named = [name for name, kind in table.schema.items() if kind == pl.String]
    texts = [pl.col(name).map_elements(plain_cell, pl.String) for name in named]
    shown = table.with_columns(texts)
    return shown.rename({name: plain_cell(name) for name in shown.columns}).write_csv()

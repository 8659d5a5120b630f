"""CSV that people open in a spreadsheet."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest

from ragauge.evaluation.export.tables import iter_table
from ragauge.rendering.plain_csv import format_csv

RISKY = ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", "\r=1"]
PLAIN = ["a=b", "-0.5", "+3", "1e-9", "-2.5E+3", "", "'=1"]


@pytest.mark.parametrize("column", ["text", "=name"])
def test_no_text_is_a_formula(column: str) -> None:
    """Texts that begin as formulas do get an apostrophe in both writers; numbers and other texts stay."""
    rows = [{column: text, "n": -1.5} for text in [*RISKY, *PLAIN]]
    named = "'=name" if column.startswith("=") else column
    wanted = [*(f"'{text}" for text in RISKY), *PLAIN]
    streamed = b"".join(iter_table([column, "n"], rows, ".csv")).decode()
    for text in (streamed, format_csv(pl.DataFrame(rows))):
        found = list(csv.DictReader(io.StringIO(text, newline="")))
        assert [row[named] for row in found] == wanted
        assert {float(row["n"]) for row in found} == {-1.5}

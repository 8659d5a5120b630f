"""BEIR's qrels: tab-separated with the header `query-id corpus-id score`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.data.readers.content import numbered_lines
from ragauge.data.readers.ranking_tables import QRELS, columns, qrels_table
from ragauge.errors import DataError

if TYPE_CHECKING:
    import polars as pl


def parse(content: bytes, source: str) -> pl.DataFrame:
    """Labels of UTF-8 text whose first line names the columns, in any order.

    Returns:
        Columns query_id, item, doc_id, grade.

    Raises:
        DataError: a column is missing, a line has another number of fields, a grade is no number, or a document has
            two grades.
    """
    import polars as pl

    lines = numbered_lines(content).with_columns(pl.col("text").str.strip_chars_end("\r").str.split("\t"))
    header = [name.strip() for name in lines["text"][0].to_list()]
    chosen = columns(header, QRELS, source)
    rows = lines.slice(1)
    bad = rows["text"].list.len() != len(header)
    if bad.any():
        found = rows.filter(bad).row(0, named=True)
        raise DataError(
            f"expected {len(header)} fields separated by tabs ({', '.join(header)}), found {len(found['text'])}.",
            source=source, line=found["line"],
        )     # fmt: skip
    taken = [
        pl.col("text").list.get(header.index(theirs)).str.strip_chars().replace("", None).alias(ours)
        for ours, theirs in chosen.items()
    ]
    return qrels_table(rows.select("line", *taken), source, "line")

"""TREC qrels: `query iteration document grade`, separated by blanks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.data.readers.content import FIELD, GAP, numbered_lines
from ragauge.data.readers.ranking_tables import qrels_table
from ragauge.errors import DataError

if TYPE_CHECKING:
    import polars as pl

LINE = rf"^(?:{GAP})?({FIELD}){GAP}{FIELD}{GAP}({FIELD}){GAP}({FIELD})(?:{GAP})?$"


def parse(content: bytes, source: str) -> pl.DataFrame:
    """Labels of UTF-8 text; the iteration is ignored, and so are blank lines and lines that begin with #.

    Returns:
        Columns query_id, item, doc_id, grade.

    Raises:
        DataError: a line has not four fields, a grade is no number, or a document has two grades.
    """
    import polars as pl

    lines = numbered_lines(content).filter(~pl.col("text").str.contains(r"^\s*#"))
    fields = lines.select("line", pl.col("text").str.extract_groups(LINE).alias("fields")).unnest("fields")
    bad = fields["1"].is_null()
    if bad.any():
        found = lines.filter(bad).row(0, named=True)
        n = len(found["text"].split())
        run = n >= 6
        raise DataError(
            f"expected four fields (query, iteration, document, grade), found {n}.", source=source, line=found["line"],
            hint="This looks like a run: the labels come first, then the run." if run else "",
        )     # fmt: skip
    return qrels_table(fields.rename({"1": "query_id", "2": "doc_id", "3": "grade"}), source, "line")

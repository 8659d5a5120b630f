"""TREC runs: `query Q0 document rank score tag`, separated by blanks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.data.readers.content import FIELD, GAP, numbered_lines
from ragauge.data.readers.ranking_tables import run_table
from ragauge.data.readers.trec_order import ScoreBits
from ragauge.errors import DataError

if TYPE_CHECKING:
    import polars as pl

LINE = rf"^(?:{GAP})?({FIELD}){GAP}{FIELD}{GAP}({FIELD}){GAP}{FIELD}{GAP}({FIELD}){GAP}{FIELD}"
NAMES = {"1": "query_id", "2": "doc_id", "3": "score"}


def parse(content: bytes, source: str, score_bits: ScoreBits = 64) -> pl.DataFrame:
    """A run of UTF-8 text, in trec_eval's order: score descending, then document id descending; the rank is ignored.

    Blank lines and lines that begin with # are left out, and so is whatever follows the tag.

    Returns:
        Columns query_id, doc_id, score, rank; rows as in the file.

    Raises:
        DataError: a line has fewer than six fields, or a score is no finite number.
    """
    regular = _regular(content)
    return run_table(_any(content, source) if regular is None else regular, source, score_bits, "line")


def _regular(content: bytes) -> pl.DataFrame | None:
    """The fast way: six fields everywhere, always one separator, no comments. None where the file is otherwise."""
    import polars as pl

    head = content[: content.find(b"\n")]
    separator, other = ("\t", b" ") if b"\t" in head else (" ", b"\t")
    if other in content:
        return None
    types = {"query_id": pl.String, "_1": pl.String, "doc_id": pl.String, "_3": pl.String, "score": pl.Float64}
    try:
        frame = pl.read_csv(
            content, separator=separator, has_header=False, quote_char=None, schema={**types, "tag": pl.String},
            columns=[0, 2, 4, 5],
        )     # fmt: skip
    except pl.exceptions.PolarsError:
        return None
    comments = frame["query_id"].str.starts_with("#").any()
    if comments or any(frame.null_count().row(0)) or content.count(separator.encode()) != 5 * frame.height:
        return None
    return frame


def _any(content: bytes, source: str) -> pl.DataFrame:
    """The patient way: any blanks between fields, comments, more text after the tag."""
    import polars as pl

    lines = numbered_lines(content).filter(~pl.col("text").str.contains(r"^\s*#"))
    fields = lines.select("line", pl.col("text").str.extract_groups(LINE).alias("fields")).unnest("fields")
    bad = fields["1"].is_null()
    if bad.any():
        found = lines.filter(bad).row(0, named=True)
        n = len(found["text"].split())
        raise DataError(
            f"expected six fields (query, Q0, document, rank, score, tag), found {n}.",
            source=source, line=found["line"],
            hint="This looks like qrels: the labels come first, then the run." if n == 4 else "",
        )     # fmt: skip
    return fields.rename(NAMES)

"""Relevance labels (qrels) and runs, in whatever format they come."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.data.readers import beir_qrels, rankings_jsonl, rankings_parquet, trec_qrels, trec_run
from ragauge.data.readers.content import check_text, first_line, is_parquet, read_bytes
from ragauge.data.readers.ranking_tables import is_header
from ragauge.data.readers.trec_order import ScoreBits
from ragauge.errors import DataError, UsageError

if TYPE_CHECKING:
    import polars as pl


def read_qrels(path: str | Path) -> pl.DataFrame:
    """Relevance labels: TREC qrels, BEIR's TSV, JSON lines or Parquet; text may be gzip. The content decides.

    Returns:
        Columns query_id (text), item (number of the judged item), doc_id (text), grade (float).

    Raises:
        DataError: the file, the line, what was expected and what was found; nothing is half loaded.
    """
    path = Path(path)
    if is_parquet(path):
        return rankings_parquet.read_qrels(path)
    content, source = read_bytes(path), str(path)
    check_text(content, source)
    head = first_line(content)
    if head.startswith(("{", "[")):
        return rankings_jsonl.parse_qrels(content, source)
    if is_header(head.split("\t")):
        return beir_qrels.parse(content, source)
    return trec_qrels.parse(content, source)


def read_run(path: str | Path, score_bits: ScoreBits = 64) -> pl.DataFrame:
    """A run: TREC, JSON lines or Parquet; text may be gzip. The content decides.

    Its order is trec_eval's: score descending, then document id descending. Duplicates are kept.

    Args:
        path: the file.
        score_bits: precision that scores are compared in; trec_eval 10 uses 64, trec_eval 9 and pytrec_eval 32.

    Returns:
        Columns query_id (text), doc_id (text), score (float; absent where only ranks are given), rank (from 1 in
        final order); rows as in the file.

    Raises:
        DataError: the file, the line, what was expected and what was found; nothing is half loaded.
        UsageError: another value of score_bits.
    """
    if score_bits not in (64, 32):
        raise UsageError(f"score_bits must be 64 or 32, got {score_bits}.")
    path = Path(path)
    if is_parquet(path):
        return rankings_parquet.read_run(path, score_bits)
    content, source = read_bytes(path), str(path)
    check_text(content, source)
    head = first_line(content)
    if head.startswith(("{", "[")):
        return rankings_jsonl.parse_run(content, source, score_bits)
    if is_header(head.split("\t")) or is_header(head.split(",")):
        raise DataError(
            "expected a run in TREC format, JSON lines or Parquet, found a table with a header.", source=source,
            hint="Write it as Parquet or JSON lines with the same columns.",
        )     # fmt: skip
    return trec_run.parse(content, source, score_bits)

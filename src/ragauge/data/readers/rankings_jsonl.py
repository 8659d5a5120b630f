"""Labels and runs in JSON lines: one (query, document) a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragauge.data.readers.content import first_line
from ragauge.data.readers.ranking_tables import QRELS, RUN, columns, qrels_table, run_table
from ragauge.data.readers.trec_order import ScoreBits
from ragauge.errors import DataError

if TYPE_CHECKING:
    import polars as pl


def parse_qrels(content: bytes, source: str) -> pl.DataFrame:
    """Labels of objects with a query, document and grade field, under any of their usual names.

    Returns:
        Columns query_id, item, doc_id, grade.

    Raises:
        DataError: a line is not such an object.
    """
    return qrels_table(_read(content, QRELS, source), source, "line")


def parse_run(content: bytes, source: str, score_bits: ScoreBits = 64) -> pl.DataFrame:
    """A run of objects with a query, document and score field; one without scores is ordered by its rank field.

    Returns:
        Columns query_id, doc_id, score (where there is one), rank; rows as in the file.

    Raises:
        DataError: a line is not such an object.
    """
    return run_table(_read(content, RUN, source), source, score_bits, "line")


def _read(content: bytes, wanted: Mapping[str, tuple[str, ...]], source: str) -> pl.DataFrame:
    """The wanted fields of every line under our names; the first line says what they are called."""
    import polars as pl

    chosen = columns(_object(first_line(content), source, 1), wanted, source)
    types = {theirs: pl.Float64 if ours in ("score", "rank", "grade") else pl.String for ours, theirs in chosen.items()}
    try:
        frame = pl.read_ndjson(content, schema=types)
    except pl.exceptions.PolarsError:
        return _line_by_line(content, chosen, source)
    texts = pl.col(pl.String).str
    nested = frame.select(texts.starts_with("[") | texts.starts_with("{")).sum().row(0)      # or an id that looks so
    lines = content.rstrip().count(b"\n") + 1
    if any(nested) or any(frame.null_count().row(0)) or frame.height != lines:
        return _line_by_line(content, chosen, source)
    return frame.select(pl.col(theirs).alias(ours) for ours, theirs in chosen.items())


def _line_by_line(content: bytes, chosen: Mapping[str, str], source: str) -> pl.DataFrame:
    """The patient way, which knows the line of what is wrong."""
    import polars as pl

    table: dict[str, list[Any]] = {"line": [], **{ours: [] for ours in chosen}}
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        record = _object(line, source, number)
        table["line"].append(number)
        for ours, theirs in chosen.items():
            value = record.get(theirs)
            scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
            if not scalar:
                kind = "nothing" if value is None else json.dumps(value)
                expected = "text or a whole number" if ours in ("query_id", "doc_id") else "a number"
                raise DataError(f"{theirs} must be {expected}, found {kind}.", source=source, line=number)
            table[ours].append(str(value))
    return pl.DataFrame(table, {name: pl.UInt32 if name == "line" else pl.String for name in table})


def _object(line: str | bytes, source: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        problem = f"expected one JSON object a line, found something else ({error})."
        raise DataError(problem, source=source, line=number) from None
    if not isinstance(found, dict):
        raise DataError(f"expected a JSON object, found {type(found).__name__}.", source=source, line=number)
    return found

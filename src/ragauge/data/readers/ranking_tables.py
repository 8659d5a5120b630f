"""Labels and rankings in long form: one (query, document) a row; which columns, and what they must hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ragauge.data.readers.trec_order import ScoreBits, ranks
from ragauge.errors import DataError

if TYPE_CHECKING:
    import polars as pl

QUERY = ("query_id", "qid", "query-id", "queryid", "topic", "topic_id")
DOC = ("doc_id", "docno", "corpus-id", "docid", "pid", "document_id", "passage_id")
QRELS: Mapping[str, tuple[str, ...]] = {
    "query_id": QUERY,
    "doc_id": DOC,
    "grade": ("grade", "relevance", "rel", "label", "score"),
}
RUN: Mapping[str, tuple[str, ...]] = {"query_id": QUERY, "doc_id": DOC, "score": ("score", "sim")}
RANKED_RUN: Mapping[str, tuple[str, ...]] = {"query_id": QUERY, "doc_id": DOC, "rank": ("rank",)}


def columns(found: Iterable[str], wanted: Mapping[str, tuple[str, ...]], source: str) -> dict[str, str]:
    """Our column -> theirs. A run without a score may have a rank instead.

    Raises:
        DataError: a column is missing.
    """
    spelled: dict[str, str] = {}
    for name in found:
        spelled.setdefault(name.strip().lower(), name)
    chosen = {}
    for ours, names in wanted.items():
        theirs = next((spelled[name] for name in names if name in spelled), None)
        if theirs is None:
            if wanted is RUN and ours == "score" and "rank" in spelled:
                return columns(spelled.values(), RANKED_RUN, source)
            listed = ", ".join(spelled.values()) or "nothing"
            known = ", ".join(names)
            raise DataError(f"no column {ours!r} (found: {listed}).", source=source, hint=f"It may be called {known}.")
        chosen[ours] = theirs
    return chosen


def is_header(fields: Iterable[str]) -> bool:
    """Whether these are names of columns rather than a first row."""
    spelled = {field.strip().strip('"').lower() for field in fields}
    return bool(spelled & set(QUERY)) and bool(spelled & set(DOC))


def qrels_table(frame: pl.DataFrame, source: str, unit: str = "row") -> pl.DataFrame:
    """Checked labels.

    Args:
        frame: columns query_id, doc_id, grade and, where rows are not lines of the file, line.
        source: the file's name, for errors.
        unit: what a line of the file is called.

    Returns:
        Columns query_id, item (its number), doc_id and grade (a finite float); a repeated line is kept once.

    Raises:
        DataError: nothing there, something missing, a grade that is no number, or one document graded twice.
    """
    import polars as pl

    frame = _ids(frame, source, unit)
    frame = frame.with_columns(_number(frame, "grade", source, unit))
    if "line" not in frame.columns:
        frame = frame.with_row_index("line", 1)
    pair = ["query_id", "doc_id"]
    if frame.select(pair).is_duplicated().any():
        earlier = {name: pl.col(name).first().over(pair).alias(f"first_{name}") for name in ("grade", "line")}
        clash = frame.with_columns(earlier.values()).filter(pl.col("grade") != pl.col("first_grade"))
        if clash.height:
            row = clash.row(0, named=True)
            raise DataError(
                f"document {row['doc_id']!r} of query {row['query_id']!r} has grade {row['grade']:g}, "
                f"but grade {row['first_grade']:g} on {unit} {row['first_line']}.",
                source=source, line=row["line"], hint="Keep one grade.", unit=unit,
            )     # fmt: skip
        frame = frame.unique(pair, keep="first", maintain_order=True)
    return frame.with_row_index("item").select("query_id", "item", "doc_id", "grade")


def run_table(frame: pl.DataFrame, source: str, score_bits: ScoreBits = 64, unit: str = "row") -> pl.DataFrame:
    """A checked run in its final order.

    Args:
        frame: columns query_id, doc_id, score or rank and, where rows are not lines of the file, line.
        source: the file's name, for errors.
        score_bits: precision that scores are compared in.
        unit: what a line of the file is called.

    Returns:
        Columns query_id, doc_id, score (where there is one) and rank, from 1 in final order; rows as in the file,
        duplicates kept.

    Raises:
        DataError: nothing there, something missing, or a score that is no finite number.
    """
    import polars as pl

    frame = _ids(frame, source, unit)
    by = "score" if "score" in frame.columns else "rank"
    number = _number(frame, by, source, unit)
    order = ranks(frame["query_id"], frame["doc_id"], number if by == "score" else -number, score_bits)
    kept = [frame["query_id"], frame["doc_id"], *([number] if by == "score" else []), order]
    return pl.DataFrame(kept)


def _ids(frame: pl.DataFrame, source: str, unit: str) -> pl.DataFrame:
    """The frame with ids as text and its line numbers; nothing missing."""
    import polars as pl

    if frame.height == 0:
        raise DataError(f"the file has no {unit}s.", source=source)
    for name in ("query_id", "doc_id"):
        kind = frame.schema[name]
        if not (kind in (pl.String, pl.Categorical) or kind.is_integer() or isinstance(kind, pl.Enum)):
            raise DataError(f"{name} must be text or whole numbers, found {kind}.", source=source)
        if frame[name].null_count():
            raise DataError(f"{name} is missing.", source=source, line=_line(frame, frame[name].is_null()), unit=unit)
    return frame.with_columns(pl.col("query_id", "doc_id").cast(pl.String))


def _number(frame: pl.DataFrame, name: str, source: str, unit: str) -> pl.Series:
    import polars as pl

    given = frame[name]
    if not (given.dtype.is_numeric() or given.dtype == pl.String):
        raise DataError(f"{name} must be a number, found {given.dtype}.", source=source)
    number = given.cast(pl.Float64, strict=False)
    finite = number.is_finite()
    if number.null_count() or not finite.all():
        bad = ~finite.fill_null(False)
        line = _line(frame, bad)
        value: Any = given.filter(bad)[0]
        found = "nothing" if value is None else repr(value)
        raise DataError(f"{name} must be a finite number, found {found}.", source=source, line=line, unit=unit)
    return number


def _line(frame: pl.DataFrame, bad: pl.Series) -> int:
    first = bad.arg_true()[0]
    return int(frame["line"][first]) if "line" in frame.columns else first + 1

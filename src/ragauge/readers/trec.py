"""Labels and rankings in long form, the order of trec_eval, and TREC's own formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core import ranking
from ragauge.core.errors import DataError
from ragauge.readers.lines import FIELD, GAP, build_line_table

if TYPE_CHECKING:
    import polars as pl


ScoreBits = Literal[64, 32]


def compute_ranks(query: pl.Series, doc: pl.Series, score: pl.Series, score_bits: ScoreBits = 64) -> pl.Series:
    """Each row's rank within its query: score descending, then document id descending in byte order.

    A file that already stands in this order, each query in one piece, is not sorted again.

    Args:
        query: (n,) query ids.
        doc: (n,) document ids.
        score: (n,) finite numbers.
        score_bits: precision that scores are compared in; trec_eval 10 uses 64, trec_eval 9 and pytrec_eval 32.

    Returns:
        (n,) ranks from 1, in the rows' own order.
    """
    import numpy as np
    import polars as pl

    values = score.cast(pl.Float32 if score_bits == 32 else pl.Float64)
    starts = ranking.find_query_starts(query)
    first_queries = query.gather(starts) if len(starts) < len(query) else query
    names = first_queries.unique()
    rises, ties = _find_steps(values)
    order: Any = None  # None: the rows stand in order already
    if len(names) < len(first_queries) or len(np.setdiff1d(rises, starts, assume_unique=True)):
        group_sizes = np.diff(starts, append=len(query))
        order, starts, ties = _sort_by_group(
            np.repeat(_number_groups(first_queries, names), group_sizes), values.to_numpy()
        )
    row_ranks = _count_from_starts(starts, len(query))
    if order is not None:
        placed = row_ranks
        row_ranks = np.empty_like(placed)
        row_ranks[order] = placed
    ties = np.setdiff1d(ties, starts, assume_unique=True)
    if len(ties):
        both = np.sort(np.concatenate([ties - 1, ties]))
        positions = both[np.diff(both, prepend=-1) > 0]  # as union1d, twenty times as fast
        rows = positions if order is None else order[positions]
        tied_ranks = row_ranks[rows]
        stretch = np.cumsum(~np.isin(positions, ties, assume_unique=True))
        row_ranks[_break_ties(rows, stretch, doc)] = tied_ranks
    return pl.Series("rank", row_ranks)


def _find_steps(values: pl.Series) -> tuple[Any, Any]:
    """Numbers of the rows that are higher than the row before, and of those that equal it."""
    import numpy as np

    rises, ties, row, last = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0, None
    for chunk in values.get_chunks():
        scores = chunk.to_numpy()
        if not len(scores):
            continue
        if last is not None:
            rises.append(np.flatnonzero(scores[:1] > last) + row)
            ties.append(np.flatnonzero(scores[:1] == last) + row)
        rises.append(np.flatnonzero(scores[1:] > scores[:-1]) + row + 1)
        ties.append(np.flatnonzero(scores[1:] == scores[:-1]) + row + 1)
        row, last = row + len(scores), scores[-1]
    return np.concatenate(rises), np.concatenate(ties)


def _count_from_starts(starts: Any, n: int) -> Any:
    """1, 2, 3 ... from each start on, for n places: the running sum of steps that fall back to 1 at each start."""
    import numpy as np

    step = np.ones(n, np.int32)
    step[starts[1:]] -= np.diff(starts).astype(np.int32)
    return np.cumsum(step, out=step).view(np.uint32)


def _sort_by_group(group: Any, values: Any) -> tuple[Any, Any, Any]:
    """The rows by group, then value descending; the places where a group starts, and those equal to the one before."""
    import numpy as np

    order = np.argsort(-values)
    order = order[np.argsort(group[order], kind="stable")]
    group, values = group[order], values[order]
    starts = np.flatnonzero(np.diff(group, prepend=group[:1] + 1))
    return order, starts, np.flatnonzero(values[1:] == values[:-1]) + 1


def _number_groups(first_queries: pl.Series, names: pl.Series) -> Any:
    """Each query id's place among the names; few enough take 16 bits, which sort by radix."""
    import numpy as np
    import polars as pl

    number = first_queries.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int32).to_numpy()
    return number.astype(np.uint16) if len(names) <= 2**16 else number


def _break_ties(rows: Any, stretch: Any, doc: pl.Series) -> Any:
    """The rows with each stretch of equal scores put in descending order of document id."""
    import polars as pl

    table = pl.DataFrame({"stretch": stretch, "doc": doc.gather(rows), "row": rows})
    return table.sort("stretch", "doc", descending=[False, True], maintain_order=True)["row"].to_numpy()


QUERY = ("query_id", "qid", "query-id", "queryid", "topic", "topic_id")
DOC = ("doc_id", "docno", "corpus-id", "docid", "pid", "document_id", "passage_id")
QRELS: Mapping[str, tuple[str, ...]] = {
    "query_id": QUERY,
    "doc_id": DOC,
    "grade": ("grade", "relevance", "rel", "label", "score"),
}
RUN: Mapping[str, tuple[str, ...]] = {"query_id": QUERY, "doc_id": DOC, "score": ("score", "sim")}
RANKED_RUN: Mapping[str, tuple[str, ...]] = {"query_id": QUERY, "doc_id": DOC, "rank": ("rank",)}


def match_columns(
    column_names: Iterable[str], field_aliases: Mapping[str, tuple[str, ...]], source: str
) -> dict[str, str]:
    """Our column -> theirs. A run without a score may have a rank instead.

    Raises:
        DataError: a column is missing.
    """
    spelled: dict[str, str] = {}
    for name in column_names:
        spelled.setdefault(name.strip().lower(), name)
    selected = {}
    for ours, names in field_aliases.items():
        theirs = next((spelled[name] for name in names if name in spelled), None)
        if theirs is None:
            if field_aliases is RUN and ours == "score" and "rank" in spelled:
                return match_columns(spelled.values(), RANKED_RUN, source)
            found_columns = ", ".join(spelled.values()) or "nothing"
            valid_names = ", ".join(names)
            raise DataError(
                f"no column {ours!r} (found: {found_columns}).", source=source, hint=f"Accepted names: {valid_names}."
            )
        selected[ours] = theirs
    return selected


def is_header(fields: Iterable[str]) -> bool:
    """Whether these are names of columns rather than a first row."""
    spelled = {field.strip().strip('"').lower() for field in fields}
    return bool(spelled & set(QUERY)) and bool(spelled & set(DOC))


def build_qrels_table(frame: pl.DataFrame, source: str, unit: str = "row") -> pl.DataFrame:
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

    frame = _check_ids(frame, source, unit)
    frame = frame.with_columns(_parse_number(frame, "grade", source, unit))
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
                source=source,
                line=row["line"],
                hint="Keep one grade.",
                unit=unit,
            )
        frame = frame.unique(pair, keep="first", maintain_order=True)
    return frame.with_row_index("item").select("query_id", "item", "doc_id", "grade")


def build_run_table(frame: pl.DataFrame, source: str, score_bits: ScoreBits = 64, unit: str = "row") -> pl.DataFrame:
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

    frame = _check_ids(frame, source, unit)
    by = "score" if "score" in frame.columns else "rank"
    number = _parse_number(frame, by, source, unit)
    order = compute_ranks(frame["query_id"], frame["doc_id"], number if by == "score" else -number, score_bits)
    output_columns = [frame["query_id"], frame["doc_id"], *([number] if by == "score" else []), order]
    return pl.DataFrame(output_columns)


def _check_ids(frame: pl.DataFrame, source: str, unit: str) -> pl.DataFrame:
    """The frame with ids as text and its line numbers; nothing missing."""
    import polars as pl

    if frame.height == 0:
        raise DataError(f"the file has no {unit}s.", source=source)
    for name in ("query_id", "doc_id"):
        kind = frame.schema[name]
        if not (kind in (pl.String, pl.Categorical) or kind.is_integer() or isinstance(kind, pl.Enum)):
            raise DataError(f"{name} must be text or whole numbers, found {kind}.", source=source)
        if frame[name].null_count():
            raise DataError(
                f"{name} is missing.", source=source, line=_find_line(frame, frame[name].is_null()), unit=unit
            )
    return frame.with_columns(pl.col("query_id", "doc_id").cast(pl.String))


def _parse_number(frame: pl.DataFrame, name: str, source: str, unit: str) -> pl.Series:
    import polars as pl

    raw = frame[name]
    if not (raw.dtype.is_numeric() or raw.dtype == pl.String):
        raise DataError(f"{name} must be a number, found {raw.dtype}.", source=source)
    number = raw.cast(pl.Float64, strict=False)
    finite = number.is_finite()
    if number.null_count() or not finite.all():
        bad = ~finite.fill_null(False)
        line = _find_line(frame, bad)
        value: Any = raw.filter(bad)[0]
        found_text = "nothing" if value is None else repr(value)
        raise DataError(f"{name} must be a finite number, found {found_text}.", source=source, line=line, unit=unit)
    return number


def _find_line(frame: pl.DataFrame, bad: pl.Series) -> int:
    first = bad.arg_true()[0]
    return int(frame["line"][first]) if "line" in frame.columns else first + 1


QRELS_LINE = rf"^(?:{GAP})?({FIELD}){GAP}{FIELD}{GAP}({FIELD}){GAP}({FIELD})(?:{GAP})?$"


def parse_qrels(content: bytes, source: str) -> pl.DataFrame:
    """Labels of UTF-8 text; the iteration is ignored, and so are blank lines and lines that begin with #.

    Returns:
        Columns query_id, item, doc_id, grade.

    Raises:
        DataError: a line has not four fields, a grade is no number, or a document has two grades.
    """
    import polars as pl

    lines = build_line_table(content).filter(~pl.col("text").str.contains(r"^\s*#"))
    fields = lines.select("line", pl.col("text").str.extract_groups(QRELS_LINE).alias("fields")).unnest("fields")
    bad = fields["1"].is_null()
    if bad.any():
        bad_line = lines.filter(bad).row(0, named=True)
        n = len(bad_line["text"].split())
        run = n >= 6
        raise DataError(
            f"expected four fields (query, iteration, document, grade), found {n}.",
            source=source,
            line=bad_line["line"],
            hint="This looks like a run. Give the labels first, then the run." if run else "",
        )
    return build_qrels_table(fields.rename({"1": "query_id", "2": "doc_id", "3": "grade"}), source, "line")


RUN_LINE = rf"^(?:{GAP})?({FIELD}){GAP}{FIELD}{GAP}({FIELD}){GAP}{FIELD}{GAP}({FIELD}){GAP}{FIELD}"
RUN_COLUMNS = {"1": "query_id", "2": "doc_id", "3": "score"}


def parse_run(content: bytes, source: str, score_bits: ScoreBits = 64) -> pl.DataFrame:
    """A run of UTF-8 text, in trec_eval's order: score descending, then document id descending; the rank is ignored.

    Blank lines and lines that begin with # are left out, and so is whatever follows the tag.

    Returns:
        Columns query_id, doc_id, score, rank; rows as in the file.

    Raises:
        DataError: a line has fewer than six fields, or a score is no finite number.
    """
    regular = _parse_regular_run(content)
    return build_run_table(_parse_any_run(content, source) if regular is None else regular, source, score_bits, "line")


def _parse_regular_run(content: bytes) -> pl.DataFrame | None:
    """The fast way: six fields everywhere, always one separator, no comments. None where the file is otherwise."""
    import polars as pl

    head = content[: content.find(b"\n")]
    separator, other = ("\t", b" ") if b"\t" in head else (" ", b"\t")
    if other in content:
        return None
    types = {"query_id": pl.String, "_1": pl.String, "doc_id": pl.String, "_3": pl.String, "score": pl.Float64}
    try:
        frame = pl.read_csv(
            content,
            separator=separator,
            has_header=False,
            quote_char=None,
            schema={**types, "tag": pl.String},
            columns=[0, 2, 4, 5],
        )
    except pl.exceptions.PolarsError:
        return None
    comments = frame["query_id"].str.starts_with("#").any()
    if comments or any(frame.null_count().row(0)) or content.count(separator.encode()) != 5 * frame.height:
        return None
    return frame


def _parse_any_run(content: bytes, source: str) -> pl.DataFrame:
    """The patient way: any blanks between fields, comments, more text after the tag."""
    import polars as pl

    lines = build_line_table(content).filter(~pl.col("text").str.contains(r"^\s*#"))
    fields = lines.select("line", pl.col("text").str.extract_groups(RUN_LINE).alias("fields")).unnest("fields")
    bad = fields["1"].is_null()
    if bad.any():
        bad_line = lines.filter(bad).row(0, named=True)
        n = len(bad_line["text"].split())
        raise DataError(
            f"expected six fields (query, Q0, document, rank, score, tag), found {n}.",
            source=source,
            line=bad_line["line"],
            hint="This looks like qrels. Give the labels first, then the run." if n == 4 else "",
        )
    return fields.rename(RUN_COLUMNS)

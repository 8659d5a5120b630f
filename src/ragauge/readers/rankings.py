"""Relevance labels and runs in every format, and BEIR folders."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, UsageError
from ragauge.readers import jsonl, trec
from ragauge.readers.lines import (
    Row,
    Rows,
    build_line_table,
    check_text,
    find_first_line,
    find_packed_file,
    is_parquet,
    open_file,
    read_bytes,
)
from ragauge.readers.trec import QRELS, RUN, ScoreBits, build_qrels_table, build_run_table, is_header, match_columns

if TYPE_CHECKING:
    import polars as pl


NESTED_OBJECT = re.compile(rb"""\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{""")


def _read_jsonl_frame(content: bytes, field_aliases: Mapping[str, tuple[str, ...]], source: str) -> pl.DataFrame:
    """The wanted fields of every line under our names; the first line says what they are called."""
    import polars as pl

    if NESTED_OBJECT.match(content):
        return _read_nested_frame(content, [*field_aliases][-1], source)
    selected = match_columns(_parse_object(find_first_line(content), source, 1), field_aliases, source)
    types = {
        theirs: pl.Float64 if ours in ("score", "rank", "grade") else pl.String for ours, theirs in selected.items()
    }
    try:
        frame = pl.read_ndjson(content, schema=types)
    except pl.exceptions.PolarsError:
        return _read_line_by_line(content, selected, source)
    texts = pl.col(pl.String).str
    nested = frame.select(texts.starts_with("[") | texts.starts_with("{")).sum().row(0)  # or an id that looks so
    lines = content.rstrip().count(b"\n") + 1
    if any(nested) or any(frame.null_count().row(0)) or frame.height != lines:
        return _read_line_by_line(content, selected, source)
    return frame.select(pl.col(theirs).alias(ours) for ours, theirs in selected.items())


def _read_nested_frame(content: bytes, number: str, source: str) -> pl.DataFrame:
    """The frame of one object of objects, {query: {document: number}}, as pytrec_eval, BEIR and ranx hold them."""
    import polars as pl

    try:
        parsed = json.loads(content)
    except ValueError as error:
        problem = f"expected one JSON object, {{query: {{document: {number}}}}}, found something else ({error})."
        raise DataError(problem, source=source) from None
    rows = []
    for query, documents in parsed.items():
        if not isinstance(documents, dict):
            preview = json.dumps(documents)[:40]
            problem = f"query {query!r} must contain an object of document and {number}, found {preview}."
            raise DataError(problem, source=source)
        rows += [(query, doc, value) for doc, value in documents.items()]
    wrong = next((row for row in rows if isinstance(row[2], bool) or not isinstance(row[2], int | float)), None)
    if wrong is not None:
        query, doc, value = wrong
        problem = f"{number} of document {doc!r} of query {query!r} must be a number, found {json.dumps(value)}."
        raise DataError(problem, source=source)
    texts = [(query, doc, str(value)) for query, doc, value in rows]
    return pl.DataFrame(texts, {"query_id": pl.String, "doc_id": pl.String, number: pl.String}, orient="row")


def _read_line_by_line(content: bytes, selected: Mapping[str, str], source: str) -> pl.DataFrame:
    """The patient way, which knows the line of what is wrong."""
    import polars as pl

    table: dict[str, list[Any]] = {"line": [], **{ours: [] for ours in selected}}
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        record = _parse_object(line, source, number)
        table["line"].append(number)
        for ours, theirs in selected.items():
            value = record.get(theirs)
            scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
            if not scalar:
                kind = "nothing" if value is None else json.dumps(value)
                expected = "text or a whole number" if ours in ("query_id", "doc_id") else "a number"
                raise DataError(f"{theirs} must be {expected}, found {kind}.", source=source, line=number)
            table[ours].append(str(value))
    return pl.DataFrame(table, {name: pl.UInt32 if name == "line" else pl.String for name in table})


def _parse_object(line: str | bytes, source: str, number: int) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem = f"expected one JSON object per line, found something else ({error})."
        raise DataError(problem, source=source, line=number) from None
    if not isinstance(parsed, dict):
        raise DataError(f"expected a JSON object, found {type(parsed).__name__}.", source=source, line=number)
    return parsed


def _read_parquet_frame(path: Path, field_aliases: Mapping[str, tuple[str, ...]]) -> pl.DataFrame:
    """The wanted columns alone, under our names."""
    import polars as pl

    try:
        table = pl.scan_parquet(path, glob=False)
        selected = match_columns(table.collect_schema().names(), field_aliases, str(path))
        return table.select(pl.col(theirs).alias(ours) for ours, theirs in selected.items()).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"is not a readable Parquet file ({reason}).", source=str(path)) from None


def parse_beir(content: bytes, source: str) -> pl.DataFrame:
    """Labels of UTF-8 text whose first line names the columns, in any order.

    Returns:
        Columns query_id, item, doc_id, grade.

    Raises:
        DataError: a column is missing, a line has another number of fields, a grade is no number, or a document has
            two grades.
    """
    import polars as pl

    lines = build_line_table(content).with_columns(pl.col("text").str.strip_chars_end("\r").str.split("\t"))
    header = [name.strip() for name in lines["text"][0].to_list()]
    selected = match_columns(header, QRELS, source)
    rows = lines.slice(1)
    bad = rows["text"].list.len() != len(header)
    if bad.any():
        bad_row = rows.filter(bad).row(0, named=True)
        raise DataError(
            f"expected {len(header)} fields separated by tabs ({', '.join(header)}), found {len(bad_row['text'])}.",
            source=source,
            line=bad_row["line"],
        )
    taken = [
        pl.col("text").list.get(header.index(theirs)).str.strip_chars().replace("", None).alias(ours)
        for ours, theirs in selected.items()
    ]
    return build_qrels_table(rows.select("line", *taken), source, "line")


def read_qrels(path: str | Path) -> pl.DataFrame:
    """Relevance labels: TREC qrels, BEIR's TSV, JSON lines or Parquet; text may be gzip. The content decides.

    Returns:
        Columns query_id (text), item (number of the judged item), doc_id (text), grade (float).

    Raises:
        DataError: the file, the line, what was expected and what was found; nothing is half loaded.
    """
    path = Path(path)
    if is_parquet(path):
        return build_qrels_table(_read_parquet_frame(path, QRELS), str(path))
    content, source = read_bytes(path), str(path)
    check_text(content, source)
    head = find_first_line(content)
    if head.startswith(("{", "[")):
        return build_qrels_table(_read_jsonl_frame(content, QRELS, source), source, "line")
    if is_header(head.split("\t")):
        return parse_beir(content, source)
    return trec.parse_qrels(content, source)


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
        return build_run_table(_read_parquet_frame(path, RUN), str(path), score_bits)
    content, source = read_bytes(path), str(path)
    check_text(content, source)
    head = find_first_line(content)
    if head.startswith(("{", "[")):
        return build_run_table(_read_jsonl_frame(content, RUN, source), source, score_bits, "line")
    if is_header(head.split("\t")) or is_header(head.split(",")):
        raise DataError(
            "expected a run in TREC format, JSON lines or Parquet, found a table with a header.",
            source=source,
            hint="Write it as Parquet or JSON lines with the same columns.",
        )
    return trec.parse_run(content, source, score_bits)


OWN_METADATA_KEY = "ragauge"  # key of a query's metadata: fields that BEIR has no place for


def is_beir_folder(folder: Path) -> bool:
    """Whether the folder has queries and labels."""
    return find_packed_file(folder, "queries.jsonl") is not None and bool(list_splits(folder))


def list_splits(folder: Path) -> dict[str, Path]:
    """Split -> its file of labels."""
    return {path.name.partition(".")[0]: path for path in sorted((folder / "qrels").glob("*.tsv*"))}


def read(folder: Path, split: str | None = None) -> Rows:
    """The queries of a split with their labels; queries without labels belong to other splits and are left out.

    Those that were written by us as having none stay in, and where our metadata say what is labeled they decide: labels
    of documents that hold gold spans stand in the split for other tools alone.

    Args:
        folder: of the data set.
        split: None = test, or the only one.
    """
    label_files = list_splits(folder)
    name = split or ("test" if "test" in label_files or len(label_files) > 1 else next(iter(label_files), "test"))
    if name not in label_files:
        raise UsageError(f"{folder}: no split {name!r}. Known: {', '.join(label_files)}.")
    return Rows(str(folder), _read_rows(folder, label_files[name]), unit="query")


def _read_rows(folder: Path, labels: Path) -> Iterator[tuple[int, Row]]:
    grades_by_query = _read_grades(labels)
    queries = find_packed_file(folder, "queries.jsonl")
    if queries is None:  # reads() has seen it
        raise DataError("no queries.jsonl.", source=str(folder))
    missing = set(grades_by_query)
    for n, row in jsonl.read(queries).rows:
        query_id = str(row.get("_id", row.get("query_id")))
        metadata = row.get("metadata")
        ours = metadata.get(OWN_METADATA_KEY) if isinstance(metadata, Mapping) else None
        if isinstance(ours, Mapping) and "relevant" in ours:
            missing.discard(query_id)
            yield n, {**ours, "query_id": query_id, "query": row.get("text", row.get("query"))}
        elif query_id in grades_by_query:
            missing.discard(query_id)
            fields = {
                "query_id": query_id,
                "query": row.get("text", row.get("query")),
                "relevant": grades_by_query[query_id],
            }
            yield n, {**(ours if isinstance(ours, Mapping) else {}), **fields}
    if missing:
        preview = ", ".join(repr(query_id) for query_id in sorted(missing)[:5])
        problem = f"{len(missing)} labeled queries are not in {queries.name}: {preview}."
        raise DataError(problem, source=str(labels), hint="Add their texts to that file, or remove their labels.")


def _read_grades(path: Path) -> dict[str, dict[str, float]]:
    """Query id -> doc_id -> grade; none of a file that has a header alone, as of a set without labels."""
    with open_file(path) as file:
        if sum(1 for _, line in zip(range(2), filter(bytes.strip, file), strict=False)) == 1:
            return {}
    grades_by_query: dict[str, dict[str, float]] = {}
    for query_id, doc_id, grade in read_qrels(path).select("query_id", "doc_id", "grade").iter_rows():
        grades_by_query.setdefault(query_id, {})[doc_id] = grade
    return grades_by_query


def compute_fingerprint(folder: Path) -> str | None:
    """SHA-256 of the corpus, its first 16 digits; None where the folder has none."""
    corpus = find_packed_file(folder, "corpus.jsonl")
    if corpus is None:
        return None
    hasher = hashlib.sha256()
    with open_file(corpus) as file:
        while block := file.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()[:16]

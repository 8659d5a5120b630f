"""BEIR folders: queries.jsonl, qrels/SPLIT.tsv, and the corpus that the labels were made on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragauge.core.errors import DataError, UsageError
from ragauge.readers import jsonl
from ragauge.readers.lines import Row, Rows, open_file
from ragauge.readers.rankings import read_qrels

PACKED_ENDINGS = ("", ".gz", ".zst")
OWN_METADATA_KEY = "ragauge"  # key of a query's metadata: fields that BEIR has no place for


def is_beir_folder(folder: Path) -> bool:
    """Whether the folder has queries and labels."""
    return _find_file(folder, "queries.jsonl") is not None and bool(list_splits(folder))


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
    queries = _find_file(folder, "queries.jsonl")
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
        problem = f"{len(missing)} labelled queries are not in {queries.name}: {preview}."
        raise DataError(problem, source=str(labels), hint="Add their texts there, or take their labels out.")


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
    corpus = _find_file(folder, "corpus.jsonl")
    if corpus is None:
        return None
    hasher = hashlib.sha256()
    with open_file(corpus) as file:
        while block := file.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()[:16]


def _find_file(folder: Path, name: str) -> Path | None:
    return next((path for end in PACKED_ENDINGS if (path := folder / f"{name}{end}").is_file()), None)

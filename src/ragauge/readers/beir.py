"""BEIR folders: queries.jsonl, qrels/SPLIT.tsv, and the corpus that the labels were made on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragauge.core.errors import DataError, UsageError
from ragauge.readers import jsonl
from ragauge.readers.lines import Row, Rows, opened
from ragauge.readers.rankings import read_qrels

PACKED = ("", ".gz", ".zst")
OURS = "ragauge"  # key of a query's metadata: fields that BEIR has no place for


def reads(folder: Path) -> bool:
    """Whether the folder has queries and labels."""
    return _file(folder, "queries.jsonl") is not None and bool(splits(folder))


def splits(folder: Path) -> dict[str, Path]:
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
    known = splits(folder)
    name = split or ("test" if "test" in known or len(known) > 1 else next(iter(known), "test"))
    if name not in known:
        raise UsageError(f"{folder}: no split {name!r}. Known: {', '.join(known)}.")
    return Rows(str(folder), _rows(folder, known[name]), unit="query")


def _rows(folder: Path, labels: Path) -> Iterator[tuple[int, Row]]:
    judged = _judged(labels)
    queries = _file(folder, "queries.jsonl")
    if queries is None:  # reads() has seen it
        raise DataError("no queries.jsonl.", source=str(folder))
    left = set(judged)
    for n, row in jsonl.read(queries).rows:
        query_id = str(row.get("_id", row.get("query_id")))
        metadata = row.get("metadata")
        ours = metadata.get(OURS) if isinstance(metadata, Mapping) else None
        if isinstance(ours, Mapping) and "relevant" in ours:
            left.discard(query_id)
            yield n, {**ours, "query_id": query_id, "query": row.get("text", row.get("query"))}
        elif query_id in judged:
            left.discard(query_id)
            asked = {"query_id": query_id, "query": row.get("text", row.get("query")), "relevant": judged[query_id]}
            yield n, {**(ours if isinstance(ours, Mapping) else {}), **asked}
    if left:
        shown = ", ".join(repr(query_id) for query_id in sorted(left)[:5])
        problem = f"{len(left)} labelled queries are not in {queries.name}: {shown}."
        raise DataError(problem, source=str(labels), hint="Add their texts there, or take their labels out.")


def _judged(path: Path) -> dict[str, dict[str, float]]:
    """Query id -> doc_id -> grade; none of a file that has a header alone, as of a set without labels."""
    with opened(path) as file:
        if sum(1 for _, line in zip(range(2), filter(bytes.strip, file), strict=False)) == 1:
            return {}
    judged: dict[str, dict[str, float]] = {}
    for query_id, doc_id, grade in read_qrels(path).select("query_id", "doc_id", "grade").iter_rows():
        judged.setdefault(query_id, {})[doc_id] = grade
    return judged


def fingerprint(folder: Path) -> str | None:
    """SHA-256 of the corpus, its first 16 digits; None where the folder has none."""
    corpus = _file(folder, "corpus.jsonl")
    if corpus is None:
        return None
    whole = hashlib.sha256()
    with opened(corpus) as file:
        while block := file.read(1 << 20):
            whole.update(block)
    return whole.hexdigest()[:16]


def _file(folder: Path, name: str) -> Path | None:
    return next((path for end in PACKED if (path := folder / f"{name}{end}").is_file()), None)

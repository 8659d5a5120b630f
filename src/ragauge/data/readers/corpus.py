"""Texts of documents by id, from a corpus file, a folder with one, a table or a mapping."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ragauge.data.readers import csv, jsonl, parquet, table
from ragauge.data.readers.lines import BOM, PARQUET, head
from ragauge.data.readers.passages import DOC_KEYS, TEXT_KEYS
from ragauge.data.readers.rows import Row, Rows
from ragauge.data.readers.values import described
from ragauge.errors import DataError

ACCEPTED = (
    f"Accepted: .jsonl, .csv, .tsv or .parquet with a column {' or '.join(DOC_KEYS)} and a column "
    f"{' or '.join(TEXT_KEYS)}, a BEIR folder with corpus.jsonl, a table in memory, or a mapping of id and text."
)


def texts_of(source: Any, wanted: Collection[str]) -> dict[str, str]:
    """The texts of some documents; those that the corpus does not have are left out.

    Args:
        source: a path, a table in memory, or a mapping of id and text.
        wanted: their ids.

    Raises:
        DataError: what cannot be read as a corpus.
    """
    if isinstance(source, Mapping):
        return {doc_id: str(source[doc_id]) for doc_id in wanted if doc_id in source}
    found: dict[str, str] = {}
    seen = 0
    rows = _rows(source)
    for n, row in rows.rows:
        seen += 1
        doc_id, text = _pair(rows, n, row)
        if doc_id in wanted:
            found.setdefault(doc_id, text)
            if len(found) == len(wanted):
                break
    if not seen:
        raise rows.error("there is no document in it.", hint=ACCEPTED)
    return found


def _rows(source: Any) -> Rows:
    if not isinstance(source, str | Path):
        if table.is_frame(source) or table.is_list(source):
            return table.read(source)
        raise DataError(f"cannot read a corpus from {described(source)}.", hint=ACCEPTED)
    path = Path(source)
    if path.is_dir():
        path = next(_corpora(path), path / "corpus.jsonl")
    if not path.is_file():
        raise DataError("there is no such file.", source=str(path), hint=ACCEPTED)
    start = head(path)
    if start.startswith(PARQUET):
        return parquet.read(path)
    return jsonl.read(path) if start.removeprefix(BOM).lstrip()[:1] in (b"{", b"[") else csv.read(path)


def _corpora(folder: Path) -> Iterator[Path]:
    return (file for end in ("", ".gz", ".zst") if (file := folder / f"corpus.jsonl{end}").is_file())


def _pair(rows: Rows, n: int, row: Row) -> tuple[str, str]:
    doc_id = next((row[key] for key in DOC_KEYS if row.get(key) is not None), None)
    text = next((row[key] for key in TEXT_KEYS if isinstance(row.get(key), str)), None)
    if not isinstance(doc_id, str | int) or isinstance(doc_id, bool) or text is None:
        raise rows.error(f"no document with id and text (found: {', '.join(list(row)[:20])}).", n, ACCEPTED)
    return str(doc_id), text

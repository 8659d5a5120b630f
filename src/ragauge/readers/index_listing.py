"""Listings of what is in an index: ids one a line, a corpus file, or a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ragauge.core.errors import DataError
from ragauge.core.values import describe_value
from ragauge.readers import jsonl, tabular
from ragauge.readers.lines import BOM, PACKED_ENDINGS, PARQUET, Rows, find_packed_file, read_head, read_lines
from ragauge.readers.passages import DOC_KEYS
from ragauge.readers.source import derive_name

TABLES: Mapping[str, Callable[[Path], Rows]] = {".csv": tabular.read_csv, ".tsv": tabular.read_csv}
LISTINGS = (
    "Accepted: a text file with one id per line, or .jsonl, .csv, .tsv or .parquet with a column "
    f"{' or '.join(DOC_KEYS)} "
    "(such as a BEIR corpus.jsonl, or the folder with it); each may be compressed as .gz or .zst."
)


def read_doc_ids(source: Any) -> Iterator[str]:
    """The ids of the documents in an index, one at a time.

    Args:
        source: a path, a table in memory with such a column, or the ids themselves.

    Raises:
        DataError: the file or table cannot be read as such a listing.
    """
    if isinstance(source, str | Path):
        return _read_path(Path(source))
    if tabular.is_frame(source):
        return _read_id_column(tabular.read_table(source))
    if tabular.is_list(source):
        return _read_id_list(source)
    raise DataError(f"cannot read a listing of the index from {describe_value(source)}.", hint=LISTINGS)


def format_listing_name(source: Any) -> str:
    """What to call a listing in a message."""
    return str(source) if isinstance(source, str | Path) else derive_name(source)


def _read_path(path: Path) -> Iterator[str]:
    if path.is_dir():
        corpus = find_packed_file(path, "corpus.jsonl")
        if corpus is None:
            raise DataError("the folder has no corpus.jsonl.", source=str(path), hint=LISTINGS)
        path = corpus
    if not path.exists():
        raise DataError("there is no such file.", source=str(path), hint=LISTINGS)
    start = read_head(path)
    if start.startswith(PARQUET):
        return _read_id_column(tabular.read_parquet(path))
    if start.removeprefix(BOM).lstrip()[:1] in (b"{", b"["):
        return _read_id_column(jsonl.read(path))
    ending = next((end for end in reversed(path.suffixes) if end.lower() not in PACKED_ENDINGS), "").lower()
    return _read_id_column(TABLES[ending](path)) if ending in TABLES else _read_plain_ids(path)


def _read_plain_ids(path: Path) -> Iterator[str]:
    """One id a line; blank lines are left out."""
    for n, line in read_lines(path):
        doc_id = line.strip()
        if "\t" in doc_id:
            problem = f"expected one id per line, got {doc_id[:40]!r}."
            raise DataError(problem, source=str(path), line=n, hint="Name the file .tsv and give it a header: doc_id.")
        if doc_id:
            yield doc_id


def _read_id_column(rows: Rows) -> Iterator[str]:
    """The first column that is known to hold ids."""
    name = ""
    for n, row in rows.rows:
        name = name or next((key for key in DOC_KEYS if key in row), "")
        value = row.get(name) if name else None
        if value is None or isinstance(value, Mapping | list | bool):
            problem = f"no document id (looked for {', '.join(DOC_KEYS)}; found: {', '.join(list(row)[:20])})."
            raise rows.error(problem, n, LISTINGS)
        yield str(value)


def _read_id_list(source: Iterable[Any]) -> Iterator[str]:
    """Ids, or dictionaries that hold one."""
    remaining = iter(source)
    first = list(islice(remaining, 1))
    if first and (isinstance(first[0], Mapping) or hasattr(first[0], "model_dump")):
        yield from _read_id_column(tabular.read_table(chain(first, remaining)))
        return
    for n, doc_id in enumerate(chain(first, remaining), 1):
        if not isinstance(doc_id, str | int) or isinstance(doc_id, bool):
            raise DataError(f"expected an id, got {describe_value(doc_id)}.", source="list", line=n, unit="entry")
        yield str(doc_id)

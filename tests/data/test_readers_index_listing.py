"""Listings of what is in an index, in every form that people have them in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragauge.core.document import IndexListing
from ragauge.core.errors import DataError
from ragauge.readers.index_listing import read_doc_ids

IDS = ["d1", "d 2", "ä/3"]


def corpus(key: str) -> str:
    return "".join(json.dumps({key: doc_id, "title": "T", "text": "words\nmore"}) + "\n" for doc_id in IDS)


def plain(path: Path) -> Path:
    path.write_text("d1\n\n d 2 \r\nä/3", encoding="utf-8")
    return path


def packed(path: Path) -> Path:
    path = path.with_suffix(".jsonl.gz")
    path.write_bytes(gzip.compress(corpus("_id").encode()))
    return path


def folder(path: Path) -> Path:
    (path / "beir").mkdir()
    (path / "beir" / "corpus.jsonl").write_text(corpus("_id"), encoding="utf-8")
    return path / "beir"


def parquet(path: Path) -> Path:
    pl.DataFrame({"text": ["x"] * 3, "doc_id": IDS}).write_parquet(path)
    return path


def table(ending: str, mark: str) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path = path.with_suffix(ending)
        path.write_text("".join(f"{a}{mark}{b}\n" for a, b in [("doc_id", "n"), *((d, "1") for d in IDS)]))
        return path

    return write


def lines(key: str) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_text(corpus(key), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    "write",
    [
        plain,
        packed,
        parquet,
        table(".csv", ","),
        table(".tsv", "\t"),
        lines("_id"),
        lines("doc_id"),
        lines("docid"),
        lines("id"),
    ],
)
def test_files(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """Ids come out the same from every form of file, given as a path or its name."""
    path = write(tmp_path / "listing")
    assert list(read_doc_ids(path)) == IDS
    assert list(read_doc_ids(str(path))) == IDS


def test_beir_folder(tmp_path: Path) -> None:
    """A BEIR folder is its corpus.jsonl."""
    assert list(read_doc_ids(folder(tmp_path))) == IDS


@pytest.mark.parametrize(
    "source",
    [
        IDS,
        tuple(IDS),
        iter(IDS),
        pl.DataFrame({"doc_id": IDS}),
        [{"doc_id": doc_id, "n": 1} for doc_id in IDS],
        pl.DataFrame({"doc_id": IDS}).to_arrow(),
        pl.DataFrame({"id": IDS}).to_pandas(),
    ],
    ids=lambda source: type(source).__module__ + type(source).__name__,
)
def test_in_memory(source: Any) -> None:
    """Ids come from a list, an iterator, and from tables with a column of ids."""
    assert list(read_doc_ids(source)) == IDS


def test_numbers_are_ids() -> None:
    """Ids that are numbers read as labels do: as text."""
    assert list(read_doc_ids([1, 2])) == ["1", "2"]
    assert list(read_doc_ids(pl.DataFrame({"id": [1, 2]}))) == ["1", "2"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("d1\td2\n", "line 1: expected one id per line"),
        ('{"text": "words"}\n', "line 1: no document id"),
        ('{"doc_id": "a"}\n{"doc_id": null}\n', "line 2: no document id"),
    ],
)
def test_what_is_no_listing_is_refused(content: str, words: str, tmp_path: Path) -> None:
    """The line is named, and what would be read."""
    path = tmp_path / "listing"
    path.write_text(content)
    with pytest.raises(DataError, match=words):
        list(read_doc_ids(path))


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A file that is not there, a folder without corpus, values that are no ids and other objects say what to give."""
    for source in (tmp_path / "none", tmp_path, [1.5], [None, "a"], 3):
        with pytest.raises(DataError):
            list(read_doc_ids(source))


def test_only_labelled_documents_are_kept() -> None:
    """A listing remembers what it lacks, however long it is; it holds every other labelled document."""
    listing = IndexListing.of((f"d{n}" for n in range(100_000)), {"d7", "x", "d99999", "y"})
    assert (listing.documents, listing.absent) == (100_000, frozenset({"x", "y"}))
    assert "d7" in listing
    assert "x" not in listing
    assert listing.fingerprint == IndexListing.of(["d7", "d99999"], {"d7", "x", "d99999", "y"}).fingerprint
    assert listing.fingerprint != IndexListing.of(["d7"], {"d7", "x", "d99999", "y"}).fingerprint

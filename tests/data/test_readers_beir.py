"""BEIR folders as eval sets."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import Relevant
from ragauge.readers.source import read_set, read_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three queries, two splits, one document."""
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text(
        '{"_id": "1", "text": "a?", "metadata": {}}\n{"_id": "2", "text": "b?"}\n{"_id": 3, "text": "c?"}\n'
    )
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "t"}\n')
    header = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels" / "test.tsv").write_text(header + "1\td1\t2\n1\td2\t0\n3\td9\t1\n")
    (folder / "qrels" / "train.tsv").write_text(header + "2\td1\t1\n")
    return folder


def test_the_test_split_is_the_default(folder: Path) -> None:
    """The queries that the test split judges are the examples, labels with grade 0 included."""
    found = read_set(folder)
    assert [(example.query_id, example.query) for example in found.examples] == [("1", "a?"), ("3", "c?")]
    assert found.examples[0].relevant == (Relevant(("d1",), 2.0), Relevant(("d2",), 0.0))
    assert found.name == "scifact"


def test_another_split(folder: Path) -> None:
    """Another split is named; one that is not there is refused with those that are."""
    assert [record.example.query_id for record in read_source(str(folder), split="train")] == ["2"]
    with pytest.raises(UsageError, match=r"no split 'dev'\. Known: test, train\."):
        read_source(folder, split="dev")


def test_the_corpus_has_a_fingerprint(folder: Path) -> None:
    """The set knows on which corpus its labels were made: packing it changes nothing, a word changes it."""
    before = read_set(folder).corpus
    corpus = folder / "corpus.jsonl"
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(corpus.read_bytes()))
    text = corpus.read_text()
    corpus.unlink()
    assert read_set(folder).corpus == before
    corpus.write_text(text.replace('"t"', '"u"'))
    assert read_set(folder).corpus != before
    for path in folder.glob("corpus*"):
        path.unlink()
    assert read_set(folder).corpus is None


def test_packed_queries(folder: Path) -> None:
    """queries.jsonl may be packed."""
    plain = folder / "queries.jsonl"
    (folder / "queries.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert len(read_set(folder)) == 2


def test_labels_without_query_are_refused(folder: Path) -> None:
    """A judged query that the folder does not have is an error, not a smaller set."""
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("77\td1\t1\n")
    with pytest.raises(DataError, match=r"1 labeled queries are not in queries\.jsonl: '77'\."):
        read_set(folder)

"""Several labelled ids in one cell: parted where that is safe, told where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragauge.readers.source import read_joined, read_set, read_source

File = Callable[..., str]
SEVERAL, ONE = "read as several ids", "read as one id"


def labelled(*rows: dict[str, Any], said: list[str] | None = None) -> list[list[str]]:
    """The labelled ids of each row; the warnings go to `said`."""
    warn = (said if said is not None else []).append
    return [
        [one for each in record.example.relevant or () for one in each.doc_ids]
        for record in read_source([{"query": f"Question {n}?", **row} for n, row in enumerate(rows)], warn=warn)
    ]


@pytest.mark.parametrize(
    ("cell", "ids"),
    [
        ("a.md;b.md", ["a.md", "b.md"]),
        ("b, c", ["b", "c"]),
        ("a|b", ["a", "b"]),
        ("a.md\nb.md", ["a.md", "b.md"]),
        ("docs/x.html , docs/y.html,", ["docs/x.html", "docs/y.html"]),
        ("[a.md, 'b.md']", ["a.md", "b.md"]),
        ("Intro;Setup", ["Intro", "Setup"]),
        ("12,13", ["12", "13"]),
        ("a;a", ["a"]),
    ],
)
def test_texts_of_several_ids_are_parted(cell: str, ids: list[str]) -> None:
    """A text whose parts look like ids names each of them, and one warning shows the first such text."""
    said: list[str] = []
    assert labelled({"relevant": cell}, said=said) == [ids]
    assert len(said) == 1
    assert SEVERAL in said[0]
    assert repr(cell) in said[0]


def test_a_cell_of_csv_is_parted(file: File) -> None:
    """What stands in a CSV is parted as in JSON lines, for chunks too."""
    path = file("a.csv", 'query,relevant,relevant_chunks\nWho?,a.md;b.md,"a.md-1, b.md-2"\n')
    said: list[str] = []
    (example,) = read_set(path, warn=said.append).examples
    assert [one.doc_ids for one in example.relevant or ()] == [("a.md",), ("b.md",)]
    assert [one.doc_ids for one in example.relevant_chunks or ()] == [("a.md-1",), ("b.md-2",)]
    assert len(said) == 2


def test_an_id_of_a_passage_stays_whole() -> None:
    """A text that a passage has as its id is one label, without a warning; so are ids like it in other rows."""
    said: list[str] = []
    there = {"relevant": "a,1", "passages": [{"doc_id": "a,1", "text": "One."}]}
    missed = {"relevant": "b,2", "passages": [{"doc_id": "c,3", "text": "Two."}]}
    assert labelled(there, said=said) == [["a,1"]]
    assert said == []
    assert labelled(there, missed, said=said) == [["a,1"], ["b,2"]]
    assert ONE in said[0]


def test_ids_of_passages_decide() -> None:
    """Parts that do not look like ids are taken apart where a passage has one of them as its id."""
    row = {"relevant": "First page; Other page", "passages": [{"doc_id": "Other page", "text": "One."}]}
    assert labelled(row) == [["First page", "Other page"]]


@pytest.mark.parametrize("cell", ["Paris, Texas", "First page; Other page", "Smith, 2020"])
def test_names_with_marks_stay_whole_and_are_told(cell: str) -> None:
    """What may be one name stays one label, and a warning says that it may name several."""
    said: list[str] = []
    assert labelled({"relevant": cell}, said=said) == [[cell]]
    assert ONE in said[0]


def test_lists_are_never_parted() -> None:
    """Ids in a list stay as they are written, also in a cell that holds the list."""
    said: list[str] = []
    assert labelled({"relevant": ["a;b"]}, {"relevant": {"a;b": 1}}, said=said) == [["a;b"], ["a;b"]]
    assert said == []


def test_a_cell_of_json_is_never_parted(file: File) -> None:
    """A JSON list in a cell of CSV keeps ids with marks whole."""
    (example,) = read_set(file("a.csv", 'query,relevant\nWho?,"[""a;b"", ""c""]"\n')).examples
    assert [one.doc_ids for one in example.relevant or ()] == [("a;b",), ("c",)]


def test_the_ids_of_another_file_count() -> None:
    """A set is parted by the ids that its responses' file shows."""
    answers = [{"query_id": "1", "answer": "Yes.", "passages": [{"doc_id": "x,1", "text": "One."}]}]
    said: list[str] = []
    (record,) = read_joined([{"query_id": "1", "query": "Who?", "relevant": "x,1"}], answers, warn=said.append)
    assert [one.doc_ids for one in record.example.relevant or ()] == [("x,1",)]
    assert said == []

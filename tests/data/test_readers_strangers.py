"""Files of systems that nobody here has seen are read right, or the error says how they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ragauge.data.readers.source import records
from ragauge.data.response import Record
from ragauge.errors import DataError

One = Callable[..., Record]
File = Callable[..., str]

ROW = {"query": "How tall?", "contexts": ["The mast is 330 metres tall."], "response": "330 metres."}


@pytest.mark.parametrize("key", ["responses", "predictions", "results", "data"])
@pytest.mark.parametrize("beside", [{}, {"metadata": {"model": "m"}}, {"model": "m", "date": "2026-01-01"}])
def test_rows_stand_in_an_object_with_more(file: File, key: str, beside: dict[str, Any]) -> None:
    """An object whose list holds the rows gives them, whatever is told of them beside the list."""
    rows = [ROW, {**ROW, "query": "How old?"}]
    found = list(records(file("a.json", json.dumps({**beside, key: rows}))))
    assert [one.example.query for one in found] == ["How tall?", "How old?"]
    assert all(one.response is not None and one.response.answer == "330 metres." for one in found)
    assert all(not one.example.segments for one in found)


@pytest.mark.parametrize("where", ["segment", "column", "kind", "tag", "mapped"])
@pytest.mark.parametrize(
    ("word", "answerable"),
    [("UNANSWERABLE", False), ("ANSWERABLE", True), ("Answerable", True), ("no answer", False), ("PARTIAL", None)],
)
@pytest.mark.filterwarnings("ignore:.*columns not read")
def test_a_word_says_whether_it_is_answerable(file: File, where: str, word: str, answerable: bool | None) -> None:
    """Answerable and unanswerable are both read, wherever they stand; another word says nothing, or is refused."""
    places: dict[str, dict[str, Any]] = {
        "segment": {"segments": {"answerability": word}}, "column": {"Answerability": word}, "kind": {"type": word},
        "tag": {"tags": [word]}, "mapped": {"has_answer": word},
    }  # fmt: skip
    columns = {"answerable": "has_answer"} if where == "mapped" else {}
    source = file("a.jsonl", {**ROW, **places[where]})
    if where == "mapped" and answerable is None:
        with pytest.raises(DataError, match="has_answer must be true or false"):
            list(records(source, columns=columns))
        return
    (record,) = records(source, columns=columns)
    assert record.example.answerable is answerable


def test_unanswerable_counts_where_both_are_said(one: One) -> None:
    """A field comes before words, and of two words that contradict each other the one that expects a refusal counts."""
    both = {**ROW, "tags": ["answerable", "unanswerable"]}
    assert one(both).example.answerable is False
    assert one({**both, "answerable": True}).example.answerable is True

"""Two files on one key: the set and the responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.response import Response
from ragauge.readers.source import read_joined, read_set

File = Callable[..., str]
SET = [{"query_id": f"q{n}", "query": f"question {n}", "reference_answer": "r"} for n in range(3)]


def test_every_example_comes_out(file: File) -> None:
    """Responses come in their file's order, each with its example; examples without one come last, with None."""
    answers = [{"query_id": "q2", "answer": "two"}, {"query_id": "q0", "answer": None}]
    found = list(read_joined(file("set.jsonl", *SET), file("run.jsonl", *answers)))
    assert [record.example.query_id for record in found] == ["q2", "q0", "q1"]
    assert [record.example.references for record in found] == [("r",)] * 3
    assert found[0].response == Response("q2", answer="two", missing={"passages": "no field passages"})
    assert found[1].response is not None
    assert found[1].response.missing == {"passages": "no field passages", "answer": "null"}
    assert found[2].response is None
    assert [(record.source, record.line) for record in found] == [("run.jsonl", 1), ("run.jsonl", 2), ("set.jsonl", 2)]


def test_ids_derived_from_queries_join(file: File) -> None:
    """Without ids in either file, the question is the key."""
    sets = file("set.jsonl", {"query": "a?"}, {"query": "b?"})
    (first, second) = read_joined(sets, file("run.jsonl", {"question": "b?", "answer": "x"}))
    assert (first.example.query, first.response and first.response.answer) == ("b?", "x")
    assert (second.example.query, second.response) == ("a?", None)


def test_unknown_ids_are_refused(file: File) -> None:
    """Responses to no example of the set are an error that lists five of them."""
    answers = [{"query_id": f"x{n}", "answer": "a"} for n in range(7)]
    with pytest.raises(DataError) as error:
        list(read_joined(file("set.jsonl", *SET), file("run.jsonl", *answers)))
    assert str(error.value) == (
        "run.jsonl: these query_ids are not in the set: 'x0' (line 1), 'x1' (line 2), 'x2' (line 3), 'x3' (line 4), "
        "'x4' (line 5) and 2 more. Check that the files belong together. Give the set that was answered, or remove "
        "these lines."
    )


def test_unknown_ids_are_left_out_on_request(file: File) -> None:
    """With on_unknown='warn' they are left out, and said so."""
    seen: list[str] = []
    answers = file("run.jsonl", {"query_id": "q0", "answer": "a"}, {"query_id": "x", "answer": "a"})
    found = list(read_joined(file("set.jsonl", *SET), answers, on_unknown="warn", warn=seen.append))
    assert [record.example.query_id for record in found] == ["q0", "q1", "q2"]
    assert seen == ["run.jsonl: these query_ids are not in the set: 'x' (line 2). Their responses are skipped."]
    with pytest.raises(UsageError, match="on_unknown must be 'error' or 'warn', got 'skip'"):
        read_joined("set.jsonl", "run.jsonl", on_unknown="skip")  # type: ignore[arg-type]     # a wrong value is the test


def test_two_responses_to_one_question(file: File) -> None:
    """Two responses with one query_id are refused, both lines named, unless repeat tells them apart."""
    rows: list[dict[str, Any]] = [{"query_id": "q0", "answer": "a"}, {"query_id": "q0", "answer": "b"}]
    with pytest.raises(DataError, match=r"^run\.jsonl line 2: query_id 'q0' is already on line 1\."):
        list(read_joined(file("set.jsonl", *SET), file("run.jsonl", *rows)))
    rows[1]["repeat"] = 1
    found = list(read_joined(file("set.jsonl", *SET), file("run.jsonl", *rows)))
    assert [record.response.repeat for record in found if record.response] == [0, 1]


def test_a_response_needs_a_key(file: File) -> None:
    """A response with neither query_id nor query belongs to nothing."""
    with pytest.raises(DataError) as error:
        list(read_joined(file("set.jsonl", *SET), file("run.jsonl", {"qid_": "q0", "answer": "a"})))
    assert str(error.value) == (
        "run.jsonl line 1: no field 'query_id' (found: qid_, answer; nearest: qid_). Use --map query_id=qid_."
    )


def test_other_words_under_one_id_are_noticed(file: File) -> None:
    """A response whose query is not the set's is probably another set's: the reader says so."""
    seen: list[str] = []
    answers = file(
        "run.jsonl",
        {"query_id": "q0", "query": "question  0", "answer": "a"},
        {"query_id": "q1", "query": "something else", "answer": "a"},
    )
    found = list(read_joined(file("set.jsonl", *SET), answers, warn=seen.append))
    assert found[1].example.query == "question 1"
    assert seen == [
        "run.jsonl: 1 responses have a different query than the set for the same query_id (first: line 2). "
        "The query of the set is used."
    ]


def test_a_set_in_memory_joins(file: File) -> None:
    """The set may be an EvalSet, the responses a list."""
    examples = EvalSet("s", (Example("1", "a?"), Example("2", "b?")))
    found = list(read_joined(examples, [{"query_id": 2, "answer": "x"}]))
    assert [(record.example.query_id, record.response is None) for record in found] == [("2", False), ("1", True)]


def test_columns_may_be_in_either_file(file: File) -> None:
    """A mapped column has to stand in one of the two files."""
    sets, answers = file("set.jsonl", {"id": 1, "frage": "a?"}), file("run.jsonl", {"id": 1, "antwort": "x"})
    columns = {"query": "frage", "answer": "antwort"}
    (record,) = read_joined(sets, answers, columns)
    assert record.response is not None
    assert (record.example.query, record.response.answer) == ("a?", "x")
    with pytest.raises(DataError, match=r"run\.jsonl: no line has a column 'tokens_used' \(found: id, antwort\)\."):
        list(read_joined(sets, answers, {**columns, "tokens": "tokens_used"}))


def test_segments_come_from_the_set(file: File) -> None:
    """Columns to report by are read from the set."""
    sets = file("set.jsonl", {"query_id": "1", "query": "a?", "topic": "tax"})
    (record,) = read_joined(sets, file("run.jsonl", {"query_id": "1", "answer": "x"}), segments=["topic"])
    assert record.example.segments == {"topic": "tax"}


def test_the_set_alone_equals_the_set_joined(file: File) -> None:
    """Joining changes no example."""
    name = file("set.jsonl", *SET)
    found = read_joined(name, file("run.jsonl", {"query_id": "q1", "answer": "x"}))
    assert {record.example.query_id: record.example for record in found} == {
        example.query_id: example for example in read_set(name).examples
    }


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_column_that_the_set_is_grouped_by_is_no_unread_one(file: File, in_memory: bool) -> None:
    """Responses that repeat a column which the set is reported by, or which is mapped, are not said to be unread."""
    rows = [{"query_id": f"q{n}", "query": f"question {n}", "category": "a", "flag": "x"} for n in range(2)]
    answers = [{"query_id": f"q{n}", "answer": "x", "category": "a", "flag": "x", "extra": 1} for n in range(2)]
    sets: Any = file("set.jsonl", *rows)
    how: dict[str, Any] = {"columns": {"tags": "flag"}, "segments": ["category"]}
    if in_memory:
        sets, how = read_set(sets, **how), {"columns": {"tags": "flag"}}
    told: list[str] = []
    list(read_joined(sets, file("run.jsonl", *answers), warn=told.append, **how))
    assert [line for line in told if "columns not read" in line] == [
        "run.jsonl: columns not read: extra. --map FIELD=COLUMN reads "
        "one, --segments COLUMN reports by it, --scores COLUMN reads its numbers."
    ]

"""Rows without ids: questions that stand there twice, in one file and in two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragauge.core.errors import DataError
from ragauge.core.identity import derive_query_id
from ragauge.readers.source import read_joined, read_set, read_source

File = Callable[..., str]
MILL = "Who runs the mill?"
ID = derive_query_id(MILL)


def ids(source: Any, told: list[str] | None = None) -> list[str]:
    warned: list[str] = [] if told is None else told
    return [record.example.query_id for record in read_source(source, warn=warned.append)]


@pytest.mark.parametrize(
    "rows",
    [
        [{"question": MILL, "answer": "Ada does."}, {"question": MILL, "answer": "Max does."}],
        [{"question": "Wer mahlt?", "answer": "Ada."}, {"question": "Wer  mahlt?", "answer": "Ada."}],
        [{"user_input": "누가 방앗간을 운영합니까?", "response": "아다."}] * 2,
        [{"query": "من يدير الطاحونة؟", "reference_answer": answer} for answer in ("آدا", "ماكس")],
    ],
    ids=["two answers", "blanks", "the same row", "two references"],
)
def test_a_question_that_stands_there_twice_is_two_examples(rows: list[dict[str, Any]], file: File) -> None:
    """Each row without id is an example; the second's name is the first's with a number, and one line says so."""
    told: list[str] = []
    first, second = ids(file("a.jsonl", *rows), told)
    assert second == f"{first}-2"
    assert [f"named by its order, such as '{second}'" in warning for warning in told] == [True]
    assert ids(file("a.jsonl", *rows)) == [first, second]  # read again, the names are the same


def test_rows_between_do_not_change_the_names() -> None:
    """Only rows of the same question count, and a name that is taken is passed over."""
    other = {"query": "Other?"}
    rows = [{"query": MILL}, other, {"query": MILL}, {"query_id": f"{ID}-3", "query": MILL}, {"query": MILL}]
    assert ids(rows) == [ID, derive_query_id("Other?"), f"{ID}-2", f"{ID}-3", f"{ID}-4"]


def test_a_given_id_that_stands_there_twice_is_refused() -> None:
    """What names itself is not renamed."""
    with pytest.raises(DataError, match="query_id 'q1' is already on entry 1"):
        ids([{"query_id": "q1", "query": MILL}] * 2)


def test_repeats_are_answers_to_one_example() -> None:
    """Rows that number their answers belong to one example; a second row of one number is another's."""
    rows = [{"query": MILL, "answer": str(n), "repeat": n} for n in (0, 1, 0)]
    assert ids(rows, []) == [ID, ID, f"{ID}-2"]


def test_many_copies_are_named_quickly() -> None:
    """Ten thousand rows of one question are named in order."""
    assert ids([{"query": MILL}] * 10_000)[-1] == f"{ID}-10000"


def test_responses_by_question_where_the_set_asks_it_twice() -> None:
    """Examples that differ in nothing are answered in order; where labels differ, which is meant is not guessed."""
    answers = [{"query": MILL, "answer": "first"}, {"query": MILL, "answer": "second"}]
    alike = [{"query": MILL, "reference_answer": "Ada"}] * 2
    found = list(read_joined(alike, answers, warn=lambda _: None))
    assert [(one.example.query_id, one.response and one.response.answer) for one in found] == [
        (ID, "first"),
        (f"{ID}-2", "second"),
    ]
    different = [{"query": MILL, "reference_answer": name} for name in ("Ada", "Max")]
    with pytest.raises(DataError, match="the set has its question 2 times with different labels"):
        list(read_joined(different, answers, warn=lambda _: None))
    exported = [{"query_id": f"{ID}-2", "answer": "Max does."}]
    assert [one.example.references for one in read_joined(different, exported, warn=lambda _: None)] == [
        ("Max",),
        ("Ada",),
    ]


def test_more_responses_than_examples_are_refused() -> None:
    """A second response without id to a question that the set asks once is a repetition, not a new example."""
    answers = [{"query": MILL, "answer": name} for name in ("Ada", "Max")]
    with pytest.raises(DataError, match="this query is also on entry 1, and neither has a query_id"):
        list(read_joined([{"query": MILL}], answers))


def test_questions_join_examples_that_have_ids_of_their_own() -> None:
    """A response without id is the one to the example that asks its question, whatever that is called."""
    (record,) = read_joined([{"query_id": "m1", "query": MILL}], [{"question": MILL, "answer": "Ada."}])
    assert (record.example.query_id, record.response and record.response.query_id) == ("m1", "m1")


def test_a_set_keeps_both_examples() -> None:
    """A set that asks a question twice has two examples, each with its reference."""
    rows = [{"query": MILL, "ground_truth": name} for name in ("Ada", "Max")]
    found = read_set(rows, warn=lambda _: None).examples
    assert [(one.query_id, one.references) for one in found] == [(ID, ("Ada",)), (f"{ID}-2", ("Max",))]


@pytest.mark.parametrize("text", ["nan", "None", "null", "<NA>", " NaN"])
def test_nothing_written_as_a_text_is_no_passage(text: str, file: File) -> None:
    """What pandas and Python write for nothing is not recorded as passages, and may be an answer."""
    (record,) = read_source(file("a.csv", f"query,contexts,answer\na?,{text},{text}\n"))
    assert record.response is not None
    assert (record.response.passages, record.response.answer) == (None, text)


@pytest.mark.parametrize("nothing", [None, float("nan")], ids=["null", "NaN"])
def test_an_unanswered_row_is_not_an_empty_retrieval(nothing: object) -> None:
    """Beside answered rows a row whose passages and answer are null is a response of which nothing was recorded."""
    rows = [
        {"query_id": "q1", "query": "a?", "passages": ["p"], "answer": "a", "relevant": ["B"]},
        {"query_id": "q2", "query": "b?", "passages": nothing, "answer": nothing, "relevant": ["B"]},
        {"query_id": "q3", "query": "c?", "passages": [], "answer": nothing, "relevant": ["B"]},
    ]
    _, unanswered, empty = (record.response for record in read_source(rows, warn=lambda _: None))
    assert unanswered is not None
    assert empty is not None
    assert (unanswered.passages, unanswered.missing) == (None, {"passages": "null", "answer": "null"})
    assert empty.passages == ()


@pytest.mark.parametrize(
    ("answered", "unanswered"),
    [
        ({"inputs": {"question": "a?"}, "outputs": "x"}, {"inputs": {"question": "b?"}, "outputs": None}),
        (
            {"inputs": "a?", "outputs": {"answer": "x"}, "reference_outputs": "r"},
            {"inputs": "b?", "outputs": None, "reference_outputs": "r"},
        ),
        ({"input": "a?", "output": "x"}, {"input": "b?", "output": None}),
    ],
    ids=["mlflow", "langsmith", "langfuse"],
)
def test_null_outputs_of_tools_are_not_recorded(answered: dict[str, Any], unanswered: dict[str, Any]) -> None:
    """The same holds for rows that are taken apart, whatever their tool calls the output."""
    first, second = (record.response for record in read_source([answered, unanswered], warn=lambda _: None))
    assert first is not None
    assert second is not None
    assert (first.answer, second.answer, second.passages) == ("x", None, None)


def test_a_set_with_empty_columns_holds_no_response(file: File) -> None:
    """Where no row has an answer or passages, their columns are a form to fill in: the file is a set."""
    found = list(read_source(file("set.csv", "question,answer,contexts\na?,,\nb?,,\n")))
    assert [record.response for record in found] == [None, None]

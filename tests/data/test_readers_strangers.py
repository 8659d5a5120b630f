"""Files of systems that nobody here has seen are read right, or the error says how they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ragauge.core.errors import DataError
from ragauge.core.response import Record
from ragauge.readers.source import read_source

One = Callable[..., Record]
File = Callable[..., str]

ROW = {"query": "How tall?", "contexts": ["The mast is 330 metres tall."], "response": "330 metres."}
TEXT = "The mast of the old harbour was raised by hand, and it has been painted four times since then by the town. " * 9


def logged(cut: list[str], whole: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Two passages a question."""
    texts = [*cut, *whole]
    return [{"query": f"{n}?", "answer": "Four times.", "passages": texts[n : n + 2]} for n in range(0, len(texts), 2)]


def previews(count: int, end: str = "...", lengths: tuple[int, ...] = (200,)) -> list[str]:
    """Different texts, cut at these lengths in turn."""
    return [f"{n:04} {TEXT}"[: lengths[n % len(lengths)]] + end for n in range(count)]


WHOLE = [f"{n:04} {TEXT}"[:100] for n in range(20)]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (logged(previews(20)), "look truncated, like previews in logs: they end in an ellipsis after 203 "),
        (logged(previews(20, "…", (197, 200))), "after 198 to 201 characters. Support cannot be judged from them"),
        (logged(previews(14), WHOLE[:6]), "14 of 20 passages look truncated"),  # what is shorter needs no cut
        (logged(previews(20, " [truncated]", (80, 300, 500))), "20 of 20 passages look truncated"),
        (logged(previews(20) * 50), "1,000 of 1,000 passages"),
    ],
    ids=["one length", "nearly one length", "short ones are whole", "any length", "many"],
)
def test_previews_of_a_log_are_told(rows: list[dict[str, Any]], words: str) -> None:
    """Passages that a log cut off are told in one warning, with their length and what to do."""
    told: list[str] = []
    list(read_source([{"query_id": str(n), **row} for n, row in enumerate(rows)], warn=told.append))
    assert [words in one for one in told] == [True]
    assert told[0].endswith("Record full texts.")


@pytest.mark.parametrize(
    "rows",
    [
        logged(previews(4)),
        logged([TEXT + "..."] * 20),
        logged(previews(6), WHOLE[:14]),
        logged(previews(16, "...", (90, 300, 500)), WHOLE[:4]),
        logged(previews(14), [TEXT] * 6),
        logged([], WHOLE),
        logged(["..."] * 20),
    ],
    ids=["few", "one passage again and again", "a third", "no one length", "longer ones are whole", "whole", "empty"],
)
def test_texts_that_end_in_dots_are_no_previews(rows: list[dict[str, Any]]) -> None:
    """Passages that end in an ellipsis by themselves are no news."""
    told: list[str] = []
    list(read_source([{"query_id": str(n), **row} for n, row in enumerate(rows)], warn=told.append))
    assert told == []


@pytest.mark.parametrize("key", ["responses", "predictions", "results", "data"])
@pytest.mark.parametrize("beside", [{}, {"metadata": {"model": "m"}}, {"model": "m", "date": "2026-01-01"}])
def test_rows_stand_in_an_object_with_more(file: File, key: str, beside: dict[str, Any]) -> None:
    """An object whose list holds the rows gives them, whatever is told of them beside the list."""
    rows = [ROW, {**ROW, "query": "How old?"}]
    found = list(read_source(file("a.json", json.dumps({**beside, key: rows}))))
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
        "segment": {"segments": {"answerability": word}},
        "column": {"Answerability": word},
        "kind": {"type": word},
        "tag": {"tags": [word]},
        "mapped": {"has_answer": word},
    }
    columns = {"answerable": "has_answer"} if where == "mapped" else {}
    source = file("a.jsonl", {**ROW, **places[where]})
    if where == "mapped" and answerable is None:
        with pytest.raises(DataError, match="has_answer must be true or false"):
            list(read_source(source, columns=columns))
        return
    (record,) = read_source(source, columns=columns)
    assert record.example.answerable is answerable


def test_unanswerable_counts_where_both_are_said(one: One) -> None:
    """A field comes before words, and of two words that contradict each other the one that expects a refusal counts."""
    both = {**ROW, "tags": ["answerable", "unanswerable"]}
    assert one(both).example.answerable is False
    assert one({**both, "answerable": True}).example.answerable is True


@pytest.mark.parametrize(
    "column",
    [
        "generated_answer",
        "llm_answer",
        "llm_response",
        "model_response",
        "modelOutput",
        "prediction",
        "Predicted Answer",
    ],
)
def test_what_a_model_wrote_is_the_answer(one: One, column: str) -> None:
    """A column named by its having been generated is the system's answer, and says nothing of the right one."""
    record = one({"question": "How tall?", "contexts": ["330 m."], column: "It is 330 m."})
    assert record.response is not None
    assert record.response.answer == "It is 330 m."
    assert record.example.references == ()


@pytest.mark.parametrize("reference", ["ground_truth", "reference_answer", "gold_answer", "ground_truths"])
def test_a_model_answer_beside_a_reference_is_the_systems(one: One, reference: str) -> None:
    """Where the right answer has a column of its own, model_answer is what the system said."""
    record = one({"question": "How tall?", reference: ["330 m"], "model_answer": "It is 330 m."})
    assert record.response is not None
    assert (record.response.answer, record.example.references) == ("It is 330 m.", ("330 m",))


def test_a_mapped_reference_makes_a_model_answer_the_systems(one: One) -> None:
    """A reference that the user named counts as one."""
    columns = {"reference_answer": "truth"}
    record = one({"question": "How tall?", "truth": "330 m", "model_answer": "It is 330 m."}, columns=columns)
    assert record.response is not None
    assert (record.response.answer, record.example.references) == ("It is 330 m.", ("330 m",))


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        (
            {"model_answer": "a"},
            " If the system wrote model_answer: --map answer=model_answer; if it is the reference "
            "answer: --map reference_answer=model_answer.",
        ),
        (
            {"model_answer": "a", "answer": "b"},
            " If the system wrote model_answer: --map answer=model_answer --map reference_answer=answer; if it is the "
            "reference answer: --map reference_answer=model_answer.",
        ),
        (
            {"llm_answer": "a", "answer": "b"},
            " If the system wrote llm_answer: --map answer=llm_answer --map reference_answer=answer.",
        ),
        (
            {"llm_answer": "a", "answer": "b", "ground_truth": "c"},
            " If the system wrote llm_answer: --map answer=llm_answer.",
        ),
    ],
)
def test_both_readings_are_said(row: dict[str, Any], hint: str) -> None:
    """An answer that may be the system's or the right one is read as neither; each reading has its --map."""
    told: list[str] = []
    (record,) = read_source([{"question": "q", **row}], warn=told.append)
    assert [one.partition("its numbers.")[2] for one in told] == [hint]
    assert (record.response.answer if record.response is not None else None) == row.get("answer")
    maps = [part.split("=") for part in hint.replace(".", "").replace(";", "").split() if "=" in part]
    first = dict(maps[:2] if "answer" in row and len(maps) > 1 else maps[:1])
    (record,) = read_source([{"question": "q", **row}], columns=first, warn=told.append)
    assert record.response is not None
    assert record.response.answer == "a"


def test_a_question_comes_before_a_chat(file: File) -> None:
    """Beside a question, messages are not taken for one."""
    source = file("a.jsonl", {**ROW, "messages": [{"role": "user", "content": "Another?"}]})
    with pytest.warns(UserWarning, match="columns not read: messages"):
        (record,) = read_source(source)
    assert record.example.query == "How tall?"

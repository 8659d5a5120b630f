"""Files as tools and people have them that say in columns of their own what was retrieved and what is right."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.errors import DataError
from ragauge.core.example import Turn
from ragauge.core.response import Record
from ragauge.readers.source import read_joined, read_set, read_source

TEXTS = ["Apple is based in Cupertino.", "Tim Cook runs it."]


def _read(rows: Sequence[Mapping[str, Any]], **how: Any) -> tuple[list[Record], list[str]]:
    told: list[str] = []
    return list(read_source([dict(row) for row in rows], warn=told.append, **how)), told


def _passages(record: Record) -> list[tuple[str, str | None]]:
    assert record.response is not None
    return [(passage.doc_id, passage.text) for passage in record.response.passages or ()]


# ---- what is right, and what was retrieved ----


def test_a_golden_holds_no_system_output() -> None:
    """The context of deepeval's golden is what should be retrieved; beside named documents it adds no label."""
    named = {"input": "Where?", "context": TEXTS, "relevant": {"a": 1}}
    spanned = {"input": "Who?", "context": TEXTS, "gold_spans": [{"doc_id": "a", "start": 0, "end": 5}]}
    (one, two, three), told = _read([named, spanned, {"input": "Why?", "context": TEXTS[:1]}])
    assert [record.response for record in (one, two, three)] == [None] * 3
    assert [judged.doc_ids for judged in one.example.relevant or ()] == [("a",)]
    assert two.example.relevant is None
    assert len(three.example.relevant or ()) == 1
    assert told == []
    (answered,), _ = _read([{"input": "Where?", "context": TEXTS, "output": "Cupertino."}])
    assert [text for _, text in _passages(answered)] == TEXTS


@pytest.mark.parametrize(("form", "name"), [("ragas", "set.jsonl"), ("deepeval", "set.json")])
def test_spans_are_read_back_without_labels(form: Any, name: str, tmp_path: Path) -> None:
    """An exported example whose evidence is spans gets no labels from the texts that stand beside it."""
    example = rg.Example("q1", "Where?", gold_spans=(rg.Span("a", 0, 5),))
    rg.export_set(rg.EvalSet("s", (example,)), to=form, output=tmp_path / name, corpus={"a": TEXTS[0]})
    assert read_set(tmp_path / name).examples == (example,)


NAMED = [
    (["apple.pdf", "cook.pdf"], ["apple.pdf", "cook.pdf"], "their ids from documents"),
    (["annual report.pdf"], ["annual report.pdf"] * 2, "their ids from documents"),
]


@pytest.mark.parametrize(("names", "ids", "notice"), NAMED)
def test_names_beside_texts_are_ids(names: list[str], ids: list[str], notice: str) -> None:
    """Of two columns of passages the one with texts is read; names alone are their ids, whatever the order."""
    for row in (
        {"question": "Where?", "documents": names, "context": TEXTS, "answer": "Cupertino."},
        {"question": "Where?", "answer": "Cupertino.", "contexts": TEXTS, "documents": names},
        {"question": "Where?", "answer": "Cupertino.", "contexts": json.dumps(TEXTS), "documents": json.dumps(names)},
    ):
        (record,), told = _read([row])
        assert [(doc_id, text) for doc_id, text in _passages(record)] == list(zip(ids, TEXTS, strict=True))
        assert any(notice in line for line in told)


def test_names_that_fit_no_text_are_no_passages() -> None:
    """Three names of two texts are not read, and the notice says so; an unread context is never taken for gold."""
    (record,), told = _read([{"question": "Where?", "documents": ["a", "b-1", "c"], "context": TEXTS, "answer": "x"}])
    assert [text for _, text in _passages(record)] == TEXTS
    assert any("without ids" in line for line in told)
    _, told = _read([{"question": "Where?", "passages": ["x y"], "context": TEXTS, "answer": "x"}])
    assert any("context (did you mean passages=context?)" in line for line in told)


# ---- a set and its responses ----

SET = [{"query_id": "q1", "question": "Where?", "answer": "In Cupertino.", "documents": ["apple.pdf"]}]
ANSWERS = [{"query_id": "q1", "answer": "Cupertino.", "contexts": TEXTS, "facts": ["x"]}]


def _joined(set_rows: Any, answers: Any, **how: Any) -> tuple[Record, list[str]]:
    told: list[str] = []
    (record,) = read_joined(set_rows, answers, warn=told.append, **how)
    return record, told


def test_an_answer_of_the_set_is_the_reference() -> None:
    """Beside responses it is taken so with a notice, and what else is a response's in the set is named."""
    record, told = _joined(SET, ANSWERS)
    assert record.example.references == ("In Cupertino.",)
    assert record.response is not None
    assert record.response.answer == "Cupertino."
    assert any("answer is read as the reference answer" in line for line in told)
    assert any("responses are in the other file: documents" in line for line in told)


def test_a_mapped_column_is_looked_for_where_its_field_belongs() -> None:
    """Fields of an example are mapped in the set and those of a response in the responses, though names are alike."""
    record, told = _joined(SET, ANSWERS, columns={"reference_answer": "answer", "relevant": "documents"})
    assert record.example.references == ("In Cupertino.",)
    assert [judged.doc_ids for judged in record.example.relevant or ()] == [("apple.pdf",)]
    assert record.response is not None
    assert record.response.answer == "Cupertino."
    assert not any("reference answer" in line or "other file" in line for line in told)
    with pytest.raises(DataError, match="no entry has a column 'facts'"):
        _joined(SET, ANSWERS, columns={"reference_claims": "facts"})


def test_a_recorded_run_as_the_set_gives_no_reference() -> None:
    """Where passages stand beside the answer of the set, the answer is a system's."""
    record, told = _joined([{**ANSWERS[0], "question": "Where?"}], [{"query_id": "q1", "answer": "x"}])
    assert record.example.references == ()
    assert any("responses are in the other file: answer, contexts" in line for line in told)


# ---- shapes of other tools ----


def _promptfoo(**variables: str) -> dict[str, Any]:
    return {"vars": variables, "testIdx": 0, "response": {"output": "x"}, "promptId": "p", "provider": {"id": "a"}}


@pytest.mark.parametrize("variables", [{"city": "Rome"}, {"city": "Rome", "days": "3"}])
def test_variables_of_promptfoo_are_columns(variables: dict[str, str]) -> None:
    """Where none of them is a question the error lists them, and each can be mapped."""
    with pytest.raises(DataError, match=rf"found: {', '.join(variables)}"):
        _read([_promptfoo(**variables)])
    (record,), _ = _read([_promptfoo(**variables)], columns={"query": "city"})
    assert record.example.query == "Rome"


TURNS = [("user", "Where is Apple?"), ("agent", "In Cupertino."), ("user", "And who runs it?")]


@pytest.mark.parametrize(("role", "said"), [("speaker", "text"), ("role", "content"), ("from", "value")])
@pytest.mark.parametrize("column", ["input", "dialog"])
def test_turns_are_history_and_the_last_question(role: str, said: str, column: str) -> None:
    """A list of turns under any name and by any keys, read or mapped as the query."""
    turns = [{role: who, said: text} for who, text in TURNS]
    row = {column: turns, "targets": [{"speaker": "agent", "text": "Tim Cook."}], "predictions": [{"text": "Cook."}]}
    mapped = {"query": column, "answer": "predictions", "reference_answer": "targets"}
    (record,), _ = _read([row], columns=mapped)
    assert record.example.query == "And who runs it?"
    assert record.example.history == (Turn("user", "Where is Apple?"), Turn("assistant", "In Cupertino."))
    assert record.example.references == ("Tim Cook.",)
    assert record.response is not None
    assert record.response.answer == "Cook."


def test_a_joined_text_of_several_ids_can_be_read_either_way() -> None:
    """Five ids and one text are refused with both ways on: a field that is mapped to nothing is not read."""
    retrieved = {"retrieved_chunk_ids": ["a", "b"], "retrieved_context": "Text.\n\nText."}
    row = {"question": "Where?", "answer": "x", **retrieved}
    with pytest.raises(DataError, match="--map retrieved_ids= reads only the text"):
        _read([row])
    (texts,), _ = _read([row], columns={"retrieved_ids": ""})
    assert [text for _, text in _passages(texts)] == ["Text.\n\nText."]
    (ids,), _ = _read([row], columns={"passages": ""})
    assert [doc_id for doc_id, _ in _passages(ids)] == ["a", "b"]


def test_one_passage_a_row() -> None:
    """Rows of one id and question whose passages differ are one example, its answer in the first or in all rows."""
    first = {"query_id": "q1", "query": "Where?", "passage_id": "[1]", "passage": TEXTS[0], "answer": "Cupertino [2]."}
    for answers in (("Cupertino [2].", ""), ("Cupertino [2].",) * 2, ("", "Cupertino [2].")):
        rows = [
            {**first, "passage_id": f"[{n}]", "passage": text, "answer": answer}
            for n, text, answer in zip((1, 2), TEXTS, answers, strict=True)
        ]
        (record, other), told = _read([*rows, {**first, "query_id": "q2"}])
        assert record.response is not None
        assert record.response.answer == "Cupertino [2]."
        assert [text for _, text in _passages(record)] == TEXTS
        assert [text for _, text in _passages(other)] == TEXTS[:1]
        assert told[0].endswith("the passages of 1 question are spread over several entries and joined in order.")
    with pytest.raises(DataError, match="If each row holds one passage: --map passages=body"):
        _read([{"query_id": "q1", "query": "Where?", "body": text} for text in TEXTS])
    with pytest.raises(DataError, match="--map repeat=run"):
        _read([{"query_id": "q1", "query": "Where?", "answer": "x", "run": n} for n in (1, 2)])


NO_DATA = [
    ("a.jsonl", "<!DOCTYPE html><html>404</html>\n", "an HTML page"),
    ("a.csv", "\n<HTML><body>Log in</body></HTML>", "an HTML page"),
    ("a.json", "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n", "a Git LFS pointer"),
    ("a.csv", "%PDF-1.7\n", "a PDF"),
]


@pytest.mark.parametrize(("name", "content", "what"), NO_DATA)
def test_a_file_that_is_no_data_is_named(name: str, content: str, what: str, tmp_path: Path) -> None:
    """A page of an error, a Git LFS pointer and the like are refused as what they are."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=f"the file is {what}"):
        list(read_source(tmp_path / name))


def test_the_only_list_of_questions_is_read_whatever_its_name() -> None:
    """An object around one list of rows with questions is read; a list is never offered as the question."""
    held = {"n_questions": 1, "scores": {"x": 1}, "per_question": [{"question": "Where?", "answer": "x"}]}
    ((record,), _) = (list(read_source(held)), None)
    assert record.example.query == "Where?"
    with pytest.raises(DataError) as error:
        list(read_source({"n": 1, "per_question": [{"text": "Where?"}]}))
    assert "query=per_question" not in str(error.value)

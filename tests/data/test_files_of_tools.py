"""Files that other tools wrote: every row comes in whole, or the file is refused with what to do.

tests/golden/tools holds what deepeval, LangSmith, MLflow, promptfoo and ragas make of content.json; the folders name
their versions, tools/golden the scripts that had them write.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.errors import DataError
from ragauge.core.identity import derive_doc_id
from ragauge.core.response import Record
from ragauge.readers.source import read_source

FOLDER = Path(__file__).resolve().parents[1] / "golden/tools"
CONTENT: dict[str, dict[str, Any]] = {one["question"]: one for one in json.loads((FOLDER / "content.json").read_text())}
SETS = ("goldens", "testset", "dataset", "examples")  # of questions alone
FILES = sorted(path for path in FOLDER.glob("*/*") if not path.name.startswith("two-providers"))
ANSWERED = [path for path in FILES if path.stem not in SETS]
# an empty list of passages is left out, or an empty cell
SILENT = ("cases.csv", "latest_test_run.json", "results.csv", "chats.csv", "chats.jsonl")
FAILED = "Does the provider fail?"  # promptfoo's fourth test
GREETING = "Hello."  # the first turn of each of ragas' chats


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def read(path: Path) -> dict[str, Record]:
    """Question -> record, without promptfoo's failing test and the greetings that chats begin with."""
    found = {one.example.query: one for one in read_source(path, warn=lambda _: None)}
    return {query: one for query, one in found.items() if query not in (FAILED, GREETING)}


def passages(record: Record) -> list[str | None] | None:
    assert record.response is not None
    found = record.response.passages
    return None if found is None else [one.text for one in found]


def test_every_tool_is_here() -> None:
    """Five tools, each in the version that its folder names, in the forms that people have."""
    tools = {path.parent.name.partition("-")[0]: path.parent.name.partition("-")[2] for path in FILES}
    assert set(tools) == {"deepeval", "langsmith", "mlflow", "promptfoo", "ragas"}
    assert all(version[0].isdigit() for version in tools.values())
    assert {path.suffix for path in FILES} == {".csv", ".json", ".jsonl"}


@pytest.mark.parametrize("path", FILES, ids=named)
def test_every_question_with_its_reference(path: Path) -> None:
    """As many rows as were written, and each reference with its own question."""
    found = read(path)
    assert set(found) == set(CONTENT)
    assert {one: found[one].example.references for one in found} == {
        one: (CONTENT[one]["reference"],) for one in CONTENT
    }


@pytest.mark.parametrize("path", ANSWERED, ids=named)
def test_every_answer_with_its_passages(path: Path) -> None:
    """Answers as they were given, passages in order; none where none came, unless the file does not say so."""
    for question, record in read(path).items():
        wanted = CONTENT[question]
        assert record.response is not None
        assert record.response.answer == wanted["answer"]
        assert record.response.error is None
        texts = wanted["passages"]
        if path.parent.name.startswith("promptfoo"):  # a variable of a prompt is one text
            texts = ["\n\n".join(texts)] if texts else []
        if path.stem == "chats" or (not texts and path.name in SILENT):
            assert passages(record) is None
            assert record.response.missing["passages"]
        else:
            assert passages(record) == texts


@pytest.mark.parametrize("path", [path for path in FILES if path.stem in SETS], ids=named)
def test_a_set_has_no_answers(path: Path) -> None:
    """What a set holds is no response; the texts that should be found are labels."""
    for question, record in read(path).items():
        assert record.response is None
        if path.stem in ("goldens", "testset"):
            labelled = [one for group in record.example.relevant or () for one in group.doc_ids]
            assert labelled == [derive_doc_id(text) for text in CONTENT[question]["passages"]]


@pytest.mark.parametrize("path", ANSWERED, ids=named)
def test_every_row_is_evaluated(path: Path, tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """As many examples in the scorecard as rows in the file, or turns, and a score for every answer."""
    card = rg.evaluate(str(path), metrics="token_f1", judge=None, store=f"sqlite:///{tmp_path}/s.db")
    failing = path.parent.name.startswith("promptfoo")
    assert (card.card.n, card["token_f1"].scored) == (6 if path.stem == "chats" else 4 if failing else 3, 3)


@pytest.mark.parametrize("name", ["results.json", "results.jsonl", "results.csv"])
def test_promptfoo_tells_a_failed_assertion_from_a_failed_provider(name: str) -> None:
    """Both write an error; only the provider's is one. Time, tokens and cost are read where they stand."""
    (path,) = FOLDER.glob(f"promptfoo-*/{name}")
    responses = {one.example.query: one.response for one in read_source(path)}
    failed, good = responses.pop(FAILED), next(iter(responses.values()))
    assert failed is not None
    assert good is not None
    assert failed.error == ("the provider failed" if path.suffix == ".csv" else "time-out")
    assert failed.answer is None
    assert all(one is not None and one.error is None for one in responses.values())
    if path.suffix != ".csv":
        assert (good.tokens, good.cost) == ({"input": 12, "output": 5}, 0.001)
        assert good.latency_ms["total"] > 0


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_promptfoo_results_of_two_providers_are_refused(form: str) -> None:
    """Two answers to one question are not read as one system's: the error says how to write a file for each."""
    (path,) = FOLDER.glob(f"promptfoo-*/two-providers.{form}")
    with pytest.raises(DataError, match="Write a separate file for each: promptfoo eval --filter-providers NAME"):
        list(read_source(path))


def test_promptfoo_variables_by_other_names() -> None:
    """Passages may come back with the answer, and a variable may hold the question's own id."""
    row = {
        "testIdx": 3,
        "promptIdx": 0,
        "provider": "bot",
        "vars": {"prompt": "How long?", "id": "q7"},
        "response": {"output": {"answer": "A day.", "context": ["It lasts a day."]}},
    }
    (record,) = read_source([row])
    assert (record.example.query_id, record.example.query) == ("q7", "How long?")
    assert passages(record) == ["It lasts a day."]
    row["response"] = {"output": "A day.", "metadata": {"context": "It lasts a day."}}
    assert passages(next(iter(read_source([row])))) == ["It lasts a day."]


def test_mlflow_passages_of_the_outermost_retrievers() -> None:
    """A retriever within a retriever is not counted twice; two one after the other are joined in order."""

    def span(name: str, parent: str | None, kind: str, *texts: str) -> dict[str, Any]:
        outputs = json.dumps([{"page_content": text, "metadata": {"doc_uri": text}} for text in texts])
        return {
            "span_id": name,
            "parent_span_id": parent,
            "attributes": {"mlflow.spanType": json.dumps(kind), "mlflow.spanOutputs": outputs},
        }

    spans = [
        span("a", None, "CHAIN", "z"),
        span("b", "a", "RETRIEVER", "x", "y"),
        span("c", "b", "RETRIEVER", "x"),
        span("d", "a", "RETRIEVER", "w"),
    ]
    row = {"trace_id": "t", "request": {"question": "q?"}, "response": None, "spans": spans, "state": "ERROR"}
    (record,) = read_source([row])
    assert passages(record) == ["x", "y", "w"]
    assert record.response is not None
    assert record.response.error


def test_a_blank_context_is_no_passage() -> None:
    """A context written as an empty text is an empty retrieval; a null is not recorded."""
    empty, absent = read_source(
        [{"query": "a?", "answer": "a", "context": " "}, {"query": "b?", "answer": "b", "context": None}]
    )
    assert passages(empty) == []
    assert passages(absent) is None

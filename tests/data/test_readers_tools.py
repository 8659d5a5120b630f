"""Files of the tools that people come from are read as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import Relevant, Turn
from ragauge.core.identity import derive_doc_id
from ragauge.core.response import Record
from ragauge.readers.aliases import ALIASES, FIELDS, plan_columns, to_snake_case
from ragauge.readers.source import read_source

One = Callable[..., Record]
File = Callable[..., str]


def texts(record: Record) -> list[str | None]:
    """The texts of the passages."""
    assert record.response is not None
    assert record.response.passages is not None
    return [passage.text for passage in record.response.passages]


@pytest.mark.parametrize(
    "row",
    [
        {"question": "q", "contexts": ["c"], "answer": "a", "ground_truth": "r"},
        {"question": "q", "contexts": ["c"], "answer": "a", "ground_truths": ["r"]},
        {"user_input": "q", "retrieved_contexts": ["c"], "response": "a", "reference": "r"},
        {"input": "q", "retrieval_context": ["c"], "actual_output": "a", "expected_output": "r"},
        {"query": "q", "retrieved_context": [{"doc_id": None, "text": "c"}], "response": "a", "gt_answer": "r"},
        {"request": "q", "retrieved_context": [{"content": "c"}], "response": "a", "expected_response": "r"},
        {
            "inputs": {"question": "q"},
            "outputs": {"answer": "a", "documents": ["c"]},
            "reference_outputs": {"answer": "r"},
        },
        {
            "inputs": {"query": "q"},
            "outputs": {"response": "a", "contexts": ["c"]},
            "expectations": {"expected_response": "r"},
        },
        {
            "query": "q",
            "documents": [{"page_content": "c", "metadata": {}, "type": "Document"}],
            "output": "a",
            "expected_answer": "r",
        },
        {"question": "q", "context": "c", "answer": "a", "reference": "r"},
    ],
    ids=[
        "ragas old",
        "ragas older",
        "ragas",
        "deepeval",
        "RAGChecker",
        "MLflow 2",
        "LangSmith",
        "MLflow 3",
        "LangChain",
        "plain",
    ],
)
def test_every_tool_means_the_same(one: One, row: dict[str, Any]) -> None:
    """The question, what was retrieved, the answer and the reference arrive alike from every tool, unwarned."""
    record = one(row)
    assert record.response is not None
    assert (record.example.query, texts(record), record.response.answer, record.example.references) == (
        "q",
        ["c"],
        "a",
        ("r",),
    )


def test_ragas_ids(one: One) -> None:
    """Ids beside ragas' contexts name the passages, and reference ids are the labels."""
    record = one(
        {
            "user_input": "q",
            "retrieved_contexts": ["a", "b"],
            "retrieved_context_ids": [11, "x"],
            "reference_context_ids": [11],
            "reference_contexts": ["elsewhere"],
        },
        warn=lambda _: None,
    )
    assert record.response is not None
    assert record.response.passages is not None
    assert [passage.doc_id for passage in record.response.passages] == ["11", "x"]
    assert record.example.relevant == (Relevant(("11",)),)


def test_ragas_ids_alone(one: One) -> None:
    """Ids without texts are passages whose text is not recorded."""
    record = one({"user_input": "q", "retrieved_context_ids": ["x", "y"]})
    assert texts(record) == [None, None]


def test_deepeval_context_is_the_truth(one: One) -> None:
    """Beside deepeval's columns, context holds what should have been retrieved; seconds and cost are read."""
    record = one(
        {
            "input": "q",
            "actual_output": "a",
            "retrieval_context": ["c", "d"],
            "context": ["c"],
            "completion_time": 1.5,
            "token_cost": 0.01,
        }
    )
    assert record.response is not None
    assert record.example.relevant == (Relevant((derive_doc_id("c"),)),)
    assert (record.response.latency_ms, record.response.cost) == ({"total": 1500.0}, 0.01)


def test_ragchecker_file(file: File) -> None:
    """RAGChecker's {"results": [...]} is read entry by entry, claims of the reference included."""
    rows = [
        {
            "query_id": str(n),
            "query": f"q{n}",
            "gt_answer": "g",
            "response": "r",
            "retrieved_context": [{"doc_id": "d1", "text": "t"}],
            "gt_answer_claims": [["a", "is", "b"], ["c"]],
        }
        for n in range(2)
    ]
    for indent in (None, 1):
        name = file("checking.json", json.dumps({"results": rows, "metrics": {}}, indent=indent))
        first, second = read_source(name)
        assert first.example.reference_claims == ("a is b", "c")
        assert (second.example.query_id, second.line, texts(second)) == ("1", 2, ["t"])


def test_two_systems_in_one_file(file: File) -> None:
    """Of a file with the answers of two systems one has to be chosen, by side or by name; the data set is in the id."""
    rows = [
        {
            "instance_id": 0,
            "dataset": "fiqa",
            "query_id": "4",
            "query": "q",
            "gt_answer": "g",
            "overall_label": label,
            "model1": {"model_name": "bm25", "response": "a"},
            "model2": {"model_name": "e5", "response": "b"},
        }
        for label in (1, -1)
    ]
    name = file("human.json", json.dumps(rows))
    (one,) = read_source(name, system="model1")
    (two,) = read_source(name, system="e5")
    assert one.response is not None
    assert two.response is not None
    assert (one.response.answer, two.response.answer) == ("a", "b")
    assert one.response.missing == {"passages": "no field passages"}
    assert (one.example.query_id, one.example.segments) == ("fiqa:4", {"dataset": "fiqa"})
    with pytest.raises(UsageError, match=r"Choose one with system=: model1, model2 or a name such as bm25, e5\."):
        list(read_source(name))
    with pytest.raises(DataError, match=r"no row has an answer from the system 'gpt'\. Systems: bm25, e5\."):
        list(read_source(name, system="gpt"))


CHAT = {
    "messages": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "said"},
        {"role": "user", "content": "second"},
    ]
}


@pytest.mark.parametrize(
    "outputs",
    [
        "a",
        {"content": "a"},
        {"choices": [{"message": {"role": "assistant", "content": "a"}}]},
        {"messages": [{"role": "user", "content": "second"}, {"role": "assistant", "content": "a"}]},
        {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]},
    ],
)
def test_mlflow_payloads(one: One, outputs: Any) -> None:
    """Chat inputs give the last question and its history; outputs give their answer in each of their shapes."""
    record = one({"inputs": CHAT, "outputs": outputs, "expectations": {"expected_facts": ["f"], "guidelines": ["g"]}})
    assert record.response is not None
    assert (record.example.query, record.response.answer) == ("second", "a")
    assert [turn.text for turn in record.example.history] == ["be brief", "first", "said"]
    assert (record.example.reference_claims, record.example.criteria) == (("f",), ("g",))


def test_mlflow_requests_as_text(file: File) -> None:
    """In tables MLflow's payloads stand as JSON text, and a bracket at the start of an answer is no list."""
    header = "request_id,request,response,expected_retrieved_context\n"
    cells = '7,"{""messages"": [{""role"": ""user"", ""content"": ""q""}]}","[1] says so","[{""doc_uri"": ""u""}]"\n'
    (record,) = read_source(file("inference.csv", header + cells))
    assert record.response is not None
    assert (record.example.query_id, record.example.query, record.response.answer) == ("7", "q", "[1] says so")
    assert record.example.relevant == (Relevant(("u",)),)


def test_langsmith_export(file: File) -> None:
    """In an exported LangSmith data set, outputs are the reference and no response."""
    row = {"id": "u-1", "dataset_id": "d", "inputs": {"question": "q"}, "outputs": {"answer": "r"}}
    (record,) = read_source(file("a.jsonl", row), warn=lambda _: None)
    assert (record.example.query_id, record.example.references, record.response) == ("u-1", ("r",), None)


def test_history_without_tools(file: File) -> None:
    """Turns of tools are left out of the history, with a warning."""
    row = {"query": "q", "history": [{"role": "tool", "content": "42"}, {"role": "user", "content": "a"}]}
    warnings: list[str] = []
    (record,) = read_source(file("a.jsonl", row), warn=warnings.append)
    assert record.example.history == (Turn("user", "a"),)
    assert warnings == ["a.jsonl: 1 tool turns omitted from the history."]


def test_aliases_lead_to_fields() -> None:
    """Every alias is spelled as columns are compared and leads to a field that exists."""
    for alias in ALIASES:
        assert alias.ours in FIELDS
        assert alias.theirs == to_snake_case(alias.theirs)


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: f"{alias.tool}:{alias.theirs}")
def test_an_alias_is_read_alone(alias: Any) -> None:
    """Each tool's column, in the company that it needs, is read as its field."""
    beside = sorted(alias.beside - {alias.theirs})[:1]
    plan = plan_columns([alias.theirs, *beside], {})
    assert plan.columns[alias.ours] == alias.theirs

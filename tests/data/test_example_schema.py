"""The JSON Schema of one example a line says what the reader does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ragauge.core.errors import DataError
from ragauge.readers.aliases import FIELDS
from ragauge.readers.source import read_source

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src/ragauge/core/schema/example.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)

ACCEPTED: list[dict[str, Any]] = [
    {"query": "q"},
    {"query_id": None, "query": "q", "answer": None, "passages": None, "relevant": None, "history": None},
    {"query_id": 7, "query": "q", "answer": 42, "passages": "one text"},
    {"query": "q", "answer": "", "passages": [], "citations": [], "references": [], "tags": [], "relevant": []},
    {"query": "q", "passages": ["a", {"text": "b", "doc_id": None}, {"doc_id": 3}]},
    {"query": "q", "passages": {"doc_id": "d", "text": "t", "score": "0.5", "hop": 1, "span": [0, 3]}},
    {"query": "q", "passages": [{"doc_id": "d", "passage_id": "c", "span": {"start": 0, "end": 3}}]},
    {"query": "q", "candidates": [{"doc_id": "d", "updated_at": "2024-01-03", "superseded_by": "e"}]},
    {"query": "q", "retrieved_ids": ["a", 2]},
    {"query": "q", "relevant": {"d": "2", "e": None, "f": True}},
    {"query": "q", "relevant": ["d", 3, ["e", "f"], {"doc_ids": ["g"], "grade": 0}, {"doc_id": "h"}]},
    {"query": "q", "relevant_texts": ["a"]},
    {"query": "q", "gold_spans": [{"doc_id": "d", "start": 0, "end": "9"}]},
    {"query": "q", "answer": "four", "citations": ["d", {"doc_id": "d"}, {"passage_id": "c", "start": 0, "end": 4}]},
    {"query": "q", "history": [{"role": "user", "text": "a"}, {"type": "ai", "content": "b"}, ["human", "c"]]},
    {"query": "q", "history": [{"role": "assistant", "content": [{"type": "text", "text": "a"}, "b"]}]},
    {"query": "q", "reference_answer": 42, "references": ["a", 7], "reference_claims": [["a", "b"], "c"]},
    {"query": "q", "aspects": "one", "criteria": {"tone": ["polite"], "form": "list"}},
    {"query": "q", "answerable": "no", "segments": {"a": 1, "b": True, "c": None}, "cluster": 7},
    {"query": "q", "tags": "a, b"},
    {"query": "q", "tags": {"team": "search"}},
    {"query": "q", "latency_ms": 12, "tokens": "60", "cost": "0.1", "weight": "20", "repeat": "1"},
    {"query": "q", "latency_ms": {"total": "1e3", "rerank": None}, "tokens": {"input": 9.0}, "latency_s": 1},
    {"query": "q", "outcome": {"solved": True, "clicks": 2}, "missing": {"answer": "time"}, "error": False},
    {"query": "q", "outcome": "solved", "error": {"message": "time-out"}},
    {"query": "q", "something": {"of": ["my", "own"]}},
]

REFUSED: list[dict[str, Any]] = [
    {},
    {"answer": "x"},
    {"query": None},
    {"query": ""},
    {"query": 42},
    {"query": ["q"]},
    {"query": "q", "query_id": " "},
    {"query": "q", "query_id": True},
    {"query": "q", "query_id": 1.5},
    {"query": "q", "answer": ["x"]},
    {"query": "q", "answer": True},
    {"query": "q", "passages": 7},
    {"query": "q", "passages": [None]},
    {"query": "q", "passages": [["a"]]},
    {"query": "q", "passages": [{"score": 1}]},
    {"query": "q", "passages": [{"text": 1, "doc_id": "d"}]},
    {"query": "q", "passages": [{"text": "t", "score": "high"}]},
    {"query": "q", "passages": [{"text": "t", "score": True}]},
    {"query": "q", "passages": [{"text": "t", "hop": -1}]},
    {"query": "q", "passages": [{"doc_id": " "}]},
    {"query": "q", "candidates": 3},
    {"query": "q", "retrieved_ids": "a"},
    {"query": "q", "relevant": 1.5},
    {"query": "q", "relevant": {"d": "high"}},
    {"query": "q", "relevant": [[]]},
    {"query": "q", "relevant": [{"grade": 1}]},
    {"query": "q", "relevant": [True]},
    {"query": "q", "gold_spans": [{"start": 0, "end": 1}]},
    {"query": "q", "gold_spans": [{"doc_id": "d", "start": 0}]},
    {"query": "q", "gold_spans": {"doc_id": "d", "start": 0, "end": 1}},
    {"query": "q", "answer": "a", "citations": "d"},
    {"query": "q", "answer": "a", "citations": [{"start": 0, "end": 1}]},
    {"query": "q", "answer": "a", "citations": [{"doc_id": "d", "start": 0}]},
    {"query": "q", "history": "before"},
    {"query": "q", "history": [{"role": "boss", "text": "t"}]},
    {"query": "q", "history": [{"role": "user"}]},
    {"query": "q", "references": {"a": "b"}},
    {"query": "q", "references": [True]},
    {"query": "q", "reference_claims": True},
    {"query": "q", "criteria": {"tone": {"a": "b"}}},
    {"query": "q", "answerable": "maybe"},
    {"query": "q", "answerable": 2},
    {"query": "q", "segments": "type"},
    {"query": "q", "segments": {"a": [1]}},
    {"query": "q", "tags": 3},
    {"query": "q", "cluster": ["a"]},
    {"query": "q", "latency_ms": -1},
    {"query": "q", "latency_ms": {"total": "soon"}},
    {"query": "q", "tokens": 1.5},
    {"query": "q", "tokens": {"input": -2}},
    {"query": "q", "cost": "free"},
    {"query": "q", "outcome": {"a": [1]}},
    {"query": "q", "weight": 0},
    {"query": "q", "weight": "0"},
    {"query": "q", "repeat": -1},
    {"query": "q", "missing": ["answer"]},
    {"query": "q", "missing": {"answer": 1}},
    {"query": "q", "error": 500},
    {"query": "q", "error": {"code": 500}},
]


def shown(row: dict[str, Any]) -> str:
    return json.dumps(row)[:60]


def test_the_schema_is_one() -> None:
    """The schema is valid and describes every field that the reader knows, and no other."""
    Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["properties"]) == set(FIELDS)


@pytest.mark.parametrize("row", ACCEPTED, ids=shown)
def test_accepted_by_both(file: Callable[..., str], row: dict[str, Any]) -> None:
    """What the reader accepts, the schema accepts."""
    (record,) = read_source(file("a.jsonl", row), warn=lambda _: None)
    assert record.example.query == "q"
    assert [error.message for error in VALIDATOR.iter_errors(row)] == []


@pytest.mark.parametrize("row", REFUSED, ids=shown)
def test_refused_by_both(file: Callable[..., str], row: dict[str, Any]) -> None:
    """What the reader refuses, the schema refuses."""
    with pytest.raises(DataError, match=r"^a\.jsonl line 1: "):
        list(read_source(file("a.jsonl", row), warn=lambda _: None))
    assert list(VALIDATOR.iter_errors(row))


def test_the_demo_set_keeps_to_the_schema() -> None:
    """The set that is shipped is in the documented form."""
    lines = (ROOT / "src/ragauge/evaluation/demo/golden.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 100
    assert not [error.message for line in lines for error in VALIDATOR.iter_errors(json.loads(line))]

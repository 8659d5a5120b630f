"""Files of traces: what six exporters wrote of one pipeline, and laws that hold for whatever they write.

tests/golden/traces holds their files, tools/golden/record_traces.py the pipeline; each span names its version.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.spans import attributes, batch, span, written

import ragauge as rg
from ragauge.core.errors import DataError
from ragauge.core.response import REDACTED, Response
from ragauge.readers.source import read_source
from ragauge.readers.traces.dialects import DIALECTS
from ragauge.readers.traces.normalize import ExcludedTrace, build_rows
from ragauge.readers.traces.spans import TraceSpan, read_spans

FILES = sorted((Path(__file__).resolve().parents[1] / "golden/traces").glob("*.jsonl"))
EXPECTED = {
    "How long do refunds take?": (["refunds.md", "shipping.md"], "Refunds take 14 days."),
    "How long does the warranty last?": (["warranty.md", "refunds.md"], "The warranty lasts 3 years."),
    "Do you sell gift cards?": ([], "The documents do not say."),
}
each = pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)


def by_query(path: Path) -> dict[str, Response]:
    found = {one.example.query: one.response for one in read_source(path, warn=lambda _: None)}
    return {query: response for query, response in found.items() if response is not None}


def spans_in(path: Path) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """(resource, scope, span) of every span."""
    batches = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        (sent.get("resource", {}), {key: scope[key] for key in scope if key != "spans"}, one)
        for one_batch in batches
        for sent in one_batch["resourceSpans"]
        for scope in sent["scopeSpans"]
        for one in scope["spans"]
    ]


def all_spans(path: Path) -> list[TraceSpan]:
    """What is read of every span; all of a recorded file can be read."""
    read = [one for line in path.read_text().splitlines() for one in read_spans(json.loads(line))]
    spans = [one for one in read if isinstance(one, TraceSpan)]
    assert len(spans) == len(read)
    return spans


def apart(spans: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Each span in a batch of its own."""
    for resource, scope, one in spans:
        yield {"resourceSpans": [{"resource": resource, "scopeSpans": [{**scope, "spans": [one]}]}]}


def test_exporters_are_there() -> None:
    """Six exporters of four frameworks recorded the pipeline."""
    assert [path.stem for path in FILES] == [
        "haystack",
        "langfuse",
        "openinference-haystack",
        "openinference-langchain",
        "openinference-llamaindex",
        "openllmetry-langchain",
    ]


@each
def test_one_pipeline_one_response(file: Path) -> None:
    """Question, ids and texts of the passages, and answer are the same, whoever recorded the pipeline."""
    found = by_query(file)
    assert list(found) == list(EXPECTED)
    texts: dict[str, set[str | None]] = {}
    for query, response in found.items():
        doc_ids, answer = EXPECTED[query]
        assert response.passages is not None
        assert [passage.doc_id for passage in response.passages] == doc_ids
        llama_index_asks_no_model = not doc_ids and "llamaindex" in file.stem
        assert response.answer == ("Empty Response" if llama_index_asks_no_model else answer)
        assert response.error is None
        assert response.missing == {}
        assert 0 < response.latency_ms["retrieval"] < response.latency_ms["total"]
        for passage in response.passages:
            texts.setdefault(passage.doc_id, set()).add(passage.text)
    assert texts == {
        "refunds.md": {"Refunds are paid within 14 days of the request."},
        "shipping.md": {"Parcels to Norway take 5 working days."},
        "warranty.md": {"The warranty lasts 3 years for every device."},
    }


@pytest.mark.parametrize("name", ["openinference-langchain", "openllmetry-langchain"])
def test_tokens_are_counted_once(name: str) -> None:
    """Both instrumentations of LangChain give the tokens that the model reported."""
    file = next(path for path in FILES if path.stem == name)
    assert [dict(response.tokens) for response in by_query(file).values()] == [{"input": 40, "output": 5}] * 3


def test_indexing_is_no_answer() -> None:
    """LlamaIndex's splitting and embedding, which are traces of their own, are left out, and it is said."""
    said: list[str] = []
    file = next(path for path in FILES if "llamaindex" in path.stem)
    assert len(list(read_source(file, warn=said.append))) == len(EXPECTED)
    assert said == [f"{file}: 2 traces skipped (no answer of a RAG system): no retrieval in the trace (2)."]


@each
@pytest.mark.parametrize("seed", range(3))
def test_order_and_batches_are_irrelevant(file: Path, seed: int, tmp_path: Path) -> None:
    """Spans in any order and in any batches, some sent twice, give the same responses."""
    spans = spans_in(file)
    shuffled = random.Random(seed).sample(spans, len(spans)) + spans[:5]
    path = written(tmp_path / "traces.jsonl", *apart(shuffled))
    assert by_query(path) == by_query(file)


@each
def test_unknown_fields_change_nothing(file: Path, tmp_path: Path) -> None:
    """Fields and attributes that nobody knows are ignored."""
    changed = [
        (resource, scope, {**one, "shade": {"a": 1}, "attributes": [*one["attributes"], *attributes({"x.y": [1.5]})]})
        for resource, scope, one in spans_in(file)
    ]
    assert by_query(written(tmp_path / "traces.jsonl", *apart(changed))) == by_query(file)


@each
def test_one_bad_span_takes_no_other_with_it(file: Path, tmp_path: Path) -> None:
    """A span whose id is base64 is refused, with what was expected; all others are read."""
    said: list[str] = []
    bad = batch([{**span(1), "traceId": "W47/95gDgQPSabYzgT/GDA=="}])
    path = written(tmp_path / "traces.jsonl", *apart(spans_in(file)), bad)
    assert len(list(read_source(path, warn=said.append))) == len(EXPECTED)
    assert "1 span could not be read: traceId must be 32 hexadecimal digits" in said[0]


@each
def test_forms_of_files(file: Path, tmp_path: Path) -> None:
    """A packed file, and one object spread over lines, are read like one object a line."""
    packed, spread = tmp_path / "traces.jsonl.gz", tmp_path / "traces.json"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    spread.write_text(json.dumps(json.loads(file.read_text()), indent=2))
    assert by_query(packed) == by_query(spread) == by_query(file)


@each
def test_redacting_never_invents(file: Path) -> None:
    """Whichever texts are redacted, what is still read was recorded; nothing becomes empty or another text."""
    traces: dict[str, list[TraceSpan]] = {}
    for one in all_spans(file):
        traces.setdefault(one.trace_id, []).append(one)
    for spans in traces.values():
        whole = next(build_rows(spans))
        for part in ("input", "output", "content"):
            hidden = [
                replace(one, attributes={k: REDACTED if part in k else v for k, v in one.attributes.items()})
                for one in spans
            ]
            row = next(build_rows(hidden))
            if isinstance(row, ExcludedTrace) or isinstance(whole, ExcludedTrace):
                continue
            assert row["query"] == whole["query"]
            assert row["answer"] in (whole["answer"], REDACTED, None)
            assert (row["passages"] in (REDACTED, None)) or len(row["passages"]) == len(whole["passages"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "documents",
                    "query",
                    "args",
                    "kwargs",
                    "replies",
                    "text",
                    "content",
                    "id",
                    "metadata",
                    "messages",
                    "role",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
NAMES = sorted(
    {item["key"] for file in FILES for _, _, one in spans_in(file) for item in one["attributes"]}
    | {
        "gen_ai.retrieval.documents",
        "gen_ai.output.messages",
        "mlflow.spanType",
        "mlflow.spanOutputs",
        "reranker.query",
        "reranker.output_documents.0.document.content",
        "langfuse.observation.usage_details",
    }
)
KINDS = st.sampled_from(["RETRIEVER", "RERANKER", "LLM", "CHAIN", "retriever", "generation", "chat", "retrieval"])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(st.sampled_from(NAMES), KINDS | JSON | JSON.map(json.dumps), max_size=8), max_size=4))
def test_any_attributes_are_read_or_refused(tmp_path: Path, named: list[dict[str, Any]]) -> None:
    """Whatever the attributes hold, a file is read, or refused as one that holds no answer of a RAG."""
    spans = [span(n, max(0, n - 1), attributes) for n, attributes in enumerate(named, 1)]
    with suppress(DataError):
        assert list(read_source(written(tmp_path / "any.jsonl", batch(spans)), warn=lambda _: None))


def test_dialects_are_pure() -> None:
    """No dialect changes the span that it reads, and each is spoken by a recorded file or a test beside this one."""
    assert len(DIALECTS) == 6
    for file in FILES:
        for one in all_spans(file):
            before = json.dumps(dict(one.attributes))
            for read in DIALECTS.values():
                assert read(one) == read(one)
            assert json.dumps(dict(one.attributes)) == before


def test_evaluated_as_traffic(tmp_path: Path) -> None:
    """A file of traces is evaluated as it is, free metrics and all, with the service as a segment."""
    card = rg.evaluate(
        FILES[3],
        traffic=True,
        segments=["service"],
        metrics=["empty_result_rate"],
        judge="none",
        store=f"sqlite:///{tmp_path}/s.db",
    )
    assert card["empty_result_rate"].mean == pytest.approx(1 / 3)


def test_files_without_answers_are_refused(tmp_path: Path) -> None:
    """A file of logs, or of calls of models alone, says what is in it and what could be read."""
    with pytest.raises(DataError, match=r"no answer of a RAG system among 1 trace. 1 trace skipped .*retrieval"):
        list(read_source(written(tmp_path / "a.jsonl", batch([span(1, named={"gen_ai.operation.name": "chat"})]))))
    with pytest.raises(DataError, match="logs, not spans"):
        list(read_source(written(tmp_path / "b.jsonl", {"resourceSpans": [], "resourceLogs": []})))

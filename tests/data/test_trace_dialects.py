"""Traces by hand: dialects that no recorded file speaks, and shapes of traces that the pipeline does not have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.data.spans import TRACE, attributes, batch, read, span, value, written

from ragauge.core.errors import DataError
from ragauge.core.response import REDACTED, Response
from ragauge.readers.options import Options
from ragauge.readers.source import read_records, read_source
from ragauge.readers.traces.dialects import LANGFUSE
from ragauge.readers.traces.spans import TraceSpan

ASKED = "How long do refunds take?"
KIND = "openinference.span.kind"


def one(path: Path, *spans: dict[str, Any]) -> Response:
    (record,) = read(path, *spans)
    assert record.response is not None
    return record.response


def chain(n: int = 1, parent: int = 0, named: dict[str, Any] | None = None) -> dict[str, Any]:
    return span(n, parent, {KIND: "CHAIN", "input.value": ASKED, "output.value": "14 days.", **(named or {})})


def finder(n: int, parent: int, *doc_ids: str, kind: str = "RETRIEVER", head: str = "retrieval.documents.") -> Any:
    named: dict[str, Any] = {KIND: kind, "input.value": ASKED}
    for place, doc_id in enumerate(doc_ids):
        named |= {f"{head}{place}.document.id": doc_id, f"{head}{place}.document.content": f"Text of {doc_id}."}
    return span(n, parent, named)


def ids(response: Response, field: str = "passages") -> list[str]:
    return [passage.doc_id for passage in getattr(response, field)]


def test_genai_conventions(tmp_path: Path) -> None:
    """Query, documents, messages, tokens and model by the semantic conventions, as texts of JSON or structured."""
    found = [{"id": "a.md", "score": 0.5, "content": "A."}, {"id": "b.md"}]
    asked = [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Passages … " + ASKED}]},
    ]
    came = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "1"}, {"type": "text", "content": "14 days."}]}]
    for shape in (json.dumps, lambda value: value):
        response = one(
            tmp_path,
            span(1, 0, {"gen_ai.operation.name": "invoke_agent"}),
            span(
                2,
                1,
                {
                    "gen_ai.operation.name": "retrieval",
                    "gen_ai.retrieval.query.text": ASKED,
                    "gen_ai.retrieval.documents": shape(found),
                },
            ),
            span(
                3,
                1,
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": "m",
                    "gen_ai.usage.prompt_tokens": 9,
                    "gen_ai.usage.output_tokens": 3,
                    "gen_ai.input.messages": shape(asked),
                    "gen_ai.output.messages": shape(came),
                },
            ),
        )
        assert response.passages is not None
        assert [(p.doc_id, p.text, p.score) for p in response.passages] == [("a.md", "A.", 0.5), ("b.md", None, None)]
        assert (response.answer, dict(response.tokens)) == ("14 days.", {"input": 9, "output": 3})


def test_genai_events(tmp_path: Path) -> None:
    """Instrumentations of version 1.36 and before send the texts as events of the model's span."""
    response = one(
        tmp_path,
        span(1, 0, {KIND: "RETRIEVER", "output.value": "[]"}),
        span(
            2,
            0,
            {"gen_ai.operation.name": "chat"},
            events=[
                ("gen_ai.user.message", {"content": ASKED}),
                ("gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": "I do not know."})}),
            ],
        ),
    )
    assert (response.passages, response.answer) == ((), "I do not know.")


def test_openllmetry_results_are_events(tmp_path: Path) -> None:
    """A vector database's results stand in events; a distance is a score with its sign turned."""
    head = "db.query.result."
    response = one(
        tmp_path,
        span(
            1,
            0,
            {
                "traceloop.span.kind": "workflow",
                "traceloop.entity.input": json.dumps({"inputs": {"question": ASKED}}),
                "traceloop.entity.output": json.dumps({"outputs": {"answer": "14 days."}}),
            },
        ),
        span(
            2,
            1,
            {"db.system": "chroma"},
            events=[
                (
                    "db.query.result",
                    {
                        f"{head}id": "c1",
                        f"{head}document": "A.",
                        f"{head}distance": 0.25,
                        f"{head}metadata": json.dumps({"source": "a.md"}),
                    },
                )
            ],
        ),
    )
    assert response.passages is not None
    assert [(p.doc_id, p.text, p.score) for p in response.passages] == [("c1", "A.", -0.25)]
    assert response.answer == "14 days."


def test_mlflow(tmp_path: Path) -> None:
    """MLflow writes every value as JSON, texts with their quotes; a retriever's outputs are its documents."""

    def said(kind: str, sent: Any, came: Any) -> dict[str, str]:
        held = {"spanType": kind, "spanInputs": sent, "spanOutputs": came}
        return {f"mlflow.{name}": json.dumps(value) for name, value in held.items()}

    found = [{"page_content": "A.", "metadata": {"doc_uri": "a.md", "chunk_id": "a-1"}}]
    response = one(
        tmp_path,
        span(1, 0, said("CHAIN", {"question": ASKED}, "14 days.")),
        span(2, 1, said("RETRIEVER", ASKED, found)),
        span(
            3,
            1,
            {
                **said("CHAT_MODEL", {"messages": [{"role": "user", "content": "…"}]}, {"content": "Fourteen."}),
                "mlflow.chat.tokenUsage": json.dumps({"input_tokens": 7, "output_tokens": 2}),
            },
        ),
    )
    assert response.passages is not None
    assert [p.text for p in response.passages] == ["A."]
    assert (response.answer, dict(response.tokens)) == ("14 days.", {"input": 7, "output": 2})


def test_two_searches_are_hops(tmp_path: Path) -> None:
    """What several searches found comes in order of time, the first copy kept, each with the number of its hop."""
    response = one(tmp_path, chain(), finder(3, 1, "b.md", "c.md"), finder(2, 1, "a.md", "b.md"))
    assert response.passages is not None
    assert [(p.doc_id, p.hop) for p in response.passages] == [("a.md", 0), ("b.md", 0), ("c.md", 1)]
    assert response.candidates is None


def test_wrappers_do_not_count_twice(tmp_path: Path) -> None:
    """Of a retriever around a retriever the outer one counts, in passages and in time."""
    response = one(tmp_path, chain(), finder(2, 1, "a.md"), finder(3, 2, "a.md", "b.md"))
    assert ids(response) == ["a.md"]
    assert response.latency_ms == {"total": 98_000.0, "retrieval": 96_000.0}


def test_reranker(tmp_path: Path) -> None:
    """A reranker's output is what the model saw; its input, or what was found before it, are the candidates."""
    ranked = finder(3, 1, "b.md", kind="RERANKER", head="reranker.output_documents.")
    response = one(tmp_path, chain(), finder(2, 1, "a.md", "b.md"), ranked)
    assert (ids(response), ids(response, "candidates")) == (["b.md"], ["a.md", "b.md"])


def test_documents_are_sorted_by_number(tmp_path: Path) -> None:
    """The tenth document comes after the ninth."""
    names = [f"d{n}.md" for n in range(12)]
    assert ids(one(tmp_path, chain(), finder(2, 1, *names))) == names


def test_a_web_server_around_it(tmp_path: Path) -> None:
    """Spans that say nothing are looked through: search and model under a web server's span are one request."""
    spoken = span(3, 1, {KIND: "LLM", "llm.output_messages.0.message.content": "14 days."})
    response = one(tmp_path, span(1, 0, {"http.route": "/ask"}), finder(2, 1, "a.md"), spoken)
    assert (ids(response), response.answer, response.query_id) == (["a.md"], "14 days.", TRACE)
    assert response.latency_ms["total"] == 98_000.0


def test_turns_of_a_conversation(tmp_path: Path) -> None:
    """Several requests in one trace are a response each, of one cluster, named by trace and span."""
    first, second = chain(2, 1, {"session.id": "s"}), chain(4, 1, {"session.id": "s", "input.value": "And when?"})
    found = read(tmp_path, span(1), first, finder(3, 2, "a.md"), second, finder(5, 4, "b.md"))
    assert [record.example.query_id for record in found] == [f"{TRACE}:{n:016x}" for n in (2, 4)]
    assert {record.example.cluster for record in found} == {"s"}
    assert [ids(record.response) for record in found if record.response] == [["a.md"], ["b.md"]]


def test_missing_is_not_empty(tmp_path: Path) -> None:
    """Documents that are not recorded, redacted or cut off are missing with the reason, never an empty retrieval."""
    bare = one(tmp_path, chain(), span(2, 1, {KIND: "RETRIEVER"}))
    assert (bare.passages, bare.missing["passages"]) == (None, "the retriever's documents are not recorded")
    hidden = one(tmp_path, chain(), span(2, 1, {KIND: "RETRIEVER", "output.value": REDACTED}))
    assert (hidden.passages, hidden.missing["passages"]) == (None, "redacted")
    cut = one(tmp_path, chain(), {**finder(2, 1, "a.md"), "droppedAttributesCount": 3})
    assert (cut.passages, cut.missing["passages"]) == (None, "truncated")
    empty = one(tmp_path, chain(), span(2, 1, {KIND: "RETRIEVER", "output.value": '{"documents": []}'}))
    assert (empty.passages, dict(empty.missing)) == ((), {})
    silent = one(tmp_path, chain(named={"output.value": REDACTED}), finder(2, 1, "a.md"))
    assert (silent.answer, silent.missing["answer"]) == (None, "redacted")


def test_failed_request(tmp_path: Path) -> None:
    """A request that failed before it searched is kept, with what was thrown."""
    thrown = ("exception", {"exception.type": "TimeoutError", "exception.message": "index"})
    root = span(1, 0, {KIND: "CHAIN", "input.value": ASKED}, events=[thrown], status={"code": 2})
    failed = one(tmp_path, root)
    assert (failed.error, failed.passages, failed.answer) == ("TimeoutError: index", None, None)


@pytest.mark.parametrize(("state", "weight"), [("", 1.0), ("ot=th:c", 4.0), ("x=1,ot=rv:1;th:e", 8.0), ("x=th:8", 1.0)])
def test_sampled_by_the_exporter(state: str, weight: float, tmp_path: Path) -> None:
    """The probability in the tracestate (th: the share that is not kept) makes the weight: th:c is 12/16, so 4."""
    assert one(tmp_path, {**chain(), "traceState": state}, finder(2, 1, "a.md")).weight == weight


@pytest.mark.parametrize(
    ("threshold", "weight"),
    [("f" * 14, 1.0), ("ffffe", 524_288.0), ("ffffef39085f4a", pytest.approx(1e6, rel=1e-9)), ("ffffef3a", 1.0)],
)
def test_no_request_stands_for_more_than_a_million(threshold: str, weight: float, tmp_path: Path) -> None:
    """A threshold that keeps fewer than one in a million, down to one of 2^56, is not told, and the reason is kept."""
    told = one(tmp_path, {**chain(), "traceState": f"ot=th:{threshold}"}, finder(2, 1, "a.md"))
    assert told.weight == weight
    assert ("weight" in told.missing) == (weight == 1.0)
    assert told.missing.get("weight", threshold) in (
        threshold,
        f"th:{threshold} samples fewer than one request in 1,000,000; it counts as one",
    )


def test_own_calls_and_evaluations_are_no_traffic(tmp_path: Path) -> None:
    """Traces of evaluators are left out; the question that is redacted cannot be answered about."""
    judged = span(1, 0, {KIND: "EVALUATOR", "input.value": ASKED})
    with pytest.raises(DataError, match="an evaluation"):
        read(tmp_path, judged, finder(2, 1, "a.md"))
    hidden = {KIND: "CHAIN", "input.value": REDACTED}
    with pytest.raises(DataError, match="the question is redacted"):
        read(tmp_path, span(1, 0, hidden), span(2, 1, {KIND: "RETRIEVER", "input.value": REDACTED}))


@pytest.mark.parametrize(
    ("spans", "answer"),
    [
        ([chain(), finder(3, 77, "a.md")], "14 days."),  # of what was between them nothing came
        ([chain(), finder(3, 77, "a.md"), span(4, 78, {KIND: "LLM", "output.value": "Draft."})], "14 days."),
        ([span(1), chain(2, 77), finder(3, 2, "a.md")], "14 days."),  # the root says nothing
        ([chain(5), chain(1, 77), finder(3, 1, "a.md")], "14 days."),  # it began before the only root
        ([finder(3, 77, "a.md"), span(4, 77, {KIND: "LLM", "output.value": "Draft."})], "Draft."),  # no root came
    ],
)
def test_a_span_whose_parent_was_dropped_is_of_the_root_around_it(
    spans: list[dict[str, Any]], answer: str, tmp_path: Path
) -> None:
    """Question, passages and the root's answer stay together where a span between them never came."""
    response = one(tmp_path, *spans)
    assert (response.answer, ids(response)) == (answer, ["a.md"])


def test_a_span_without_its_parent_joins_no_root_where_two_may_be_its_own(tmp_path: Path) -> None:
    """Two turns that were open at the same time: whose search it was is not known, so neither has its passages."""
    found = read(tmp_path, chain(1), finder(5, 1, "a.md"), chain(2), finder(6, 2, "b.md"), finder(7, 77, "c.md"))
    assert [ids(record.response) for record in found if record.response] == [["a.md"], ["b.md"]]


DETAILS = "gen_ai.client.inference.operation.details"
PARTS = {
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]),
    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "14 days."}]}]),
}
OLDER = [
    ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps([{"role": "user", "content": ASKED}])}),
    ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([{"role": "assistant", "content": "14 days."}])}),
]
CHAT = {"gen_ai.operation.name": "chat"}
ALONE: list[list[dict[str, Any]]] = [
    [span(1, 0, {**CHAT, **PARTS})],
    [span(1, 0, CHAT, events=[(DETAILS, PARTS)])],
    [span(1, 0, CHAT, events=OLDER)],
    [
        span(
            1,
            0,
            {"gen_ai.request.model": "m"},
            events=[
                ("gen_ai.user.message", {"content": ASKED}),
                ("gen_ai.choice", {"index": 0, "message": json.dumps({"role": "assistant", "content": "14 days."})}),
            ],
        )
    ],
    [
        span(
            1,
            0,
            {
                "llm.request.type": "chat",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": ASKED,
                "gen_ai.completion.0.content": "14 days.",
            },
        )
    ],
    [
        span(
            1,
            0,
            {
                KIND: "LLM",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": ASKED,
                "llm.output_messages.0.message.content": "14 days.",
            },
        )
    ],
    [chain(1), span(2, 1, {KIND: "LLM", "output.value": "Draft."})],
]


@pytest.mark.parametrize("spans", ALONE)
def test_answers_without_retrieval_are_read_where_they_are_wanted(spans: list[dict[str, Any]], tmp_path: Path) -> None:
    """Calls of models alone, their texts in attributes or events: left out with the way to read them, or read."""
    path = written(tmp_path / "traces.jsonl", batch(spans))
    with pytest.raises(DataError, match=r"answered without retrieval .*--without-retrieval also reads"):
        list(read_source(path))
    (record,) = read_records(path, Options(without_retrieval=True))
    response = record.response
    assert response is not None
    assert (record.example.query, response.answer, response.passages) == (ASKED, "14 days.", None)
    assert response.missing == {"passages": "no retrieval in the trace"}


@pytest.mark.parametrize("result", ["Text of a.md.", json.dumps({"hits": [{"id": "a.md", "text": "Text of a.md."}]})])
@pytest.mark.parametrize(
    "tool",
    [{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}, {KIND: "TOOL", "tool.name": "search"}],
)
def test_what_tools_returned_is_what_an_answer_without_retrieval_rests_on(
    tool: dict[str, Any], result: str, tmp_path: Path
) -> None:
    """An agent that searches by a tool has the texts of the tool as passages, as in a chat."""
    name = "output.value" if KIND in tool else "gen_ai.tool.call.result"
    asks = {**CHAT, "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "tool_call"}]}])}
    spans = [
        span(1, 0, {"gen_ai.operation.name": "invoke_agent"}),
        span(2, 1, {**PARTS, **asks}),
        span(3, 1, {**tool, name: result}),
        span(4, 1, {**CHAT, **PARTS}),
    ]
    path = written(tmp_path / "traces.jsonl", batch(spans))
    (record,) = read_records(path, Options(without_retrieval=True))
    assert record.response is not None
    assert (record.example.query, record.response.answer, record.response.missing) == (ASKED, "14 days.", {})
    assert [passage.text for passage in record.response.passages or ()] == ["Text of a.md."]


def dumped(name: str, text: str) -> dict[str, Any]:
    """A message as LangChain dumps it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", name], "kwargs": {"content": text}}


@pytest.mark.parametrize("asked", [["user", ASKED], dumped("HumanMessage", ASKED), {"role": "user", "content": ASKED}])
def test_graphs_of_langchain_by_openllmetry(asked: Any, tmp_path: Path) -> None:
    """Messages stand as pairs or as dumped objects in what went in and came out; the last of the assistant answers."""
    messages = [dumped("HumanMessage", ASKED), dumped("AIMessage", ""), dumped("ToolMessage", "x")]
    came = {"outputs": {"messages": [*messages, dumped("AIMessageChunk", "14 Tage.")]}}
    named = {
        "traceloop.span.kind": "workflow",
        "traceloop.entity.output": json.dumps(came),
        "traceloop.entity.input": json.dumps({"inputs": {"messages": [asked]}}),
    }
    found = {
        "traceloop.span.kind": "task",
        "gen_ai.operation.name": "vector_db_retrieve",
        "gen_ai.task.output": json.dumps({"documents": ["Text of a.md."], "count": 1}),
    }
    (record,) = read(tmp_path, span(1, 0, named), span(2, 1, found))
    assert record.response is not None
    assert (record.example.query, record.response.answer) == (ASKED, "14 Tage.")
    assert [passage.text for passage in record.response.passages or ()] == ["Text of a.md."]


@pytest.mark.parametrize("sent", [ASKED, json.dumps({"query": ASKED}), json.dumps({"inputs": ASKED})])
def test_a_retriever_alone_that_says_its_question(sent: str, tmp_path: Path) -> None:
    """The input of a retrieval task is the question where nothing around it says any."""
    found = {
        "gen_ai.operation.name": "vector_db_retrieve",
        "traceloop.span.kind": "task",
        "gen_ai.task.input": sent,
        "gen_ai.task.output": json.dumps({"documents": [{"id": "a.md", "content": "x"}]}),
    }
    (record,) = read(tmp_path, span(1, 0, found))
    assert record.response is not None
    assert (record.example.query, ids(record.response)) == (ASKED, ["a.md"])


PAGE = {
    "object": "vector_store.search_results.page",
    "search_query": [ASKED],
    "has_more": False,
    "data": [{"file_id": "f1", "filename": "a.md", "score": 0.9, "content": [{"type": "text", "text": "Ab Tag 14."}]}],
}


@pytest.mark.parametrize(
    "named",
    [
        {"output.value": json.dumps(PAGE)},
        {"output.value": json.dumps({"matches": [{"id": "a.md", "text": "Ab Tag 14."}], "namespace": "docs"})},
        {"retrieval.documents": json.dumps([{"id": "a.md", "content": "Ab Tag 14.", "score": 0.9}])},
        {"retrieval.documents": [{"id": "a.md", "content": "Ab Tag 14."}]},
    ],
)
def test_documents_that_stand_in_one_value(named: dict[str, Any], tmp_path: Path) -> None:
    """What a service returned as it is, and all documents as one JSON, are documents like those apart."""
    response = one(tmp_path, chain(), span(2, 1, {KIND: "RETRIEVER", "input.value": ASKED, **named}))
    assert [(passage.doc_id, passage.text) for passage in response.passages or ()] == [("a.md", "Ab Tag 14.")]


def test_a_retriever_that_found_nothing_holds_up_no_other(tmp_path: Path) -> None:
    """An empty list is an empty retrieval, one that is not there is not known, and both leave other traces alone."""
    empty = [chain(), span(2, 1, {KIND: "RETRIEVER", "output.value": json.dumps({"documents": []})})]
    silent = [chain(), span(2, 1, {KIND: "RETRIEVER"})]
    spans = [{**each, "traceId": f"{n:032x}"} for n, turn in enumerate((empty, silent), 1) for each in turn]
    found = read(tmp_path, *spans, chain(), finder(2, 1, "a.md"))
    passages = [record.response.passages for record in found if record.response is not None]
    assert (passages[:2], [passage.doc_id for passage in passages[2] or ()]) == ([(), None], ["a.md"])


def test_indexing_is_no_answer_either_way(tmp_path: Path) -> None:
    """Embedding, prompts and evaluations stay left out, whatever is read besides."""
    spans = [span(1, 0, {KIND: "EMBEDDING", "input.value": "x"}), span(2, 0, {KIND: "EVALUATOR", "output.value": "1"})]
    apart = [{**one, "traceId": f"{n:032x}"} for n, one in enumerate(spans, 1)]
    path = written(tmp_path / "traces.jsonl", batch(apart))
    with pytest.raises(DataError, match="among 2 traces") as caught:
        list(read_records(path, Options(without_retrieval=True)))
    assert "--without-retrieval" not in str(caught.value)


def test_texts_that_came_as_log_records(tmp_path: Path) -> None:
    """A file with spans and log records, as the collector writes both: the records are events of their spans."""
    texts = {"gen_ai.user.message": {"content": ASKED}, "gen_ai.choice": {"message": {"content": "14 days."}}}
    logged = [
        {"traceId": TRACE, "spanId": f"{1:016x}", "body": value(body), "attributes": attributes({"event.name": name})}
        for name, body in texts.items()
    ]
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": logged}]}]}
    spans = batch([span(1, 0, CHAT), finder(2, 1, "a.md")])
    for n, batches in enumerate(([logs, spans], [spans, logs])):
        (record,) = read_source(written(tmp_path / f"{n}.jsonl", *batches))
        assert record.response is not None
        assert (record.example.query, record.response.answer) == (ASKED, "14 days.")
        assert ids(record.response) == ["a.md"]


def test_spans_in_a_circle_end(tmp_path: Path) -> None:
    """Spans that name each other as parents are read, each once."""
    response = one(tmp_path, finder(1, 2, "a.md"), chain(2, 1))
    assert ids(response) == ["a.md"]


def test_langfuse_metadata_is_plain() -> None:
    """A text that the SDK wrote as JSON is the same segment as one that it wrote as it is; other quotes stay."""
    said = {
        "langfuse.trace.metadata.tenant": '"acme"',
        "langfuse.observation.metadata.plan": "pro",
        "langfuse.trace.metadata.quote": '"',
        "langfuse.trace.metadata.said": '"a" and "b"',
    }
    step = LANGFUSE.read_span(TraceSpan("t", "s", attributes=said))
    assert step is not None
    assert step.metadata == {"tenant": "acme", "plan": "pro", "quote": '"', "said": '"a" and "b"'}

"""OpenLLMetry: the attributes of Traceloop's instrumentations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import (
    Documents,
    Kind,
    Step,
    answered,
    asked,
    decoded,
    document,
    documents,
    first,
    indexed,
    last_asked,
    speaks,
    under,
    word,
)

KINDS: Mapping[str, Kind] = {"workflow": "chain", "task": "chain", "agent": "chain", "tool": "tool"}
RESULTS = ("db.query.result", "db.search.result")
OWN = ("traceloop.", "llm.request.type", "gen_ai.prompt", "gen_ai.completion")


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    said = span.attributes
    results = [event.attributes for event in span.events if event.name in RESULTS]
    if not results and not speaks(said, *OWN):
        return None
    sent = first(said, "traceloop.entity.input", "gen_ai.task.input")
    came = first(said, "traceloop.entity.output", "gen_ai.task.output")
    kind = _kind(said, bool(results))
    written = [text for one in indexed(said, "gen_ai.completion.") if (text := word(one.get("content")))]
    prompts = [(one.get("role"), one.get("content")) for one in indexed(said, "gen_ai.prompt.")]
    found: Documents | None = tuple(_result(one) for one in results) if results else None
    if kind in ("retriever", "reranker") and found is None:
        found = documents(_inside(came, "outputs"))
    session = word(said.get("traceloop.association.properties.session_id"))
    return Step(
        kind=kind,
        query=last_asked(prompts) or asked(_inside(sent, "inputs")),
        documents=found,
        answer=None if found is not None else (written[-1] if written else answered(_inside(came, "outputs"))),
        session=session,
        metadata=under(said, "traceloop.association.properties."),
    )


def _kind(said: Mapping[str, Any], found: bool) -> Kind:
    if found or said.get("gen_ai.operation.name") == "vector_db_retrieve":
        return "retriever"
    if said.get("llm.request.type") == "rerank":
        return "reranker"
    if said.get("llm.request.type") == "embedding":
        return "embedding"
    if said.get("llm.request.type") in ("chat", "completion"):
        return "llm"
    return KINDS.get(str(said.get("traceloop.span.kind", "")), "")


def _inside(value: Any, key: str) -> Any:
    """What the instrumentation of LangChain puts under inputs or outputs; anything else as it is."""
    given = decoded(value)
    return given[key] if isinstance(given, Mapping) and key in given else given


def _result(event: Mapping[str, Any]) -> Any:
    """The document of one result of a vector database."""
    named = {key.removeprefix("db.query.result.").removeprefix("db.search.result."): event[key] for key in event}
    entity = decoded(named.get("entity"))
    whole = {**(entity if isinstance(entity, Mapping) else {}), **named}
    if "document" in whole:
        whole["text"] = whole.pop("document")
    return document(whole) or {"doc_id": str(named.get("id", ""))}

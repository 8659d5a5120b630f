"""OpenLLMetry: the attributes of Traceloop's instrumentations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import (
    Documents,
    Kind,
    Step,
    decode_json,
    find_answer,
    find_first_value,
    find_last_user_text,
    find_query,
    has_attribute_prefix,
    parse_document,
    parse_documents,
    parse_word,
    read_indexed_objects,
    select_by_prefix,
)

KINDS: Mapping[str, Kind] = {"workflow": "chain", "task": "chain", "agent": "chain", "tool": "tool"}
RESULT_EVENTS = ("db.query.result", "db.search.result")
DIALECT_PREFIXES = ("traceloop.", "llm.request.type", "gen_ai.prompt", "gen_ai.completion")


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    attributes = span.attributes
    results = [event.attributes for event in span.events if event.name in RESULT_EVENTS]
    if not results and not has_attribute_prefix(attributes, *DIALECT_PREFIXES):
        return None
    sent = find_first_value(attributes, "traceloop.entity.input", "gen_ai.task.input")
    came = find_first_value(attributes, "traceloop.entity.output", "gen_ai.task.output")
    kind = _detect_kind(attributes, bool(results))
    written = [
        text
        for entry in read_indexed_objects(attributes, "gen_ai.completion.")
        if (text := parse_word(entry.get("content")))
    ]
    prompts = [
        (entry.get("role"), entry.get("content")) for entry in read_indexed_objects(attributes, "gen_ai.prompt.")
    ]
    result_documents: Documents | None = tuple(_build_document(entry) for entry in results) if results else None
    if kind in ("retriever", "reranker") and result_documents is None:
        result_documents = parse_documents(_unwrap_value(came, "outputs"))
    session = parse_word(attributes.get("traceloop.association.properties.session_id"))
    return Step(
        kind=kind,
        query=find_last_user_text(prompts) or find_query(_unwrap_value(sent, "inputs")),
        documents=result_documents,
        answer=None
        if result_documents is not None
        else (written[-1] if written else find_answer(_unwrap_value(came, "outputs"))),
        session=session,
        metadata=select_by_prefix(attributes, "traceloop.association.properties."),
    )


def _detect_kind(attributes: Mapping[str, Any], has_results: bool) -> Kind:
    if has_results or attributes.get("gen_ai.operation.name") == "vector_db_retrieve":
        return "retriever"
    if attributes.get("llm.request.type") == "rerank":
        return "reranker"
    if attributes.get("llm.request.type") == "embedding":
        return "embedding"
    if attributes.get("llm.request.type") in ("chat", "completion"):
        return "llm"
    return KINDS.get(str(attributes.get("traceloop.span.kind", "")), "")


def _unwrap_value(value: Any, key: str) -> Any:
    """What the instrumentation of LangChain puts under inputs or outputs; anything else as it is."""
    decoded_value = decode_json(value)
    return decoded_value[key] if isinstance(decoded_value, Mapping) and key in decoded_value else decoded_value


def _build_document(event: Mapping[str, Any]) -> Any:
    """The document of one result of a vector database."""
    fields = {key.removeprefix("db.query.result.").removeprefix("db.search.result."): event[key] for key in event}
    entity = decode_json(fields.get("entity"))
    merged_fields = {**(entity if isinstance(entity, Mapping) else {}), **fields}
    if "document" in merged_fields:
        merged_fields["text"] = merged_fields.pop("document")
    return parse_document(merged_fields) or {"doc_id": str(fields.get("id", ""))}

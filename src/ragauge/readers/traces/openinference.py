"""OpenInference: the attributes of Arize's instrumentations and of Phoenix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.core.response import REDACTED
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
    parse_document,
    parse_documents,
    parse_number,
    parse_token_counts,
    parse_tool_documents,
    parse_word,
    read_indexed_objects,
    select_scalars,
)

KINDS: Mapping[str, Kind] = {
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "LLM": "llm",
    "EMBEDDING": "embedding",
    "EVALUATOR": "evaluator",
    "PROMPT": "prompt",
    "TOOL": "tool",
    "CHAIN": "chain",
    "AGENT": "chain",
}


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    attributes = span.attributes
    if "openinference.span.kind" not in attributes:
        return None
    kind = KINDS.get(str(attributes["openinference.span.kind"]).upper(), "chain")
    if kind == "llm" and "PromptBuilder" in span.name:  # Haystack's, whose output is a prompt
        kind = "prompt"
    result_documents, input_documents = None, None
    if kind == "retriever":
        result_documents = _read_retrieved(attributes)
    elif kind == "tool":
        result_documents = parse_tool_documents(attributes.get("output.value"))
    elif kind == "reranker":
        result_documents, input_documents = (
            _read_documents(attributes, "reranker.output_documents."),
            _read_documents(attributes, "reranker.input_documents."),
        )
    messages = [
        (message.get("message.role"), _get_content(message))
        for message in read_indexed_objects(attributes, "llm.input_messages.")
    ]
    return Step(
        kind=kind,
        query=parse_word(attributes.get("reranker.query"))
        or find_last_user_text(messages)
        or find_query(attributes.get("input.value")),
        documents=result_documents,
        before=input_documents,
        answer=None if kind in ("retriever", "reranker") else _find_written_text(attributes),
        model=parse_word(find_first_value(attributes, "llm.model_name")),
        tokens=parse_token_counts(
            input=attributes.get("llm.token_count.prompt"),
            output=attributes.get("llm.token_count.completion"),
            total=attributes.get("llm.token_count.total"),
        ),
        cost=parse_number(attributes.get("llm.cost.total")),
        session=parse_word(attributes.get("session.id")),
        metadata=select_scalars(attributes.get("metadata")),
    )


def _find_written_text(attributes: Mapping[str, Any]) -> str | None:
    texts = [_get_content(message) for message in read_indexed_objects(attributes, "llm.output_messages.")]
    non_blank = [text for text in texts if text]
    return non_blank[-1] if non_blank else find_answer(attributes.get("output.value"))


def _get_content(message: Mapping[str, Any]) -> str | None:
    """The text of a message, whole or in parts."""
    content = message.get("message.content")
    if isinstance(content, str):
        return content
    parts = [part.get("message_content.text") for part in read_indexed_objects(message, "message.contents.")]
    return "\n".join(part for part in parts if isinstance(part, str)) or None


def _read_documents(attributes: Mapping[str, Any], head: str) -> Documents | None:
    """Documents that stand an attribute a value; None where there is none."""
    rows = [
        {key.removeprefix("document."): value for key, value in entry.items()}
        for entry in read_indexed_objects(attributes, head)
    ]
    parsed = [parse_document(row) for row in rows]
    return tuple(entry for entry in parsed if entry is not None) if rows else None


def _read_retrieved(attributes: Mapping[str, Any]) -> Documents | None:
    """What a retriever found: the indexed documents, with the ids that LangChain's have in the output alone."""
    indexed_documents = _read_documents(attributes, "retrieval.documents.")
    output_documents = parse_documents(attributes.get("output.value"))
    if indexed_documents is None or indexed_documents == REDACTED:
        return _read_unindexed_documents(attributes) if output_documents is None else output_documents
    if output_documents is None or output_documents == REDACTED or len(output_documents) != len(indexed_documents):
        return indexed_documents
    return tuple(
        {**other, **entry} if isinstance(entry, Mapping) and isinstance(other, Mapping) else entry
        for entry, other in zip(indexed_documents, output_documents, strict=True)
    )


def _read_unindexed_documents(attributes: Mapping[str, Any]) -> Documents | None:
    """An empty list in the output is an empty retrieval; some write all documents as one JSON, which is read too."""
    return (
        ()
        if decode_json(attributes.get("output.value")) == []
        else parse_documents(attributes.get("retrieval.documents"))
    )

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
    answered,
    asked,
    counts,
    decoded,
    document,
    documents,
    first,
    indexed,
    last_asked,
    named,
    number,
    outputs_of_tool,
    word,
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
    said = span.attributes
    if "openinference.span.kind" not in said:
        return None
    kind = KINDS.get(str(said["openinference.span.kind"]).upper(), "chain")
    if kind == "llm" and "PromptBuilder" in span.name:  # Haystack's, whose output is a prompt
        kind = "prompt"
    found, before = None, None
    if kind == "retriever":
        found = _retrieved(said)
    elif kind == "tool":
        found = outputs_of_tool(said.get("output.value"))
    elif kind == "reranker":
        found, before = _listed(said, "reranker.output_documents."), _listed(said, "reranker.input_documents.")
    messages = [(one.get("message.role"), _content(one)) for one in indexed(said, "llm.input_messages.")]
    return Step(
        kind=kind,
        query=word(said.get("reranker.query")) or last_asked(messages) or asked(said.get("input.value")),
        documents=found,
        before=before,
        answer=None if kind in ("retriever", "reranker") else _written(said),
        model=word(first(said, "llm.model_name")),
        tokens=counts(
            input=said.get("llm.token_count.prompt"),
            output=said.get("llm.token_count.completion"),
            total=said.get("llm.token_count.total"),
        ),
        cost=number(said.get("llm.cost.total")),
        session=word(said.get("session.id")),
        metadata=named(said.get("metadata")),
    )


def _written(said: Mapping[str, Any]) -> str | None:
    texts = [_content(one) for one in indexed(said, "llm.output_messages.")]
    seen = [text for text in texts if text]
    return seen[-1] if seen else answered(said.get("output.value"))


def _content(message: Mapping[str, Any]) -> str | None:
    """The text of a message, whole or in parts."""
    whole = message.get("message.content")
    if isinstance(whole, str):
        return whole
    parts = [part.get("message_content.text") for part in indexed(message, "message.contents.")]
    return "\n".join(part for part in parts if isinstance(part, str)) or None


def _listed(said: Mapping[str, Any], head: str) -> Documents | None:
    """Documents that stand an attribute a value; None where there is none."""
    rows = [{key.removeprefix("document."): value for key, value in one.items()} for one in indexed(said, head)]
    found = [document(row) for row in rows]
    return tuple(one for one in found if one is not None) if rows else None


def _retrieved(said: Mapping[str, Any]) -> Documents | None:
    """What a retriever found: the indexed documents, with the ids that LangChain's have in the output alone."""
    found = _listed(said, "retrieval.documents.")
    whole = documents(said.get("output.value"))
    if found is None or found == REDACTED:
        return _nothing(said) if whole is None else whole
    if whole is None or whole == REDACTED or len(whole) != len(found):
        return found
    return tuple(
        {**other, **one} if isinstance(one, Mapping) and isinstance(other, Mapping) else one
        for one, other in zip(found, whole, strict=True)
    )


def _nothing(said: Mapping[str, Any]) -> Documents | None:
    """An empty list in the output is an empty retrieval; some write all documents as one JSON, which is read too."""
    return () if decoded(said.get("output.value")) == [] else documents(said.get("retrieval.documents"))

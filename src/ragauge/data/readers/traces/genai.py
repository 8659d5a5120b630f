"""OpenTelemetry's semantic conventions for generative AI, in their old and new spellings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragauge.data.readers.traces.spans import TraceSpan
from ragauge.data.readers.traces.step import (
    Kind,
    Step,
    answered,
    counts,
    decoded,
    documents,
    first,
    last_asked,
    number,
    speaks,
    word,
)
from ragauge.data.response import REDACTED

KINDS: Mapping[str, Kind] = {
    "retrieval": "retriever", "rerank": "reranker", "chat": "llm", "generate_content": "llm", "text_completion": "llm",
    "embeddings": "embedding", "execute_tool": "tool", "invoke_agent": "chain", "create_agent": "chain",
    "invoke_workflow": "chain",
}  # fmt: skip
ASKED_EVENT, CHOICE_EVENT = "gen_ai.user.message", "gen_ai.choice"


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    said = span.attributes
    if not speaks(said, "gen_ai."):
        return None
    kind = KINDS.get(str(said.get("gen_ai.operation.name", "")), "")
    sent, came = _messages(said.get("gen_ai.input.messages")), _messages(said.get("gen_ai.output.messages"))
    sent += [("user", text) for text in _told(span, ASKED_EVENT)]
    came += [("assistant", text) for text in _told(span, CHOICE_EVENT)]
    written = [text for _, text in came if text]
    return Step(
        kind=kind,
        query=word(said.get("gen_ai.retrieval.query.text")) or last_asked(sent),
        documents=documents(said.get("gen_ai.retrieval.documents")),
        answer=written[-1] if written else None,
        model=word(first(said, "gen_ai.response.model", "gen_ai.request.model")),
        tokens=counts(
            input=first(said, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            output=first(said, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        ),
        cost=number(said.get("gen_ai.usage.cost")),
        session=word(said.get("gen_ai.conversation.id")),
    )


def _messages(value: Any) -> list[tuple[Any, str | None]]:
    """(role, text) of messages in parts; those that only call tools have no text."""
    if value == REDACTED:
        return [("user", REDACTED), ("assistant", REDACTED)]
    given = decoded(value)
    listed = given if isinstance(given, list) else []
    return [(one.get("role"), _text(one)) for one in listed if isinstance(one, Mapping)]


def _text(message: Mapping[str, Any]) -> str | None:
    parts = message.get("parts")
    if not isinstance(parts, list):
        content = message.get("content")
        return content if isinstance(content, str) else None
    texts = [one.get("content") for one in parts if isinstance(one, Mapping) and one.get("type", "text") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def _told(span: TraceSpan, name: str) -> Iterator[str]:
    """Texts of events, as instrumentations sent them up to version 1.36 of the conventions."""
    for event in span.events:
        if event.name == name:
            told = first(event.attributes, "content", "message", "gen_ai.event.content", "body")
            text = answered(told)
            if text:
                yield text

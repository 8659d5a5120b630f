"""OpenTelemetry's semantic conventions for generative AI, in their old and new spellings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragauge.core.response import REDACTED
from ragauge.readers.payloads import content_of
from ragauge.readers.traces.spans import Event, TraceSpan
from ragauge.readers.traces.step import (
    Kind,
    Step,
    answered,
    counts,
    decoded,
    documents,
    first,
    last_asked,
    number,
    outputs_of_tool,
    speaks,
    word,
)

KINDS: Mapping[str, Kind] = {
    "retrieval": "retriever",
    "rerank": "reranker",
    "chat": "llm",
    "generate_content": "llm",
    "text_completion": "llm",
    "embeddings": "embedding",
    "execute_tool": "tool",
    "invoke_agent": "chain",
    "create_agent": "chain",
    "invoke_workflow": "chain",
}
# attributes of spans, or of the events that hold what a model was sent and what it wrote, the newest first
SENT, WRITTEN = ("gen_ai.input.messages", "gen_ai.prompt"), ("gen_ai.output.messages", "gen_ai.completion")
HOLDING = frozenset({"gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion"})
ASKED_EVENT, CHOICE_EVENT = "gen_ai.user.message", "gen_ai.choice"  # of one message each


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    said = span.attributes
    events = [event for event in span.events if event.name in HOLDING or event.name in (ASKED_EVENT, CHOICE_EVENT)]
    if not events and not speaks(said, "gen_ai."):
        return None
    holding = [said, *(_fields(event) for event in events if event.name in HOLDING)]
    sent = [message for held in holding for name in SENT for message in _messages(held.get(name), "user")]
    came = [message for held in holding for name in WRITTEN for message in _messages(held.get(name), "assistant")]
    sent += [("user", text) for text in _told(events, ASKED_EVENT)]
    came += [("assistant", text) for text in _told(events, CHOICE_EVENT)]
    written = [text for _, text in came if text]
    kind = KINDS.get(str(said.get("gen_ai.operation.name", "")), "")
    return Step(
        kind=kind or ("llm" if events else ""),
        query=word(said.get("gen_ai.retrieval.query.text")) or last_asked(sent),
        documents=(
            outputs_of_tool(said.get("gen_ai.tool.call.result"))
            if kind == "tool"
            else documents(said.get("gen_ai.retrieval.documents"))
        ),
        answer=written[-1] if written else None,
        model=word(first(said, "gen_ai.response.model", "gen_ai.request.model")),
        tokens=counts(
            input=first(said, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            output=first(said, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        ),
        cost=number(said.get("gen_ai.usage.cost")),
        session=word(said.get("gen_ai.conversation.id")),
    )


def _fields(event: Event) -> Mapping[str, Any]:
    """What an event holds by name: in its attributes, and in its body where it came as a log record."""
    body = decoded(event.attributes.get("body"))
    return {**event.attributes, **(body if isinstance(body, Mapping) else {})}


def _messages(value: Any, role: str) -> list[tuple[Any, str | None]]:
    """(role, text) of messages; those that only call tools have no text. A text alone is of the role that is given."""
    if value == REDACTED:
        return [(role, REDACTED)]
    given = decoded(value)
    if isinstance(given, str) and given.strip():
        return [(role, given)]
    listed = given if isinstance(given, list) else [given]
    return [(one.get("role", role), _text(one)) for one in listed if isinstance(one, Mapping)]


def _text(message: Mapping[str, Any]) -> str | None:
    parts = message.get("parts")
    if not isinstance(parts, list):
        return content_of(message)
    texts = [one.get("content") for one in parts if isinstance(one, Mapping) and one.get("type", "text") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def _told(events: Sequence[Event], name: str) -> Iterator[str]:
    """Texts of events, as instrumentations sent them up to version 1.36 of the conventions."""
    for event in events:
        if event.name == name:
            told = first(event.attributes, "content", "message", "gen_ai.event.content", "body")
            text = answered(told)
            if text:
                yield text

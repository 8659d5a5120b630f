"""OpenTelemetry's semantic conventions for generative AI, in their old and new spellings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragauge.core.response import REDACTED
from ragauge.readers.messages import get_content
from ragauge.readers.traces.spans import Event, TraceSpan
from ragauge.readers.traces.step import (
    Kind,
    Step,
    decode_json,
    find_answer,
    find_first_value,
    find_last_user_text,
    has_attribute_prefix,
    parse_documents,
    parse_number,
    parse_token_counts,
    parse_tool_documents,
    parse_word,
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
INPUT_ATTRIBUTES, OUTPUT_ATTRIBUTES = (
    ("gen_ai.input.messages", "gen_ai.prompt"),
    ("gen_ai.output.messages", "gen_ai.completion"),
)
CONTENT_EVENTS = frozenset(
    {"gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion"}
)
USER_EVENT, CHOICE_EVENT = "gen_ai.user.message", "gen_ai.choice"  # of one message each


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    attributes = span.attributes
    events = [
        event for event in span.events if event.name in CONTENT_EVENTS or event.name in (USER_EVENT, CHOICE_EVENT)
    ]
    if not events and not has_attribute_prefix(attributes, "gen_ai."):
        return None
    holding = [attributes, *(_merge_event_fields(event) for event in events if event.name in CONTENT_EVENTS)]
    sent = [
        message
        for holder in holding
        for name in INPUT_ATTRIBUTES
        for message in _parse_messages(holder.get(name), "user")
    ]
    came = [
        message
        for holder in holding
        for name in OUTPUT_ATTRIBUTES
        for message in _parse_messages(holder.get(name), "assistant")
    ]
    sent += [("user", text) for text in _list_event_texts(events, USER_EVENT)]
    came += [("assistant", text) for text in _list_event_texts(events, CHOICE_EVENT)]
    written = [text for _, text in came if text]
    kind = KINDS.get(str(attributes.get("gen_ai.operation.name", "")), "")
    return Step(
        kind=kind or ("llm" if events else ""),
        query=parse_word(attributes.get("gen_ai.retrieval.query.text")) or find_last_user_text(sent),
        documents=(
            parse_tool_documents(attributes.get("gen_ai.tool.call.result"))
            if kind == "tool"
            else parse_documents(attributes.get("gen_ai.retrieval.documents"))
        ),
        answer=written[-1] if written else None,
        model=parse_word(find_first_value(attributes, "gen_ai.response.model", "gen_ai.request.model")),
        tokens=parse_token_counts(
            input=find_first_value(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            output=find_first_value(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        ),
        cost=parse_number(attributes.get("gen_ai.usage.cost")),
        session=parse_word(attributes.get("gen_ai.conversation.id")),
    )


def _merge_event_fields(event: Event) -> Mapping[str, Any]:
    """What an event holds by name: in its attributes, and in its body where it came as a log record."""
    body = decode_json(event.attributes.get("body"))
    return {**event.attributes, **(body if isinstance(body, Mapping) else {})}


def _parse_messages(value: Any, role: str) -> list[tuple[Any, str | None]]:
    """(role, text) of messages; those that only call tools have no text. A text alone is of the role that is given."""
    if value == REDACTED:
        return [(role, REDACTED)]
    decoded_value = decode_json(value)
    if isinstance(decoded_value, str) and decoded_value.strip():
        return [(role, decoded_value)]
    items = decoded_value if isinstance(decoded_value, list) else [decoded_value]
    return [(message.get("role", role), _get_text(message)) for message in items if isinstance(message, Mapping)]


def _get_text(message: Mapping[str, Any]) -> str | None:
    parts = message.get("parts")
    if not isinstance(parts, list):
        return get_content(message)
    texts = [part.get("content") for part in parts if isinstance(part, Mapping) and part.get("type", "text") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def _list_event_texts(events: Sequence[Event], name: str) -> Iterator[str]:
    """Texts of events, as instrumentations sent them up to version 1.36 of the conventions."""
    for event in events:
        if event.name == name:
            content = find_first_value(event.attributes, "content", "message", "gen_ai.event.content", "body")
            text = find_answer(content)
            if text:
                yield text

"""Langfuse: the attributes of its SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import (
    Kind,
    Step,
    decode_json,
    find_answer,
    find_first_value,
    find_query,
    has_attribute_prefix,
    parse_documents,
    parse_number,
    parse_token_counts,
    parse_word,
    select_by_prefix,
)

KINDS: Mapping[str, Kind] = {
    "retriever": "retriever",
    "generation": "llm",
    "embedding": "embedding",
    "evaluator": "evaluator",
    "tool": "tool",
    "span": "chain",
    "chain": "chain",
    "agent": "chain",
    "guardrail": "chain",
}


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    attributes = span.attributes
    if not has_attribute_prefix(attributes, "langfuse."):
        return None
    kind = KINDS.get(str(attributes.get("langfuse.observation.type", "")).lower(), "")
    sent = find_first_value(attributes, "langfuse.trace.input", "langfuse.observation.input")
    came = find_first_value(attributes, "langfuse.trace.output", "langfuse.observation.output")
    if kind != "chain":  # of the whole trace is what its first span says
        sent, came = attributes.get("langfuse.observation.input"), attributes.get("langfuse.observation.output")
    usage = decode_json(attributes.get("langfuse.observation.usage_details"))
    cost = decode_json(attributes.get("langfuse.observation.cost_details"))
    return Step(
        kind=kind,
        query=_find_question(sent),
        documents=parse_documents(came) if kind == "retriever" else None,
        answer=None if kind == "retriever" else find_answer(came),
        model=parse_word(attributes.get("langfuse.observation.model.name")),
        tokens=parse_token_counts(**{name: usage.get(name) for name in ("input", "output", "total")})
        if _is_object(usage)
        else {},
        cost=parse_number(cost.get("total")) if _is_object(cost) else None,
        session=parse_word(find_first_value(attributes, "langfuse.session.id", "session.id")),
        metadata={
            name: _decode_quoted(value)
            for name, value in select_by_prefix(
                attributes, "langfuse.trace.metadata.", "langfuse.observation.metadata."
            ).items()
        },
    )


def _decode_quoted(value: Any) -> Any:
    """A value of the metadata; the SDK writes some of its texts as JSON, in quotes."""
    if not isinstance(value, str) or not (len(value) > 1 and value[0] == value[-1] == '"'):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _find_question(sent: Any) -> str | None:
    """The question among the arguments of a decorated function: by its name, else the first."""
    decoded_input = decode_json(sent)
    if not isinstance(decoded_input, Mapping) or not {"args", "kwargs"} >= decoded_input.keys():
        return find_query(decoded_input)
    by_name = find_query(decoded_input.get("kwargs"))
    args = decoded_input.get("args")
    return by_name or (find_query(args[0]) if isinstance(args, list) and args else None)

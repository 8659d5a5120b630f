"""Langfuse: the attributes of its SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import (
    Kind,
    Step,
    answered,
    asked,
    counts,
    decoded,
    documents,
    first,
    number,
    speaks,
    under,
    word,
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
    said = span.attributes
    if not speaks(said, "langfuse."):
        return None
    kind = KINDS.get(str(said.get("langfuse.observation.type", "")).lower(), "")
    sent = first(said, "langfuse.trace.input", "langfuse.observation.input")
    came = first(said, "langfuse.trace.output", "langfuse.observation.output")
    if kind != "chain":  # of the whole trace is what its first span says
        sent, came = said.get("langfuse.observation.input"), said.get("langfuse.observation.output")
    usage = decoded(said.get("langfuse.observation.usage_details"))
    cost = decoded(said.get("langfuse.observation.cost_details"))
    return Step(
        kind=kind,
        query=_question(sent),
        documents=documents(came) if kind == "retriever" else None,
        answer=None if kind == "retriever" else answered(came),
        model=word(said.get("langfuse.observation.model.name")),
        tokens=counts(**{name: usage.get(name) for name in ("input", "output", "total")}) if _object(usage) else {},
        cost=number(cost.get("total")) if _object(cost) else None,
        session=word(first(said, "langfuse.session.id", "session.id")),
        metadata={
            name: _plain(value)
            for name, value in under(said, "langfuse.trace.metadata.", "langfuse.observation.metadata.").items()
        },
    )


def _plain(value: Any) -> Any:
    """A value of the metadata; the SDK writes some of its texts as JSON, in quotes."""
    if not isinstance(value, str) or not (len(value) > 1 and value[0] == value[-1] == '"'):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value


def _object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _question(sent: Any) -> str | None:
    """The question among the arguments of a decorated function: by its name, else the first."""
    given = decoded(sent)
    if not isinstance(given, Mapping) or not {"args", "kwargs"} >= given.keys():
        return asked(given)
    by_name = asked(given.get("kwargs"))
    listed = given.get("args")
    return by_name or (asked(listed[0]) if isinstance(listed, list) and listed else None)

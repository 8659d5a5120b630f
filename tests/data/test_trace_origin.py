"""What traces say of how an answer was made, in every dialect; an alert says what of it changed."""

from __future__ import annotations

from typing import Any

import pytest

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.tree import collect_origin

TRACE = "ab" * 16
OPENINFERENCE, CHAT = {"openinference.span.kind": "LLM"}, {"gen_ai.operation.name": "chat"}


def span(n: int, attributes: dict[str, Any], **more: Any) -> TraceSpan:
    """The nth span of a trace."""
    return TraceSpan(TRACE, f"{n:016x}", start=n, end=n + 1, attributes=attributes, **more)


@pytest.mark.parametrize(
    ("said", "fact", "value"),
    [
        ({**CHAT, "gen_ai.request.model": "gpt-5", "gen_ai.response.model": "gpt-5-0812"}, "model", "gpt-5-0812"),
        ({**CHAT, "gen_ai.request.model": "gpt-5"}, "model", "gpt-5"),
        ({**OPENINFERENCE, "llm.model_name": "sonnet"}, "model", "sonnet"),
        ({"langfuse.observation.model.name": "haiku"}, "model", "haiku"),
        ({"openinference.span.kind": "EMBEDDING", "embedding.model_name": "e5"}, "embedder", "e5"),
        ({"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e5"}, "embedder", "e5"),
        (
            {"langfuse.observation.prompt.name": "answer", "langfuse.observation.prompt.version": 3},
            "prompt",
            "answer v3",
        ),
        ({"traceloop.prompt.key": "answer", "traceloop.prompt.version": "v3"}, "prompt", "answer v3"),
        ({"mlflow.linkedPrompts": '[{"name": "answer", "version": "3"}]'}, "prompt", "answer v3"),
        ({"llm.prompt_template.template": "Answer {q} by {docs}"}, "prompt", "text:4f2c3d"),
        ({"gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}]}, "prompt", "text:"),
        ({"db.collection.name": "docs-v2", "db.namespace": "prod"}, "index", "docs-v2"),
        ({"gen_ai.data_source.id": "H7S"}, "index", "H7S"),
        ({"gen_ai.operation.name": "retrieval", "gen_ai.request.top_k": 5}, "k", "5"),
        ({"gen_ai.retrieval.top_k": 8}, "k", "8"),
        ({"langfuse.version": "1.4"}, "version", "1.4"),
    ],
)
def test_every_dialect_says_how_it_was_made(said: dict[str, Any], fact: str, value: str) -> None:
    """Model, prompt, embedder, index, k and version are found under each dialect's names; what served counts."""
    found = collect_origin([span(1, {"other": "x"}), span(2, said)])
    assert found.keys() == {fact}
    assert found[fact].startswith(value[:5] if value.startswith("text:") else value)


def test_what_is_none_of_it_is_left_out() -> None:
    """Sampling by the k best words is no k of a retrieval; an embedder is not the model; redacted values say nothing.

    The version of the service counts, a long value is known by its hash, and the last model is the one that answered.
    """
    spans = [
        span(1, {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e5"}),
        span(2, {**CHAT, "gen_ai.request.top_k": 40, "gen_ai.response.model": "rewriter"}),
        span(3, {**CHAT, "gen_ai.response.model": "writer", "db.namespace": "__REDACTED__", "db.name": "x" * 200}),
    ]
    found = collect_origin([*spans, span(4, {}, resource={"service.version": "2.0"})], "5" * 16)
    assert found.pop("index").startswith("text:")
    assert found == {"embedder": "e5", "model": "writer", "version": "2.0", "span": "5" * 16}

"""Haystack's own tracing, with its content switched on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Kind, Step, answered, asked, decoded, documents, speaks

PARTS: Mapping[str, Kind] = {
    "Retriever": "retriever",
    "Ranker": "reranker",
    "Generator": "llm",
    "Embedder": "embedding",
    "PromptBuilder": "prompt",
    "Evaluator": "evaluator",
}


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    said = span.attributes
    if not speaks(said, "haystack."):
        return None
    component = str(said.get("haystack.component.type", ""))
    kind: Kind = next((kind for part, kind in PARTS.items() if part in component), "chain")
    if not component:
        return Step(
            kind="chain",
            query=asked(said.get("haystack.pipeline.input_data")),
            answer=answered(said.get("haystack.pipeline.output_data")),
        )
    sent, came = decoded(said.get("haystack.component.input")), decoded(said.get("haystack.component.output"))
    found = kind in ("retriever", "reranker")
    return Step(
        kind=kind,
        query=asked(sent),
        documents=documents(came) if found else None,
        before=documents(sent) if kind == "reranker" and _has_documents(sent) else None,
        answer=answered(came) if kind == "llm" else None,
    )


def _has_documents(value: Any) -> bool:
    return isinstance(value, Mapping) and "documents" in value

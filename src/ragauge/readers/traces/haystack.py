"""Haystack's own tracing, with its content switched on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import (
    Kind,
    Step,
    decode_json,
    find_answer,
    find_query,
    has_attribute_prefix,
    parse_documents,
)

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
    attributes = span.attributes
    if not has_attribute_prefix(attributes, "haystack."):
        return None
    component = str(attributes.get("haystack.component.type", ""))
    kind: Kind = next((kind for type_name, kind in PARTS.items() if type_name in component), "chain")
    if not component:
        return Step(
            kind="chain",
            query=find_query(attributes.get("haystack.pipeline.input_data")),
            answer=find_answer(attributes.get("haystack.pipeline.output_data")),
        )
    sent, came = (
        decode_json(attributes.get("haystack.component.input")),
        decode_json(attributes.get("haystack.component.output")),
    )
    is_search = kind in ("retriever", "reranker")
    return Step(
        kind=kind,
        query=find_query(sent),
        documents=parse_documents(came) if is_search else None,
        before=parse_documents(sent) if kind == "reranker" and _has_documents(sent) else None,
        answer=find_answer(came) if kind == "llm" else None,
    )


def _has_documents(value: Any) -> bool:
    return isinstance(value, Mapping) and "documents" in value

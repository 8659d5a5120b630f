"""MLflow: the attributes of its tracing, JSON in texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import (
    Kind,
    Step,
    find_answer,
    find_query,
    has_attribute_prefix,
    parse_documents,
    parse_token_counts,
    parse_word,
)

KINDS: Mapping[str, Kind] = {
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "LLM": "llm",
    "CHAT_MODEL": "llm",
    "EMBEDDING": "embedding",
    "EVALUATOR": "evaluator",
    "TOOL": "tool",
    "CHAIN": "chain",
    "AGENT": "chain",
    "WORKFLOW": "chain",
    "UNKNOWN": "chain",
}


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    if not has_attribute_prefix(span.attributes, "mlflow."):
        return None
    attributes = {name: _decode_json(value) for name, value in span.attributes.items() if name.startswith("mlflow.")}
    kind = KINDS.get(str(attributes.get("mlflow.spanType", "")).upper(), "chain")
    is_search = kind in ("retriever", "reranker")
    usage = attributes.get("mlflow.chat.tokenUsage")
    used = usage if isinstance(usage, Mapping) else {}
    return Step(
        kind=kind,
        query=find_query(attributes.get("mlflow.spanInputs")),
        documents=parse_documents(attributes.get("mlflow.spanOutputs")) if is_search else None,
        answer=None if is_search else find_answer(attributes.get("mlflow.spanOutputs")),
        model=parse_word(attributes.get("mlflow.llm.model")),
        tokens=parse_token_counts(
            input=used.get("input_tokens"), output=used.get("output_tokens"), total=used.get("total_tokens")
        ),
        session=parse_word(attributes.get("mlflow.trace.session")),
    )


def _decode_json(value: Any) -> Any:
    try:
        return json.loads(value, strict=False) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value

"""MLflow: the attributes of its tracing, JSON in texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Kind, Step, answered, asked, counts, documents, speaks, word

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
    if not speaks(span.attributes, "mlflow."):
        return None
    said = {name: _said(value) for name, value in span.attributes.items() if name.startswith("mlflow.")}
    kind = KINDS.get(str(said.get("mlflow.spanType", "")).upper(), "chain")
    found = kind in ("retriever", "reranker")
    usage = said.get("mlflow.chat.tokenUsage")
    used = usage if isinstance(usage, Mapping) else {}
    return Step(
        kind=kind,
        query=asked(said.get("mlflow.spanInputs")),
        documents=documents(said.get("mlflow.spanOutputs")) if found else None,
        answer=None if found else answered(said.get("mlflow.spanOutputs")),
        model=word(said.get("mlflow.llm.model")),
        tokens=counts(input=used.get("input_tokens"), output=used.get("output_tokens"), total=used.get("total_tokens")),
        session=word(said.get("mlflow.trace.session")),
    )


def _said(value: Any) -> Any:
    try:
        return json.loads(value, strict=False) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value

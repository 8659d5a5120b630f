"""Every dialect of spans that is read; where a span speaks several, the first to say something counts.

Langfuse's SDK, MLflow and Haystack's own tracing only name their attributes differently: a table says how.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ragauge.readers.traces import genai, openinference, openllmetry
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import (
    Kind,
    Step,
    decode_json,
    find_answer,
    find_first_value,
    find_query,
    has_attribute_prefix,
    merge_steps,
    parse_documents,
    parse_number,
    parse_token_counts,
    parse_word,
    select_by_prefix,
)


def _decode_text(value: Any) -> Any:
    """What a text says as JSON, be it a quoted text or a number; any other value as it is."""
    try:
        return json.loads(value, strict=False) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _decode_quoted(value: Any) -> Any:
    """A text without the quotes that some tools write some of their texts in, as JSON; any other value as it is."""
    is_quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"'
    return _decode_text(value) if is_quoted else value


@dataclass(frozen=True, slots=True)
class AttributeNames:
    """What a tool calls the attributes of its spans."""

    prefix: str  #: of all its attributes.
    kind: str  #: of work.
    kinds: Mapping[str, Kind]  #: what stands there, in small letters -> our kind.
    input: str  #: what went in.
    output: str  #: what came out.
    chain_input: tuple[str, ...]  #: of a chain, the first that has a value.
    chain_output: tuple[str, ...]  #: likewise.
    default: Kind = "chain"  #: the kind of anything else.
    part: bool = False  #: the keys of `kinds` are parts of what stands there.
    writers: tuple[Kind, ...] = ()  #: kinds that give an answer; () = all but those that give documents.
    model: str = ""  #: that wrote the answer.
    #: an object with counts, and our kind of token -> its name in it.
    tokens: tuple[str, Mapping[str, str]] = ("", MappingProxyType({}))
    cost: str = ""  #: an object with the total in US dollars.
    session: tuple[str, ...] = ()  #: of the conversation, the first that has a value.
    metadata: tuple[str, ...] = ()  #: how the names of further notes begin.
    decode: Callable[[Any], Any] = decode_json  #: reads a value.

    def read_span(self, span: TraceSpan) -> Step | None:
        """What the span says; None where it does not speak this dialect."""
        attributes, decode = span.attributes, self.decode
        if not has_attribute_prefix(attributes, self.prefix):
            return None
        kind = self._find_kind(attributes)
        sent, came = attributes.get(self.input), attributes.get(self.output)
        if kind == "chain":
            sent, came = (find_first_value(attributes, *names) for names in (self.chain_input, self.chain_output))
        sent, came = decode(sent), decode(came)
        is_search = kind in ("retriever", "reranker")
        usage, cost = decode(attributes.get(self.tokens[0])), decode(attributes.get(self.cost))
        counts = {ours: usage.get(theirs) for ours, theirs in self.tokens[1].items()} if _is_object(usage) else {}
        metadata = select_by_prefix(attributes, *self.metadata)
        return Step(
            kind=kind,
            query=_find_question(sent),
            documents=parse_documents(came) if is_search else None,
            before=parse_documents(sent) if kind == "reranker" and _is_object(sent) and "documents" in sent else None,
            answer=None if is_search or (self.writers and kind not in self.writers) else find_answer(came),
            model=parse_word(_decode_quoted(attributes.get(self.model))),
            tokens=parse_token_counts(**counts),
            cost=parse_number(cost.get("total")) if _is_object(cost) else None,
            session=parse_word(_decode_quoted(find_first_value(attributes, *self.session))),
            metadata={name: _decode_quoted(value) for name, value in metadata.items()},
        )

    def _find_kind(self, attributes: Mapping[str, Any]) -> Kind:
        word = str(self.decode(attributes.get(self.kind, ""))).lower()
        if self.part:
            return next((kind for part, kind in self.kinds.items() if part in word), self.default)
        return self.kinds.get(word, self.default)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _find_question(sent: Any) -> str | None:
    """The question; among the arguments of a decorated function by its name, else the first."""
    if not isinstance(sent, Mapping) or not {"args", "kwargs"} >= sent.keys():
        return find_query(sent)
    args = sent.get("args")
    return find_query(sent.get("kwargs")) or (find_query(args[0]) if isinstance(args, list) and args else None)


LANGFUSE = AttributeNames(
    prefix="langfuse.",
    kind="langfuse.observation.type",
    kinds={
        **dict.fromkeys(("span", "chain", "agent", "guardrail"), "chain"),
        **{name: name for name in ("retriever", "embedding", "evaluator", "tool")},
        "generation": "llm",
    },
    default="",
    input="langfuse.observation.input",
    output="langfuse.observation.output",
    chain_input=("langfuse.trace.input", "langfuse.observation.input"),  # the first span says what went into the trace
    chain_output=("langfuse.trace.output", "langfuse.observation.output"),
    model="langfuse.observation.model.name",
    tokens=("langfuse.observation.usage_details", {"input": "input", "output": "output", "total": "total"}),
    cost="langfuse.observation.cost_details",
    session=("langfuse.session.id", "session.id"),
    metadata=("langfuse.trace.metadata.", "langfuse.observation.metadata."),
)
MLFLOW = AttributeNames(
    prefix="mlflow.",
    kind="mlflow.spanType",
    kinds={
        **{name: name for name in ("retriever", "reranker", "llm", "embedding", "evaluator", "tool")},
        "chat_model": "llm",
    },
    input="mlflow.spanInputs",
    output="mlflow.spanOutputs",
    chain_input=("mlflow.spanInputs",),
    chain_output=("mlflow.spanOutputs",),
    model="mlflow.llm.model",
    tokens=("mlflow.chat.tokenUsage", {"input": "input_tokens", "output": "output_tokens", "total": "total_tokens"}),
    session=("mlflow.trace.session",),
    decode=_decode_text,
)
HAYSTACK = AttributeNames(
    prefix="haystack.",
    kind="haystack.component.type",
    kinds={
        "retriever": "retriever",
        "ranker": "reranker",
        "generator": "llm",
        "embedder": "embedding",
        "promptbuilder": "prompt",
        "evaluator": "evaluator",
    },
    part=True,
    input="haystack.component.input",
    output="haystack.component.output",
    chain_input=("haystack.pipeline.input_data", "haystack.component.input"),
    chain_output=("haystack.pipeline.output_data",),
    writers=("llm", "chain"),
)
DIALECTS: Mapping[str, Callable[[TraceSpan], Step | None]] = {
    "OpenInference": openinference.read,
    "OpenTelemetry GenAI": genai.read,
    "OpenLLMetry": openllmetry.read,
    "Langfuse": LANGFUSE.read_span,
    "MLflow": MLFLOW.read_span,
    "Haystack": HAYSTACK.read_span,
}


def read_step(span: TraceSpan) -> Step | None:
    """What a span says in all the dialects that it speaks; None where it speaks none."""
    steps = [step for read in DIALECTS.values() if (step := read(span)) is not None]
    return merge_steps(steps) if len(steps) > 1 else next(iter(steps), None)

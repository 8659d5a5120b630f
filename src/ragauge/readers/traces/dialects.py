"""Every dialect of spans that is read, Traceloop's among them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ragauge.readers.traces import genai, openinference
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import (
    Documents,
    Kind,
    Step,
    decode_json,
    find_answer,
    find_first_value,
    find_last_user_text,
    find_query,
    has_attribute_prefix,
    merge_steps,
    parse_document,
    parse_documents,
    parse_number,
    parse_token_counts,
    parse_word,
    read_indexed_objects,
    select_by_prefix,
)

KINDS: Mapping[str, Kind] = {"workflow": "chain", "task": "chain", "agent": "chain", "tool": "tool"}
RESULT_EVENTS = ("db.query.result", "db.search.result")
DIALECT_PREFIXES = ("traceloop.", "llm.request.type", "gen_ai.prompt", "gen_ai.completion")


def read(span: TraceSpan) -> Step | None:
    """What the span says; None where it does not speak this dialect."""
    attributes = span.attributes
    results = [event.attributes for event in span.events if event.name in RESULT_EVENTS]
    if not results and not has_attribute_prefix(attributes, *DIALECT_PREFIXES):
        return None
    sent = find_first_value(attributes, "traceloop.entity.input", "gen_ai.task.input")
    came = find_first_value(attributes, "traceloop.entity.output", "gen_ai.task.output")
    kind = _detect_kind(attributes, bool(results))
    written = [
        text
        for entry in read_indexed_objects(attributes, "gen_ai.completion.")
        if (text := parse_word(entry.get("content")))
    ]
    prompts = [
        (entry.get("role"), entry.get("content")) for entry in read_indexed_objects(attributes, "gen_ai.prompt.")
    ]
    result_documents: Documents | None = tuple(_build_document(entry) for entry in results) if results else None
    if kind in ("retriever", "reranker") and result_documents is None:
        result_documents = parse_documents(_unwrap_value(came, "outputs"))
    session = parse_word(attributes.get("traceloop.association.properties.session_id"))
    return Step(
        kind=kind,
        query=find_last_user_text(prompts) or find_query(_unwrap_value(sent, "inputs")),
        documents=result_documents,
        answer=None
        if result_documents is not None
        else (written[-1] if written else find_answer(_unwrap_value(came, "outputs"))),
        session=session,
        metadata=select_by_prefix(attributes, "traceloop.association.properties."),
    )


def _detect_kind(attributes: Mapping[str, Any], has_results: bool) -> Kind:
    if has_results or attributes.get("gen_ai.operation.name") == "vector_db_retrieve":
        return "retriever"
    if attributes.get("llm.request.type") == "rerank":
        return "reranker"
    if attributes.get("llm.request.type") == "embedding":
        return "embedding"
    if attributes.get("llm.request.type") in ("chat", "completion"):
        return "llm"
    return KINDS.get(str(attributes.get("traceloop.span.kind", "")), "")


def _unwrap_value(value: Any, key: str) -> Any:
    """What the instrumentation of LangChain puts under inputs or outputs; anything else as it is."""
    decoded_value = decode_json(value)
    return decoded_value[key] if isinstance(decoded_value, Mapping) and key in decoded_value else decoded_value


def _build_document(event: Mapping[str, Any]) -> Any:
    """The document of one result of a vector database."""
    fields = {key.removeprefix("db.query.result.").removeprefix("db.search.result."): event[key] for key in event}
    entity = decode_json(fields.get("entity"))
    merged_fields = {**(entity if isinstance(entity, Mapping) else {}), **fields}
    if "document" in merged_fields:
        merged_fields["text"] = merged_fields.pop("document")
    return parse_document(merged_fields) or {"doc_id": str(fields.get("id", ""))}


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
    "OpenLLMetry": read,
    "Langfuse": LANGFUSE.read_span,
    "MLflow": MLFLOW.read_span,
    "Haystack": HAYSTACK.read_span,
}


def read_step(span: TraceSpan) -> Step | None:
    """What a span says in all the dialects that it speaks; None where it speaks none."""
    steps = [step for read in DIALECTS.values() if (step := read(span)) is not None]
    return merge_steps(steps) if len(steps) > 1 else next(iter(steps), None)

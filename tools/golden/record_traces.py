"""Writes the recorded traces in tests/golden/traces: one small pipeline, as six exporters tell it.

    pip install opentelemetry-sdk openinference-instrumentation-langchain openinference-instrumentation-llama-index \
        openinference-instrumentation-haystack opentelemetry-instrumentation-langchain langfuse
    python tools/golden/record_traces.py openinference-langchain > openinference-langchain.jsonl
    python tools/golden/record_traces.py openinference-langchain http://127.0.0.1:4318     # sent there instead

Every pipeline answers the same three questions from the same three passages with a model that always says the same, so
that whatever is read from the traces must agree. One exporter a process: instrumentations do not leave a process.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

DOCUMENTS = {
    "refunds.md": "Refunds are paid within 14 days of the request.",
    "shipping.md": "Parcels to Norway take 5 working days.",
    "warranty.md": "The warranty lasts 3 years for every device.",
}
ANSWERS = {
    "How long do refunds take?": "Refunds take 14 days.",
    "How long does the warranty last?": "The warranty lasts 3 years.",
    "Do you sell gift cards?": "The documents do not say.",
}
FOUND = {
    "How long do refunds take?": ["refunds.md", "shipping.md"],
    "How long does the warranty last?": ["warranty.md", "refunds.md"],
    "Do you sell gift cards?": [],
}
PROMPT = "Answer from the passages.\n\n{context}\n\nQuestion: {question}"


def said(prompt: str) -> str:
    """What the model answers: the question is the end of its prompt."""
    return next(answer for question, answer in ANSWERS.items() if question in prompt)


def langchain() -> None:
    """A chain of LangChain."""
    from langchain_core.documents import Document
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
            return [Document(DOCUMENTS[name], id=name, metadata={"source": name}) for name in FOUND[query]]

    class Model(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "fixed"

        def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
            answer = said(messages[-1].content)
            usage = {"input_tokens": 40, "output_tokens": 5, "total_tokens": 45}
            return ChatResult(generations=[ChatGeneration(message=AIMessage(answer, usage_metadata=usage))])

    def joined(documents: list[Document]) -> str:
        return "\n".join(document.page_content for document in documents)

    chain = (
        {"context": Retriever() | joined, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template(PROMPT)
        | Model()
        | StrOutputParser()
    )
    for question in ANSWERS:
        chain.invoke(question)


def llama_index() -> None:
    """A query engine of LlamaIndex."""
    from llama_index.core import PromptTemplate, Settings, VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import Document, NodeWithScore, TextNode

    class Retriever(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            return [
                NodeWithScore(node=TextNode(text=DOCUMENTS[name], id_=name), score=1.0 - 0.25 * n)
                for n, name in enumerate(FOUND[query_bundle.query_str])
            ]

    class Model(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name="fixed")

        def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
            return CompletionResponse(text=said(prompt))

        def stream_complete(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError("nothing here streams")

    Settings.embed_model = MockEmbedding(8)
    VectorStoreIndex.from_documents([Document(text=text) for text in DOCUMENTS.values()])  # what must be left out
    prompt = PromptTemplate(PROMPT.replace("{context}", "{context_str}").replace("{question}", "{query_str}"))
    engine = RetrieverQueryEngine.from_args(Retriever(), llm=Model(), text_qa_template=prompt)
    for question in ANSWERS:
        engine.query(question)


def haystack() -> None:
    """A pipeline of Haystack."""
    from haystack import Document, Pipeline, component
    from haystack.components.builders import PromptBuilder

    @component
    class Retriever:
        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            return {
                "documents": [
                    Document(id=name, content=DOCUMENTS[name], score=1.0 - 0.25 * n)
                    for n, name in enumerate(FOUND[query])
                ]
            }

    @component
    class FixedGenerator:
        @component.output_types(replies=list[str])
        def run(self, prompt: str) -> dict[str, Any]:
            return {"replies": [said(prompt)]}

    globals().update(Retriever=Retriever, FixedGenerator=FixedGenerator)  # where the instrumentation looks for them
    pipeline = Pipeline()
    template = "{% for document in documents %}{{ document.content }}\n{% endfor %}\nQuestion: {{ question }}"
    pipeline.add_component("retriever", Retriever())
    pipeline.add_component("prompt", PromptBuilder(template, required_variables="*"))
    pipeline.add_component("model", FixedGenerator())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "model.prompt")
    for question in ANSWERS:
        pipeline.run({"retriever": {"query": question}, "prompt": {"question": question}})


def langfuse() -> None:
    """Plain functions, decorated by Langfuse."""
    from langfuse import observe

    @observe(as_type="retriever")
    def retrieve(question: str) -> list[dict[str, Any]]:
        return [{"id": name, "content": DOCUMENTS[name]} for name in FOUND[question]]

    @observe(as_type="generation")
    def generate(prompt: str) -> str:
        return said(prompt)

    @observe()
    def answer(question: str) -> str:
        context = "\n".join(document["content"] for document in retrieve(question))
        return generate(PROMPT.format(context=context, question=question))

    for question in ANSWERS:
        answer(question)


def trace_haystack(tracer: Any) -> None:
    """Haystack's own tags on spans of OpenTelemetry, by the tracer that its documentation shows."""
    from collections.abc import Iterator
    from contextlib import contextmanager

    from haystack import tracing
    from haystack.tracing.utils import coerce_tag_value

    class TaggedSpan(tracing.Span):
        def __init__(self, span: Any) -> None:
            self._span = span

        def set_tag(self, key: str, value: Any) -> None:
            self._span.set_attribute(key, coerce_tag_value(value))

    class Tracer(tracing.Tracer):
        @contextmanager
        def trace(self, operation_name: str, tags: Any = None, **_: Any) -> Iterator[TaggedSpan]:
            with tracer.start_as_current_span(operation_name) as span:
                tagged = TaggedSpan(span)
                tagged.set_tags(tags or {})
                yield tagged

        def current_span(self) -> TaggedSpan | None:
            from opentelemetry import trace

            span = trace.get_current_span()
            return TaggedSpan(span) if span.is_recording() else None

    tracing.tracer.is_content_tracing_enabled = True
    tracing.enable_tracing(Tracer())


def lines(spans: list[Any]) -> list[str]:
    """The spans as OTLP JSON, a batch a line, as the collector's file exporter writes it."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    batch = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
    for resource in batch["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    return [json.dumps(batch, ensure_ascii=False)]


def main(name: str, endpoint: str = "") -> None:
    """Writes the spans that an exporter recorded, or has its exporter send them to an endpoint."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory: Any = InMemorySpanExporter()
    if endpoint:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        memory = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")
    provider = TracerProvider(resource=Resource({"service.name": name if endpoint else "shop-help"}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    trace.set_tracer_provider(provider)
    if name == "openinference-langchain":
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument(tracer_provider=provider)
        langchain()
    elif name == "openinference-llamaindex":
        from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

        LlamaIndexInstrumentor().instrument(tracer_provider=provider)
        llama_index()
    elif name == "openinference-haystack":
        from openinference.instrumentation.haystack import HaystackInstrumentor

        HaystackInstrumentor().instrument(tracer_provider=provider)
        haystack()
    elif name == "haystack":
        trace_haystack(provider.get_tracer("haystack"))
        haystack()
    elif name == "openllmetry-langchain":
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor

        LangchainInstrumentor().instrument(tracer_provider=provider)
        langchain()
    elif name == "langfuse":
        from langfuse import Langfuse

        keys = dict.fromkeys(("public_key", "secret_key"), "none")  # nothing is sent
        where: dict[str, Any] = {"base_url": endpoint} if endpoint else {"span_exporter": memory}
        own = TracerProvider(resource=provider.resource) if endpoint else provider  # its own exporter alone sends
        client = Langfuse(**keys, tracer_provider=own, flush_at=1, **where)
        langfuse()
        client.flush()
    else:
        raise SystemExit(f"unknown exporter {name!r}")
    if endpoint:
        provider.shutdown()
        return
    seen: dict[int, Any] = {span.context.span_id: span for span in memory.get_finished_spans()}
    sys.stdout.write("\n".join(lines(list(seen.values()))) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

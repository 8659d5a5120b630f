"""What a class or function of a framework makes, by the name of its type: the one place that lists them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["system", "retriever", "part", "maker", "other", "unknown"]
FRAMEWORKS = {  # top-level package -> what it is called
    "langchain": "LangChain",
    "langchain_core": "LangChain",
    "langchain_community": "LangChain",
    "langgraph": "LangChain",
    "llama_index": "LlamaIndex",
    "haystack": "Haystack",
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "chromadb": "Chroma",
    "qdrant_client": "Qdrant",
    "pinecone": "Pinecone",
    "weaviate": "Weaviate",
    "faiss": "Faiss",
    "pgvector": "pgvector",
    "elasticsearch": "Elasticsearch",
    "opensearchpy": "OpenSearch",
    "sentence_transformers": "Sentence Transformers",
    "fastapi": "FastAPI",
    "flask": "Flask",
}
# class of a framework, by how its name ends: the first that fits
ENDINGS: dict[str, tuple[tuple[tuple[str, ...], Kind, int], ...]] = {  # framework -> (endings, kind, how surely it
    "LangChain": (  # makes text: 0 no, 1 perhaps, 2 yes)
        (("documents_chain", "load_qa_chain", "summarize_chain"), "part", 2),  # takes documents that others find
        (("Chain", "_chain", "RetrievalQA", "Agent", "AgentExecutor", "_agent"), "system", 2),
        (("CompiledStateGraph", "CompiledGraph", "Pregel"), "system", 2),
        (("Retriever", "_retriever"), "retriever", 0),
        (("StateGraph", "MessageGraph", "Graph"), "maker", 0),
        (("RunnableLambda", "RunnableGenerator", "RunnableBranch", "RunnableWithMessageHistory"), "system", 1),
        (("RunnableSequence", "RunnableSerializable", "Runnable"), "system", 1),  # of an annotation
        (("Prompt", "PromptTemplate", "Parser", "RunnableParallel", "RunnablePassthrough", "ToolNode"), "part", 0),
        (("Embeddings", "Splitter", "Loader", "Document", "Message", "Placeholder", "Tool"), "other", 0),
        (("LLM", "ChatModel", "_chat_model"), "part", 2),
    ),
    "LlamaIndex": (
        (("QueryEngine", "ChatEngine", "Agent", "AgentWorkflow", "AgentRunner"), "system", 2),
        (("Retriever",), "retriever", 0),
        (("Index",), "maker", 0),
    ),
    "Haystack": (
        (("Pipeline", "AsyncPipeline"), "maker", 0),  # what its components make it
        (("EmbeddingRetriever", "HybridRetriever"), "part", 0),  # takes a vector
        (("Retriever",), "retriever", 0),
        (("Agent",), "system", 2),
        (("ChatGenerator", "Generator"), "part", 2),
        (("Reader",), "part", 2),
    ),
}
FINDS = ("Retriev", "retriev", "Agent", "agent", "Compiled", "Engine")  # in a name: it finds documents
CHAT = ("Chat", "Fake")  # how a chat model of LangChain begins: ChatOpenAI
OF_MODELS = ("language_models", "llms", "chat_models")  # modules of LangChain in which all are models


@dataclass(frozen=True, slots=True)
class ExpressionValue:
    """What an expression makes, as far as it can be read.

    Attributes:
        kind: system (can be asked, and answers), retriever (can be asked for documents), part (of a system, cannot be
            asked alone), maker (of systems), other (known, and nothing of these), unknown.
        framework: whose it is; "" for none.
        generates: how surely it makes text: 0 no, 1 perhaps, 2 yes.
        retrieves: it finds documents.
        origin: the class that it is of, dotted; "" where that is not known.
        names: of the module, that it is made of.
    """

    kind: Kind = "unknown"
    framework: str = ""
    generates: int = 0
    retrieves: bool = False
    origin: str = ""
    names: frozenset[str] = frozenset()

    @property
    def score(self) -> int:
        """How likely it is the system of its project; 0 = it cannot be asked."""
        if self.kind == "system":
            return 10 if self.retrieves else 8 if self.generates > 1 else 5
        return 4 if self.kind == "retriever" else 0

    def made_of(self, *others: ExpressionValue) -> ExpressionValue:
        """With the names that others are made of."""
        return replace(self, names=self.names.union(*(other.names for other in others)))


UNKNOWN = ExpressionValue()
OTHER = ExpressionValue("other")
TYPE = ExpressionValue("other", origin="type")  # a class or a constant, as in `Path | None`


def framework_of(origin: str) -> str:
    """The framework that a dotted name is of; "" for none.

    >>> framework_of("langchain_openai.ChatOpenAI"), framework_of("sqlalchemy.create_engine")
    ('LangChain', '')
    """
    first = origin.partition(".")[0]
    known = "LangChain" if first.startswith(("langchain_", "langgraph_")) else FRAMEWORKS.get(first, "")
    return "Haystack" if first.startswith("haystack_") else known


def called(origin: str) -> ExpressionValue:
    """What calling a class or function from outside of the project makes.

    >>> called("langchain.chains.RetrievalQA").kind, called("langchain_openai.OpenAIEmbeddings").kind
    ('system', 'other')
    >>> called("sqlalchemy.create_engine").kind
    'other'
    """
    framework, name = framework_of(origin), origin.rpartition(".")[2]
    for endings, kind, generates in ENDINGS.get(framework, ()):
        if name.endswith(endings):
            finds = kind == "retriever" or any(word in name for word in FINDS)
            return ExpressionValue(kind, framework, generates, finds, origin)
    if framework == "LangChain" and (name.startswith(CHAT) or any(part in OF_MODELS for part in origin.split("."))):
        return ExpressionValue("part", framework, 2, origin=origin)
    if framework == "Haystack" and "components" in origin.split("."):
        return ExpressionValue("part", framework, origin=origin)
    perhaps = framework == "LangChain" and name[:1].isupper()  # a class of a model that has no telling name
    return ExpressionValue("other", framework, int(perhaps), origin=origin)


def sequence(parts: list[ExpressionValue]) -> ExpressionValue:
    """What `a | b | c` of LangChain makes: a system where a part makes text, else what finds documents.

    A function behind a prompt or a dictionary is taken for a model; behind a retriever it formats what was found.
    """
    said = [part.kind == "part" and not part.generates for part in parts]
    sure = [one.generates > 1 or (one.generates == 1 and any(said[:at])) for at, one in enumerate(parts)]
    retrieves = any(one.retrieves for one in parts)
    generates = max((one.generates for one, counts in zip(parts, sure, strict=True) if counts), default=0)
    kind: Kind = "system" if generates else "retriever" if retrieves else "part"
    return ExpressionValue(kind, "LangChain", generates, retrieves).made_of(*parts)


def with_component(pipeline: ExpressionValue, component: ExpressionValue) -> ExpressionValue:
    """A Haystack pipeline with one component more: it answers once it makes text, and finds once it retrieves."""
    if pipeline.kind == "other" or component.origin.endswith("Writer"):  # it fills a store
        return replace(pipeline, kind="other")
    generates = max(pipeline.generates, component.generates)
    finds = pipeline.retrieves or component.retrieves or "Retriever" in component.origin.rpartition(".")[2]
    kind: Kind = "system" if generates else "retriever" if finds else "maker"
    return replace(pipeline, kind=kind, generates=generates, retrieves=finds).made_of(component)

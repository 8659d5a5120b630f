"""What an expression of a project makes, as far as it can be read without running it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ragauge.evaluation.init.function_scan import Kind

FRAMEWORKS = {
    "langchain": "LangChain",
    "langgraph": "LangChain",
    "llama_index": "LlamaIndex",
    "haystack": "Haystack",
    "fastapi": "FastAPI",
}


# what calling a class or function makes, by its name: the first that fits, with how surely it makes text (0, 1, 2)
KINDS_BY_NAME: dict[str, tuple[tuple[str, Kind, int], ...]] = {
    "LangChain": (
        (r"(documents|qa|summarize)_chain$", "part", 2),  # takes documents that others find
        (r"[Cc]hain$|RetrievalQA$|[Aa]gent$|AgentExecutor$", "system", 2),
        (r"[Rr]etriever$", "retriever", 0),
        (r"Graph$", "maker", 0),
        (r"Runnable(Lambda|Generator|Branch|WithMessageHistory)$", "system", 1),
        (r"(Prompt|Template|Parser|ToolNode|RunnableParallel|RunnablePassthrough)$", "part", 0),
        (r"(Embeddings|Embedding|Splitter|Loader|Document|Message|Placeholder|Tool)$", "other", 0),
        (r"^Chat|(LLM|ChatModel|_chat_model)$", "part", 2),
        (r"^[A-Z]", "other", 1),  # perhaps a model
    ),
    "LlamaIndex": (
        (r"((Query|Chat)Engine|Agent|AgentWorkflow|AgentRunner)$", "system", 2),
        (r"Retriever$", "retriever", 0),
    ),
    "Haystack": (
        (r"Pipeline$", "maker", 0),  # its components decide what it is
        (r"Writer$", "writer", 0),
        (r"(Embedding|Hybrid)Retriever$", "part", 0),  # takes a vector
        (r"Retriever$", "retriever", 0),
        (r"Agent$", "system", 2),
        (r"(Generator|Reader)$", "part", 2),
        (r"", "part", 0),
    ),
}


RETRIEVAL_WORDS = re.compile(r"[Rr]etriev|[Aa]gent|Engine")  # in a name: it finds documents


COPY_METHOD_PREFIXES = (
    "with_",
    "bind",
    "add_",
    "set_",
    "configurable_",
    "pick",
    "map",
)  # methods of LangChain's that give a copy


@dataclass(frozen=True, slots=True)
class ExpressionValue:
    """What an expression makes, as far as it can be read."""

    #: system (can be asked, and answers), retriever (can be asked for documents), part (of a system, cannot be asked
    #: alone), maker (of systems), writer (fills a store), type (a class or constant, as in `Path | None`), other
    #: (known, and nothing of these), unknown.
    kind: Kind = "unknown"
    framework: str = ""  #: whose it is; "" for none.
    generates: int = 0  #: how surely it makes text: 0 no, 1 perhaps, 2 yes.
    retrieves: bool = False  #: it finds documents.

    @property
    def score(self) -> int:
        """How likely it is the system of its project; 0 = it cannot be asked."""
        if self.kind == "system":
            return 10 if self.retrieves else 8 if self.generates > 1 else 5
        return 4 if self.kind == "retriever" else 0


UNKNOWN, TYPE = ExpressionValue(), ExpressionValue("type")


def find_framework(origin: str) -> str:
    """The framework that a dotted name is of; "" for none.

    >>> find_framework("langchain_openai.ChatOpenAI"), find_framework("sqlalchemy.create_engine")
    ('LangChain', '')
    """
    package = origin.partition(".")[0]
    return FRAMEWORKS.get(package) or FRAMEWORKS.get(package.partition("_")[0], "")


def classify_call(origin: str) -> ExpressionValue:
    """What calling a class, its method or a function from outside of the project makes.

    >>> classify_call("langchain.chains.RetrievalQA.from_llm").kind
    'system'
    """
    framework, words = find_framework(origin), origin.split(".")
    name = next((word for word in reversed(words) if word[:1].isupper()), words[-1])
    for pattern, kind, generates in KINDS_BY_NAME.get(framework, ()):
        if re.search(pattern, name):
            return ExpressionValue(
                kind, framework, generates, kind == "retriever" or bool(RETRIEVAL_WORDS.search(name))
            )
    return ExpressionValue("other", framework)


def call_method(owner: ExpressionValue, name: str, arguments: list[ExpressionValue]) -> ExpressionValue:
    """What a method of a value gives."""
    if name == "as_retriever":
        return ExpressionValue("retriever", owner.framework, retrieves=True)
    if name in ("as_query_engine", "as_chat_engine"):
        return ExpressionValue("system", "LlamaIndex", 2, True)
    if owner.framework != "LangChain":
        return UNKNOWN
    if name == "compile" and owner.kind == "maker":
        return ExpressionValue("system", "LangChain", 2, True)
    if name in ("pipe", "assign"):
        return join_parts([owner, *arguments])
    return owner if name.startswith(COPY_METHOD_PREFIXES) else UNKNOWN


def add_parts(value: ExpressionValue, parts: list[ExpressionValue]) -> ExpressionValue:
    """A value that was given others: it finds documents where one of them does."""
    if value.kind not in ("system", "part"):
        return value
    framework = value.framework or max((part.framework for part in parts), default="")
    return replace(value, framework=framework, retrieves=value.retrieves or any(part.retrieves for part in parts))


def join_parts(parts: list[ExpressionValue]) -> ExpressionValue:
    """What `a | b | c` of LangChain makes: a system where a part makes text, else what finds documents.

    A function behind a prompt or a dictionary is taken for a model; behind a retriever it formats what was found.
    """
    if TYPE in parts or all(part.framework != "LangChain" for part in parts):
        return UNKNOWN
    generates, retrieves, has_prompt = 0, any(part.retrieves for part in parts), False
    for part in parts:
        if part.generates > 1 or has_prompt:
            generates = max(generates, part.generates)
        has_prompt = has_prompt or (part.kind == "part" and not part.generates)
    kind: Kind = "system" if generates else "retriever" if retrieves else "part"
    return ExpressionValue(kind, "LangChain", generates, retrieves)


def add_component(pipeline: ExpressionValue, component: ExpressionValue) -> ExpressionValue:
    """A Haystack pipeline with one component more: it answers once it makes text, and finds once it retrieves."""
    if "writer" in (pipeline.kind, component.kind):
        return replace(pipeline, kind="writer")
    generates = max(pipeline.generates, component.generates)
    retrieves = pipeline.retrieves or component.retrieves
    kind: Kind = "system" if generates else "retriever" if retrieves else "maker"
    return replace(pipeline, kind=kind, generates=generates, retrieves=retrieves)

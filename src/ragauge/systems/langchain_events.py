"""What a LangChain runnable does on the way to its answer, heard through LangChain's own callbacks.

A LangChain chain whose retriever gives passages that are handed in: the user's chain is copied, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel

from ragauge.core.response import Passage
from ragauge.systems.response_parser import as_metadata, counted


class GivenDocumentsRetriever(BaseRetriever):  # type: ignore[misc]     # the types of an optional package are not read
    """Returns the documents that it was made with, whatever is asked."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # noqa: ARG002 - LangChain's
        return list(self.documents)


class Replacing:
    """Copies a runnable with another retriever in place of its own.

    Attributes:
        found: retrievers that were replaced.
        hidden: retrievers inside of functions, which cannot be.
    """

    def __init__(self, retriever: BaseRetriever) -> None:
        self._retriever = retriever
        self.found = self.hidden = 0

    def __call__(self, part: Any) -> Any:
        """The part with the retrievers in it replaced; itself where there is none."""
        if isinstance(part, BaseRetriever):
            self.found += 1
            return self._retriever
        if isinstance(part, RunnableLambda):
            self.hidden += sum(_retrieves(dep) for dep in part.deps)
            return part
        if isinstance(part, Runnable) and isinstance(part, BaseModel):
            values = {name: getattr(part, name) for name in type(part).model_fields}
            changed = {name: new for name, old in values.items() if (new := self(old)) is not old}
            return part.model_copy(update=changed) if changed else part
        if isinstance(part, Mapping):
            parts = {name: self(value) for name, value in part.items()}
            return parts if any(parts[name] is not part[name] for name in parts) else part
        if isinstance(part, list | tuple):
            several = [self(value) for value in part]
            same = all(new is old for new, old in zip(several, part, strict=True))
            return part if same else type(part)(several)
        return part


def _retrieves(part: Any) -> bool:
    """Whether there is a retriever anywhere in it."""
    looking = Replacing(GivenDocumentsRetriever(documents=[]))
    looking(part)
    return bool(looking.found or looking.hidden)


def replaceable(runnable: Any) -> bool:
    """Whether a chain has one retriever, in a place where another can stand."""
    looking = Replacing(GivenDocumentsRetriever(documents=[]))
    looking(runnable)
    return looking.found == 1 and not looking.hidden


def with_passages(runnable: Any, passages: Sequence[Passage]) -> Any:
    """The chain with a retriever that returns these passages."""
    documents = [
        Document(id=one.passage_id, page_content=one.text or "", metadata=as_metadata(one)) for one in passages
    ]
    return Replacing(GivenDocumentsRetriever(documents=documents))(runnable)


class Heard(BaseCallbackHandler):  # type: ignore[misc]     # the types of an optional package are not read
    """Documents, token counts and times of one call.

    Attributes:
        hops: what each outermost retriever returned, in the order in which they ended.
        inner: what the retrievers inside of them returned.
        lists: every other list of documents that a step returned after the last outermost retriever.
        usage: token counts of the model calls.
    """

    run_inline = True  # in an async chain too, events come in order

    def __init__(self) -> None:
        self.hops: list[Sequence[Document]] = []
        self.inner: list[Sequence[Document]] = []
        self.lists: list[Sequence[Document]] = []
        self.usage: list[Any] = []
        self._parents: dict[UUID, UUID | None] = {}
        self._started: dict[UUID, float] = {}
        self._retrievers: set[UUID] = set()
        self._spent = {"retrieval": 0.0, "generation": 0.0}

    @property
    def latency_ms(self) -> dict[str, float]:
        """Milliseconds in outermost retrievers and in models; what did not happen is left out."""
        return {stage: spent for stage, spent in self._spent.items() if spent}

    @property
    def tokens(self) -> dict[str, int]:
        """Tokens of all model calls."""
        return counted(*self.usage)

    def on_chain_start(self, *_started: Any, run_id: UUID, parent_run_id: UUID | None = None, **_rest: Any) -> None:
        """Notes whose child it is."""
        self._parents[run_id] = parent_run_id

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_rest: Any) -> None:
        """Keeps a list of documents: a reranker that is a plain function is heard of here only."""
        if not is_documents(outputs) or not outputs or self._within(run_id):
            return
        if not any(list(outputs) == list(hop) for hop in self.hops):  # a step around a retriever repeats it
            self.lists.append(outputs)

    def on_retriever_start(self, *_started: Any, run_id: UUID, parent_run_id: UUID | None = None, **_rest: Any) -> None:
        """Starts the clock."""
        self._parents[run_id] = parent_run_id
        self._retrievers.add(run_id)
        self._started[run_id] = perf_counter()

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **_rest: Any) -> None:
        """Keeps what it returned."""
        if self._within(run_id):
            self.inner.append(documents)
            return
        self.hops.append(documents)
        self.lists.clear()
        self._stop("retrieval", run_id)

    def on_llm_start(self, *_started: Any, run_id: UUID, **_rest: Any) -> None:
        """Starts the clock."""
        self._started[run_id] = perf_counter()

    def on_chat_model_start(self, *_started: Any, run_id: UUID, **_rest: Any) -> None:
        """Starts the clock."""
        self._started[run_id] = perf_counter()

    def on_llm_end(self, response: Any, *, run_id: UUID, **_rest: Any) -> None:
        """Keeps the token counts, of the message or of the call as a whole."""
        self._stop("generation", run_id)
        messages = [getattr(one, "message", None) for several in response.generations for one in several]
        usage = [found for message in messages if (found := getattr(message, "usage_metadata", None))]
        said = response.llm_output if isinstance(response.llm_output, Mapping) else {}
        self.usage += usage or [said.get("token_usage") or said.get("usage")]

    def _within(self, run_id: UUID) -> bool:
        """Whether it runs inside a retriever."""
        above = self._parents.get(run_id)
        while above is not None:
            if above in self._retrievers:
                return True
            above = self._parents.get(above)
        return False

    def _stop(self, stage: str, run_id: UUID) -> None:
        self._spent[stage] += (perf_counter() - self._started.pop(run_id, perf_counter())) * 1_000


def is_documents(value: Any) -> bool:
    """Whether a value is a list of LangChain documents; an empty list is."""
    return isinstance(value, list | tuple) and all(isinstance(one, Document) for one in value)

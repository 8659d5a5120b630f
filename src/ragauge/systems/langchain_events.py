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
from ragauge.systems.response_parser import build_metadata, sum_token_counts


class GivenDocumentsRetriever(BaseRetriever):  # type: ignore[misc]     # the types of an optional package are not read
    """Returns the documents that it was made with, whatever is asked."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # noqa: ARG002 - LangChain's
        return list(self.documents)


class RetrieverReplacer:
    """Copies a runnable with another retriever in place of its own.

    Attributes:
        found: retrievers that were replaced.
        hidden: retrievers inside of functions, which cannot be.
    """

    def __init__(self, retriever: BaseRetriever) -> None:
        self._retriever = retriever
        self.found = self.hidden = 0

    def __call__(self, step: Any) -> Any:
        """The part with the retrievers in it replaced; itself where there is none."""
        if isinstance(step, BaseRetriever):
            self.found += 1
            return self._retriever
        if isinstance(step, RunnableLambda):
            self.hidden += sum(_has_retriever(dep) for dep in step.deps)
            return step
        if isinstance(step, Runnable) and isinstance(step, BaseModel):
            values = {name: getattr(step, name) for name in type(step).model_fields}
            changed = {name: new for name, old in values.items() if (new := self(old)) is not old}
            return step.model_copy(update=changed) if changed else step
        if isinstance(step, Mapping):
            steps = {name: self(value) for name, value in step.items()}
            return steps if any(steps[name] is not step[name] for name in steps) else step
        if isinstance(step, list | tuple):
            several = [self(value) for value in step]
            same = all(new is old for new, old in zip(several, step, strict=True))
            return step if same else type(step)(several)
        return step


def _has_retriever(step: Any) -> bool:
    """Whether there is a retriever anywhere in it."""
    replacer = RetrieverReplacer(GivenDocumentsRetriever(documents=[]))
    replacer(step)
    return bool(replacer.found or replacer.hidden)


def has_replaceable_retriever(runnable: Any) -> bool:
    """Whether a chain has one retriever, in a place where another can stand."""
    replacer = RetrieverReplacer(GivenDocumentsRetriever(documents=[]))
    replacer(runnable)
    return replacer.found == 1 and not replacer.hidden


def with_passages(runnable: Any, passages: Sequence[Passage]) -> Any:
    """The chain with a retriever that returns these passages."""
    documents = [
        Document(id=passage.passage_id, page_content=passage.text or "", metadata=build_metadata(passage))
        for passage in passages
    ]
    return RetrieverReplacer(GivenDocumentsRetriever(documents=documents))(runnable)


class EventRecorder(BaseCallbackHandler):  # type: ignore[misc]     # the types of an optional package are not read
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
        return sum_token_counts(*self.usage)

    def on_chain_start(self, *_started: Any, run_id: UUID, parent_run_id: UUID | None = None, **_rest: Any) -> None:
        """Notes whose child it is."""
        self._parents[run_id] = parent_run_id

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_rest: Any) -> None:
        """Keeps a list of documents: a reranker that is a plain function is heard of here only."""
        if not is_documents(outputs) or not outputs or self._is_inside_retriever(run_id):
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
        if self._is_inside_retriever(run_id):
            self.inner.append(documents)
            return
        self.hops.append(documents)
        self.lists.clear()
        self._stop_clock("retrieval", run_id)

    def on_llm_start(self, *_started: Any, run_id: UUID, **_rest: Any) -> None:
        """Starts the clock."""
        self._started[run_id] = perf_counter()

    def on_chat_model_start(self, *_started: Any, run_id: UUID, **_rest: Any) -> None:
        """Starts the clock."""
        self._started[run_id] = perf_counter()

    def on_llm_end(self, response: Any, *, run_id: UUID, **_rest: Any) -> None:
        """Keeps the token counts, of the message or of the call as a whole."""
        self._stop_clock("generation", run_id)
        messages = [getattr(generation, "message", None) for several in response.generations for generation in several]
        usage = [counts for message in messages if (counts := getattr(message, "usage_metadata", None))]
        output = response.llm_output if isinstance(response.llm_output, Mapping) else {}
        self.usage += usage or [output.get("token_usage") or output.get("usage")]

    def _is_inside_retriever(self, run_id: UUID) -> bool:
        """Whether it runs inside a retriever."""
        above = self._parents.get(run_id)
        while above is not None:
            if above in self._retrievers:
                return True
            above = self._parents.get(above)
        return False

    def _stop_clock(self, stage: str, run_id: UUID) -> None:
        self._spent[stage] += (perf_counter() - self._started.pop(run_id, perf_counter())) * 1_000


def is_documents(value: Any) -> bool:
    """Whether a value is a list of LangChain documents; an empty list is."""
    return isinstance(value, list | tuple) and all(isinstance(item, Document) for item in value)

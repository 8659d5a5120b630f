"""A LangChain chain whose retriever gives passages that are handed in: the user's chain is copied, never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel

from ragauge.data.response import Passage
from ragauge.systems.returned import as_metadata


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

"""Compiled graphs of LangGraph as systems."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest

pytest.importorskip("langgraph")

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from tests.systems.answering_contract import KEPT, AnsweringContract
from tests.systems.langchain_vectors import Vectors
from tests.systems.one_index import K, answered, golden, one_response, pieces, plain_system, say

from ragauge.core.errors import UsageError
from ragauge.core.example import Turn
from ragauge.systems.base import Question
from ragauge.systems.system_lookup import find_system


class State(TypedDict):
    """As people write it: with Python's own TypedDict, of which pydantic makes no schema before Python 3.12."""

    question: str
    context: list[Any]
    answer: str


class Input(TypedDict):
    """What a graph takes, where that is not its whole state."""

    question: str


class Odd(TypedDict):
    """A state in which nothing is called like a question."""

    topic: str
    context: list[Any]
    answer: str


@pytest.fixture(scope="module")
def store() -> Any:
    """The index in LangChain's in-memory store."""
    store = InMemoryVectorStore(Vectors())
    store.add_documents(
        [Document(id=one.passage_id, page_content=one.text, metadata={"doc_id": one.doc_id}) for one in pieces()]
    )
    return store


def generate(state: Any) -> dict[str, Any]:
    return {"answer": say([one.page_content for one in state["context"]])}


def graph_of(store: Any, *, waits: bool = False, **options: Any) -> Any:
    """The graph of LangGraph's own tutorial: retrieve, generate."""

    def retrieve(state: Any) -> dict[str, Any]:
        return {"context": store.similarity_search(state["question"], k=K)}

    async def retrieve_async(state: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return retrieve(state)

    graph = StateGraph(State, **options)
    graph.add_sequence([("retrieve", retrieve_async if waits else retrieve), ("generate", generate)])
    graph.add_edge(START, "retrieve")
    return graph.compile()


@pytest.mark.parametrize("options", [{}, {"waits": True}, {"input_schema": Input}])
def test_graph_with_a_state(options: dict[str, Any], store: Any) -> None:
    """A graph of question, context and answer, async only or with an input of its own: passages and answers by hand."""
    found, plain = answered(find_system(graph_of(store, **options))), answered(plain_system())
    for example in golden().examples:
        one, other = found[example.query_id], plain[example.query_id]
        assert one.answer == other.answer
        assert [p.passage_id for p in one.passages or ()] == [p.passage_id for p in other.passages or ()]


def test_graph_of_messages_remembers_no_other_question(store: Any) -> None:
    """An agent with messages and a checkpointer gets each question in a thread of its own, with its earlier turns."""
    seen: list[list[str]] = []

    def respond(state: Any) -> dict[str, Any]:
        seen.append([one.content for one in state["messages"]])
        found = store.as_retriever(search_kwargs={"k": 2}).invoke(state["messages"][-1].content)
        return {"messages": [AIMessage(say([one.page_content for one in found]))]}

    graph = StateGraph(MessagesState).add_node("respond", respond).add_edge(START, "respond")
    system = find_system(graph.compile(checkpointer=InMemorySaver()))
    history = (Turn("user", "Hi"), Turn("assistant", "Hello"))

    async def two() -> list[Any]:
        try:
            return [await system.respond(Question(f"q{n}", "How do I pair a device?", history)) for n in range(2)]
        finally:
            await system.close()

    first, second = asyncio.run(two())
    assert seen == [["Hi", "Hello", "How do I pair a device?"]] * 2
    assert first.answer == second.answer != ""
    assert len(first.passages or ()) == 2


def test_passages_are_not_handed_to_a_graph(store: Any) -> None:
    """A graph's retriever is inside a function: variants are refused with what to write, before any question."""
    with pytest.raises(UsageError, match=r"retrieve\(query\) and generate\(query, passages\)"):
        find_system(graph_of(store)).check_variant("oracle")


def test_state_without_a_question(store: Any) -> None:
    """A state in which nothing is called like a question is an error that says which keys there are and what to set."""

    def retrieve(state: Any) -> dict[str, Any]:
        return {"context": store.similarity_search(state["topic"], k=1)}

    graph = StateGraph(Odd).add_sequence([("retrieve", retrieve), ("generate", generate)]).add_edge(START, "retrieve")
    compiled = graph.compile()
    with pytest.raises(UsageError, match=r"takes topic, context, answer.*Set input: topic"):
        find_system(compiled)
    assert len(one_response(find_system(compiled, {"input": "topic"}), "How heavy?").passages or ()) == 1


def kept(found: list[Document]) -> list[Document]:
    """The reranker: the farthest first, two of them."""
    return found[::-1][:KEPT]


class Reranked(BaseRetriever):  # type: ignore[misc] # an optional package, its types not read
    """A retriever that reranks what another one found, as contextual compression does."""

    base: Any

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return kept(self.base.invoke(query, config={"callbacks": run_manager.get_child()}))


class TestGraphOfMessages(AnsweringContract):
    @pytest.fixture
    def target(self, store: Any) -> Any:
        reranked = Reranked(base=store.as_retriever(search_kwargs={"k": K}))

        def respond(state: Any) -> dict[str, Any]:
            found = reranked.invoke(state["messages"][-1].content)
            return {"messages": [AIMessage(say([one.page_content for one in found]))]}

        return StateGraph(MessagesState).add_node("respond", respond).add_edge(START, "respond").compile()


class TestGraphOfState(AnsweringContract):
    @pytest.fixture
    def target(self, store: Any) -> Any:
        retriever = store.as_retriever(search_kwargs={"k": K})

        def retrieve(state: Any) -> dict[str, Any]:
            return {"context": kept(retriever.invoke(state["question"]))}

        graph = StateGraph(State).add_sequence([("retrieve", retrieve), ("generate", generate)])
        return graph.add_edge(START, "retrieve").compile()

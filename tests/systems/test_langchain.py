"""LangChain chains and retrievers as systems, over LangChain's own in-memory store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core")

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from tests.systems.langchain_vectors import Vectors
from tests.systems.one_index import K, answered, golden, one_response, pieces, plain_system, say, scores
from typing_extensions import TypedDict  # pydantic reads this one before Python 3.12

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Turn
from ragauge.core.response import Passage
from ragauge.systems.base import Question
from ragauge.systems.langchain import LangChainSystem
from ragauge.systems.system_lookup import find_system

GIVEN = [Passage("p9#1", "p9", "A hub is grey. It weighs two pounds."), Passage("p8", "p8", "Other.")]


@pytest.fixture(scope="module")
def retriever() -> Any:
    """The index in LangChain's in-memory store: ids of pieces, the document in the metadata."""
    store = InMemoryVectorStore(Vectors())
    store.add_documents(
        [Document(id=one.passage_id, page_content=one.text, metadata={"doc_id": one.doc_id}) for one in pieces()]
    )
    return store.as_retriever(search_kwargs={"k": K})


def model() -> Any:
    """A chat model that says the last sentence of the first passage of its prompt, and counts 7 and 2 tokens."""

    def reply(prompt: Any) -> AIMessage:
        text = prompt.to_messages()[-1].content.split("<context>")[1]
        said = say([part for part in text.split("\x1f") if part.strip()])
        return AIMessage(said, usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9})

    class Model(FakeListChatModel):  # type: ignore[misc]
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            from langchain_core.outputs import ChatGeneration, ChatResult
            from langchain_core.prompt_values import ChatPromptValue

            return ChatResult(generations=[ChatGeneration(message=reply(ChatPromptValue(messages=messages)))])

    return Model(responses=["x"])


def joined(documents: Sequence[Any]) -> str:
    """The documents in one text."""
    return "\x1f".join(one.page_content for one in documents)


PROMPT = ChatPromptTemplate.from_template("{question}<context>{context}")


def text_chain(retriever: Any) -> Any:
    """The chain of LangChain's tutorials: it returns a text and nothing of what it retrieved."""
    return {"context": retriever | joined, "question": RunnablePassthrough()} | PROMPT | model() | StrOutputParser()


def dict_chain(retriever: Any) -> Any:
    """A chain that returns question, context and answer."""
    answer = RunnableLambda(lambda x: {**x, "context": joined(x["context"])}) | PROMPT | model()
    return RunnableParallel({"context": retriever, "question": RunnablePassthrough()}).assign(answer=answer)


CHAINS = {"text": text_chain, "dict": dict_chain}


@pytest.mark.parametrize("form", CHAINS)
def test_same_scores_as_without_a_framework(form: str, retriever: Any, tmp_path: Path) -> None:
    """The same eval set over the same index gives the scores of the system written by hand."""
    found = answered(find_system(CHAINS[form](retriever)))
    assert scores(found, tmp_path) == scores(answered(plain_system()), tmp_path)
    one = found[golden().examples[0].query_id]
    assert one.passages is not None
    assert one.passages[0].passage_id.startswith(f"{one.passages[0].doc_id}#")
    assert one.tokens == {"input": 7, "output": 2}
    assert set(one.latency_ms) == {"retrieval", "generation"}


def test_retriever_alone(retriever: Any) -> None:
    """A retriever gives passages, no answer and the reason for that."""
    found = one_response(find_system(retriever), "How do I pair a device?")
    assert found.passages is not None
    assert len(found.passages) == K
    assert (found.answer, found.missing["answer"]) == (None, "retrieval only")
    assert found.citations is None


@pytest.mark.parametrize("form", CHAINS)
def test_handed_passages_reach_the_generator(form: str, retriever: Any) -> None:
    """Handed passages take the retriever's place, none of them is fetched, and the user's chain stays as it was."""
    chain = CHAINS[form](retriever)
    before = chain.invoke("How do I pair a device?")
    found = one_response(find_system(chain), "How heavy is it?", GIVEN)
    assert found.answer == "It weighs two pounds."
    assert found.passages == tuple(GIVEN)
    assert one_response(find_system(chain), "How heavy is it?", []).answer == "I do not know."
    after = chain.invoke("How do I pair a device?")
    assert (after if form == "text" else after["context"]) == (before if form == "text" else before["context"])


def test_a_retriever_in_a_function_cannot_be_replaced(retriever: Any) -> None:
    """A chain that hides its retriever in a function answers for itself; with passages the error says what to write."""
    chain = RunnableLambda(lambda question: {"context": retriever.invoke(question), "answer": "Yes."})
    system = find_system(chain)
    assert one_response(system, "Is it?").answer == "Yes."
    with pytest.raises(UsageError, match=r"RunnableLambda.* does its own retrieval.*exactly one retriever.*generate"):
        system.check_variant("oracle")
    both = RunnableParallel(context=retriever, more=retriever) | RunnableLambda(lambda _: "x")
    assert find_system(both).variants == {"own"}


class Shorter(BaseRetriever):  # type: ignore[misc]
    """Reranks what another retriever found, as LangChain's contextual compression does."""

    base: Any

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        found = self.base.invoke(query, config={"callbacks": run_manager.get_child()})
        return [
            Document(page_content=one.page_content, id=one.id, metadata={**one.metadata, "relevance_score": 1.0 / n})
            for n, one in enumerate(reversed(found), 1)
        ][:2]


@pytest.mark.parametrize("inside", [True, False], ids=["retriever", "function"])
def test_ranking_before_a_reranker_is_the_candidates(inside: bool, retriever: Any) -> None:
    """What stood before a reranking retriever, or a reranking function, is kept as candidates."""
    shortened = Shorter(base=retriever) if inside else retriever | (lambda found: found[::-1][:2])
    found = one_response(find_system(text_chain(shortened)), "How do I pair a device?")
    assert found.passages is not None
    assert found.candidates is not None
    assert [one.passage_id for one in found.passages] == [one.passage_id for one in found.candidates[::-1][:2]]
    assert len(found.candidates) == K
    assert [one.score for one in found.passages] == ([1.0, 0.5] if inside else [None, None])


def test_two_retrieval_steps_are_hops(retriever: Any) -> None:
    """Two retrievers in one chain: the union in order, each passage with its step, the first copy kept."""
    two = {"a": retriever, "b": RunnableLambda(lambda _: "refund policy") | retriever}
    chain = two | RunnableLambda(lambda x: joined([*x["a"], *x["b"]])[:10])
    found = one_response(find_system(chain), "How do I pair a device?")
    assert found.passages is not None
    assert {one.hop for one in found.passages} == {0, 1}
    assert len({one.passage_id for one in found.passages}) == len(found.passages)


@pytest.mark.parametrize("first", [lambda text: [text.upper()], RunnableLambda(lambda text: [text.upper()])])
def test_steps_side_by_side_take_the_question_itself(first: Any) -> None:
    """A chain that begins with steps beside a passthrough, as tutorials write it, is given the question as a text."""
    said = RunnableLambda(lambda x: f"{x['question']}: {x['context']}")
    chain = {"context": first, "question": RunnablePassthrough()} | said
    assert one_response(find_system(chain), "How long?").answer == "How long?: ['HOW LONG?']"


def test_input_keys(retriever: Any) -> None:
    """The question goes to the key that the chain's schema names, earlier turns to its history; else `input` says."""
    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("chat_history"), ("human", "{question}<context>{context}")]
    )
    seen: list[Any] = []
    chain = (
        RunnablePassthrough.assign(context=itemgetter("question") | retriever | joined)
        | prompt
        | RunnableLambda(lambda value: (seen.append(value.to_messages()), "ok")[1])  # type: ignore[func-returns-value]
    )
    system = find_system(chain)
    turns = (Turn("user", "Hello"), Turn("assistant", "Hi"))
    asyncio.run(system.respond(Question("q", "Which hub?", turns)))
    assert [message.type for message in seen[0]] == ["human", "ai", "human"]
    assert seen[0][2].content.startswith("Which hub?<context>")
    odd: Any = RunnableLambda(lambda x: x["topic"] + x["style"])
    with pytest.raises(UsageError, match=r"takes style, topic.*Set input: style"):
        find_system(odd)
    assert find_system(odd, {"input": "topic", "name": "odd"}).name == "odd"
    with pytest.raises(UnknownName, match="nearest: input"):
        find_system(odd, {"inputs": "topic"})


def test_chains_that_are_async_only(retriever: Any) -> None:
    """A chain of coroutines is asked on the loop."""

    async def answer(question: str) -> str:
        await asyncio.sleep(0)
        return question.upper()

    assert one_response(find_system(RunnableLambda(answer)), "which?").answer == "WHICH?"


def test_ids_by_rule() -> None:
    """An id a person gave, a UUID of the store beside a source, a configured key, and a text alone."""
    made = "123e4567-e89b-12d3-a456-426614174000"
    documents = [
        Document(id="mine", page_content="One."),
        Document(id=made, page_content="Two.", metadata={"source": "two.md", "start_index": 10}),
        Document(page_content="Three.", metadata={"url": "three", "source": "x"}),
        Document(page_content="Four."),
    ]
    chain: Runnable[Any, Any] = RunnableLambda(lambda _: documents)
    found = one_response(find_system(chain, {"id_key": "url"}), "?").passages
    assert found is not None
    assert [one.doc_id for one in found] == ["mine", "two.md", "three", found[3].doc_id]
    assert found[3].doc_id.startswith("text:")
    assert found[1].passage_id == made
    assert found[1].span is not None
    assert (found[1].span.doc_id, found[1].span.start, found[1].span.end) == ("two.md", 10, 14)


def test_numbered_citations(retriever: Any) -> None:
    """With citations: numbered, [2] in the answer credits the second passage, and [9] is kept as invented."""
    chain = RunnableParallel(context=retriever, answer=RunnableLambda(lambda _: "Press it. [2] Wait. [9]"))
    found = one_response(find_system(chain, {"citations": "numbered"}), "How do I pair a device?")
    assert found.passages is not None
    assert found.citations is not None
    assert [one.target for one in found.citations] == [found.passages[1].passage_id, "[9]"]
    answer = found.answer or ""
    assert [answer[one.start : one.end] for one in found.citations] == ["Press it. [2]", "Wait. [9]"]


class State(TypedDict):
    messages: list[Any]


def test_agents_with_messages() -> None:
    """A graph that takes and returns messages: its last answer counts."""

    def graph(state: dict[str, Any]) -> dict[str, Any]:
        return {"messages": [*state["messages"], AIMessage("Done.")]}

    system = LangChainSystem(RunnableLambda(graph).with_types(input_type=State), "graph")
    assert one_response(system, "Do it").answer == "Done."

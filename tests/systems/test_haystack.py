"""Haystack pipelines and retrievers as systems, over Haystack's own in-memory store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("haystack")

from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from tests.systems.one_index import K, answered, embed, golden, one_response, pieces, plain_system, say, scores, vectors

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import Passage
from ragauge.systems.system_lookup import find_system

GIVEN = [Passage("p9#1", "p9", "A hub is grey. It weighs two pounds."), Passage("p8", "p8", "Other.")]
QUESTION = "How do I pair a device?"
TEMPLATE = "{{ question }}<context>{% for document in documents %}{{ document.content }}\x1f{% endfor %}"


@component
class Embedder:
    """The embedded embedder as Haystack's."""

    @component.output_types(embedding=list[float])  # type: ignore[untyped-decorator]
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": embed([text])[0]}


@component
class Model:
    """Says the last sentence of the first passage of its prompt, and counts 7 and 2 tokens."""

    @component.output_types(replies=list[str], meta=list[dict[str, Any]])  # type: ignore[untyped-decorator]
    def run(self, prompt: str) -> dict[str, Any]:
        texts = [part for part in prompt.split("<context>")[1].split("\x1f") if part.strip()]
        return {"replies": [say(texts)], "meta": [{"usage": {"prompt_tokens": 7, "completion_tokens": 2}}]}


@component
class ChatModel:
    """Cites the second passage and one that is not there."""

    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    def run(self, prompt: str) -> dict[str, Any]:
        return {"replies": [ChatMessage.from_assistant("Hold it [2]. Wait [9].", meta={"usage": {"input_tokens": 3}})]}


@component
class Ranker:
    """The two last, in the opposite order; asks for the question, as Haystack's rankers do."""

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        assert query
        return {"documents": documents[::-1][:2]}


@pytest.fixture(scope="module")
def store() -> Any:
    """The pieces in Haystack's in-memory store, the document in the meta."""
    found = InMemoryDocumentStore(embedding_similarity_function="cosine")
    found.write_documents(
        [
            Document(id=one.passage_id, content=one.text, embedding=vector, meta={"doc_id": one.doc_id})
            for one, vector in zip(pieces(), vectors(), strict=True)
        ]
    )
    return found


def retrieval(store: Any) -> Any:
    """Embedder and retriever."""
    found = Pipeline()
    found.add_component("embedder", Embedder())
    found.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=K))
    found.connect("embedder.embedding", "retriever.query_embedding")
    return found


def pipeline(store: Any, *, ranked: bool = False, built: bool = False, model: Any = None) -> Any:
    """Embedder, retriever, perhaps a ranker, prompt builder, model, perhaps an answer builder."""
    found = retrieval(store)
    last = "retriever"
    if ranked:
        found.add_component("ranker", Ranker())
        found.connect("retriever.documents", "ranker.documents")
        last = "ranker"
    found.add_component("prompt", PromptBuilder(TEMPLATE, required_variables=["question", "documents"]))
    found.add_component("model", model or Model())
    found.connect(f"{last}.documents", "prompt.documents")
    found.connect("prompt.prompt", "model.prompt")
    if built:
        found.add_component("builder", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
        found.connect("model.replies", "builder.replies")
        found.connect(f"{last}.documents", "builder.documents")
    return found


@pytest.mark.prove
def test_same_scores_as_without_a_framework(store: Any, tmp_path: Path) -> None:
    """The same eval set over the same index gives the scores of the system written by hand."""
    found = answered(find_system(pipeline(store)))
    assert scores(found, tmp_path) == scores(answered(plain_system()), tmp_path)
    one = found[golden().examples[0].query_id]
    assert one.passages is not None
    assert one.passages[0].passage_id.startswith(f"{one.passages[0].doc_id}#")
    assert one.passages[0].score is not None
    assert one.tokens == {"input": 7, "output": 2}


def test_retrieval_alone(store: Any) -> None:
    """A pipeline without a generator, and a retriever that takes text, give passages and no answer."""
    for target in (retrieval(store), InMemoryBM25Retriever(store, top_k=K)):
        found = one_response(find_system(target), QUESTION)
        assert found.passages is not None
        assert (len(found.passages), found.answer, found.missing["answer"]) == (K, None, "retrieval only")
    with pytest.raises(UsageError, match=r"query_embedding.*pipeline of the text embedder and the retriever"):
        find_system(InMemoryEmbeddingRetriever(store))


@pytest.mark.parametrize("ranked", [False, True])
def test_handed_passages_reach_the_generator(store: Any, ranked: bool) -> None:
    """Handed passages replace retrieval and ranking, nothing is embedded, and the user's pipeline stays as it was."""
    own = pipeline(store, ranked=ranked, built=True)
    asked = {"embedder": {"text": QUESTION}, "prompt": {"question": QUESTION}, "builder": {"query": QUESTION}}
    asked |= {"ranker": {"query": QUESTION}} if ranked else {}
    before = own.run(asked)
    nodes = list(own.graph.nodes)
    calls: list[str] = []
    embedder = own.get_component("embedder")
    embedder.run = calls.append
    found = one_response(find_system(own), "How heavy is it?", GIVEN)
    assert (found.answer, found.passages) == ("It weighs two pounds.", tuple(GIVEN))
    assert one_response(find_system(own), "How heavy is it?", []).answer == "I do not know."
    assert calls == []
    del embedder.run
    after = own.run(asked)
    assert (after["builder"]["answers"][0].data, list(own.graph.nodes)) == (before["builder"]["answers"][0].data, nodes)


def test_ranking_before_a_ranker_is_the_candidates(store: Any) -> None:
    """What the retriever gave before the ranker is kept as candidates."""
    found = one_response(find_system(pipeline(store, ranked=True)), QUESTION)
    assert found.passages is not None
    assert found.candidates is not None
    assert found.passages == found.candidates[::-1][:2]
    assert one_response(find_system(pipeline(store)), QUESTION).candidates is None


def test_answer_builder_and_chat_replies(store: Any) -> None:
    """References that an AnswerBuilder reads become citations by place; the passages are all that the model saw."""
    found = one_response(find_system(pipeline(store, built=True, model=ChatModel())), QUESTION)
    assert found.passages is not None
    assert found.citations is not None
    assert found.answer == "Hold it [2]. Wait [9]."
    assert len(found.passages) == K
    assert [one.target for one in found.citations] == [found.passages[1].passage_id, "[9]"]
    assert found.tokens == {"input": 3}


def hybrid(store: Any) -> Any:
    """Two retrievers, joined, and two models."""
    found = retrieval(store)
    found.add_component("bm25", InMemoryBM25Retriever(store, top_k=K))
    found.add_component("join", DocumentJoiner())
    found.add_component("prompt", PromptBuilder(TEMPLATE, required_variables=["question", "documents"]))
    found.add_component("model", Model())
    found.add_component("other", ChatModel())
    found.connect("retriever.documents", "join.documents")
    found.connect("bm25.documents", "join.documents")
    found.connect("join.documents", "prompt.documents")
    found.connect("prompt.prompt", "model.prompt")
    found.connect("prompt.prompt", "other.prompt")
    return found


def test_what_the_graph_does_not_tell_is_named(store: Any) -> None:
    """Two ends with an answer, or an input not called like a question, need a setting, and the error says which."""
    with pytest.raises(
        UsageError, match=r"more than one .* returns answer: model\.replies, other\.replies. Set answer"
    ):
        find_system(hybrid(store))
    system = find_system(hybrid(store), {"answer": "model"})
    found = one_response(system, QUESTION)
    assert found.passages is not None
    assert len(found.passages) > K
    assert one_response(find_system(hybrid(store), {"answer": "model"}), "?", GIVEN).answer == "It weighs two pounds."
    with pytest.raises(UnknownName, match=r"no component of .*'modell'; nearest: model"):
        find_system(hybrid(store), {"answer": "modell"})
    topic = Pipeline()
    topic.add_component("prompt", PromptBuilder("{{ topic }}<context>x", required_variables=["topic"]))
    topic.add_component("model", Model())
    topic.connect("prompt.prompt", "model.prompt")
    with pytest.raises(UsageError, match=r"needs prompt.topic. Set what each one receives, as inputs: \{prompt.topic"):
        find_system(topic)
    alone = find_system(topic, {"inputs": {"prompt.topic": "about {query}"}})
    assert (set(alone.variants), one_response(alone, "hubs").answer) == ({"own"}, "x")


def test_ids_by_rule() -> None:
    """A splitter's link to its document, an id a person gave, and metadata before the hash that Haystack makes."""
    documents = [
        Document(content="One.", meta={"source_id": "a", "split_idx_start": 5}),
        Document(id="mine", content="Two."),
        Document(content="Three.", meta={"source": "c.md"}),
        Document(content="Four."),
    ]

    @component
    class Fixed:
        @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": documents}

    found = one_response(find_system(Fixed()), "?").passages
    assert found is not None
    assert [one.doc_id for one in found] == ["a", "mine", "c.md", documents[3].id]
    assert [one.passage_id for one in found] == [one.id for one in documents]
    assert found[0].span is not None
    assert (found[0].span.start, found[0].span.end) == (5, 9)

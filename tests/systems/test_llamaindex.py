"""LlamaIndex query engines, chat engines and retrievers as systems, over LlamaIndex's own in-memory index."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import PromptTemplate, Settings, VectorStoreIndex, get_response_synthesizer
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from tests.systems.answering_contract import KEPT, AnsweringContract
from tests.systems.one_index import (
    K,
    answered,
    embed,
    golden,
    nearest,
    one_response,
    pieces,
    plain_system,
    say,
    scores,
    vectors,
)

from ragauge.core.errors import UsageError
from ragauge.core.example import Turn
from ragauge.core.response import Passage, Response
from ragauge.systems.base import Question
from ragauge.systems.system_lookup import find_system

GIVEN = [Passage("p9#1", "p9", "A hub is grey. It weighs two pounds."), Passage("p8", "p8", "Other.")]
QUESTION = "How do I pair a device?"


class Vectors(BaseEmbedding):  # type: ignore[misc] # an optional package, its types not read
    """The embedded embedder as LlamaIndex's."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return embed([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return embed([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return embed([query])[0]


class Model(CustomLLM):  # type: ignore[misc] # an optional package, its types not read
    """Says the last sentence of the passage in its prompt, or what was said before; counts 7 and 2 tokens a call."""

    fixed: str = ""

    @property
    def metadata(self) -> Any:
        return LLMMetadata(context_window=100_000)

    @llm_completion_callback()  # type: ignore[untyped-decorator] # an optional package, its types not read
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        question, _, rest = prompt.partition("<existing>")
        text = self.fixed or rest or say([question.partition("<context>")[2]])
        usage = {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}
        return CompletionResponse(text=text, raw=usage)

    @llm_completion_callback()  # type: ignore[untyped-decorator] # an optional package, its types not read
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield CompletionResponse(text="Streamed.", delta="Streamed.")


@pytest.fixture(scope="module")
def index() -> Any:
    """The pieces as nodes with a link to their documents, in LlamaIndex's in-memory vector store."""
    nodes = [
        TextNode(
            id_=one.passage_id,
            text=one.text,
            embedding=vector,
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=one.doc_id)},
        )
        for one, vector in zip(pieces(), vectors(), strict=True)
    ]
    return VectorStoreIndex(nodes, embed_model=Vectors())


def engine(index: Any, postprocessors: Any = (), **options: Any) -> Any:
    """A query engine over the index, which shows its model the passages one by one; the first answer stays."""
    synthesizer = get_response_synthesizer(
        llm=Model(),
        response_mode="refine",
        text_qa_template=PromptTemplate("{query_str}<context>{context_str}"),
        refine_template=PromptTemplate("{query_str}{context_msg}<existing>{existing_answer}"),
        **options,
    )
    return RetrieverQueryEngine(
        retriever=index.as_retriever(similarity_top_k=K),
        response_synthesizer=synthesizer,
        node_postprocessors=list(postprocessors),
    )


@pytest.mark.prove
def test_same_scores_as_without_a_framework(index: Any, tmp_path: Path) -> None:
    """The same eval set over the same index gives the retrieval of the system written by hand, and its scores."""
    found = answered(find_system(engine(index)))
    plain = answered(plain_system())
    ids = {key: [(p.doc_id, p.passage_id) for p in one.passages or ()] for key, one in found.items()}
    assert ids == {key: [(p.doc_id, p.passage_id) for p in one.passages or ()] for key, one in plain.items()}
    assert scores(found, tmp_path) == scores(plain, tmp_path)
    one = found[golden().examples[0].query_id]
    assert one.tokens == {"input": 7 * K, "output": 2 * K}
    assert set(one.latency_ms) == {"retrieval", "generation"}


def test_retriever_alone(index: Any) -> None:
    """A retriever gives passages with scores, no answer and the reason for that."""
    found = one_response(find_system(index.as_retriever(similarity_top_k=K)), QUESTION)
    assert found.passages is not None
    assert [one.score for one in found.passages] == sorted((one.score or 0 for one in found.passages), reverse=True)
    assert (len(found.passages), found.answer, found.missing["answer"]) == (K, None, "retrieval only")


def test_handed_passages_reach_the_generator(index: Any) -> None:
    """Handed passages go to synthesize, their ids are kept, and no event handler stays behind."""
    handlers = list(get_dispatcher().event_handlers)
    system = find_system(engine(index))
    assert system.variants == {"own", "oracle", "closed_book", "replayed"}
    found = one_response(system, "How heavy is it?", GIVEN)
    assert (found.answer, found.passages) == ("It weighs two pounds.", tuple(GIVEN))
    assert one_response(find_system(engine(index)), "How heavy is it?", []).answer == "Empty Response"
    assert list(get_dispatcher().event_handlers) == handlers


def test_retrieval_before_postprocessors_is_the_candidates(index: Any) -> None:
    """What the retriever returned before a node postprocessor dropped some is kept as candidates."""
    top = one_response(find_system(index.as_retriever(similarity_top_k=K)), QUESTION).passages
    assert top is not None
    cutoff = SimilarityPostprocessor(similarity_cutoff=top[1].score)
    found = one_response(find_system(engine(index, [cutoff])), QUESTION)
    assert (found.passages, found.candidates) == (top[:2], top)
    assert one_response(find_system(engine(index)), QUESTION).candidates is None


def test_streamed_answer_is_read(index: Any) -> None:
    """An engine that streams is read to its end."""
    found = one_response(find_system(engine(index, streaming=True)), QUESTION)
    assert found.answer == "Streamed."
    assert found.passages


def test_citation_engine(index: Any) -> None:
    """CitationQueryEngine's numbers become citations of its source nodes, without any setting."""
    cited = CitationQueryEngine.from_args(
        index, llm=Model(fixed="Hold the button [2]."), similarity_top_k=2, citation_chunk_size=512
    )
    found = one_response(find_system(cited), QUESTION)
    assert found.passages is not None
    assert found.citations is not None
    assert [(one.start, one.target) for one in found.citations] == [(0, found.passages[1].passage_id)]


def test_engine_that_cannot_take_passages() -> None:
    """An engine without synthesize answers for itself; with passages the error says what to give."""
    from llama_index.core.query_engine import CustomQueryEngine

    class Own(CustomQueryEngine):  # type: ignore[misc] # an optional package, its types not read
        def custom_query(self, query_str: str) -> Any:
            return "Yes."

    Settings.llm = Model()
    system = find_system(Own())
    assert one_response(system, "Is it?").answer == "Yes."
    with pytest.raises(UsageError, match=r"closed_book.*a method synthesize.*generate"):
        system.check_variant("closed_book")


def test_ids_by_rule() -> None:
    """A link to a document that a person named, else a metadata key before ids that LlamaIndex made up."""
    from llama_index.core.retrievers import BaseRetriever

    source = NodeRelationship.SOURCE
    made, other = "123e4567-e89b-12d3-a456-426614174000", "223e4567-e89b-12d3-a456-426614174000"
    nodes = [
        TextNode(id_=made, text="One.", relationships={source: RelatedNodeInfo(node_id="a.md")}, start_char_idx=3),
        TextNode(text="Two.", metadata={"source": "b.md"}, relationships={source: RelatedNodeInfo(node_id=made)}),
        TextNode(id_=other, text="Three."),
        TextNode(text="Four.", metadata={"file_name": "d.md"}),
    ]

    class Fixed(BaseRetriever):  # type: ignore[misc] # an optional package, its types not read
        def _retrieve(self, query_bundle: Any) -> Any:
            return [NodeWithScore(node=node) for node in nodes]

    found = one_response(find_system(Fixed(), {"id_key": "file_name"}), "?").passages
    assert found is not None
    assert [one.doc_id for one in found] == ["a.md", "b.md", other, "d.md"]
    assert found[0].passage_id == made
    assert found[0].span is not None
    assert (found[0].span.start, found[0].span.end) == (3, 7)


def test_chat_engine(index: Any) -> None:
    """A chat engine is given each question with its own earlier turns and none of another's; passages are its nodes."""
    model = Model(fixed="It weighs two pounds.")
    seen: list[list[str]] = []

    class Remembering(ContextChatEngine):  # type: ignore[misc] # an optional package, its types not read
        def chat(self, message: str, chat_history: Any = None, **rest: Any) -> Any:
            seen.append([one.content for one in chat_history])
            return super().chat(message, chat_history, **rest)

    retriever = index.as_retriever(similarity_top_k=K)
    memory = ChatMemoryBuffer.from_defaults(token_limit=10_000, tokenizer_fn=str.split)
    system = find_system(Remembering.from_defaults(retriever=retriever, llm=model, memory=memory))
    history = (Turn("user", "Hi"), Turn("assistant", "Hello"))

    async def asked() -> list[Response]:
        try:
            questions = [Question("q1", "How heavy is it?", history), Question("q2", "How do I pair a device?")]
            return list(await asyncio.gather(*map(system.respond, questions)))
        finally:
            await system.close()

    first, second = asyncio.run(asked())
    assert sorted(seen, key=len) == [[], ["Hi", "Hello"]]
    assert (first.answer, second.answer) == ("It weighs two pounds.", "It weighs two pounds.")
    expected = [one.passage_id for one, _ in nearest("How do I pair a device?")]
    assert [one.passage_id for one in second.passages or ()] == expected
    assert system.variants == {"own"}


class Reversed(BaseNodePostprocessor):  # type: ignore[misc] # an optional package, its types not read
    """The reranker: the farthest first, two of them."""

    def _postprocess_nodes(self, nodes: list[Any], query_bundle: Any = None) -> list[Any]:
        return nodes[::-1][:KEPT]


class Chatting(Model):
    """Says the last sentence of the first passage in the system's message."""

    @llm_completion_callback()  # type: ignore[untyped-decorator] # an optional package, its types not read
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        context = prompt.partition("<context>")[2].partition("</context>")[0]
        first = max((one.text for one in pieces() if context.startswith(one.text)), key=len)
        return CompletionResponse(text=say([first]))


class TestQueryEngine(AnsweringContract):
    @pytest.fixture
    def target(self, index: Any) -> Any:
        return engine(index, [Reversed()])


class TestChatEngine(AnsweringContract):
    @pytest.fixture
    def target(self, index: Any) -> Any:
        return ContextChatEngine.from_defaults(
            retriever=index.as_retriever(similarity_top_k=K),
            llm=Chatting(),
            node_postprocessors=[Reversed()],
            context_template="<context>{context_str}</context>",
            memory=ChatMemoryBuffer.from_defaults(token_limit=10_000, tokenizer_fn=str.split),
        )

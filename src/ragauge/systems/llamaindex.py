"""LlamaIndex: a query engine, a chat engine or a retriever."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from ragauge.core.response import Passage
from ragauge.systems.base import ALL_VARIANTS, OWN_ONLY, Question
from ragauge.systems.response_parser import (
    RETRIEVED_ONLY,
    FrameworkSystem,
    build_identity,
    build_metadata,
    build_passage_item,
    is_candidate_ranking,
    list_base_names,
    sum_token_counts,
)

PACKAGE = "llama_index"
CITING = "CitationQueryEngine"  # answers with [1], one number a source node


class LlamaIndexSystem(FrameworkSystem):
    """Asks a query engine, a chat engine or a retriever, and hears what it does through LlamaIndex's events.

    Passages are the response's source nodes. Candidates are what the retriever returned before the node postprocessors,
    where the source nodes were chosen from it. Handed passages go to the engine's `synthesize`. A chat engine is given
    the example's own earlier turns with each question, and one question at a time, since it has one memory.

    Args:
        target: a query engine or a chat engine; or a retriever: then there are passages and no answer.
        name: of the system.
        config: its settings, for the record.
        settings: id_key (a key of the metadata that names the document), citations ("numbered": [1] in the answer;
            as CitationQueryEngine writes them, so for that it is on).
    """

    framework = "llamaindex"
    implement = (
        "a query engine with a method synthesize, such as RetrieverQueryEngine; or a class with retrieve(query) and "
        "generate(query, passages)"
    )

    def __init__(
        self, target: Any, name: str, config: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        kinds = list_base_names(target, PACKAGE)
        self._retriever = not kinds & {"BaseQueryEngine", "BaseChatEngine"}
        self._turn = threading.Lock() if "BaseChatEngine" in kinds else None
        variants = ALL_VARIANTS if not self._retriever and _has_synthesize(target) else OWN_ONLY
        super().__init__(target, name, config, settings, variants)
        self._numbered = self._numbered or CITING in kinds
        self._hearing: _EventListener | None = None

    async def ask_target(self, question: Question, passages: Sequence[Passage] | None) -> Any:
        """The response to a question, with what was heard meanwhile."""
        listener = self._hearing = self._hearing or _EventListener()
        events: list[Any] = []
        token = listener.events.set(events)
        try:
            returned = await self._threads.call_in_thread(lambda: self._query_target(question, passages))
        finally:
            listener.events.reset(token)
        return self._read_response(returned, events)

    async def close(self) -> None:
        """Stops hearing, and ends the idle threads."""
        if self._hearing is not None:
            self._hearing.close()
            self._hearing = None
        await super().close()

    def _query_target(self, question: Question, passages: Sequence[Passage] | None) -> Any:
        query = question.query
        if self._retriever:
            return self._target.retrieve(query)
        if self._turn is not None:
            with self._turn:
                return self._target.chat(query, chat_history=_build_messages(question))
        if passages is None:
            response = self._target.query(query)
        else:
            from llama_index.core.schema import QueryBundle

            response = self._target.synthesize(QueryBundle(query), [_build_node(passage) for passage in passages])
        streamed = getattr(response, "get_response", None)
        return streamed() if callable(streamed) else response

    def _read_response(self, returned: Any, events: Sequence[Any]) -> dict[str, Any]:
        """What `response_of` takes."""
        if self._retriever:
            return {"passages": self._build_items(returned), "missing": RETRIEVED_ONLY, **_measure_usage(events)}
        passages = self._build_items(returned.source_nodes)
        reply = returned.response
        out = {"answer": reply if isinstance(reply, str) or reply is None else str(reply), "passages": passages}
        retrievals = [event for event in events if event.class_name() == "RetrievalEndEvent"]
        candidates = self._build_items(retrievals[-1].nodes) if retrievals else []
        is_subset = set(map(build_identity, passages)) <= set(map(build_identity, candidates))
        if is_subset and is_candidate_ranking(candidates, passages):
            out["candidates"] = candidates
        return {**out, **_measure_usage(events)}

    def _build_items(self, nodes: Sequence[Any]) -> list[dict[str, Any]]:
        return [_build_item(node, self._id_key) for node in nodes]


class _EventListener:
    """Receives LlamaIndex's events while a system is used, each call its own.

    Attributes:
        events: where the events of the running call go; what is not a call of ours is not kept.
    """

    def __init__(self) -> None:
        from llama_index.core.instrumentation import get_dispatcher
        from llama_index.core.instrumentation.event_handlers import BaseEventHandler

        events: ContextVar[list[Any] | None] = ContextVar("events", default=None)

        class Handler(BaseEventHandler):  # type: ignore[misc]     # the types of an optional package are not read
            def handle(self, event: Any, **_rest: Any) -> None:
                call_events = events.get()
                if call_events is not None and event.class_name() in EVENT_NAMES:
                    call_events.append(event)

        self.events = events
        self._handler = Handler()
        self._dispatcher = get_dispatcher()
        self._dispatcher.add_event_handler(self._handler)

    def close(self) -> None:
        """Receives no more."""
        handlers = [handler for handler in self._dispatcher.event_handlers if handler is not self._handler]
        self._dispatcher.event_handlers = handlers


EVENT_PAIRS = {
    "RetrievalStartEvent": "RetrievalEndEvent",
    "LLMChatStartEvent": "LLMChatEndEvent",
    "LLMCompletionStartEvent": "LLMCompletionEndEvent",
}
EVENT_NAMES = frozenset({*EVENT_PAIRS, *EVENT_PAIRS.values()})


def _measure_usage(events: Sequence[Any]) -> dict[str, Any]:
    """Token counts and times of the call, where they are known."""
    latency: dict[str, float] = {}
    open_: dict[str, list[Any]] = {}
    for event in events:  # starts and ends of one kind nest: the outermost pair counts
        kind = event.class_name()
        if kind in EVENT_PAIRS:
            open_.setdefault(EVENT_PAIRS[kind], []).append(event.timestamp)
        elif open_.get(kind):
            started = open_[kind].pop()
            if not open_[kind]:
                stage = "retrieval" if kind.startswith("Retrieval") else "generation"
                latency[stage] = latency.get(stage, 0.0) + (event.timestamp - started).total_seconds() * 1_000
    responses = [
        event.response for event in events if event.class_name().startswith("LLM") and hasattr(event, "response")
    ]
    tokens = sum_token_counts(*(_find_usage(end) for end in responses))
    usage = {"tokens": tokens, "latency_ms": latency}
    return {name: value for name, value in usage.items() if value}


def _find_usage(response: Any) -> Any:
    """The token counts of a model's response: in what the provider sent, or beside it."""
    raw = getattr(response, "raw", None)
    usage = raw.get("usage") if isinstance(raw, Mapping) else getattr(raw, "usage", None)
    return usage or getattr(response, "additional_kwargs", None)


def _build_item(scored_node: Any, id_key: str | None) -> dict[str, Any]:
    node = getattr(scored_node, "node", scored_node)
    return build_passage_item(
        node.get_content(),
        [node.ref_doc_id, node.node_id],
        node.metadata or {},
        getattr(scored_node, "score", None),
        key=id_key,
        start=getattr(node, "start_char_idx", None),
    )


def _build_messages(question: Question) -> list[Any]:
    from llama_index.core.llms import ChatMessage

    return [ChatMessage(role=turn.role, content=turn.text) for turn in question.history]


def _build_node(passage: Passage) -> Any:
    from llama_index.core.schema import NodeWithScore, TextNode

    hidden = list(build_metadata(passage))  # a prompt shows the text as it is
    node = TextNode(
        id_=passage.passage_id,
        text=passage.text or "",
        metadata=build_metadata(passage),
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=passage.score)


def _has_synthesize(target: object) -> bool:
    """Whether the engine's class has a `synthesize` of its own: the base class only raises."""
    return any("synthesize" in vars(cls) and cls.__name__ != "BaseQueryEngine" for cls in type(target).__mro__)


def takes(target: object) -> bool:
    """Whether it is a LlamaIndex query engine, chat engine or retriever."""
    return bool(list_base_names(target, PACKAGE) & {"BaseQueryEngine", "BaseChatEngine", "BaseRetriever"})


adapt = LlamaIndexSystem.adapt

"""LangChain: a chain (any Runnable), a graph of LangGraph, or a retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ragauge.core.errors import UsageError
from ragauge.core.response import Passage
from ragauge.readers.aliases import list_field_names
from ragauge.readers.messages import ANSWER_KEYS, QUERY_KEYS
from ragauge.systems.base import ALL_VARIANTS, OWN_ONLY, Question
from ragauge.systems.response_parser import (
    RETRIEVED_ONLY,
    FrameworkSystem,
    build_identity,
    build_passage_item,
    is_candidate_ranking,
    list_base_names,
    merge_hops,
)

if TYPE_CHECKING:
    from ragauge.systems.langchain_events import EventRecorder

PACKAGE = "langchain_core"
QUESTION_KEYS = ("input", *QUERY_KEYS)
HISTORY_KEYS = ("chat_history", "history")
DOCUMENT_KEYS = ("source_documents", *list_field_names("passages"), "docs")


class LangChainSystem(FrameworkSystem):
    """Asks a runnable, and hears what its retrievers and models do through LangChain's callbacks.

    Passages are the documents in its output (context, source_documents, ...); where it gives the answer alone, what its
    outermost retrievers returned, or a later step that returns documents, such as a reranking function. Candidates are
    the longer list behind them. It is invoked in threads; a chain that is async only, on the loop. A graph with a
    checkpointer gets a thread of its own for each question, so that it remembers none of the others.

    Args:
        target: a Runnable, such as a compiled graph; or a retriever: then there are passages and no answer.
        name: of the system.
        config: its settings, for the record.
        settings: input and history (keys of the input; by default read from the chain's input schema), id_key
            (a key of the metadata that names the document), citations ("numbered": [1] in the answer).

    Raises:
        UsageError: the input schema does not say which key takes the question.
    """

    framework = "langchain"
    setting_names = (*FrameworkSystem.setting_names, "input", "history")
    implement = (
        "a chain with exactly one retriever, not inside a function; or a class with retrieve(query) and "
        "generate(query, passages)"
    )

    def __init__(
        self, target: Any, name: str, config: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        from ragauge.systems.langchain_events import has_replaceable_retriever

        self._retriever = "BaseRetriever" in list_base_names(target, PACKAGE)
        replaceable = not self._retriever and has_replaceable_retriever(target)
        super().__init__(target, name, config, settings, ALL_VARIANTS if replaceable else OWN_ONLY)
        self._keys, self._history, self._messages = self._read_input_keys(settings or {})
        self._waits = False

    async def ask_target(self, question: Question, passages: Sequence[Passage] | None) -> Any:
        """The output, with what was heard on the way."""
        from ragauge.systems.langchain_events import EventRecorder, with_passages

        target = self._target
        if passages is not None:
            target = with_passages(target, passages)
        recorder = EventRecorder()
        config: dict[str, Any] = {"callbacks": [recorder]}
        if getattr(target, "checkpointer", None):
            config["configurable"] = {"thread_id": f"ragauge-{uuid4()}"}
        returned = await self._invoke_target(target, self._build_input(question), config)
        return self._read_returned(returned, recorder)

    async def _invoke_target(self, target: Any, value: Any, config: Any) -> Any:
        if not self._waits:
            try:
                return await self._threads.call_in_thread(lambda: target.invoke(value, config))
            except (TypeError, NotImplementedError) as error:
                if not _is_async_only_error(error):
                    raise
                self._waits = True
        return await target.ainvoke(value, config)

    def _read_input_keys(self, options: Mapping[str, Any]) -> tuple[Sequence[str], str | None, bool]:
        """The keys that take the question, that for earlier turns, and whether it takes a list of messages."""
        history = options.get("history")
        if options.get("input"):
            return (str(options["input"]),), history, False
        properties = None if self._retriever else _read_input_properties(self._target)
        if properties is None:
            return (), None, False
        history = history or next((key for key in HISTORY_KEYS if key in properties), None)
        remaining = [key for key in properties if key != history]
        question_key = next((key for key in QUESTION_KEYS if key in remaining), None)
        if question_key or (len(remaining) == 1 and remaining != ["messages"]):
            return (question_key or remaining[0],), history, False
        if "messages" in remaining:
            return (), None, True
        if not remaining:  # an object of which it says nothing more
            return ("input", "question", "query"), history, False
        raise UsageError(
            f"{self.name} takes {', '.join(remaining)}, but none of them has the name of a "
            f"question. Set input: {remaining[0]} (or another of them) in the --system-config file."
        )

    def _build_input(self, question: Question) -> Any:
        if self._messages:
            return {"messages": [*_list_turns(question), ("human", question.query)]}
        if not self._keys:
            return question.query
        history = {self._history: _convert_history(question)} if self._history else {}
        return {**dict.fromkeys(self._keys, question.query), **history}

    def _read_returned(self, returned: Any, recorder: EventRecorder) -> Any:
        """What `response_of` takes: the output, with the passages that were heard of where it has none."""
        from ragauge.systems.langchain_events import is_documents

        measured = {"tokens": recorder.tokens, "latency_ms": recorder.latency_ms}
        spent: dict[str, Any] = {name: value for name, value in measured.items() if value}
        if is_documents(returned):
            items = self._build_items(returned)
            return {"passages": items, **self._find_candidates(items, recorder), "missing": RETRIEVED_ONLY, **spent}
        output = self._unwrap_output(returned)
        if not isinstance(output, dict):
            return output
        documents = next((returned[key] for key in DOCUMENT_KEYS if _holds_documents(returned, key)), None)
        if documents is None and recorder.hops + recorder.lists:
            output["passages"] = self._select_passages(recorder)
        elif documents is not None:
            output["passages"] = self._build_items(documents)
        if "passages" in output and isinstance(output["passages"], list):
            output |= self._find_candidates(output["passages"], recorder)
        return {**spent, **output}

    def _select_passages(self, recorder: EventRecorder) -> list[dict[str, Any]]:
        """The last list of documents that a step made of all that was retrieved; else the union of the retrievals."""
        hops = [self._build_items(documents) for documents in recorder.hops]
        last = self._build_items(recorder.lists[-1]) if recorder.lists else []
        last_identities = set(map(build_identity, last))
        of_all = len(hops) < 2 or all(last_identities & set(map(build_identity, hop)) for hop in hops if hop)
        return last if last and of_all else merge_hops(hops)

    def _find_candidates(self, passages: list[Any], recorder: EventRecorder) -> dict[str, Any]:
        """The longer ranking, where it is one: of the only retriever inside the only retriever, or before a step."""
        for lists in (recorder.inner, recorder.hops):
            if len(lists) == 1 and len(recorder.hops) == 1:
                candidates = self._build_items(lists[0])
                if is_candidate_ranking(candidates, passages):
                    return {"candidates": candidates}
        return {}

    def _build_items(self, documents: Sequence[Any]) -> list[dict[str, Any]]:
        return [_build_item(doc, self._id_key) for doc in documents]

    def _unwrap_output(self, returned: Any) -> Any:
        """The output with texts in place of messages; a dictionary wherever it holds an answer."""
        if hasattr(returned, "model_dump") and not _is_message(returned):
            returned = returned.model_dump()
        if isinstance(returned, Mapping):
            out = {
                str(key): _read_text(value) for key, value in returned.items() if not _holds_documents(returned, key)
            }
            messages = returned.get("messages")
            if isinstance(messages, list) and not any(key in out for key in ANSWER_KEYS):
                content = [
                    message for message in messages if getattr(message, "type", "") == "ai" and _read_text(message)
                ]
                out |= {"answer": _read_text(content[-1])} if content else {}
            out.pop("messages", None)
            return out
        content = _read_text(returned)
        return {"answer": content} if isinstance(content, str) else returned


def _read_input_properties(target: Any) -> Mapping[str, Any] | None:
    """The keys of its input; None where it takes a single value."""
    try:
        schema = target.get_input_jsonschema()
    except Exception:  # a chain whose types cannot be put in a schema works all the same
        state = getattr(getattr(target, "builder", None), "input_schema", None)  # of a graph
        return getattr(state, "__annotations__", None)
    if "$ref" in schema:
        schema = schema.get("$defs", {}).get(str(schema["$ref"]).rpartition("/")[2], schema)
    keys: Mapping[str, Any] | None = schema.get("properties", {}) if schema.get("type") == "object" else None
    # "root" stands for the whole input, where steps side by side take it without saying of what type
    return None if keys is not None and set(keys) == {"root"} else keys


def _is_async_only_error(error: BaseException) -> bool:
    return isinstance(error, NotImplementedError) or any(word in str(error) for word in ("ainvoke", "coroutine"))


def _list_turns(question: Question) -> list[tuple[str, str]]:
    names = {"user": "human", "assistant": "ai"}
    return [(names.get(turn.role, turn.role), turn.text) for turn in question.history]


def _convert_history(question: Question) -> list[Any]:
    from langchain_core.messages import convert_to_messages

    return list(convert_to_messages(_list_turns(question)))


def _build_item(doc: Any, id_key: str | None) -> dict[str, Any]:
    metadata = doc.metadata or {}
    return build_passage_item(
        doc.page_content,
        [getattr(doc, "id", None)],
        metadata,
        metadata.get("score"),
        key=id_key,
        start=metadata.get("start_index"),
    )


def _holds_documents(returned: Any, key: object) -> bool:
    from ragauge.systems.langchain_events import is_documents

    value = returned.get(key) if isinstance(returned, Mapping) else None
    return is_documents(value) and (bool(value) or key in DOCUMENT_KEYS)


def _is_message(value: Any) -> bool:
    return "BaseMessage" in list_base_names(value, PACKAGE)


def _read_text(value: Any) -> Any:
    """The text of a message; another value as it is."""
    if not _is_message(value):
        return value
    text = value.text  # a method in older versions, a text that can be called in newer ones
    return str(text) if isinstance(text, str) else str(text())


def takes(target: object) -> bool:
    """Whether it is a LangChain runnable or retriever."""
    return "Runnable" in list_base_names(target, PACKAGE)


adapt = LangChainSystem.adapt

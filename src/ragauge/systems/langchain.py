"""LangChain: a chain (any Runnable), a graph of LangGraph, or a retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ragauge.core.errors import UsageError
from ragauge.core.response import Passage, Response
from ragauge.readers.aliases import names_of
from ragauge.readers.payloads import ANSWER_KEYS, QUERY_KEYS
from ragauge.systems.base import EVERY, OWN, Question, System, Threads, checked, known_settings
from ragauge.systems.response_parser import RETRIEVED_ONLY, bases, deeper, document, identity, response_of, union
from ragauge.text.citation_marks import with_numbers

if TYPE_CHECKING:
    from ragauge.systems.langchain_events import Heard

PACKAGE = "langchain_core"
SETTINGS = ("name", "config", "input", "history", "id_key", "citations")
QUESTION_KEYS = ("input", *QUERY_KEYS)
HISTORY_KEYS = ("chat_history", "history")
DOCUMENT_KEYS = ("source_documents", *names_of("passages"), "docs")


class LangChainSystem(System):
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

    implement = (
        "a chain with one retriever in it, outside of functions; or a class with retrieve(query) and "
        "generate(query, passages)"
    )

    def __init__(
        self, target: Any, name: str, config: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        from ragauge.systems.langchain_events import replaceable

        given = settings or {}
        self._target = target
        self._retriever = "BaseRetriever" in bases(target, PACKAGE)
        super().__init__(name, config, EVERY if not self._retriever and replaceable(target) else OWN)
        self._id_key: str | None = given.get("id_key")
        self._numbered = checked(given.get("citations"))
        self._keys, self._history, self._messages = self._entry(given)
        self._waits = False
        self._threads = Threads()

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question; see `System.respond`."""
        from ragauge.systems.langchain_events import Heard, with_passages

        target = self._target
        if passages is not None:
            self.check("replayed")
            target = with_passages(target, passages)
        heard = Heard()
        config: dict[str, Any] = {"callbacks": [heard]}
        if getattr(target, "checkpointer", None):
            config["configurable"] = {"thread_id": f"ragauge-{uuid4()}"}
        returned = await self._invoke(target, self._input(question), config)
        found = response_of(self._read(returned, heard), question, passages=passages)
        return with_numbers(found) if self._numbered else found

    async def close(self) -> None:
        """Ends the idle threads."""
        self._threads.close()

    async def _invoke(self, target: Any, value: Any, config: Any) -> Any:
        if not self._waits:
            try:
                return await self._threads.call(lambda: target.invoke(value, config))
            except (TypeError, NotImplementedError) as error:
                if not _async_only(error):
                    raise
                self._waits = True
        return await target.ainvoke(value, config)

    def _entry(self, given: Mapping[str, Any]) -> tuple[Sequence[str], str | None, bool]:
        """The keys that take the question, that for earlier turns, and whether it takes a list of messages."""
        history = given.get("history")
        if given.get("input"):
            return (str(given["input"]),), history, False
        properties = None if self._retriever else _properties(self._target)
        if properties is None:
            return (), None, False
        history = history or next((key for key in HISTORY_KEYS if key in properties), None)
        rest = [key for key in properties if key != history]
        named = next((key for key in QUESTION_KEYS if key in rest), None)
        if named or (len(rest) == 1 and rest != ["messages"]):
            return (named or rest[0],), history, False
        if "messages" in rest:
            return (), None, True
        if not rest:  # an object of which it says nothing more
            return ("input", "question", "query"), history, False
        raise UsageError(
            f"{self.name} takes {', '.join(rest)}, and none of them is called like a question. "
            f"Set input: {rest[0]} (whichever it is) in the file of --system-config."
        )

    def _input(self, question: Question) -> Any:
        if self._messages:
            return {"messages": [*_turns(question), ("human", question.query)]}
        if not self._keys:
            return question.query
        history = {self._history: _messages(question)} if self._history else {}
        return {**dict.fromkeys(self._keys, question.query), **history}

    def _read(self, returned: Any, heard: Heard) -> Any:
        """What `response_of` takes: the output, with the passages that were heard of where it has none."""
        from ragauge.systems.langchain_events import is_documents

        measured = {"tokens": heard.tokens, "latency_ms": heard.latency_ms}
        spent: dict[str, Any] = {name: value for name, value in measured.items() if value}
        if is_documents(returned):
            found = self._items(returned)
            return {"passages": found, **self._behind(found, heard), "missing": RETRIEVED_ONLY, **spent}
        output = self._output(returned)
        if not isinstance(output, dict):
            return output
        shown = next((returned[key] for key in DOCUMENT_KEYS if _holds_documents(returned, key)), None)
        if shown is None and heard.hops + heard.lists:
            output["passages"] = self._heard(heard)
        elif shown is not None:
            output["passages"] = self._items(shown)
        if "passages" in output and isinstance(output["passages"], list):
            output |= self._behind(output["passages"], heard)
        return {**spent, **output}

    def _heard(self, heard: Heard) -> list[dict[str, Any]]:
        """The last list of documents that a step made of all that was retrieved; else the union of the retrievals."""
        hops = [self._items(one) for one in heard.hops]
        last = self._items(heard.lists[-1]) if heard.lists else []
        drawn = set(map(identity, last))
        of_all = len(hops) < 2 or all(drawn & set(map(identity, hop)) for hop in hops if hop)
        return last if last and of_all else union(hops)

    def _behind(self, passages: list[Any], heard: Heard) -> dict[str, Any]:
        """The longer ranking, where it is one: of the only retriever inside the only retriever, or before a step."""
        for lists in (heard.inner, heard.hops):
            if len(lists) == 1 and len(heard.hops) == 1:
                candidates = self._items(lists[0])
                if deeper(candidates, passages):
                    return {"candidates": candidates}
        return {}

    def _items(self, documents: Sequence[Any]) -> list[dict[str, Any]]:
        return [_item(one, self._id_key) for one in documents]

    def _output(self, returned: Any) -> Any:
        """The output with texts in place of messages; a dictionary wherever it holds an answer."""
        if hasattr(returned, "model_dump") and not _is_message(returned):
            returned = returned.model_dump()
        if isinstance(returned, Mapping):
            out = {str(key): _text(value) for key, value in returned.items() if not _holds_documents(returned, key)}
            messages = returned.get("messages")
            if isinstance(messages, list) and not any(key in out for key in ANSWER_KEYS):
                said = [message for message in messages if getattr(message, "type", "") == "ai" and _text(message)]
                out |= {"answer": _text(said[-1])} if said else {}
            out.pop("messages", None)
            return out
        said = _text(returned)
        return {"answer": said} if isinstance(said, str) else returned


def _properties(target: Any) -> Mapping[str, Any] | None:
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


def _async_only(error: BaseException) -> bool:
    return isinstance(error, NotImplementedError) or any(word in str(error) for word in ("ainvoke", "coroutine"))


def _turns(question: Question) -> list[tuple[str, str]]:
    names = {"user": "human", "assistant": "ai"}
    return [(names.get(turn.role, turn.role), turn.text) for turn in question.history]


def _messages(question: Question) -> list[Any]:
    from langchain_core.messages import convert_to_messages

    return list(convert_to_messages(_turns(question)))


def _item(one: Any, id_key: str | None) -> dict[str, Any]:
    metadata = one.metadata or {}
    return document(
        one.page_content,
        [getattr(one, "id", None)],
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
    return "BaseMessage" in bases(value, PACKAGE)


def _text(value: Any) -> Any:
    """The text of a message; another value as it is."""
    if not _is_message(value):
        return value
    text = value.text  # a method in older versions, a text that can be called in newer ones
    return str(text) if isinstance(text, str) else str(text())


def takes(target: object) -> bool:
    """Whether it is a LangChain runnable or retriever."""
    return "Runnable" in bases(target, PACKAGE)


def adapt(target: Any, name: str, settings: Mapping[str, Any]) -> System:
    """The system behind a LangChain object; see `LangChainSystem`."""
    known_settings(settings, SETTINGS, "a LangChain system")
    kind = {"framework": "langchain", "kind": type(target).__name__}
    config = {**kind, **(settings.get("config") or {})}
    return LangChainSystem(target, str(settings.get("name") or name), config, settings)

"""What goes into an application and what comes out of it: plain text, named values, or chat messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.data.readers.aliases import names_of, snake
from ragauge.data.readers.values import Notes, opened

QUERY_KEYS = tuple(dict.fromkeys([*names_of("query"), "prompt", "message"]))
ANSWER_KEYS = tuple(dict.fromkeys([*names_of("answer"), "content", "text", "result", "output_text"]))
PASSAGE_KEYS = tuple(names_of("passages"))
TEXT_TYPES = ("text", "output_text", "input_text")


def unpacked(value: Any, column: str, notes: Notes) -> Any:
    """A payload; only an object is read out of a text, since an answer may start with a bracket."""
    found = opened(value, column, notes)
    return value if isinstance(value, str) and not isinstance(found, Mapping) else found


def entered(payload: Any) -> dict[str, Any]:
    """Query and history of an input: a text, {question: ...}, {messages: [...]}, or one named text."""
    if not isinstance(payload, Mapping):
        return {} if payload is None else {"query": payload}
    for key in ("messages", "input"):
        if isinstance(payload.get(key), list):
            return conversation(payload[key])
    query = _first(payload, QUERY_KEYS)
    if query is None:
        texts = [value for value in payload.values() if isinstance(value, str)]
        query = texts[0] if len(texts) == 1 else None
    out = {"query": query, "history": _first(payload, ("history", "chat_history"))}
    return {key: value for key, value in out.items() if value is not None}


def messages_in(value: Any, notes: Notes) -> list[Any] | None:
    """The messages of a whole chat in place of a question, as ragas' multi-turn samples have; None for a question."""
    if isinstance(value, str):
        if not notes.cells or not value.startswith("[{"):
            return None
        value = opened(value, "query", notes)
    return value if isinstance(value, list) and value and all(_role(message) for message in value) else None


def conversation(messages: list[Any]) -> dict[str, Any]:
    """The last question of a chat, what was said before it, and the answer that follows it, if any."""
    asked = [n for n, message in enumerate(messages) if _role(message) in ("user", "human")]
    if not asked:
        return {}
    last = asked[-1]
    out = {"query": _content(messages[last]), "history": messages[:last] or None}
    answers = [_content(message) for message in messages[last + 1 :] if _role(message) in ("assistant", "ai")]
    out["answer"] = next((answer for answer in reversed(answers) if answer), None)
    return {key: value for key, value in out.items() if value is not None}


def returned(payload: Any) -> dict[str, Any]:
    """Answer and passages of an output: a text, {response: ...}, a chat completion, or messages."""
    if not isinstance(payload, Mapping):
        return {} if payload is None else {"answer": payload}
    out = {"passages": _first(payload, PASSAGE_KEYS), "answer": _first(payload, ANSWER_KEYS)}
    if not isinstance(out["answer"], str):
        out["answer"] = _chat_answer(payload) or out["answer"]
    return {key: value for key, value in out.items() if value is not None}


def _chat_answer(payload: Mapping[str, Any]) -> str | None:
    """The text of a chat completion (choices), of messages, or of a response's output items."""
    choices = payload.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return _content(choices[0].get("message"))
    for key in ("messages", "output"):
        found = payload.get(key)
        if isinstance(found, list):
            texts = [_content(item) for item in found if _role(item) in ("assistant", "ai")]
            return next((one for one in reversed(texts) if one), None)
    return None


def _first(payload: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    spelled = {snake(str(key)): value for key, value in payload.items()}
    return next((spelled[name] for name in names if spelled.get(name) is not None), None)


def _role(message: Any) -> Any:
    return message.get("role", message.get("type")) if isinstance(message, Mapping) else None


def _content(message: Any) -> str | None:
    content = message.get("content", message.get("text")) if isinstance(message, Mapping) else None
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") in TEXT_TYPES]
        return "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) else None

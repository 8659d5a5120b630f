"""Chat messages, and what goes into an application and comes out of it: text, named values, or such messages.

An input is a text, {question: ...}, {messages: [...]} or one named text; an output a text, {response: ...}, a chat
completion of OpenAI's API, or messages. Messages are those of OpenAI, LangChain, LlamaIndex, deepeval and ragas.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ragauge.core.values import Notes, decode_cell
from ragauge.readers.aliases import list_field_names, to_snake_case
from ragauge.readers.lines import Row
from ragauge.readers.passages import TEXT_KEYS

QUERY_KEYS = tuple(dict.fromkeys([*list_field_names("query"), "prompt", "message"]))
ANSWER_KEYS = tuple(dict.fromkeys([*list_field_names("answer"), "content", "text", "result", "output_text"]))
PASSAGE_KEYS = tuple(list_field_names("passages"))
TEXT_TYPES = ("text", "output_text", "input_text")
USER_ROLES, ASSISTANT_ROLES = ("user", "human"), ("assistant", "ai", "model", "agent", "bot", "chatbot", "gpt")
TOOL_MESSAGE_ROLES = ("tool", "function", "function_call_output")
ROLE_KEYS, CONTENT_KEYS = ("role", "type", "speaker", "from", "sender"), ("content", "text", "value")
SYSTEM_ROLES = ("system", "developer")  # who is no turn and no tool
RESULT_TYPES = ("tool_result", "tool_call_response")  # types of parts of a message that hold what a tool returned
RESULT_KEYS = ("content", "output", "response", "result")
METADATA_KEYS = ("metadata", "additional_metadata")  # keys of a message whose object may hold its passages


MAX_DECODE_DEPTH = 2  # JSON in a text of JSON: exports encode what was text already


def unpack_payload(value: Any, column: str) -> Any:
    """A payload; only an object is read out of a text, since an answer may start with a bracket."""
    inner = value
    for _ in range(MAX_DECODE_DEPTH):
        if isinstance(inner, str):
            inner = decode_json(inner) if inner.startswith('"') else decode_cell(inner, column, Notes(cells=True))
    return inner if isinstance(inner, Mapping) else value


def get_body(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a logged request or reply holds, without what HTTP adds to it."""
    return payload["body"] if isinstance(payload.get("body"), Mapping) else payload


def parse_input(payload: Any) -> dict[str, Any]:
    """Query and history of an input: a text, {question: ...}, {messages: [...]}, or one named text."""
    if not isinstance(payload, Mapping):
        return {} if payload is None else {"query": payload}
    payload = get_body(payload)
    for key in ("messages", "input"):
        if isinstance(payload.get(key), list):
            return parse_conversation(payload[key])
    query = find_first_value(payload, QUERY_KEYS)
    if query is None:
        texts = [value for value in payload.values() if isinstance(value, str)]
        query = texts[0] if len(texts) == 1 else None
    out = {"query": query, "history": find_first_value(payload, ("history", "chat_history"))}
    return {key: value for key, value in out.items() if value is not None}


class ChatTurn(NamedTuple):
    """One question of a chat."""

    n: int  #: from 1.
    query: str  #: the question.
    history: list[Row]  #: the messages before it, {role, text}, without those of tools and without text.
    answer: str | None  #: the last text that the assistant wrote before the next question; None = there is none.
    passages: Any  #: what a message of the turn holds as its context, else what tools returned; None = nothing of it.
    tools: tuple[str, ...] = ()  #: roles of the messages of the turn that hold what a tool returned.
    unread: tuple[str, ...] = ()  #: roles of those of which no passage is read.

    @property
    def fields(self) -> dict[str, Any]:
        """Our field -> value, for what there is."""
        values = {"query": self.query, "history": self.history, "answer": self.answer, "passages": self.passages}
        return {field: value for field, value in values.items() if value is not None and (value or field != "history")}


def split_turns(messages: Sequence[Any]) -> list[ChatTurn]:
    """The questions of a chat, each with what came of it; one that got no answer before the next is history alone."""
    messages = [normalize_message(message) for message in messages]
    role_texts = [(get_role(message), get_content(message)) for message in messages]
    question_indices = [n for n, (role, text) in enumerate(role_texts) if role in USER_ROLES and text]
    turns: list[ChatTurn] = []
    for start, end in pairwise([*question_indices, len(role_texts)]):
        answers = [text for role, text in role_texts[start:end] if role in ASSISTANT_ROLES and text]
        if answers or end == len(role_texts):
            earlier = [(role, text) for role, text in role_texts[:start] if text and role not in TOOL_MESSAGE_ROLES]
            history: list[Row] = [{"role": role, "text": text} for role, text in earlier]
            answer, query = answers[-1] if answers else None, role_texts[start][1] or ""
            turns.append(ChatTurn(len(turns) + 1, query, history, answer, *_find_passages(messages[start:end])))
    return turns


def _find_passages(messages: Sequence[Mapping[str, Any]]) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
    """The context that a message of one turn holds, else what tools returned; roles of tools, and of those not read."""
    outputs = [
        (str(get_role(message)), parse_tool_passages(output))
        for message in messages
        for output in _list_tool_outputs(message)
    ]
    tools = tuple(role for role, _ in outputs)
    for message in messages:
        for holder in (message, *(message.get(key) for key in METADATA_KEYS)):
            if isinstance(holder, Mapping) and (context := find_first_value(holder, PASSAGE_KEYS)) is not None:
                return context, tools, tools
    tool_results = [passage for _, passages in outputs for passage in passages or ()]
    unread = tuple(role for role, passages in outputs if passages is None)
    return tool_results if tool_results or len(unread) < len(outputs) else None, tools, unread


def _list_tool_outputs(message: Mapping[str, Any]) -> Iterator[Any]:
    """What tools returned in a message: the whole of a tool's, some parts of another's."""
    role, parts = get_role(message), message.get("content", message.get("parts"))
    results = [part for part in parts if get_role(part) in RESULT_TYPES] if isinstance(parts, list) else []
    if results:
        yield from (_get_result(part) for part in results)
    elif role in TOOL_MESSAGE_ROLES or (
        role not in (*USER_ROLES, *ASSISTANT_ROLES, *SYSTEM_ROLES) and _get_result(message)
    ):
        # whose words those of an unknown role are, nobody says
        yield (_get_result(message) if role in TOOL_MESSAGE_ROLES else None)


def _get_result(message: Mapping[str, Any]) -> Any:
    return get_content(message) or find_first_value(message, RESULT_KEYS)


def parse_tool_passages(output: Any) -> list[Any] | None:
    """The passages in what a tool returned: those of a list, or of an object's only one, else its text.

    None where none can be read; [] where it searched and found nothing.
    """
    value = decode_json(output) if isinstance(output, str) and output.lstrip()[:1] in ("{", "[") else output
    if isinstance(value, Mapping):
        only_items = find_only_list(value)
        value = find_first_value(value, (*PASSAGE_KEYS, "results", *RESULT_KEYS)) if only_items is None else only_items
        value = output if value is None else value
    items = value if isinstance(value, list) else [value]
    passages = [item for item in items if isinstance(item, str) or (isinstance(item, Mapping) and _has_text(item))]
    if len(passages) == len(items):
        return [item for item in passages if not isinstance(item, str) or item.strip()] or (None if items else [])
    return [output] if isinstance(output, str) and output.strip() else None


def find_only_list(value: Mapping[str, Any]) -> list[Any] | None:
    """The one list of objects that an object holds, else its one list; None where several could be meant."""
    lists = [candidate for candidate in value.values() if isinstance(candidate, list) and candidate]
    of_objects = [candidate for candidate in lists if all(isinstance(item, Mapping) for item in candidate)]
    return next((several[0] for several in (of_objects, lists) if len(several) == 1), None)


def _has_text(item: Mapping[str, Any]) -> bool:
    return any(isinstance(item.get(key), str) for key in TEXT_KEYS)


def parse_conversation(messages: Sequence[Any]) -> dict[str, Any]:
    """The last question of a chat, what was said before it, and the answer that follows it, if any."""
    turns = split_turns(messages)
    return turns[-1].fields if turns else {}


def parse_output(payload: Any) -> dict[str, Any]:
    """Answer and passages of an output: a text, {response: ...}, a chat completion, or messages."""
    if not isinstance(payload, Mapping):
        return {} if payload is None else {"answer": payload}
    payload = get_body(payload)
    out = {"passages": find_first_value(payload, PASSAGE_KEYS), "answer": find_first_value(payload, ANSWER_KEYS)}
    if not isinstance(out["answer"], str):
        out["answer"] = _find_chat_answer(payload) or out["answer"]
    return {key: value for key, value in out.items() if value is not None}


def _find_chat_answer(payload: Mapping[str, Any]) -> str | None:
    """The text of a chat completion (choices), of messages, or of a response's output items."""
    choices = payload.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return get_content(choices[0].get("message"))
    for key in ("messages", "output"):
        answer = payload.get(key)
        if isinstance(answer, list):
            texts = [get_content(item) for item in answer if get_role(item) in ASSISTANT_ROLES]
            return next((text for text in reversed(texts) if text), None)
    return None


def find_first_value(payload: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The first value that there is under one of some names."""
    spelled = {to_snake_case(str(key)): value for key, value in payload.items()}
    return next((spelled[name] for name in names if spelled.get(name) is not None), None)


def normalize_message(message: Any) -> Any:
    """A message by its names: LangChain's dump of an object is opened, a pair of role and text is one too.

    >>> normalize_message({"lc": 1, "id": ["langchain_core", "messages", "AIMessage"],
    ...     "kwargs": {"content": "12 euros."}})
    {'type': 'ai', 'content': '12 euros.'}
    >>> normalize_message(["human", "What does it cost?"])
    {'role': 'human', 'content': 'What does it cost?'}
    """
    if isinstance(message, Mapping) and "lc" in message and isinstance(message.get("kwargs"), Mapping):
        name = str((message.get("id") or [""])[-1])
        return {"type": name.removesuffix("Chunk").removesuffix("Message").lower(), **message["kwargs"]}
    pair = message if isinstance(message, list | tuple) and len(message) == len(("role", "text")) else ()
    if pair and pair[0] in (*USER_ROLES, *ASSISTANT_ROLES, *TOOL_MESSAGE_ROLES, *SYSTEM_ROLES):
        return {"role": pair[0], "content": pair[1]}
    return message


def get_role(message: Any) -> Any:
    """Who wrote a message; None of anything else."""
    message = normalize_message(message)
    if not isinstance(message, Mapping):
        return None
    return next((message[key] for key in ROLE_KEYS if message.get(key) is not None), None)


def get_content(message: Any) -> str | None:
    """The text of a message, of one in parts its text parts; None where it has none."""
    message = normalize_message(message)
    fields = message if isinstance(message, Mapping) else {}
    content = next((fields[key] for key in CONTENT_KEYS if key in fields), None)
    content = content.get("text") if isinstance(content, Mapping) else content  # ragas, of one that calls tools
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") in TEXT_TYPES]
        return "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) and content.strip() else None


def decode_json(value: Any) -> Any:
    """What JSON in a text says; anything else as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value

"""Chat payloads and the tables of LangSmith and MLflow that hold them.

Payloads: what goes into an application and what comes out of it: plain text, named values, or chat messages.

LangSmith: inputs, outputs and reference_outputs; in an exported data set, outputs are the reference.

The table of an experiment (`evaluate(…).to_pandas()`) has a column a part: inputs.question, outputs.answer,
reference.answer.

MLflow: columns inputs, outputs, expectations (MLflow 3), or request and response that hold chat payloads.

In tables of traces (`search_traces`, the results of `genai.evaluate`) what was retrieved stands in spans, and what was
expected in assessments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ragauge.core.values import Notes, opened
from ragauge.readers.aliases import names_of, snake
from ragauge.readers.lines import Row
from ragauge.readers.passages import TEXT_KEYS

QUERY_KEYS = tuple(dict.fromkeys([*names_of("query"), "prompt", "message"]))
ANSWER_KEYS = tuple(dict.fromkeys([*names_of("answer"), "content", "text", "result", "output_text"]))
PASSAGE_KEYS = tuple(names_of("passages"))
TEXT_TYPES = ("text", "output_text", "input_text")
USER, ASSISTANT = ("user", "human"), ("assistant", "ai", "model", "agent", "bot", "chatbot", "gpt")
TOOL = ("tool", "function", "function_call_output")
ROLE_KEYS, SAID_KEYS = ("role", "type", "speaker", "from", "sender"), ("content", "text", "value")
TOLD = ("system", "developer")  # who is no turn and no tool
RESULTS = ("tool_result", "tool_call_response")  # types of parts of a message that hold what a tool returned
RESULT_KEYS = ("content", "output", "response", "result")
INSIDE = ("metadata", "additional_metadata")  # keys of a message whose object may hold its passages


DEPTH = 2  # JSON in a text of JSON: exports encode what was text already


def unpacked(value: Any, column: str) -> Any:
    """A payload; only an object is read out of a text, since an answer may start with a bracket."""
    inner = value
    for _ in range(DEPTH):
        if isinstance(inner, str):
            inner = _decoded(inner) if inner.startswith('"') else opened(inner, column, Notes(cells=True))
    return inner if isinstance(inner, Mapping) else value


def body_of(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a logged request or reply holds, without what HTTP adds to it."""
    return payload["body"] if isinstance(payload.get("body"), Mapping) else payload


def entered(payload: Any) -> dict[str, Any]:
    """Query and history of an input: a text, {question: ...}, {messages: [...]}, or one named text."""
    if not isinstance(payload, Mapping):
        return {} if payload is None else {"query": payload}
    payload = body_of(payload)
    for key in ("messages", "input"):
        if isinstance(payload.get(key), list):
            return conversation(payload[key])
    query = first_of(payload, QUERY_KEYS)
    if query is None:
        texts = [value for value in payload.values() if isinstance(value, str)]
        query = texts[0] if len(texts) == 1 else None
    out = {"query": query, "history": first_of(payload, ("history", "chat_history"))}
    return {key: value for key, value in out.items() if value is not None}


class ChatTurn(NamedTuple):
    """One question of a chat.

    Attributes:
        n: from 1.
        query: the question.
        history: the messages before it, {role, text}, without those of tools and without text.
        answer: the last text that the assistant wrote before the next question; None = there is none.
        passages: what a message of the turn holds as its context, else what tools returned; None = nothing of it.
        tools: roles of the messages of the turn that hold what a tool returned.
        unread: roles of those of which no passage is read.
    """

    n: int
    query: str
    history: list[Row]
    answer: str | None
    passages: Any
    tools: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def fields(self) -> dict[str, Any]:
        """Our field -> value, for what there is."""
        values = {"query": self.query, "history": self.history, "answer": self.answer, "passages": self.passages}
        return {field: value for field, value in values.items() if value is not None and (value or field != "history")}


def turns_of(messages: Sequence[Any]) -> list[ChatTurn]:
    """The questions of a chat, each with what came of it; one that got no answer before the next is history alone."""
    messages = [message_of(message) for message in messages]
    said = [(role_of(message), content_of(message)) for message in messages]
    asked = [n for n, (role, text) in enumerate(said) if role in USER and text]
    turns: list[ChatTurn] = []
    for start, end in pairwise([*asked, len(said)]):
        answers = [text for role, text in said[start:end] if role in ASSISTANT and text]
        if answers or end == len(said):
            earlier = [(role, text) for role, text in said[:start] if text and role not in TOOL]
            history: list[Row] = [{"role": role, "text": text} for role, text in earlier]
            answer, query = answers[-1] if answers else None, said[start][1] or ""
            turns.append(ChatTurn(len(turns) + 1, query, history, answer, *_passages_of(messages[start:end])))
    return turns


def _passages_of(messages: Sequence[Mapping[str, Any]]) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
    """The context that a message of one turn holds, else what tools returned; roles of tools, and of those not read."""
    outputs = [(str(role_of(message)), tool_passages(output)) for message in messages for output in _outputs(message)]
    tools = tuple(role for role, _ in outputs)
    for message in messages:
        for held in (message, *(message.get(key) for key in INSIDE)):
            if isinstance(held, Mapping) and (context := first_of(held, PASSAGE_KEYS)) is not None:
                return context, tools, tools
    found = [passage for _, passages in outputs for passage in passages or ()]
    unread = tuple(role for role, passages in outputs if passages is None)
    return found if found or len(unread) < len(outputs) else None, tools, unread


def _outputs(message: Mapping[str, Any]) -> Iterator[Any]:
    """What tools returned in a message: the whole of a tool's, some parts of another's."""
    role, parts = role_of(message), message.get("content", message.get("parts"))
    results = [part for part in parts if role_of(part) in RESULTS] if isinstance(parts, list) else []
    if results:
        yield from (_result(part) for part in results)
    elif role in TOOL or (role not in (*USER, *ASSISTANT, *TOLD) and _result(message)):
        yield _result(message) if role in TOOL else None  # whose words those of an unknown role are, nobody says


def _result(message: Mapping[str, Any]) -> Any:
    return content_of(message) or first_of(message, RESULT_KEYS)


def tool_passages(output: Any) -> list[Any] | None:
    """The passages in what a tool returned: those of a list, or of an object's only one, else its text.

    None where none can be read; [] where it searched and found nothing.
    """
    value = _decoded(output) if isinstance(output, str) and output.lstrip()[:1] in ("{", "[") else output
    if isinstance(value, Mapping):
        held = only_list(value)
        value = first_of(value, (*PASSAGE_KEYS, "results", *RESULT_KEYS)) if held is None else held
        value = output if value is None else value
    listed = value if isinstance(value, list) else [value]
    passages = [item for item in listed if isinstance(item, str) or (isinstance(item, Mapping) and _says(item))]
    if len(passages) == len(listed):
        return [item for item in passages if not isinstance(item, str) or item.strip()] or (None if listed else [])
    return [output] if isinstance(output, str) and output.strip() else None


def only_list(value: Mapping[str, Any]) -> list[Any] | None:
    """The one list of objects that an object holds, else its one list; None where several could be meant."""
    lists = [held for held in value.values() if isinstance(held, list) and held]
    of_objects = [held for held in lists if all(isinstance(item, Mapping) for item in held)]
    return next((several[0] for several in (of_objects, lists) if len(several) == 1), None)


def _says(item: Mapping[str, Any]) -> bool:
    return any(isinstance(item.get(key), str) for key in TEXT_KEYS)


def conversation(messages: Sequence[Any]) -> dict[str, Any]:
    """The last question of a chat, what was said before it, and the answer that follows it, if any."""
    turns = turns_of(messages)
    return turns[-1].fields if turns else {}


def returned(payload: Any) -> dict[str, Any]:
    """Answer and passages of an output: a text, {response: ...}, a chat completion, or messages."""
    if not isinstance(payload, Mapping):
        return {} if payload is None else {"answer": payload}
    payload = body_of(payload)
    out = {"passages": first_of(payload, PASSAGE_KEYS), "answer": first_of(payload, ANSWER_KEYS)}
    if not isinstance(out["answer"], str):
        out["answer"] = _chat_answer(payload) or out["answer"]
    return {key: value for key, value in out.items() if value is not None}


def _chat_answer(payload: Mapping[str, Any]) -> str | None:
    """The text of a chat completion (choices), of messages, or of a response's output items."""
    choices = payload.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return content_of(choices[0].get("message"))
    for key in ("messages", "output"):
        answer = payload.get(key)
        if isinstance(answer, list):
            texts = [content_of(item) for item in answer if role_of(item) in ASSISTANT]
            return next((text for text in reversed(texts) if text), None)
    return None


def first_of(payload: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The first value that there is under one of some names."""
    spelled = {snake(str(key)): value for key, value in payload.items()}
    return next((spelled[name] for name in names if spelled.get(name) is not None), None)


def message_of(message: Any) -> Any:
    """A message by its names: LangChain's dump of an object is opened, a pair of role and text is one too.

    >>> message_of({"lc": 1, "id": ["langchain_core", "messages", "AIMessage"], "kwargs": {"content": "12 euros."}})
    {'type': 'ai', 'content': '12 euros.'}
    >>> message_of(["human", "What does it cost?"])
    {'role': 'human', 'content': 'What does it cost?'}
    """
    if isinstance(message, Mapping) and "lc" in message and isinstance(message.get("kwargs"), Mapping):
        name = str((message.get("id") or [""])[-1])
        return {"type": name.removesuffix("Chunk").removesuffix("Message").lower(), **message["kwargs"]}
    pair = message if isinstance(message, list | tuple) and len(message) == len(("role", "text")) else ()
    if pair and pair[0] in (*USER, *ASSISTANT, *TOOL, *TOLD):
        return {"role": pair[0], "content": pair[1]}
    return message


def role_of(message: Any) -> Any:
    """Who wrote a message; None of anything else."""
    message = message_of(message)
    if not isinstance(message, Mapping):
        return None
    return next((message[key] for key in ROLE_KEYS if message.get(key) is not None), None)


def content_of(message: Any) -> str | None:
    """The text of a message, of one in parts its text parts; None where it has none."""
    message = message_of(message)
    held = message if isinstance(message, Mapping) else {}
    content = next((held[key] for key in SAID_KEYS if key in held), None)
    content = content.get("text") if isinstance(content, Mapping) else content  # ragas, of one that calls tools
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") in TEXT_TYPES]
        return "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) and content.strip() else None


LANGSMITH_COLUMNS = frozenset({"inputs", "outputs", "reference_outputs"})


def is_langsmith(columns: Iterable[str]) -> bool:
    """Whether the columns are LangSmith's."""
    names = set(columns)
    if any(name.startswith("inputs.") for name in names):
        return any(name.startswith(("outputs.", "reference.")) for name in names)
    return "inputs" in names and bool(names & {"reference_outputs", "dataset_id", "source_run_id"})


def langsmith_row(row: Row, notes: Notes) -> Row:
    """The row with its payloads taken apart."""
    if "inputs" not in row:
        row = _joined(row, notes)
    out = {key: value for key, value in row.items() if key not in LANGSMITH_COLUMNS}
    exported = "reference_outputs" not in row
    out |= entered(unpacked(row.get("inputs"), "inputs"))
    column = "outputs" if exported else "reference_outputs"
    reference = returned(unpacked(row.get(column), column))
    if not exported:
        out |= {"answer": None, **returned(unpacked(row.get("outputs"), "outputs"))}
    if "answer" in reference:
        out["reference_answer"] = reference["answer"]
    expected = reference.get("passages")
    if expected is not None:
        by_text = isinstance(expected, list) and all(isinstance(entry, str) for entry in expected)
        out["relevant_texts" if by_text else "relevant"] = expected
    return out


def _joined(row: Row, notes: Notes) -> Row:
    """A row of an experiment's table with its parts in objects; query_id is the example's id, not the trace's."""
    parts: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}, "reference": {}}
    out: dict[str, Any] = {}
    for column, value in row.items():
        head, dot, name = column.partition(".")
        if dot and head in parts:
            parts[head][name] = opened(value, column, notes)
        else:
            out[{"example_id": "query_id", "execution_time": "latency_s"}.get(column, column)] = value
    if "query_id" in out:
        out.pop("id", None)
    return {**out, "inputs": parts["inputs"], "outputs": parts["outputs"], "reference_outputs": parts["reference"]}


TRACED = frozenset({"spans", "assessments"})
OF_TRACE = frozenset(
    {"trace", "trace_id", "client_request_id", "state", "request_time", "execution_duration", "trace_metadata", "tags"}
)
# of `mlflow.evaluate`: texts, or of a retriever ids
TABLE = {"targets": ("expected_response", "relevant"), "predictions": ("answer", "retrieved_ids")}
MLFLOW_COLUMNS = frozenset({"inputs", "outputs", "expectations", "request", "response"})


def is_mlflow(columns: Iterable[str]) -> bool:
    """Whether the columns are MLflow's."""
    names = set(columns)
    return not names.isdisjoint({"inputs", "outputs"}) or ("request" in names and "query" not in names)


def mlflow_row(row: Row, notes: Notes) -> Row:
    """The row with its payloads taken apart; the columns of expectations stand beside the others."""
    if "trace_id" in row and not TRACED.isdisjoint(row):
        row = _of_trace(row, notes)
    out = {key: value for key, value in row.items() if key not in MLFLOW_COLUMNS}
    readers: dict[str, Callable[[Any], dict[str, Any]]] = {
        "inputs": entered,
        "request": entered,
        "outputs": returned,
        "response": returned,
    }
    for column, read in readers.items():
        for field, part in read(unpacked(row.get(column), column)).items():
            out.setdefault(field, part)
    for column, (text_field, list_field) in TABLE.items():
        value = opened(out.pop(column, None), column, notes)
        if value is not None:
            out.setdefault(list_field if isinstance(value, list | tuple) else text_field, value)
    if not {"outputs", "response"}.isdisjoint(row):
        out.setdefault("answer", None)  # null: not recorded
    expected = unpacked(row.get("expectations"), "expectations")
    if isinstance(expected, dict):
        for field, part in expected.items():
            out.setdefault(field, part)
    elif expected is not None:
        out.setdefault("expected_response", expected)
    return out


def _of_trace(row: Row, notes: Notes) -> Row:
    """A trace as a row: request and response, expectations, and the passages of its retrievers."""
    expected = _expected(_listed(row, "assessments", notes))
    dropped = {*OF_TRACE, *TRACED, *(f"{name}/value" for name in expected)}
    out = {key: value for key, value in row.items() if key not in dropped}
    passages = _retrieved(_listed(row, "spans", notes))
    if passages is not None:
        out["passages"] = passages
    if row.get("state") == "ERROR":
        out["error"] = "the trace ended in an error"
    return out | {"expectations": expected or None, "latency_ms": row.get("execution_duration")}


def _listed(row: Row, column: str, notes: Notes) -> list[Mapping[str, Any]]:
    """The objects of a column, which tables hold as objects or as their text."""
    opened_value = opened(row.get(column), column, notes)
    items = [_decoded(entry) for entry in opened_value] if isinstance(opened_value, list | tuple) else []
    return [item for item in items if isinstance(item, Mapping)]


def _expected(assessments: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What people or data sets expected, by name; a list or object is written as its JSON."""
    expected = {}
    for assessment in assessments:
        expectation = assessment.get("expectation")
        if isinstance(expectation, Mapping):
            written = expectation.get("serialized_value")
            value = _decoded(written.get("value")) if isinstance(written, Mapping) else expectation.get("value")
            expected[str(assessment.get("assessment_name"))] = value
    return expected


def _retrieved(spans: list[Mapping[str, Any]]) -> list[Any] | None:
    """What the outermost retrievers of a trace returned, in order; None where it has none."""
    retrievers = [span for span in spans if _attribute(span, "mlflow.spanType") == "RETRIEVER"]
    inner = {retriever.get("span_id") for retriever in retrievers}
    outputs = [_attribute(span, "mlflow.spanOutputs") for span in retrievers if span.get("parent_span_id") not in inner]
    lists = [output for output in outputs if isinstance(output, list)]
    return [passage for output in lists for passage in output] if lists else None


def _attribute(span: Mapping[str, Any], name: str) -> Any:
    attributes = span.get("attributes")
    return _decoded(attributes.get(name)) if isinstance(attributes, Mapping) else None


def _decoded(value: Any) -> Any:
    """What JSON in a text says; anything else as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value

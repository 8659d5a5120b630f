"""What one span says of a RAG's work, whoever recorded it; and how the texts that spans carry are read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Literal

from ragauge.core.response import REDACTED
from ragauge.core.values import NUMBER_TYPES, SCALAR_TYPES
from ragauge.readers.messages import (
    QUERY_KEYS,
    find_only_list,
    get_content,
    parse_input,
    parse_output,
    parse_tool_passages,
)
from ragauge.readers.passages import DOC_KEYS, PASSAGE_KEYS, SCORE_KEYS, TEXT_KEYS, unwrap_passage

Kind = Literal["retriever", "reranker", "llm", "embedding", "evaluator", "prompt", "tool", "chain", ""]
Document = Mapping[str, Any] | str
Documents = Sequence[Document] | Literal["__REDACTED__"]
QUERY_NAMES = (*QUERY_KEYS, "query_str", "text_query")
REPLIES = ("replies", "answers", "generations")  # of Haystack and LangChain
LIST_KEYS = ("documents", "source_documents", "nodes", "results")
MESSAGE_WRAPPERS = ("kwargs", "data", "outputs", "output", "message")  # what frameworks put around a message
DOCUMENT_KEYS = frozenset({*TEXT_KEYS, *DOC_KEYS, *PASSAGE_KEYS, *SCORE_KEYS})
MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Step:
    """What one span says, in one dialect or in all that it speaks."""

    kind: Kind = ""  #: of work; "" = not said.
    query: str | None = None  #: the question, or what was searched for.
    documents: Documents | None = None  #: what was found, in order; () = nothing, None = not recorded.
    before: Documents | None = None  #: what a reranker was given.
    answer: str | None = None  #: the text that came out.
    model: str | None = None  #: that wrote it.
    tokens: Mapping[str, int] = field(default_factory=dict)  #: input, output and total.
    cost: float | None = None  #: in US dollars.
    session: str | None = None  #: the conversation that the request belongs to.
    metadata: Mapping[str, Any] = field(default_factory=dict)  #: what else the team noted, by name.


EMPTY = Step()


def merge_steps(steps: Sequence[Step]) -> Step:
    """Field by field the first that says something, a redacted one only where no other does."""
    merged_fields: dict[str, Any] = {}
    for step_field in fields(Step):
        default = getattr(EMPTY, step_field.name)
        values = [value for step in steps if (value := getattr(step, step_field.name)) is not None and value != default]
        visible = [value for value in values if value != REDACTED]
        if values:
            merged_fields[step_field.name] = (visible or values)[0]
    return Step(**merged_fields)


def has_attribute_prefix(attributes: Mapping[str, Any], *prefixes: str) -> bool:
    """Whether the name of any attribute begins with one of the heads."""
    for name in attributes:  # noqa: SIM110 - any() takes three times as long, and this is asked of each span five times
        if name.startswith(prefixes):
            return True
    return False


def decode_json(value: Any) -> Any:
    """The list or object that a text holds; any other text as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value


def find_query(value: Any) -> str | None:
    """The question in what went into a step: a text, named values, messages, or any of these further inside."""
    value = decode_json(value)
    if isinstance(value, str):
        return value if value.strip() else None
    if not isinstance(value, Mapping):
        return None
    query = parse_input(value).get("query")
    return query if isinstance(query, str) and query.strip() else _find_inner_query(value)


def _find_inner_query(value: Mapping[str, Any]) -> str | None:
    """The first text under a question's name in the objects inside, the outer ones first."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        objects = [item for item in level if isinstance(item, Mapping)]
        for item in objects:
            for key in QUERY_NAMES:
                text = item.get(key)
                if isinstance(text, str) and text.strip():
                    return text
        level = [inner for item in objects for inner in item.values()]
    return None


def find_answer(value: Any, depth: int = 0) -> str | None:
    """The text in what came out of a step: a text, a message, a completion, replies of a pipeline."""
    value = decode_json(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and depth < MAX_DEPTH:
        return find_answer(value[0], depth + 1) if len(value) == 1 else None
    if not isinstance(value, Mapping) or depth >= MAX_DEPTH:
        return None
    answer = parse_output(value).get("answer")
    if isinstance(answer, str):
        return answer
    if isinstance(answer, list):  # parts of a message
        texts = [part.get("text") for part in answer if isinstance(part, Mapping)]
        return "\n".join(text for text in texts if isinstance(text, str)) or None
    inner = [value[key] for key in (*REPLIES, *MESSAGE_WRAPPERS) if key in value]
    inner += [item for item in value.values() if isinstance(item, Mapping) and any(key in item for key in REPLIES)]
    return next((text for item in inner if (text := find_answer(item, depth + 1)) is not None), None)


def parse_documents(value: Any) -> Documents | None:
    """What a retriever returned: a list of documents, or an object with one; None where it is anything else."""
    if value == REDACTED:
        return REDACTED
    value = decode_json(value)
    if isinstance(value, Mapping):
        value = next((value[key] for key in LIST_KEYS if key in value), find_only_list(value))
    if not isinstance(value, list):
        return None
    parsed = [parse_document(item) for item in value]
    readable = [entry for entry in parsed if entry is not None]
    return tuple(readable) if len(readable) == len(parsed) else None


REPR = re.compile(r"^<\w+\(")  # what is left of an object that was printed: no text of a passage


def parse_document(item: Any) -> Document | None:
    """One document in the names that passages have; None where it is none."""
    if isinstance(item, str):
        return None if REPR.match(item) else item
    if not isinstance(item, Mapping):
        return None
    item = unwrap_passage(item)
    if isinstance(item.get("payload"), Mapping):
        item = {**item["payload"], **{key: value for key, value in item.items() if key != "payload"}}
    out = {key: value for key, value in item.items() if key in DOCUMENT_KEYS and value is not None}
    if isinstance(out.get("content"), list):  # parts of a message, as services of vector stores return them
        out["content"] = get_content(item)
    if not item.keys() <= DOCUMENT_KEYS:
        _add_metadata(item, out)
    for key in SCORE_KEYS:
        if key in out and parse_number(out[key]) is None:
            del out[key]
    return out if any(isinstance(out.get(key), str) for key in (*TEXT_KEYS, *DOC_KEYS)) else None


def _add_metadata(item: Mapping[str, Any], out: dict[str, Any]) -> None:
    """Adds what else a document says: its metadata, and a score for its distance."""
    notes = decode_json(item.get("metadata") or item.get("meta"))
    flat = {key: value for key, value in item.items() if key not in DOCUMENT_KEYS and isinstance(value, SCALAR_TYPES)}
    if isinstance(notes, Mapping) or flat:
        out["metadata"] = {**flat, **(notes if isinstance(notes, Mapping) else {})}
    distance = item.get("distance")
    if isinstance(distance, NUMBER_TYPES) and not any(key in out for key in SCORE_KEYS):
        out["score"] = -distance  # a score is higher where it is better


def parse_tool_documents(value: Any) -> Documents | None:
    """What a tool returned as documents: those of a list, else its text; None where it has none."""
    if value == REDACTED:
        return REDACTED
    passages = parse_tool_passages(value)
    return (
        None if passages is None else tuple(parsed for item in passages if (parsed := parse_document(item)) is not None)
    )


def parse_number(value: Any) -> float | None:
    """A finite number, or a text that reads as one."""
    try:
        read = float(value) if isinstance(value, SCALAR_TYPES) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None
    return read if read is not None and isfinite(read) else None


def parse_token_counts(**raw_counts: Any) -> dict[str, int]:
    """Counts of tokens by kind, without those that are not there; a total only where its parts are not."""
    read = {kind: parse_number(value) for kind, value in raw_counts.items() if value is not None}
    valid = {kind: int(value) for kind, value in read.items() if value is not None and value >= 0}
    return {kind: count for kind, count in valid.items() if kind != "total" or not {"input", "output"} <= valid.keys()}


def find_first_value(attributes: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of the names that has one, one that is redacted only where no other has; else None."""
    values = [value for name in names if (value := attributes.get(name)) not in (None, "")]
    return next((value for value in values if value != REDACTED), values[0] if values else None)


def parse_word(value: Any) -> str | None:
    """A text that says something, or a number as one."""
    if type(value) is str:
        return value if value.strip() else None
    return str(value) if isinstance(value, SCALAR_TYPES) and str(value).strip() else None


def read_indexed_objects(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The objects of a list that was written an attribute a value: HEAD.0.name, HEAD.1.name ..., by number.

    >>> read_indexed_objects({"a.10.x": 3, "a.9.x": 2, "a.9.y.z": 4}, "a.")
    [{'x': 2, 'y.z': 4}, {'x': 3}]
    """
    objects_by_index: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if name.startswith(prefix):
            index, dot, key = name[len(prefix) :].partition(".")
            if dot and index.isdecimal() and index.isascii():
                objects_by_index.setdefault(int(index), {})[key] = value
    return [objects_by_index[index] for index in sorted(objects_by_index)]


def find_last_user_text(messages: Sequence[tuple[Any, Any]]) -> str | None:
    """The last text of a user among (role, text)."""
    texts = [text for role, text in messages if role in ("user", "human") and isinstance(text, str) and text.strip()]
    return texts[-1] if texts else None


def select_by_prefix(attributes: Mapping[str, Any], *prefixes: str) -> dict[str, Any]:
    """Single values of the attributes that begin with one of the heads, by the rest of their names."""
    return {
        name[len(prefix) :]: value
        for prefix in prefixes
        for name, value in attributes.items()
        if name.startswith(prefix) and isinstance(value, SCALAR_TYPES) and value != REDACTED
    }


def select_scalars(value: Any) -> dict[str, Any]:
    """The single values of an object, which may stand in a text."""
    value = decode_json(value)
    if not isinstance(value, Mapping):
        return {}
    return {str(key): item for key, item in value.items() if isinstance(item, SCALAR_TYPES)}

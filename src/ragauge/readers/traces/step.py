"""What one span says of a RAG's work, whoever recorded it; and how the texts that spans carry are read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Literal

from ragauge.core.response import REDACTED
from ragauge.core.values import NUMBER, SINGLE
from ragauge.readers.passages import DOC_KEYS, PASSAGE_KEYS, SCORE_KEYS, TEXT_KEYS, unwrapped
from ragauge.readers.payloads import QUERY_KEYS, content_of, entered, only_list, returned, tool_passages

Kind = Literal["retriever", "reranker", "llm", "embedding", "evaluator", "prompt", "tool", "chain", ""]
Document = Mapping[str, Any] | str
Documents = Sequence[Document] | Literal["__REDACTED__"]
ASKED = (*QUERY_KEYS, "query_str", "text_query")
REPLIES = ("replies", "answers", "generations")  # of Haystack and LangChain
LISTS = ("documents", "source_documents", "nodes", "results")
WITHIN = ("kwargs", "data", "outputs", "output", "message")  # what frameworks put around a message
KEPT = frozenset({*TEXT_KEYS, *DOC_KEYS, *PASSAGE_KEYS, *SCORE_KEYS})
DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Step:
    """What one span says, in one dialect or in all that it speaks.

    Attributes:
        kind: of work; "" = not said.
        query: the question, or what was searched for.
        documents: what was found, in order; () = nothing, None = not recorded.
        before: what a reranker was given.
        answer: the text that came out.
        model: that wrote it.
        tokens: input, output and total.
        cost: in US dollars.
        session: the conversation that the request belongs to.
        metadata: what else the team noted, by name.
    """

    kind: Kind = ""
    query: str | None = None
    documents: Documents | None = None
    before: Documents | None = None
    answer: str | None = None
    model: str | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


EMPTY = Step()


def merged(steps: Sequence[Step]) -> Step:
    """Field by field the first that says something, a redacted one only where no other does."""
    chosen: dict[str, Any] = {}
    for part in fields(Step):
        default = getattr(EMPTY, part.name)
        said = [value for step in steps if (value := getattr(step, part.name)) is not None and value != default]
        seen = [value for value in said if value != REDACTED]
        if said:
            chosen[part.name] = (seen or said)[0]
    return Step(**chosen)


def speaks(said: Mapping[str, Any], *heads: str) -> bool:
    """Whether the name of any attribute begins with one of the heads."""
    for name in said:  # noqa: SIM110 - any() takes three times as long, and this is asked of each span five times
        if name.startswith(heads):
            return True
    return False


def decoded(value: Any) -> Any:
    """The list or object that a text holds; any other text as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value


def asked(value: Any) -> str | None:
    """The question in what went into a step: a text, named values, messages, or any of these further inside."""
    value = decoded(value)
    if isinstance(value, str):
        return value if value.strip() else None
    if not isinstance(value, Mapping):
        return None
    query = entered(value).get("query")
    return query if isinstance(query, str) and query.strip() else _deeper(value)


def _deeper(value: Mapping[str, Any]) -> str | None:
    """The first text under a question's name in the objects inside, the outer ones first."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        objects = [item for item in level if isinstance(item, Mapping)]
        for item in objects:
            for key in ASKED:
                found = item.get(key)
                if isinstance(found, str) and found.strip():
                    return found
        level = [inner for item in objects for inner in item.values()]
    return None


def answered(value: Any, depth: int = 0) -> str | None:
    """The text in what came out of a step: a text, a message, a completion, replies of a pipeline."""
    value = decoded(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and depth < DEEPEST:
        return answered(value[0], depth + 1) if len(value) == 1 else None
    if not isinstance(value, Mapping) or depth >= DEEPEST:
        return None
    found = returned(value).get("answer")
    if isinstance(found, str):
        return found
    if isinstance(found, list):  # parts of a message
        texts = [part.get("text") for part in found if isinstance(part, Mapping)]
        return "\n".join(text for text in texts if isinstance(text, str)) or None
    inner = [value[key] for key in (*REPLIES, *WITHIN) if key in value]
    inner += [item for item in value.values() if isinstance(item, Mapping) and any(key in item for key in REPLIES)]
    return next((text for item in inner if (text := answered(item, depth + 1)) is not None), None)


def documents(value: Any) -> Documents | None:
    """What a retriever returned: a list of documents, or an object with one; None where it is anything else."""
    if value == REDACTED:
        return REDACTED
    value = decoded(value)
    if isinstance(value, Mapping):
        value = next((value[key] for key in LISTS if key in value), only_list(value))
    if not isinstance(value, list):
        return None
    found = [document(item) for item in value]
    readable = [one for one in found if one is not None]
    return tuple(readable) if len(readable) == len(found) else None


REPR = re.compile(r"^<\w+\(")  # what is left of an object that was printed: no text of a passage


def document(item: Any) -> Document | None:
    """One document in the names that passages have; None where it is none."""
    if isinstance(item, str):
        return None if REPR.match(item) else item
    if not isinstance(item, Mapping):
        return None
    item = unwrapped(item)
    if isinstance(item.get("payload"), Mapping):
        item = {**item["payload"], **{key: value for key, value in item.items() if key != "payload"}}
    out = {key: value for key, value in item.items() if key in KEPT and value is not None}
    if isinstance(out.get("content"), list):  # parts of a message, as services of vector stores return them
        out["content"] = content_of(item)
    if not item.keys() <= KEPT:
        _noted(item, out)
    for key in SCORE_KEYS:
        if key in out and number(out[key]) is None:
            del out[key]
    return out if any(isinstance(out.get(key), str) for key in (*TEXT_KEYS, *DOC_KEYS)) else None


def _noted(item: Mapping[str, Any], out: dict[str, Any]) -> None:
    """Adds what else a document says: its metadata, and a score for its distance."""
    notes = decoded(item.get("metadata") or item.get("meta"))
    flat = {key: value for key, value in item.items() if key not in KEPT and isinstance(value, SINGLE)}
    if isinstance(notes, Mapping) or flat:
        out["metadata"] = {**flat, **(notes if isinstance(notes, Mapping) else {})}
    distance = item.get("distance")
    if isinstance(distance, NUMBER) and not any(key in out for key in SCORE_KEYS):
        out["score"] = -distance  # a score is higher where it is better


def outputs_of_tool(value: Any) -> Documents | None:
    """What a tool returned as documents: those of a list, else its text; None where it has none."""
    if value == REDACTED:
        return REDACTED
    passages = tool_passages(value)
    return None if passages is None else tuple(found for item in passages if (found := document(item)) is not None)


def number(value: Any) -> float | None:
    """A finite number, or a text that reads as one."""
    try:
        read = float(value) if isinstance(value, SINGLE) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None
    return read if read is not None and isfinite(read) else None


def counts(**given: Any) -> dict[str, int]:
    """Counts of tokens by kind, without those that are not there; a total only where its parts are not."""
    read = {kind: number(value) for kind, value in given.items() if value is not None}
    known = {kind: int(value) for kind, value in read.items() if value is not None and value >= 0}
    return {kind: count for kind, count in known.items() if kind != "total" or not {"input", "output"} <= known.keys()}


def first(attributes: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of the names that has one, one that is redacted only where no other has; else None."""
    said = [value for name in names if (value := attributes.get(name)) not in (None, "")]
    return next((value for value in said if value != REDACTED), said[0] if said else None)


def word(value: Any) -> str | None:
    """A text that says something, or a number as one."""
    if type(value) is str:
        return value if value.strip() else None
    return str(value) if isinstance(value, SINGLE) and str(value).strip() else None


def indexed(attributes: Mapping[str, Any], head: str) -> list[dict[str, Any]]:
    """The objects of a list that was written an attribute a value: HEAD.0.name, HEAD.1.name ..., by number.

    >>> indexed({"a.10.x": 3, "a.9.x": 2, "a.9.y.z": 4}, "a.")
    [{'x': 2, 'y.z': 4}, {'x': 3}]
    """
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if name.startswith(head):
            place, dot, key = name[len(head) :].partition(".")
            if dot and place.isdecimal() and place.isascii():
                found.setdefault(int(place), {})[key] = value
    return [found[place] for place in sorted(found)]


def last_asked(messages: Sequence[tuple[Any, Any]]) -> str | None:
    """The last text of a user among (role, text)."""
    texts = [text for role, text in messages if role in ("user", "human") and isinstance(text, str) and text.strip()]
    return texts[-1] if texts else None


def under(attributes: Mapping[str, Any], *heads: str) -> dict[str, Any]:
    """Single values of the attributes that begin with one of the heads, by the rest of their names."""
    return {
        name[len(head) :]: value
        for head in heads
        for name, value in attributes.items()
        if name.startswith(head) and isinstance(value, SINGLE) and value != REDACTED
    }


def named(value: Any) -> dict[str, Any]:
    """The single values of an object, which may stand in a text."""
    value = decoded(value)
    if not isinstance(value, Mapping):
        return {}
    return {str(key): item for key, item in value.items() if isinstance(item, SINGLE)}

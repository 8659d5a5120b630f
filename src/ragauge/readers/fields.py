"""The shape of one record: from named values to an Example and a Response.

Whether the corpus holds the answer, where a set says so by the kind of question instead of in a field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from ragauge.core.example import Example, Turn
from ragauge.core.response import REDACTED, Response
from ragauge.core.values import (
    BadValue,
    Notes,
    answer_text,
    at_least_zero,
    described,
    entries,
    identifier,
    items,
    number,
    opened,
    scalar_text,
    text,
    texts,
    whole,
    yes_or_no,
)
from ragauge.readers import passages as retrieved
from ragauge.readers import relevance
from ragauge.readers.aliases import RESPONSE_FIELDS, snake
from ragauge.readers.lines import Row
from ragauge.readers.payloads import ASSISTANT, SAID_KEYS, TOLD, USER, role_of
from ragauge.text.patterns import declines

Found = Mapping[str, Any]  # our field -> a value that is not null
Names = Mapping[str, str]  # our field -> what the source calls it
Role = Literal["user", "assistant", "system"]

ROLES: Mapping[str, Role] = {
    **dict.fromkeys(USER, "user"),
    **dict.fromkeys(ASSISTANT, "assistant"),
    **dict.fromkeys(TOLD, "system"),
}
TOOL_ROLES = frozenset({"tool", "function"})
NULL_TEXTS = frozenset({"nan", "NaN", "<NA>", "None", "null"})  # nothing, as programs write it into a text
TOKEN_KINDS = {
    "prompt_tokens": "input",
    "input_tokens": "input",
    "completion_tokens": "output",
    "output_tokens": "output",
    "total_tokens": "total",
}


def turns(value: Any, name: str, notes: Notes) -> tuple[Turn, ...]:
    """Earlier turns: [{role, text}] or [[role, text]]; turns of tools are left out and counted."""
    out = []
    for n, item in enumerate(items(opened(value, name, notes), name, "a list of objects with role and text")):
        where = f"{name}[{n}]"
        pair = isinstance(item, list | tuple) and len(item) == 2
        turn = {"role": item[0], "text": item[1]} if pair else item
        if not isinstance(turn, Mapping):
            raise BadValue(where, "an object with role and text", item)
        named = role_of(turn)
        if isinstance(named, str) and named in TOOL_ROLES:
            notes.turns += 1
            continue
        role = ROLES.get(named) if isinstance(named, str) else None
        if role is None:
            raise BadValue(f"{where}.role", "user, assistant or system", named)
        said = next((turn[key] for key in SAID_KEYS if turn.get(key) is not None), None)
        out.append(Turn(role, message_text(said, f"{where}.text", notes)))
    return tuple(out)


def message_text(content: Any, name: str, notes: Notes) -> str:
    """The text of a chat message; of one in parts, its text parts."""
    if isinstance(content, list | tuple):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        return "\n".join(text(part, name, notes) for part in parts if part is not None)
    return text(content, name, notes)


def said_in(value: Any) -> Any:
    """What each message of a list says, of one alone that; anything else as it is.

    >>> said_in([{"speaker": "agent", "text": "12 euros."}]), said_in(["a", "b"])
    ('12 euros.', ['a', 'b'])
    """
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        return value
    said = [next((item[key] for key in SAID_KEYS if isinstance(item.get(key), str)), item) for item in value]
    return said[0] if len(said) == 1 and isinstance(said[0], str) else said


def claims(value: Any, name: str, notes: Notes) -> tuple[str, ...]:
    """Statements; one that is given as a list of parts is put together."""
    value = opened(value, name, notes)
    if isinstance(value, list | tuple):
        joined = [
            " ".join(item) if isinstance(item, list | tuple) and all(isinstance(part, str) for part in item) else item
            for item in value
        ]
        return texts(joined, name, notes)
    return texts(value, name, notes)


def criteria(value: Any, name: str, notes: Notes) -> tuple[str, ...]:
    """Pass or fail statements: a list, or an object of named lists."""
    value = opened(value, name, notes)
    if isinstance(value, Mapping):
        return tuple(line for key, item in value.items() for line in texts(item, f"{name}.{key}", notes))
    return texts(value, name, notes)


def segments(value: Any, name: str, notes: Notes) -> dict[str, str]:
    """Column -> value, both texts."""
    columns = entries(opened(value, name, notes), name, "an object of column and value")
    return {text(key, f"{name} key", notes): scalar_text(item, f"{name}.{key}", notes) for key, item in columns}


UNANSWERABLE, ANSWERABLE = frozenset({"unanswerable", "not_answerable", "no_answer"}), "answerable"


def answerable(value: Any, name: str, _: Notes) -> bool:
    """Whether the corpus holds the answer: yes or no, or the words answerable and unanswerable."""
    said = snake(value) if isinstance(value, str) else ""
    return said == ANSWERABLE or (said not in UNANSWERABLE and yes_or_no(value, name))


def tags(value: Any, name: str, notes: Notes) -> frozenset[str]:
    """A list of tags; in one text they are separated by commas or semicolons; an object gives key=value."""
    value = opened(value, name, notes)
    if isinstance(value, Mapping):
        value = [f"{key}={scalar_text(item, f'{name}.{key}', notes)}" for key, item in entries(value, name, "")]
    if isinstance(value, str):
        value = [part.strip() for part in text(value, name, notes).replace(";", ",").split(",") if part.strip()]
    names_given = items(value, name, "a list of tags")
    return frozenset(text(item, f"{name}[{n}]", notes) for n, item in enumerate(names_given))


EXAMPLE_PARSERS: Mapping[str, Callable[[Any, str, Notes], Any]] = {
    "history": turns,
    "reference_claims": claims,
    "aspects": texts,
    "criteria": criteria,
    "relevant": relevance.relevant,
    "relevant_chunks": relevance.relevant_chunks,
    "gold_spans": retrieved.gold_spans,
    "answerable": answerable,
    "segments": segments,
    "tags": tags,
    "cluster": scalar_text,
}


def query_of(values: Found, names: Names, notes: Notes) -> str:
    """The question; it must say something."""
    query = text(values["query"], names["query"], notes)
    if not query.strip():
        raise BadValue(names["query"], "text that is not blank", query)
    return query


def example_of(values: Found, names: Names, query_id: str, query: str, notes: Notes) -> Example:
    """The example that the values describe.

    A question whose references all decline ("The documents do not say.") is unanswerable unless the source says more.
    """
    parts = {
        field: parse(values[field], names[field], notes)
        for field, parse in EXAMPLE_PARSERS.items()
        if field in values and values[field] != REDACTED
    }
    # where documents are named too, these are their texts
    if "relevant_texts" in values and parts.keys().isdisjoint(("relevant", "gold_spans")):
        parts["relevant"] = relevance.relevant_texts(values["relevant_texts"], names["relevant_texts"], notes)
    references = _references(values, names, notes)
    if "answerable" not in values and references and all(map(declines, references)):
        parts["answerable"] = False
        notes.declining += 1
        notes.declined = notes.declined or references[0][:40]
    return Example(query_id, query, references=references, **parts)


def _references(values: Found, names: Names, notes: Notes) -> tuple[str, ...]:
    listed: tuple[str, ...] = ()
    if "references" in values:
        listed = texts(said_in(values["references"]), names["references"], notes)
    if "reference_answer" in values:
        value, name = said_in(values["reference_answer"]), names["reference_answer"]
        several = isinstance(value, list | tuple)  # a text is taken as it is: an answer may look like JSON
        main = texts(value, name, notes) if several else (answer_text(value, name, notes),)
        listed = (*main, *(reference for reference in listed if reference not in main))
    return listed


def latency(values: Found, names: Names, notes: Notes) -> dict[str, float]:
    """Stage -> milliseconds."""
    if "latency_ms" in values:
        name = names["latency_ms"]
        value = opened(values["latency_ms"], name, notes)
        if not isinstance(value, Mapping):
            return {"total": at_least_zero(value, name)}
        stages = entries(value, name, "an object of stage and milliseconds")
        return {text(key, name, notes): at_least_zero(item, f"{name}.{key}") for key, item in stages}
    return {"total": at_least_zero(values["latency_s"], names["latency_s"]) * 1000} if "latency_s" in values else {}


def tokens(value: Any, name: str, notes: Notes) -> dict[str, int]:
    """Kind -> count, kinds by our names."""
    value = opened(value, name, notes)
    if not isinstance(value, Mapping):
        return {"total": whole(value, name)}
    counts = entries(value, name, "an object of kind and count")
    return {text(TOKEN_KINDS.get(key, key), name, notes): whole(item, f"{name}.{key}") for key, item in counts}


def outcome(value: Any, name: str, notes: Notes) -> dict[str, float | bool | str]:
    """What became of the answer; a single value is kept under the key outcome."""
    value = opened(value, name, notes)
    if not isinstance(value, Mapping):
        value = {"outcome": value}
    out: dict[str, float | bool | str] = {}
    for key, item in entries(value, name, "an object of single values"):
        where, kind = f"{name}.{key}", text(key, name, notes)
        if isinstance(item, str):
            out[kind] = text(item, where, notes)
        elif isinstance(item, bool):
            out[kind] = item
        elif isinstance(item, int | float):
            out[kind] = number(item, where)
        else:
            raise BadValue(f"{name}.{key}", "a single value", item)
    return out


def score_in(value: Any, name: str, notes: Notes) -> float | bool | str:
    """A number, or yes or no, also as text; what is neither, as text: it cannot be counted."""
    with suppress(BadValue):
        return number(value, name)
    with suppress(BadValue):
        return yes_or_no(value, name)
    return text(value, name, notes) if isinstance(value, str) else described(value)


def weight(value: Any, name: str) -> float:
    """A number above 0."""
    given = number(value, name)
    if given <= 0:
        raise BadValue(name, "a number above 0", value)
    return given


def error(value: Any, name: str, notes: Notes) -> str | None:
    """What went wrong; an empty text or false is no error."""
    if value is False or value == "":
        return None
    if isinstance(value, Mapping) and isinstance(value.get("message"), str):
        value = value["message"]
    return text(value, name, notes)


def missing(value: Any, name: str, notes: Notes) -> dict[str, str]:
    """Field -> why it is not recorded."""
    reasons = entries(opened(value, name, notes), name, "an object of field and reason")
    return {text(key, name, notes): text(reason, f"{name}.{key}", notes) for key, reason in reasons}


def origin(value: Any, name: str, notes: Notes) -> dict[str, str]:
    """How an answer was made: fact -> value."""
    facts = entries(opened(value, name, notes), name, "an object of fact and value")
    return {text(key, name, notes): text(said, f"{name}.{key}", notes) for key, said in facts}


def response_of(values: Found, names: Names, query_id: str, notes: Notes, blank: str = "") -> Response:
    """The response that the values describe.

    Args:
        values: our field -> value; null values are left out.
        names: our field -> the source's column, also of fields that are null here.
        query_id: which example it answers.
        notes: what to warn about.
        blank: why a null value is null where the source can say nothing else, such as "empty cell".
    """
    redacted = {field: "redacted" for field in RESPONSE_FIELDS if values.get(field) == REDACTED}
    held = values.get("passages")
    null = {"passages"} if isinstance(held, str) and held.strip() in NULL_TEXTS else set()
    values = {field: value for field, value in values.items() if field not in {*redacted, *null}}

    def has(field: str) -> bool:
        return field in values

    answer = answer_text(said_in(values["answer"]), names["answer"], notes) if has("answer") else None
    passages = None
    if has("passages") or has("retrieved_ids"):
        ids_name = names.get("retrieved_ids", "")
        passages = retrieved.passages(
            values.get("passages"), names.get("passages", ids_name), notes, values.get("retrieved_ids"), ids_name
        )
    cited = retrieved.citations(values["citations"], names["citations"], notes, answer) if has("citations") else None
    failed = error(values["error"], names["error"], notes) if has("error") else None
    why = missing(values["missing"], names["missing"], notes) if has("missing") else None
    if why is None and failed is None:
        why = {
            field: blank or "null" if field in names else f"no field {field}"
            for field, value in (("passages", passages), ("answer", answer))
            if value is None
        }
    return Response(
        query_id,
        repeat=repeat_in(values, names),
        passages=passages,
        candidates=retrieved.passages(values["candidates"], names["candidates"], notes) if has("candidates") else None,
        answer=answer,
        citations=cited,
        latency_ms=latency(values, names, notes),
        tokens=tokens(values["tokens"], names["tokens"], notes) if has("tokens") else {},
        cost=number(values["cost"], names["cost"]) if has("cost") else None,
        outcome=outcome(values["outcome"], names["outcome"], notes) if has("outcome") else {},
        weight=weight(values["weight"], names["weight"]) if has("weight") else 1.0,
        missing={**(why or {}), **redacted},
        origin=origin(values["origin"], names["origin"], notes) if has("origin") else {},
        error=failed,
    )


def repeat_in(values: Found, names: Names) -> int:
    """Which of the answers to its question a row holds, from 0."""
    return whole(values["repeat"], names["repeat"]) if "repeat" in values else 0


def query_id_in(values: Found, names: Names, notes: Notes) -> str | None:
    """The given id; None where there is none."""
    return identifier(values["query_id"], names["query_id"], notes) if "query_id" in values else None


# what sets call such a column
KINDS = frozenset({"type", "question_type", "query_type", "category", "kind", "answerability"})


def settled(example: Example, row: Row) -> Example:
    """The example, answerable or not where a segment, a tag or a column of kinds says *answerable* or *unanswerable*.

    What the field answerable says counts before; where both are said, it is unanswerable. Another kind says nothing:
    not every set labels what has no answer.
    """
    if example.answerable is not None:
        return example
    said = {snake(value) for value in _said(example, row)}
    if said.isdisjoint(UNANSWERABLE):
        return replace(example, answerable=True) if ANSWERABLE in said else example
    return replace(example, answerable=False)


def _said(example: Example, row: Row) -> Iterator[str]:
    yield from example.segments.values()
    yield from example.tags
    for column, value in row.items():
        if isinstance(value, str) and snake(column) in KINDS:
            yield value

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
    decode_cell,
    describe_value,
    parse_answer,
    parse_boolean,
    parse_entries,
    parse_identifier,
    parse_list,
    parse_non_negative,
    parse_number,
    parse_scalar,
    parse_text,
    parse_texts,
    parse_whole_number,
)
from ragauge.readers import passages as retrieved
from ragauge.readers import relevance
from ragauge.readers.aliases import RESPONSE_FIELDS, to_snake_case
from ragauge.readers.lines import Row
from ragauge.readers.messages import ASSISTANT_ROLES, CONTENT_KEYS, SYSTEM_ROLES, USER_ROLES, get_role
from ragauge.text.patterns import is_no_answer

FieldValues = Mapping[str, Any]  # our field -> a value that is not null
FieldNames = Mapping[str, str]  # our field -> what the source calls it
Role = Literal["user", "assistant", "system"]

ROLES: Mapping[str, Role] = {
    **dict.fromkeys(USER_ROLES, "user"),
    **dict.fromkeys(ASSISTANT_ROLES, "assistant"),
    **dict.fromkeys(SYSTEM_ROLES, "system"),
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


def parse_turns(value: Any, name: str, notes: Notes) -> tuple[Turn, ...]:
    """Earlier turns: [{role, text}] or [[role, text]]; turns of tools are left out and counted."""
    out = []
    for n, item in enumerate(parse_list(decode_cell(value, name, notes), name, "a list of objects with role and text")):
        where = f"{name}[{n}]"
        pair = isinstance(item, list | tuple) and len(item) == 2
        turn = {"role": item[0], "text": item[1]} if pair else item
        if not isinstance(turn, Mapping):
            raise BadValue(where, "an object with role and text", item)
        role_name = get_role(turn)
        if isinstance(role_name, str) and role_name in TOOL_ROLES:
            notes.turns += 1
            continue
        role = ROLES.get(role_name) if isinstance(role_name, str) else None
        if role is None:
            raise BadValue(f"{where}.role", "user, assistant or system", role_name)
        content = next((turn[key] for key in CONTENT_KEYS if turn.get(key) is not None), None)
        out.append(Turn(role, parse_message(content, f"{where}.text", notes)))
    return tuple(out)


def parse_message(content: Any, name: str, notes: Notes) -> str:
    """The text of a chat message; of one in parts, its text parts."""
    if isinstance(content, list | tuple):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        return "\n".join(parse_text(part, name, notes) for part in parts if part is not None)
    return parse_text(content, name, notes)


def extract_message_texts(value: Any) -> Any:
    """What each message of a list says, of one alone that; anything else as it is.

    >>> extract_message_texts([{"speaker": "agent", "text": "12 euros."}]), extract_message_texts(["a", "b"])
    ('12 euros.', ['a', 'b'])
    """
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        return value
    contents = [next((item[key] for key in CONTENT_KEYS if isinstance(item.get(key), str)), item) for item in value]
    return contents[0] if len(contents) == 1 and isinstance(contents[0], str) else contents


def parse_claims(value: Any, name: str, notes: Notes) -> tuple[str, ...]:
    """Statements; one that is given as a list of parts is put together."""
    value = decode_cell(value, name, notes)
    if isinstance(value, list | tuple):
        joined = [
            " ".join(item) if isinstance(item, list | tuple) and all(isinstance(part, str) for part in item) else item
            for item in value
        ]
        return parse_texts(joined, name, notes)
    return parse_texts(value, name, notes)


def parse_criteria(value: Any, name: str, notes: Notes) -> tuple[str, ...]:
    """Pass or fail statements: a list, or an object of named lists."""
    value = decode_cell(value, name, notes)
    if isinstance(value, Mapping):
        return tuple(line for key, item in value.items() for line in parse_texts(item, f"{name}.{key}", notes))
    return parse_texts(value, name, notes)


def parse_segments(value: Any, name: str, notes: Notes) -> dict[str, str]:
    """Column -> value, both texts."""
    columns = parse_entries(decode_cell(value, name, notes), name, "an object of column and value")
    return {parse_text(key, f"{name} key", notes): parse_scalar(item, f"{name}.{key}", notes) for key, item in columns}


UNANSWERABLE, ANSWERABLE = frozenset({"unanswerable", "not_answerable", "no_answer"}), "answerable"


def parse_answerable(value: Any, name: str, _: Notes) -> bool:
    """Whether the corpus holds the answer: yes or no, or the words answerable and unanswerable."""
    word = to_snake_case(value) if isinstance(value, str) else ""
    return word == ANSWERABLE or (word not in UNANSWERABLE and parse_boolean(value, name))


def parse_tags(value: Any, name: str, notes: Notes) -> frozenset[str]:
    """A list of tags; in one text they are separated by commas or semicolons; an object gives key=value."""
    value = decode_cell(value, name, notes)
    if isinstance(value, Mapping):
        value = [f"{key}={parse_scalar(item, f'{name}.{key}', notes)}" for key, item in parse_entries(value, name, "")]
    if isinstance(value, str):
        value = [tag.strip() for tag in parse_text(value, name, notes).replace(";", ",").split(",") if tag.strip()]
    names_given = parse_list(value, name, "a list of tags")
    return frozenset(parse_text(item, f"{name}[{n}]", notes) for n, item in enumerate(names_given))


EXAMPLE_PARSERS: Mapping[str, Callable[[Any, str, Notes], Any]] = {
    "history": parse_turns,
    "reference_claims": parse_claims,
    "aspects": parse_texts,
    "criteria": parse_criteria,
    "relevant": relevance.parse_relevant,
    "relevant_chunks": relevance.parse_relevant_chunks,
    "gold_spans": retrieved.parse_gold_spans,
    "answerable": parse_answerable,
    "segments": parse_segments,
    "tags": parse_tags,
    "cluster": parse_scalar,
}


def parse_query(values: FieldValues, names: FieldNames, notes: Notes) -> str:
    """The question; it must say something."""
    query = parse_text(values["query"], names["query"], notes)
    if not query.strip():
        raise BadValue(names["query"], "non-blank text", query)
    return query


def build_example(values: FieldValues, names: FieldNames, query_id: str, query: str, notes: Notes) -> Example:
    """The example that the values describe.

    A question whose references all decline ("The documents do not say.") is unanswerable unless the source says more.
    """
    parsed_fields = {
        field: parse(values[field], names[field], notes)
        for field, parse in EXAMPLE_PARSERS.items()
        if field in values and values[field] != REDACTED
    }
    # where documents are named too, these are their texts
    if "relevant_texts" in values and parsed_fields.keys().isdisjoint(("relevant", "gold_spans")):
        parsed_fields["relevant"] = relevance.parse_relevant_texts(
            values["relevant_texts"], names["relevant_texts"], notes
        )
    references = _parse_references(values, names, notes)
    if "answerable" not in values and references and all(map(is_no_answer, references)):
        parsed_fields["answerable"] = False
        notes.declining += 1
        notes.declined = notes.declined or references[0][:40]
    return Example(query_id, query, references=references, **parsed_fields)


def _parse_references(values: FieldValues, names: FieldNames, notes: Notes) -> tuple[str, ...]:
    references: tuple[str, ...] = ()
    if "references" in values:
        references = parse_texts(extract_message_texts(values["references"]), names["references"], notes)
    if "reference_answer" in values:
        value, name = extract_message_texts(values["reference_answer"]), names["reference_answer"]
        several = isinstance(value, list | tuple)  # a text is taken as it is: an answer may look like JSON
        main = parse_texts(value, name, notes) if several else (parse_answer(value, name, notes),)
        references = (*main, *(reference for reference in references if reference not in main))
    return references


def parse_latency(values: FieldValues, names: FieldNames, notes: Notes) -> dict[str, float]:
    """Stage -> milliseconds."""
    if "latency_ms" in values:
        name = names["latency_ms"]
        value = decode_cell(values["latency_ms"], name, notes)
        if not isinstance(value, Mapping):
            return {"total": parse_non_negative(value, name)}
        stages = parse_entries(value, name, "an object of stage and milliseconds")
        return {parse_text(key, name, notes): parse_non_negative(item, f"{name}.{key}") for key, item in stages}
    return (
        {"total": parse_non_negative(values["latency_s"], names["latency_s"]) * 1000} if "latency_s" in values else {}
    )


def parse_tokens(value: Any, name: str, notes: Notes) -> dict[str, int]:
    """Kind -> count, kinds by our names."""
    value = decode_cell(value, name, notes)
    if not isinstance(value, Mapping):
        return {"total": parse_whole_number(value, name)}
    counts = parse_entries(value, name, "an object of kind and count")
    return {
        parse_text(TOKEN_KINDS.get(key, key), name, notes): parse_whole_number(item, f"{name}.{key}")
        for key, item in counts
    }


def parse_outcome(value: Any, name: str, notes: Notes) -> dict[str, float | bool | str]:
    """What became of the answer; a single value is kept under the key outcome."""
    value = decode_cell(value, name, notes)
    if not isinstance(value, Mapping):
        value = {"outcome": value}
    out: dict[str, float | bool | str] = {}
    for key, item in parse_entries(value, name, "an object of single values"):
        where, kind = f"{name}.{key}", parse_text(key, name, notes)
        if isinstance(item, str):
            out[kind] = parse_text(item, where, notes)
        elif isinstance(item, bool):
            out[kind] = item
        elif isinstance(item, int | float):
            out[kind] = parse_number(item, where)
        else:
            raise BadValue(f"{name}.{key}", "a single value", item)
    return out


def parse_score(value: Any, name: str, notes: Notes) -> float | bool | str:
    """A number, or yes or no, also as text; what is neither, as text: it cannot be counted."""
    with suppress(BadValue):
        return parse_number(value, name)
    with suppress(BadValue):
        return parse_boolean(value, name)
    return parse_text(value, name, notes) if isinstance(value, str) else describe_value(value)


def parse_weight(value: Any, name: str) -> float:
    """A number above 0."""
    parsed = parse_number(value, name)
    if parsed <= 0:
        raise BadValue(name, "a number above 0", value)
    return parsed


def parse_error(value: Any, name: str, notes: Notes) -> str | None:
    """What went wrong; an empty text or false is no error."""
    if value is False or value == "":
        return None
    if isinstance(value, Mapping) and isinstance(value.get("message"), str):
        value = value["message"]
    return parse_text(value, name, notes)


def parse_missing(value: Any, name: str, notes: Notes) -> dict[str, str]:
    """Field -> why it is not recorded."""
    reasons = parse_entries(decode_cell(value, name, notes), name, "an object of field and reason")
    return {parse_text(key, name, notes): parse_text(reason, f"{name}.{key}", notes) for key, reason in reasons}


def parse_origin(value: Any, name: str, notes: Notes) -> dict[str, str]:
    """How an answer was made: fact -> value."""
    facts = parse_entries(decode_cell(value, name, notes), name, "an object of fact and value")
    return {parse_text(key, name, notes): parse_text(fact_value, f"{name}.{key}", notes) for key, fact_value in facts}


RESPONSE_PARSERS: Mapping[str, Callable[[Any, str, Notes], Any]] = {
    "error": parse_error,
    "candidates": retrieved.parse_passages,
    "tokens": parse_tokens,
    "cost": lambda value, name, _: parse_number(value, name),
    "outcome": parse_outcome,
    "weight": lambda value, name, _: parse_weight(value, name),
    "origin": parse_origin,
}


def build_response(values: FieldValues, names: FieldNames, query_id: str, notes: Notes, blank: str = "") -> Response:
    """The response that the values describe.

    Args:
        values: our field -> value; null values are left out.
        names: our field -> the source's column, also of fields that are null here.
        query_id: which example it answers.
        notes: what to warn about.
        blank: why a null value is null where the source can say nothing else, such as "empty cell".
    """
    redacted = {field: "redacted" for field in RESPONSE_FIELDS if values.get(field) == REDACTED}
    raw_passages = values.get("passages")
    null = {"passages"} if isinstance(raw_passages, str) and raw_passages.strip() in NULL_TEXTS else set()
    values = {field: value for field, value in values.items() if field not in {*redacted, *null}}

    answer = (
        parse_answer(extract_message_texts(values["answer"]), names["answer"], notes) if "answer" in values else None
    )
    passages = cited = missing_reasons = None
    if not values.keys().isdisjoint(("passages", "retrieved_ids")):
        ids_name = names.get("retrieved_ids", "")
        passages = retrieved.parse_passages(
            values.get("passages"), names.get("passages", ids_name), notes, values.get("retrieved_ids"), ids_name
        )
    if "citations" in values:
        cited = retrieved.parse_citations(values["citations"], names["citations"], notes, answer)
    parsed = {
        field: parse(values[field], names[field], notes) for field, parse in RESPONSE_PARSERS.items() if field in values
    }
    if "missing" in values:
        missing_reasons = parse_missing(values["missing"], names["missing"], notes)
    elif parsed.get("error") is None:
        missing_reasons = {
            field: blank or "null" if field in names else f"no field {field}"
            for field, value in (("passages", passages), ("answer", answer))
            if value is None
        }
    return Response(
        query_id,
        repeat=parse_repeat(values, names),
        passages=passages,
        answer=answer,
        citations=cited,
        latency_ms=parse_latency(values, names, notes),
        missing={**(missing_reasons or {}), **redacted},
        **parsed,
    )


def parse_repeat(values: FieldValues, names: FieldNames) -> int:
    """Which of the answers to its question a row holds, from 0."""
    return parse_whole_number(values["repeat"], names["repeat"]) if "repeat" in values else 0


def parse_query_id(values: FieldValues, names: FieldNames, notes: Notes) -> str | None:
    """The given id; None where there is none."""
    return parse_identifier(values["query_id"], names["query_id"], notes) if "query_id" in values else None


# what sets call such a column
QUESTION_KIND_COLUMNS = frozenset({"type", "question_type", "query_type", "category", "kind", "answerability"})


def infer_answerable(example: Example, row: Row) -> Example:
    """The example, answerable or not where a segment, a tag or a column of kinds says *answerable* or *unanswerable*.

    What the field answerable says counts before; where both are said, it is unanswerable. Another kind says nothing:
    not every set labels what has no answer.
    """
    if example.answerable is not None:
        return example
    words = {to_snake_case(value) for value in _list_answerable_words(example, row)}
    if words.isdisjoint(UNANSWERABLE):
        return replace(example, answerable=True) if ANSWERABLE in words else example
    return replace(example, answerable=False)


def _list_answerable_words(example: Example, row: Row) -> Iterator[str]:
    yield from example.segments.values()
    yield from example.tags
    for column, value in row.items():
        if isinstance(value, str) and to_snake_case(column) in QUESTION_KIND_COLUMNS:
            yield value

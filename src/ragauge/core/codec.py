"""Values of `data` as JSON text and back, exactly.

`encode_json` writes the canonical JSON of `core.identity` (without fields at their default), `decode_json` rebuilds
the
frozen dataclass from its type hints. Nothing is coerced, and every string survives: NUL, lone surrogates, 10 MB.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from collections.abc import Mapping as AbstractMapping
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ragauge.core.errors import DataError
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    CoverFacts,
    CriteriaFacts,
    Evidence,
    GuessedFacts,
    JudgeFacts,
    ReferenceFacts,
    RelevanceFacts,
    SimilarityFacts,
)
from ragauge.core.identity import to_canonical_json, to_json_value

T = TypeVar("T")
Reader = Callable[[Any], Any]

# which facts a question gives
FACTS: Mapping[str, type[JudgeFacts]] = {
    "verify_answer": AnswerFacts,
    "verify_reference": ReferenceFacts,
    "rate_passages": RelevanceFacts,
    "rate_sentences": RelevanceFacts,
    "rate_answer": RelevanceFacts,
    "agree": AgreementFacts,
    "cover_aspects": CoverFacts,
    "cover_criteria": CoverFacts,
    "meet_criteria": CriteriaFacts,
    "guess_questions": GuessedFacts,
    "similarity": SimilarityFacts,
}


def encode_json(value: Any) -> str:
    """A frozen value as canonical JSON; fields that hold their default are left out.

    Raises:
        DataError: JSON has no such value: a number that is not finite, an object.

    >>> from ragauge.core.example import Relevant
    >>> encode_json(Relevant(("d1", "d2")))
    '{"doc_ids":["d1","d2"]}'
    """
    try:
        return to_canonical_json(to_json_value(value))
    except (ValueError, TypeError) as error:
        hint = "Use finite numbers and plain values, or omit the field."
        raise DataError(f"{type(value).__name__} cannot be written as JSON: {error}.", hint=hint) from None


def decode_json(cls: type[T], text: str) -> T:
    """The value that `encode_json` wrote.

    Raises:
        DataError: the text is not JSON, or not of this type.

    >>> from ragauge.core.example import Relevant
    >>> decode_json(Relevant, '{"doc_ids":["d1"],"grade":2}')
    Relevant(doc_ids=('d1',), grade=2)
    """
    try:
        json_value = json.loads(text)
    except ValueError as error:
        raise DataError(f"not a valid {cls.__name__} in JSON: {error}.") from error
    return from_json_value(cls, json_value)


def from_json_value(cls: type[T], json_value: Any) -> T:
    """The value whose `to_json_value` form this is: what `decode_json` does after parsing."""
    try:
        hint: Any = cls
        value: T = build_reader(hint)(json_value)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"not a valid {cls.__name__} in JSON: {type(error).__name__}: {error}.") from error
    return value


@cache
def build_reader(hint: Any) -> Reader:
    """A function from parsed JSON to a value of the type; the type hints are read once."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _build_dataclass_reader(hint)
    origin, type_args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _build_union_reader(type_args)
    if origin is tuple:
        return _build_tuple_reader(type_args)
    if origin is frozenset:
        return frozenset
    if origin in (AbstractMapping, dict):
        return _build_mapping_reader(*type_args)
    return _return_unchanged


def _return_unchanged(value: Any) -> Any:
    return value


def _build_dataclass_reader(cls: type[Any]) -> Reader:
    hints = get_type_hints(cls)
    if cls is Evidence:
        return _build_evidence_reader(hints["reply_keys"])
    readers = {data_field.name: build_reader(hints[data_field.name]) for data_field in dataclasses.fields(cls)}
    converters = [
        (name, read_value) for name, read_value in readers.items() if read_value is not _return_unchanged
    ]  # the others are as JSON has them

    def read_value(value: Mapping[str, Any]) -> Any:
        fields = dict(value)
        for name, make in converters:
            if name in fields:
                fields[name] = make(fields[name])
        return cls(**fields)

    return read_value


def _build_evidence_reader(reply_keys: Any) -> Reader:
    """Of evidence the question says which facts these are."""
    read_keys = build_reader(reply_keys)

    def read_evidence(value: Mapping[str, Any]) -> Evidence:
        fields = dict(value)
        facts, keys = fields.get("facts"), fields.get("reply_keys")
        kind: Any = FACTS[fields["question"]]
        fields["facts"] = None if facts is None else build_reader(kind)(facts)
        return Evidence(**fields | ({} if keys is None else {"reply_keys": read_keys(keys)}))

    return read_evidence


def _build_union_reader(type_args: tuple[Any, ...]) -> Reader:
    inner = [build_reader(type_arg) for type_arg in type_args if type_arg is not type(None)]
    if all(read is _return_unchanged for read in inner):
        return _return_unchanged
    if len(inner) > 1:
        raise TypeError(f"a union of {type_args} cannot be distinguished in JSON")
    (read,) = inner
    return lambda value: None if value is None else read(value)


def _build_tuple_reader(type_args: tuple[Any, ...]) -> Reader:
    if len(type_args) == 2 and type_args[1] is Ellipsis:
        inner = build_reader(type_args[0])
        return tuple if inner is _return_unchanged else lambda value: tuple([inner(item) for item in value])
    readers = [build_reader(type_arg) for type_arg in type_args]
    return lambda value: tuple([read(item) for read, item in zip(readers, value, strict=True)])


def _build_mapping_reader(key: Any, value: Any) -> Reader:
    inner = build_reader(value)
    if key is float:
        return lambda items: {float(name): inner(item) for name, item in items.items()}
    if inner is _return_unchanged:
        return dict
    return lambda items: {name: inner(item) for name, item in items.items()}

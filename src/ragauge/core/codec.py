"""Values of `data` as JSON text and back, exactly.

`encode` writes the canonical JSON of `canonical.py` (fields at their default are left out), `decode` rebuilds the
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
    FactsOf,
    GuessedFacts,
    ReferenceFacts,
    RelevanceFacts,
    SimilarityFacts,
)
from ragauge.core.identity import canonical, plain

T = TypeVar("T")
Read = Callable[[Any], Any]

# which facts a question gives
FACTS: Mapping[str, type[FactsOf]] = {
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


def encode(value: Any) -> str:
    """A frozen value as canonical JSON; fields that hold their default are left out.

    Raises:
        DataError: JSON has no such value: a number that is not finite, an object.

    >>> from ragauge.core.example import Relevant
    >>> encode(Relevant(("d1", "d2")))
    '{"doc_ids":["d1","d2"]}'
    """
    try:
        return canonical(plain(value))
    except (ValueError, TypeError) as error:
        hint = "Write finite numbers and plain values, or leave the field out."
        raise DataError(f"{type(value).__name__} cannot be written as JSON: {error}.", hint=hint) from None


def decode(cls: type[T], text: str) -> T:
    """The value that `encode` wrote.

    Raises:
        DataError: the text is not JSON, or not of this type.

    >>> from ragauge.core.example import Relevant
    >>> decode(Relevant, '{"doc_ids":["d1"],"grade":2}')
    Relevant(doc_ids=('d1',), grade=2)
    """
    try:
        plain_value = json.loads(text)
    except ValueError as error:
        raise DataError(f"not the JSON of {cls.__name__}: {error}.") from error
    return from_plain(cls, plain_value)


def from_plain(cls: type[T], plain_value: Any) -> T:
    """The value whose `plain` form this is: what `decode` does after parsing."""
    try:
        hint: Any = cls
        value: T = reader(hint)(plain_value)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"not the JSON of {cls.__name__}: {type(error).__name__}: {error}.") from error
    return value


@cache
def reader(hint: Any) -> Read:
    """A function from parsed JSON to a value of the type; the type hints are read once."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _dataclass_reader(hint)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _union_reader(parts)
    if origin is tuple:
        return _tuple_reader(parts)
    if origin is frozenset:
        return frozenset
    if origin in (AbstractMapping, dict):
        return _mapping_reader(*parts)
    return _same


def _same(value: Any) -> Any:
    return value


def _dataclass_reader(cls: type[Any]) -> Read:
    hints = get_type_hints(cls)
    if cls is Evidence:
        return _evidence_reader(hints["reply_keys"])
    readers = {part.name: reader(hints[part.name]) for part in dataclasses.fields(cls)}
    made = [(name, read) for name, read in readers.items() if read is not _same]  # the others are as JSON has them

    def read(value: Mapping[str, Any]) -> Any:
        fields = dict(value)
        for name, make in made:
            if name in fields:
                fields[name] = make(fields[name])
        return cls(**fields)

    return read


def _evidence_reader(reply_keys: Any) -> Read:
    """Of evidence the question says which facts these are."""
    read_keys = reader(reply_keys)

    def read(value: Mapping[str, Any]) -> Evidence:
        fields = dict(value)
        facts, keys = fields.get("facts"), fields.get("reply_keys")
        kind: Any = FACTS[fields["question"]]
        fields["facts"] = None if facts is None else reader(kind)(facts)
        return Evidence(**fields | ({} if keys is None else {"reply_keys": read_keys(keys)}))

    return read


def _union_reader(parts: tuple[Any, ...]) -> Read:
    inner = [reader(part) for part in parts if part is not type(None)]
    if all(read is _same for read in inner):
        return _same
    if len(inner) > 1:
        raise TypeError(f"a union of {parts} cannot be told apart in JSON")
    (read,) = inner
    return lambda value: None if value is None else read(value)


def _tuple_reader(parts: tuple[Any, ...]) -> Read:
    if len(parts) == 2 and parts[1] is Ellipsis:
        inner = reader(parts[0])
        return tuple if inner is _same else lambda value: tuple([inner(item) for item in value])
    readers = [reader(part) for part in parts]
    return lambda value: tuple([read(item) for read, item in zip(readers, value, strict=True)])


def _mapping_reader(key: Any, value: Any) -> Read:
    inner = reader(value)
    if key is float:
        return lambda items: {float(name): inner(item) for name, item in items.items()}
    if inner is _same:
        return dict
    return lambda items: {name: inner(item) for name, item in items.items()}

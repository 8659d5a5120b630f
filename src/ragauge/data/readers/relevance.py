"""Which documents and chunks are judged relevant, in the forms that labels come in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragauge.data.example import Relevant
from ragauge.data.identity import text_id
from ragauge.data.readers.passages import DOC_KEYS, PASSAGE_KEYS, TEXT_KEYS, first_of
from ragauge.data.readers.values import (
    OBJECT,
    BadValue,
    Notes,
    answer_text,
    entries,
    identifier,
    items,
    number,
    opened,
    text,
)

CHUNK_KEYS = (*PASSAGE_KEYS, "id", "_id", *DOC_KEYS)
RELEVANT = "an object of doc_id and grade, a list of ids, or a list of objects with doc_ids and grade"


def relevant(value: Any, name: str, notes: Notes) -> tuple[Relevant, ...]:
    """Judged documents. In a list, an inner list is a group of which any one member will do."""
    return _settled(_judged(opened(value, name, notes), name, notes, DOC_KEYS), name)


def relevant_chunks(value: Any, name: str, notes: Notes) -> tuple[Relevant, ...]:
    """Judged chunks, as `relevant`, by their passage_ids."""
    return _settled(_judged(opened(value, name, notes), name, notes, CHUNK_KEYS), name)


def _settled(found: Iterable[Relevant], name: str) -> tuple[Relevant, ...]:
    """Each item once; refused where one has two grades."""
    found = list(found)
    grades: dict[tuple[str, ...], float] = {}
    for one in found:
        if grades.setdefault(one.doc_ids, one.grade) != one.grade:
            both = f"{grades[one.doc_ids]:g} and {one.grade:g}"
            raise BadValue(f"{name} of {', '.join(one.doc_ids)}", "one grade a document", both)
    return tuple(Relevant(doc_ids, grade) for doc_ids, grade in grades.items())


def _judged(value: Any, name: str, notes: Notes, keys: Sequence[str]) -> Iterator[Relevant]:
    if isinstance(value, OBJECT):
        for key, grade in entries(value, name, RELEVANT):
            yield Relevant((identifier(key, f"{name} key", notes),), _grade(grade, f"{name}.{key}"))
        return
    if isinstance(value, str | int) and not isinstance(value, bool):
        value = [value]
    for n, item in enumerate(items(value, name, RELEVANT)):
        where = f"{name}[{n}]"
        if isinstance(item, list | tuple):
            yield Relevant(_members(item, where, notes), 1.0)
        elif isinstance(item, Mapping):
            key, grade = first_of(item, ("grade", "relevance", "score"))
            level = 1.0 if grade is None else _grade(grade, f"{where}.{key}")
            yield Relevant(_named(item, where, notes, keys), level)
        else:
            yield Relevant((identifier(item, where, notes),), 1.0)


def _named(item: Mapping[str, Any], where: str, notes: Notes, keys: Sequence[str]) -> tuple[str, ...]:
    if item.get("doc_ids") is not None:
        return _members(item["doc_ids"], f"{where}.doc_ids", notes)
    key, value = first_of(item, keys)
    if value is not None:
        return (identifier(value, f"{where}.{key}", notes),)
    key, content = first_of(item, TEXT_KEYS)
    if content is None:
        raise BadValue(where, "an object with doc_ids and grade", item)
    return (text_id(text(content, f"{where}.{key}", notes)),)


def _members(value: Any, where: str, notes: Notes) -> tuple[str, ...]:
    members = [identifier(one, f"{where}[{n}]", notes) for n, one in enumerate(items(value, where, "a list of ids"))]
    if not members:
        raise BadValue(where, "a group of at least one id", value)
    return tuple(dict.fromkeys(members))


def _grade(value: Any, name: str) -> float:
    return float(value) if isinstance(value, bool) else number(value, name)


def relevant_texts(value: Any, name: str, notes: Notes) -> tuple[Relevant, ...]:
    """Labels that are texts: each names the document that a passage of the same text gets."""
    value = opened(value, name, notes)
    found = [value] if isinstance(value, str) else items(value, name, "a text or a list of texts")
    ids = [text_id(answer_text(item, f"{name}[{n}]", notes)) for n, item in enumerate(found)]
    return tuple(Relevant((one,)) for one in dict.fromkeys(ids))

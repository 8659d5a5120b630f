"""Retrieved passages, and what points into them: citations, labels, gold spans.

Passages as frameworks dump them: LangChain's serialized documents, LlamaIndex's nodes with their scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeVar

from ragauge.core.example import Span
from ragauge.core.identity import text_id
from ragauge.core.response import REDACTED, Citation, Passage
from ragauge.core.values import (
    LISTED,
    OBJECT,
    BadValue,
    Notes,
    identifier,
    items,
    number,
    opened,
    storable,
    text,
    whole,
)

SOURCE = "1"  # LlamaIndex's number for the relation of a node to the document that it was cut from
NODE_IDS = ("id_", "node_id", "id")
PAIR = 2
UNQUOTED = re.compile(r"\s*\[[^\[\]\d][^\[\]]*,[^\[\]]*\]\s*")  # a list whose texts have no quotes


def unwrapped(item: Any) -> Any:
    """A passage without what a framework's dump puts around it; anything else as it is.

    >>> unwrapped({"node": {"id_": "n1", "text": "It is.", "metadata": {"file_name": "a.md"}}, "score": 0.8})
    {'text': 'It is.', 'metadata': {'file_name': 'a.md'}, 'passage_id': 'n1', 'score': 0.8}
    >>> unwrapped([{"page_content": "It is."}, 0.8])
    {'page_content': 'It is.', 'score': 0.8}
    """
    if isinstance(item, list | tuple) and len(item) == PAIR and isinstance(item[0], Mapping):
        document = unwrapped(item[0])
        return {**document, "score": item[1]} if isinstance(item[1], int | float) else item
    if not isinstance(item, Mapping):
        return item
    if "lc" in item and isinstance(item.get("kwargs"), Mapping):
        return item["kwargs"]
    if isinstance(item.get("node"), Mapping):
        return _node(item)
    return _node({"node": item, "score": item.get("score")}) if "id_" in item else item


def _node(item: Mapping[str, Any]) -> dict[str, Any]:
    """The passage of a LlamaIndex node."""
    inner: Mapping[str, Any] = item["node"]
    while isinstance(inner.get("node"), Mapping):
        inner = inner["node"]
    metadata = inner.get("metadata") or inner.get("extra_info") or {}
    relations = inner.get("relationships")
    parent = relations.get(SOURCE) if isinstance(relations, Mapping) else None
    if isinstance(parent, Mapping) and isinstance(metadata, Mapping) and parent.get("node_id") is not None:
        metadata = {**metadata, "ref_doc_id": parent["node_id"]}
    fields = {
        "text": inner.get("text", inner.get("content")),
        "metadata": metadata,
        "passage_id": next((inner[key] for key in NODE_IDS if inner.get(key) is not None), None),
        "score": item.get("score"),
    }
    return {key: value for key, value in fields.items() if value is not None}


T = TypeVar("T")

TEXT_KEYS = ("text", "content", "page_content")
DOC_KEYS = ("doc_id", "document_id", "doc_uri", "docid", "id", "_id")
# the order in which traces are read too
METADATA_KEYS = ("id", "doc_id", "chunk_id", "doc_uri", "source", "file_name", "filename", "file_path")
PARENT_KEYS = ("source_id", "ref_doc_id")  # of metadata: a splitter's words for the document that it cut
ID_KEYS = frozenset({*DOC_KEYS, *METADATA_KEYS, *PARENT_KEYS, "title", "type"})
# what a store makes up where the user gave no id: a UUID, or a SHA-256 of the content (Haystack)
MADE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}", re.IGNORECASE)
PASSAGE_KEYS = ("passage_id", "chunk_id")
SCORE_KEYS = ("score", "relevance_score", "similarity", "_score")
KNOWN_KEYS = frozenset(
    {*TEXT_KEYS, *DOC_KEYS, *PASSAGE_KEYS, *SCORE_KEYS, "span", "hop", "updated_at", "superseded_by"}
    | {"metadata", "meta", "title", "type"}  # metadata is searched for an id; title and type carry nothing to judge
)
TEXT_MARKS = frozenset({*TEXT_KEYS, "lc"})
PASSAGE_MARKS = frozenset({*TEXT_MARKS, *DOC_KEYS, *PASSAGE_KEYS, "metadata", "node"})
PLAIN_KEYS = frozenset({"passage_id", "doc_id", "text", "score"})
TRACED_KEYS = frozenset({"id", "content", "score"})  # as OpenInference names the same
NOT_PAIRED = (  # one text of several ids: nobody says which part of it is whose
    "If it is the text of all of them joined: --map retrieved_ids= reads the text alone, which a judge needs, and "
    "--map passages= the ids alone, which labels name. A list of texts, one an id, gives both."
)
PASSAGES = "a text, a list of texts, or a list of objects with doc_id and text"


def passages(value: Any, name: str, notes: Notes, ids: Any = None, ids_name: str = "") -> tuple[Passage, ...]:
    """Passages in order; one text is one passage, a blank one is none.

    `ids` are their doc_ids where they stand in a list of their own.
    """
    value = _held(_opened(value, name, notes))
    listed_passages: list[Any] = []
    if isinstance(value, str) and not value.strip():
        value = []
    if value is not None:
        listed_passages = [value] if isinstance(value, (str, *OBJECT)) else items(value, name, PASSAGES)
    if ids is not None:
        listed = items(opened(ids, ids_name, notes), ids_name, "a list of ids, one a passage")
        known = [identifier(doc_id, f"{ids_name}[{n}]", notes) for n, doc_id in enumerate(listed)]
        if value is not None and len(known) != len(listed_passages):
            wanted = f"a list of {len(listed_passages)} ids, one a passage of {name}"
            raise BadValue(ids_name, wanted, known, NOT_PAIRED if isinstance(value, str) else "")
        listed_passages = [
            _with_id(item, doc_id) for item, doc_id in zip(listed_passages or [{}] * len(known), known, strict=True)
        ]
    read = []
    for n, given in enumerate(listed_passages):
        item = unwrapped(given)
        plain = _plain(item)
        if plain is not None:
            notes.identified("doc_id" if "doc_id" in item else "id")
        read.append(plain or _passage(item, n, name, notes))
    return _distinct(read)


def _opened(value: Any, name: str, notes: Notes) -> Any:
    """The passages that a text holds as JSON; one that holds other JSON is a passage, as tools return them."""
    if not isinstance(value, str):
        return value
    found = opened(value, name, notes if notes.cells else Notes(cells=True))
    if found is value and notes.cells and UNQUOTED.fullmatch(value):
        notes.unquoted[name] = notes.unquoted.get(name, 0) + 1
    listed = [found] if isinstance(found, OBJECT) else found
    if found is value or (isinstance(found, LISTED) and notes.cells and not any(isinstance(i, OBJECT) for i in found)):
        return found
    return found if all(isinstance(item, str) or _says_text(_held(item)) for item in listed) else value


def _says_text(item: Any) -> bool:
    """Whether an object, or every one of a list, is surely a passage: its text is known, or all of its keys are."""
    if isinstance(item, LISTED):
        return bool(item) and all(_says_text(part) for part in item if not isinstance(part, int | float))
    if not isinstance(item, OBJECT):
        return False
    objects = (item, *(part for part in item.values() if isinstance(part, OBJECT)))
    return item.keys() <= KNOWN_KEYS or any(not TEXT_MARKS.isdisjoint(part) for part in objects)


def _is_passage(item: Any) -> bool:
    """Whether an object has a key that passages have, or is a list of such objects."""
    if isinstance(item, LISTED):
        return bool(item) and all(_is_passage(part) for part in item if not isinstance(part, int | float))
    return isinstance(item, OBJECT) and (not PASSAGE_MARKS.isdisjoint(item) or _says_text(item))


def _held(value: Any) -> Any:
    """The list of objects that an object is there for, as the answers of vector stores: {"matches": [...]}."""
    if not isinstance(value, OBJECT) or not PASSAGE_MARKS.isdisjoint(value):
        return value
    within = [_held(item) for item in value.values() if isinstance(item, (*OBJECT, *LISTED))]
    lists = [item for item in within if isinstance(item, LISTED) and item and all(map(_is_passage, item))]
    return lists[0] if len(lists) == 1 else value


def _with_id(item: Any, doc_id: str) -> dict[str, Any]:
    return {**item, "doc_id": doc_id} if isinstance(item, Mapping) else {"doc_id": doc_id, "text": item}


def _plain(item: Any) -> tuple[Passage, bool] | None:
    """The shape that nearly every passage has, read in a tenth of the time; None for any other."""
    if type(item) is not dict:
        return None
    if item.keys() <= PLAIN_KEYS:
        doc_id, content, score = item.get("doc_id"), item.get("text"), item.get("score")
    elif item.keys() <= TRACED_KEYS:
        doc_id, content, score = item.get("id"), item.get("content"), item.get("score")
    else:
        return None
    if type(doc_id) is not str or type(content) is not str or not doc_id.strip():
        return None
    if score is not None and (type(score) is not float or not isfinite(score)):
        return None
    passage_id = item.get("passage_id")
    if passage_id is not None and (type(passage_id) is not str or not passage_id.strip()):
        return None
    if not storable(content) or not storable(doc_id) or not storable(passage_id or ""):
        return None
    return Passage(passage_id or doc_id, doc_id, content, score), passage_id is not None


def _passage(item: Any, n: int, name: str, notes: Notes) -> tuple[Passage, bool]:
    """One passage, and whether its passage_id was given."""
    if not isinstance(item, OBJECT):
        if not isinstance(item, str):
            raise BadValue(f"{name}[{n}]", "a text or an object with doc_id and text", item)
        content: str | None = text(item, f"{name}[{n}]", notes)
        doc_id = _nameless(content, n, notes)
        return Passage(doc_id, doc_id, content), False
    key, value = first_of(item, TEXT_KEYS)
    if value is None:
        item, key, value = _inner_text(item, name, notes)
    if not item.keys() <= KNOWN_KEYS:
        for unread in item.keys() - KNOWN_KEYS:
            notes.passage_keys[f"{name}[].{unread}"] = notes.passage_keys.get(f"{name}[].{unread}", 0) + 1
    content = None if value is None else text(value, f"{name}[{n}].{key}", notes)
    doc_id, spare = _doc_id(item, content, n, name, notes)
    key, value = first_of(item, PASSAGE_KEYS)
    passage_id = spare if value is None else identifier(value, f"{name}[{n}].{key}", notes)
    score_key, score = first_of(item, SCORE_KEYS)
    if score is None and isinstance(metadata := item.get("metadata"), Mapping):
        score_key, score = "metadata.relevance_score", metadata.get("relevance_score")
    return Passage(
        passage_id=passage_id or doc_id,
        doc_id=doc_id,
        text=content,
        score=None if score is None else number(score, f"{name}[{n}].{score_key}"),
        span=_optional(item, "span", lambda value, name: _span(value, name, notes, doc_id), f"{name}[{n}]"),
        hop=_optional(item, "hop", whole, f"{name}[{n}]") or 0,
        updated_at=_optional(item, "updated_at", lambda value, name: _date(value, name, notes), f"{name}[{n}]"),
        superseded_by=_optional(item, "superseded_by", lambda v, name: identifier(v, name, notes), f"{name}[{n}]"),
    ), bool(passage_id)


def _inner_text(item: Mapping[str, Any], name: str, notes: Notes) -> tuple[Mapping[str, Any], str, Any]:
    """The text that an object of a passage holds, as vector stores return them: metadata.text, payload.content.

    Returns:
        The passage with that object as its metadata; the key, or "", and the text, or None.
    """
    inner = {key: value for key, value in item.items() if isinstance(value, OBJECT) and key != "span"}
    for outer, held in inner.items():
        key, value = first_of(held, TEXT_KEYS)
        if isinstance(value, str):
            rest = {name: part for name, part in item.items() if name != outer}
            return {"metadata": held, **rest}, f"{outer}.{key}", value
    for outer, held in inner.items():
        for key in (key for key, value in held.items() if isinstance(value, str) and key not in ID_KEYS):
            notes.passage_keys[f"{name}[].{outer}.{key}"] = notes.passage_keys.get(f"{name}[].{outer}.{key}", 0) + 1
    return item, "", None


def _date(value: Any, name: str, notes: Notes) -> str:
    """A date as text; tables hold it as an object."""
    return str(value.isoformat()) if hasattr(value, "isoformat") else text(value, name, notes)


def first_of(item: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, Any]:
    """The first of the keys that holds a value, and the value; (the first key, None) where none does."""
    for key in keys:
        value = item.get(key)
        if value is not None:
            return key, value
    return keys[0], None


def _optional(item: Mapping[str, Any], key: str, parse: Callable[[Any, str], T], where: str) -> T | None:
    value = item.get(key)
    return None if value is None else parse(value, f"{where}.{key}")


def _nameless(content: str | None, n: int, notes: Notes) -> str:
    """A redacted text says nothing about which document it is, so its place tells it apart."""
    redacted = content in (None, REDACTED)
    notes.identified("place" if redacted else "text")
    return f"redacted:{n + 1}" if redacted else text_id(content or "")


def _doc_id(item: Mapping[str, Any], content: str | None, n: int, name: str, notes: Notes) -> tuple[str, str]:
    """The doc_id, and an `id` beside an explicit one: that is the chunk's."""
    metadata = item.get("metadata") or item.get("meta")
    key, value = first_of(item, DOC_KEYS)
    if key in ("id", "_id") and isinstance(value, str) and MADE.fullmatch(value) and isinstance(metadata, Mapping):
        named, parent = first_of(metadata, METADATA_KEYS[1:] + PARENT_KEYS)  # the piece's id, that no person gave
        if parent is not None:
            notes.identified(f"metadata.{named}")
            return identifier(parent, f"{name}[{n}].metadata.{named}", notes), value
    if value is not None:
        notes.identified(key)
        doc_id = identifier(value, f"{name}[{n}].{key}", notes)
        spare = item.get("id") if key != "id" else None
        return doc_id, "" if spare is None else identifier(spare, f"{name}[{n}].id", notes)
    if isinstance(metadata, Mapping):
        key, value = first_of(metadata, METADATA_KEYS + PARENT_KEYS)
        if value is not None:
            notes.identified(f"metadata.{key}")
            return identifier(value, f"{name}[{n}].metadata.{key}", notes), ""
    if content is None:
        raise BadValue(f"{name}[{n}]", "an object with doc_id or text", item)
    return _nameless(content, n, notes), ""


def _distinct(passages: list[tuple[Passage, bool]]) -> tuple[Passage, ...]:
    """Passages whose ids tell them apart: a second text under one doc_id becomes doc_id#2."""
    texts = {passage.passage_id: passage.text for passage, given in passages if given}
    out = []
    for passage, given in passages:
        if given:
            out.append(passage)
            continue
        passage_id, copy = passage.passage_id, 1
        while texts.setdefault(passage_id, passage.text) != passage.text:
            copy += 1
            passage_id = f"{passage.passage_id}#{copy}"
        out.append(passage if copy == 1 else _renamed(passage, passage_id))
    return tuple(out)


def _renamed(old: Passage, passage_id: str) -> Passage:
    return Passage(passage_id, old.doc_id, old.text, old.score, old.span, old.hop, old.updated_at, old.superseded_by)


QUOTED = "`ragauge chunking` and `embeddings` find quotes of JSON files; else write start = text.index(quote), and end."


def _span(value: Any, name: str, notes: Notes, doc_id: str | None = None) -> Span:
    """A span; [start, end] will do where the document is known."""
    if isinstance(value, list | tuple) and len(value) == 2 and doc_id is not None:
        value = {"start": value[0], "end": value[1]}
    if not isinstance(value, Mapping):
        raise BadValue(name, "an object with doc_id, start and end", value)
    key, named = first_of(value, DOC_KEYS)
    quoted = doc_id is None and "start" not in value and "end" not in value
    if doc_id is None and (named is None or quoted):
        raise BadValue(name, "an object with doc_id, start and end", value, QUOTED if quoted else "")
    start, end = _bounds(value, name)
    return Span(doc_id or "" if named is None else identifier(named, f"{name}.{key}", notes), start, end)


def _bounds(value: Mapping[str, Any], name: str) -> tuple[int, int]:
    start, end = whole(value.get("start"), f"{name}.start"), whole(value.get("end"), f"{name}.end")
    if end < start:
        raise BadValue(f"{name}.end", f"at least the start ({start})", end)
    return start, end


def gold_spans(value: Any, name: str, notes: Notes) -> tuple[Span, ...]:
    """Where the evidence stands."""
    spans = items(opened(value, name, notes), name, "a list of objects with doc_id, start and end")
    return tuple(_span(item, f"{name}[{n}]", notes) for n, item in enumerate(spans))


CITATIONS = "a list of objects with start, end and doc_id, or a list of ids"


def citations(value: Any, name: str, notes: Notes, answer: str | None) -> tuple[Citation, ...]:
    """What parts of the answer are credited to; an id without offsets credits the whole answer."""
    length = len(answer) if answer is not None else 0
    out = []
    for n, item in enumerate(items(opened(value, name, notes), name, CITATIONS)):
        where = f"{name}[{n}]"
        if not isinstance(item, Mapping):
            out.append(Citation(0, length, identifier(item, where, notes)))
            continue
        key, target = first_of(item, ("target", "passage_id", "chunk_id", *DOC_KEYS))
        if target is None:
            raise BadValue(where, "an object with doc_id (or passage_id)", item)
        whole_answer = item.get("start") is None and item.get("end") is None
        start, end = (0, length) if whole_answer else _bounds(item, where)
        if answer is not None and end > length:
            hint = "Offsets count characters of the answer, not bytes or tokens."
            raise BadValue(f"{where}.end", f"at most the length of the answer ({length})", end, hint)
        out.append(Citation(start, end, identifier(target, f"{where}.{key}", notes)))
    return tuple(out)

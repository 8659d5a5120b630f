"""Retrieved passages, and what points into them: citations, labels, gold spans.

Passages as frameworks dump them: LangChain's serialized documents, LlamaIndex's nodes with their scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeVar

from ragauge.core.example import Span
from ragauge.core.identity import derive_doc_id
from ragauge.core.response import REDACTED, Citation, Passage
from ragauge.core.values import (
    LIST_TYPES,
    OBJECT_TYPES,
    BadValue,
    Notes,
    decode_cell,
    is_storable,
    parse_identifier,
    parse_list,
    parse_number,
    parse_text,
    parse_whole_number,
)

SOURCE_RELATION = "1"  # LlamaIndex's number for the relation of a node to the document that it was cut from
NODE_IDS = ("id_", "node_id", "id")
PAIR_SIZE = 2
UNQUOTED_LIST = re.compile(r"\s*\[[^\[\]\d][^\[\]]*,[^\[\]]*\]\s*")  # a list whose texts have no quotes


def unwrap_passage(item: Any) -> Any:
    """A passage without what a framework's dump puts around it; anything else as it is.

    >>> unwrap_passage({"node": {"id_": "n1", "text": "It is.", "metadata": {"file_name": "a.md"}}, "score": 0.8})
    {'text': 'It is.', 'metadata': {'file_name': 'a.md'}, 'passage_id': 'n1', 'score': 0.8}
    >>> unwrap_passage([{"page_content": "It is."}, 0.8])
    {'page_content': 'It is.', 'score': 0.8}
    """
    if isinstance(item, list | tuple) and len(item) == PAIR_SIZE and isinstance(item[0], Mapping):
        document = unwrap_passage(item[0])
        return {**document, "score": item[1]} if isinstance(item[1], int | float) else item
    if not isinstance(item, Mapping):
        return item
    if "lc" in item and isinstance(item.get("kwargs"), Mapping):
        return item["kwargs"]
    if isinstance(item.get("node"), Mapping):
        return _unwrap_node(item)
    return _unwrap_node({"node": item, "score": item.get("score")}) if "id_" in item else item


def _unwrap_node(item: Mapping[str, Any]) -> dict[str, Any]:
    """The passage of a LlamaIndex node."""
    inner: Mapping[str, Any] = item["node"]
    while isinstance(inner.get("node"), Mapping):
        inner = inner["node"]
    metadata = inner.get("metadata") or inner.get("extra_info") or {}
    relations = inner.get("relationships")
    parent = relations.get(SOURCE_RELATION) if isinstance(relations, Mapping) else None
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
GENERATED_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}", re.IGNORECASE)
PASSAGE_KEYS = ("passage_id", "chunk_id")
SCORE_KEYS = ("score", "relevance_score", "similarity", "_score")
KNOWN_KEYS = frozenset(
    {*TEXT_KEYS, *DOC_KEYS, *PASSAGE_KEYS, *SCORE_KEYS, "span", "hop", "updated_at", "superseded_by"}
    | {"metadata", "meta", "title", "type"}  # metadata is searched for an id; title and type carry nothing to judge
)
TEXT_MARKS = frozenset({*TEXT_KEYS, "lc"})
PASSAGE_MARKS = frozenset({*TEXT_MARKS, *DOC_KEYS, *PASSAGE_KEYS, "metadata", "node"})
SIMPLE_KEYS = frozenset({"passage_id", "doc_id", "text", "score"})
TRACED_KEYS = frozenset({"id", "content", "score"})  # as OpenInference names the same
UNPAIRED_IDS_HINT = (  # one text of several ids: nobody says which part of it is whose
    "If this is the text of all passages joined, --map retrieved_ids= reads only the text, which a judge needs, and "
    "--map passages= reads only the ids, which labels need. A list of texts, one per id, gives both."
)
PASSAGES = "a text, a list of texts, or a list of objects with doc_id and text"


def parse_passages(value: Any, name: str, notes: Notes, ids: Any = None, ids_name: str = "") -> tuple[Passage, ...]:
    """Passages in order; one text is one passage, a blank one is none.

    `ids` are their doc_ids where they stand in a list of their own.
    """
    value = _find_passage_list(_decode_passages(value, name, notes))
    listed_passages: list[Any] = []
    if isinstance(value, str) and not value.strip():
        value = []
    if value is not None:
        listed_passages = [value] if isinstance(value, (str, *OBJECT_TYPES)) else parse_list(value, name, PASSAGES)
    if ids is not None:
        raw_ids = parse_list(decode_cell(ids, ids_name, notes), ids_name, "a list of ids, one per passage")
        doc_ids = [parse_identifier(doc_id, f"{ids_name}[{n}]", notes) for n, doc_id in enumerate(raw_ids)]
        if value is not None and len(doc_ids) != len(listed_passages):
            expected = f"a list of {len(listed_passages)} ids, one per passage of {name}"
            raise BadValue(ids_name, expected, doc_ids, UNPAIRED_IDS_HINT if isinstance(value, str) else "")
        listed_passages = [
            _add_id(item, doc_id) for item, doc_id in zip(listed_passages or [{}] * len(doc_ids), doc_ids, strict=True)
        ]
    read = []
    for n, raw_item in enumerate(listed_passages):
        item = unwrap_passage(raw_item)
        simple_passage = _parse_simple_passage(item)
        if simple_passage is not None:
            notes.count_id_rule("doc_id" if "doc_id" in item else "id")
        read.append(simple_passage or _parse_passage(item, n, name, notes))
    return _make_ids_unique(read)


def _decode_passages(value: Any, name: str, notes: Notes) -> Any:
    """The passages that a text holds as JSON; one that holds other JSON is a passage, as tools return them."""
    if not isinstance(value, str):
        return value
    decoded = decode_cell(value, name, notes if notes.cells else Notes(cells=True))
    if decoded is value and notes.cells and UNQUOTED_LIST.fullmatch(value):
        notes.unquoted[name] = notes.unquoted.get(name, 0) + 1
    decoded_items = [decoded] if isinstance(decoded, OBJECT_TYPES) else decoded
    if decoded is value or (
        isinstance(decoded, LIST_TYPES) and notes.cells and not any(isinstance(i, OBJECT_TYPES) for i in decoded)
    ):
        return decoded
    return (
        decoded
        if all(isinstance(item, str) or _has_text(_find_passage_list(item)) for item in decoded_items)
        else value
    )


def _has_text(item: Any) -> bool:
    """Whether an object, or every one of a list, is surely a passage: its text is known, or all of its keys are."""
    if isinstance(item, LIST_TYPES):
        return bool(item) and all(_has_text(element) for element in item if not isinstance(element, int | float))
    if not isinstance(item, OBJECT_TYPES):
        return False
    objects = (item, *(element for element in item.values() if isinstance(element, OBJECT_TYPES)))
    return item.keys() <= KNOWN_KEYS or any(not TEXT_MARKS.isdisjoint(element) for element in objects)


def _is_passage(item: Any) -> bool:
    """Whether an object has a key that passages have, or is a list of such objects."""
    if isinstance(item, LIST_TYPES):
        return bool(item) and all(_is_passage(element) for element in item if not isinstance(element, int | float))
    return isinstance(item, OBJECT_TYPES) and (not PASSAGE_MARKS.isdisjoint(item) or _has_text(item))


def _find_passage_list(value: Any) -> Any:
    """The list of objects that an object is there for, as the answers of vector stores: {"matches": [...]}."""
    if not isinstance(value, OBJECT_TYPES) or not PASSAGE_MARKS.isdisjoint(value):
        return value
    within = [_find_passage_list(item) for item in value.values() if isinstance(item, (*OBJECT_TYPES, *LIST_TYPES))]
    lists = [item for item in within if isinstance(item, LIST_TYPES) and item and all(map(_is_passage, item))]
    return lists[0] if len(lists) == 1 else value


def _add_id(item: Any, doc_id: str) -> dict[str, Any]:
    return {**item, "doc_id": doc_id} if isinstance(item, Mapping) else {"doc_id": doc_id, "text": item}


def _parse_simple_passage(item: Any) -> tuple[Passage, bool] | None:
    """The shape that nearly every passage has, read in a tenth of the time; None for any other."""
    if type(item) is not dict:
        return None
    if item.keys() <= SIMPLE_KEYS:
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
    if not is_storable(content) or not is_storable(doc_id) or not is_storable(passage_id or ""):
        return None
    return Passage(passage_id or doc_id, doc_id, content, score), passage_id is not None


def _parse_passage(item: Any, n: int, name: str, notes: Notes) -> tuple[Passage, bool]:
    """One passage, and whether its passage_id was given."""
    if not isinstance(item, OBJECT_TYPES):
        if not isinstance(item, str):
            raise BadValue(f"{name}[{n}]", "a text or an object with doc_id and text", item)
        content: str | None = parse_text(item, f"{name}[{n}]", notes)
        doc_id = _derive_doc_id(content, n, notes)
        return Passage(doc_id, doc_id, content), False
    key, value = find_first_value(item, TEXT_KEYS)
    if value is None:
        item, key, value = _find_inner_text(item, name, notes)
    if not item.keys() <= KNOWN_KEYS:
        for unread in item.keys() - KNOWN_KEYS:
            notes.passage_keys[f"{name}[].{unread}"] = notes.passage_keys.get(f"{name}[].{unread}", 0) + 1
    content = None if value is None else parse_text(value, f"{name}[{n}].{key}", notes)
    doc_id, spare = _parse_doc_id(item, content, n, name, notes)
    key, value = find_first_value(item, PASSAGE_KEYS)
    passage_id = spare if value is None else parse_identifier(value, f"{name}[{n}].{key}", notes)
    score_key, score = find_first_value(item, SCORE_KEYS)
    if score is None and isinstance(metadata := item.get("metadata"), Mapping):
        score_key, score = "metadata.relevance_score", metadata.get("relevance_score")
    return Passage(
        passage_id=passage_id or doc_id,
        doc_id=doc_id,
        text=content,
        score=None if score is None else parse_number(score, f"{name}[{n}].{score_key}"),
        span=_parse_optional(item, "span", lambda value, name: _parse_span(value, name, notes, doc_id), f"{name}[{n}]"),
        hop=_parse_optional(item, "hop", parse_whole_number, f"{name}[{n}]") or 0,
        updated_at=_parse_optional(
            item, "updated_at", lambda value, name: _parse_date(value, name, notes), f"{name}[{n}]"
        ),
        superseded_by=_parse_optional(
            item, "superseded_by", lambda v, name: parse_identifier(v, name, notes), f"{name}[{n}]"
        ),
    ), bool(passage_id)


def _find_inner_text(item: Mapping[str, Any], name: str, notes: Notes) -> tuple[Mapping[str, Any], str, Any]:
    """The text that an object of a passage holds, as vector stores return them: metadata.text, payload.content.

    Returns:
        The passage with that object as its metadata; the key, or "", and the text, or None.
    """
    inner = {key: value for key, value in item.items() if isinstance(value, OBJECT_TYPES) and key != "span"}
    for outer, inner_object in inner.items():
        key, value = find_first_value(inner_object, TEXT_KEYS)
        if isinstance(value, str):
            other_fields = {name: field_value for name, field_value in item.items() if name != outer}
            return {"metadata": inner_object, **other_fields}, f"{outer}.{key}", value
    for outer, inner_object in inner.items():
        for key in (key for key, value in inner_object.items() if isinstance(value, str) and key not in ID_KEYS):
            notes.passage_keys[f"{name}[].{outer}.{key}"] = notes.passage_keys.get(f"{name}[].{outer}.{key}", 0) + 1
    return item, "", None


def _parse_date(value: Any, name: str, notes: Notes) -> str:
    """A date as text; tables hold it as an object."""
    return str(value.isoformat()) if hasattr(value, "isoformat") else parse_text(value, name, notes)


def find_first_value(item: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, Any]:
    """The first of the keys that holds a value, and the value; (the first key, None) where none does."""
    for key in keys:
        value = item.get(key)
        if value is not None:
            return key, value
    return keys[0], None


def _parse_optional(item: Mapping[str, Any], key: str, parse: Callable[[Any, str], T], where: str) -> T | None:
    value = item.get(key)
    return None if value is None else parse(value, f"{where}.{key}")


def _derive_doc_id(content: str | None, n: int, notes: Notes) -> str:
    """A redacted text says nothing about which document it is, so its place tells it apart."""
    redacted = content in (None, REDACTED)
    notes.count_id_rule("place" if redacted else "text")
    return f"redacted:{n + 1}" if redacted else derive_doc_id(content or "")


def _parse_doc_id(item: Mapping[str, Any], content: str | None, n: int, name: str, notes: Notes) -> tuple[str, str]:
    """The doc_id, and an `id` beside an explicit one: that is the chunk's."""
    metadata = item.get("metadata") or item.get("meta")
    key, value = find_first_value(item, DOC_KEYS)
    if (
        key in ("id", "_id")
        and isinstance(value, str)
        and GENERATED_ID.fullmatch(value)
        and isinstance(metadata, Mapping)
    ):
        # the piece's id, that no person gave
        parent_key, parent = find_first_value(metadata, METADATA_KEYS[1:] + PARENT_KEYS)
        if parent is not None:
            notes.count_id_rule(f"metadata.{parent_key}")
            return parse_identifier(parent, f"{name}[{n}].metadata.{parent_key}", notes), value
    if value is not None:
        notes.count_id_rule(key)
        doc_id = parse_identifier(value, f"{name}[{n}].{key}", notes)
        spare = item.get("id") if key != "id" else None
        return doc_id, "" if spare is None else parse_identifier(spare, f"{name}[{n}].id", notes)
    if isinstance(metadata, Mapping):
        key, value = find_first_value(metadata, METADATA_KEYS + PARENT_KEYS)
        if value is not None:
            notes.count_id_rule(f"metadata.{key}")
            return parse_identifier(value, f"{name}[{n}].metadata.{key}", notes), ""
    if content is None:
        raise BadValue(f"{name}[{n}]", "an object with doc_id or text", item)
    return _derive_doc_id(content, n, notes), ""


def _make_ids_unique(passages: list[tuple[Passage, bool]]) -> tuple[Passage, ...]:
    """Passages whose ids tell them apart: a second text under one doc_id becomes doc_id#2."""
    texts = {passage.passage_id: passage.text for passage, has_own_id in passages if has_own_id}
    out = []
    for passage, has_own_id in passages:
        if has_own_id:
            out.append(passage)
            continue
        passage_id, copy = passage.passage_id, 1
        while texts.setdefault(passage_id, passage.text) != passage.text:
            copy += 1
            passage_id = f"{passage.passage_id}#{copy}"
        out.append(passage if copy == 1 else _replace_id(passage, passage_id))
    return tuple(out)


def _replace_id(old: Passage, passage_id: str) -> Passage:
    return Passage(passage_id, old.doc_id, old.text, old.score, old.span, old.hop, old.updated_at, old.superseded_by)


QUOTE_HINT = "`ragauge component` finds quotes in JSON files; otherwise compute start = text.index(quote), and end."


def _parse_span(value: Any, name: str, notes: Notes, doc_id: str | None = None) -> Span:
    """A span; [start, end] will do where the document is known."""
    if isinstance(value, list | tuple) and len(value) == 2 and doc_id is not None:
        value = {"start": value[0], "end": value[1]}
    if not isinstance(value, Mapping):
        raise BadValue(name, "an object with doc_id, start and end", value)
    key, raw_doc_id = find_first_value(value, DOC_KEYS)
    quoted = doc_id is None and "start" not in value and "end" not in value
    if doc_id is None and (raw_doc_id is None or quoted):
        raise BadValue(name, "an object with doc_id, start and end", value, QUOTE_HINT if quoted else "")
    start, end = _parse_bounds(value, name)
    return Span(
        doc_id or "" if raw_doc_id is None else parse_identifier(raw_doc_id, f"{name}.{key}", notes), start, end
    )


def _parse_bounds(value: Mapping[str, Any], name: str) -> tuple[int, int]:
    start, end = (
        parse_whole_number(value.get("start"), f"{name}.start"),
        parse_whole_number(value.get("end"), f"{name}.end"),
    )
    if end < start:
        raise BadValue(f"{name}.end", f"at least the start ({start})", end)
    return start, end


def parse_gold_spans(value: Any, name: str, notes: Notes) -> tuple[Span, ...]:
    """Where the evidence stands."""
    spans = parse_list(decode_cell(value, name, notes), name, "a list of objects with doc_id, start and end")
    return tuple(_parse_span(item, f"{name}[{n}]", notes) for n, item in enumerate(spans))


CITATIONS = "a list of objects with start, end and doc_id, or a list of ids"


def parse_citations(value: Any, name: str, notes: Notes, answer: str | None) -> tuple[Citation, ...]:
    """What parts of the answer are credited to; an id without offsets credits the whole answer."""
    length = len(answer) if answer is not None else 0
    out = []
    for n, item in enumerate(parse_list(decode_cell(value, name, notes), name, CITATIONS)):
        where = f"{name}[{n}]"
        if not isinstance(item, Mapping):
            out.append(Citation(0, length, parse_identifier(item, where, notes)))
            continue
        key, target = find_first_value(item, ("target", "passage_id", "chunk_id", *DOC_KEYS))
        if target is None:
            raise BadValue(where, "an object with doc_id (or passage_id)", item)
        whole_answer = item.get("start") is None and item.get("end") is None
        start, end = (0, length) if whole_answer else _parse_bounds(item, where)
        if answer is not None and end > length:
            hint = "Offsets count characters of the answer, not bytes or tokens."
            raise BadValue(f"{where}.end", f"at most the length of the answer ({length})", end, hint)
        out.append(Citation(start, end, parse_identifier(target, f"{where}.{key}", notes)))
    return tuple(out)

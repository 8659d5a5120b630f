"""Passages as frameworks dump them: LangChain's serialized documents, LlamaIndex's nodes with their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SOURCE = "1"      # LlamaIndex's number for the relation of a node to the document that it was cut from
NODE_IDS = ("id_", "node_id", "id")
PAIR = 2


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
    found = {
        "text": inner.get("text", inner.get("content")),
        "metadata": metadata,
        "passage_id": next((inner[key] for key in NODE_IDS if inner.get(key) is not None), None),
        "score": item.get("score"),
    }
    return {key: value for key, value in found.items() if value is not None}

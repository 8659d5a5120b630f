"""Passages as LangChain, LlamaIndex and Haystack dump them: texts, names, ids and scores."""

from __future__ import annotations

from typing import Any

import pytest

from ragauge.core.response import Passage
from ragauge.readers.source import read_source

HASH, OTHER, UUID = "a" * 64, "b" * 64, "0b7b4d2c-1111-2222-3333-123456789abc"
NODE = {
    "id_": "n1",
    "text": "It is.",
    "metadata": {"file_name": "a.md", "file_path": "/x/a.md"},
    "class_name": "TextNode",
    "relationships": {"1": {"node_id": "whole"}},
}


def read(column: str, *items: Any, answer: str = "answer") -> list[Passage]:
    """The passages of one row."""
    (record,) = read_source([{"query": "Who?", answer: "Ada.", column: list(items)}])
    assert record.response is not None
    assert record.response.answer == "Ada."
    return list(record.response.passages or ())


def test_documents_of_langchain() -> None:
    """source_documents beside a result are the passages, named by their source; a UUID is the piece's id."""
    plain = {"page_content": "It is.", "metadata": {"source": "a.md", "page": 1}, "type": "Document", "id": None}
    kept = {**plain, "id": UUID, "metadata": {"source": "b.md", "relevance_score": 0.5}}
    written = {"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": {"page_content": "Oh."}}
    first, second, third, fourth = read("source_documents", plain, kept, written, [plain, 0.25], answer="result")
    assert (first.doc_id, first.text) == ("a.md", "It is.")
    assert (second.doc_id, second.passage_id, second.score) == ("b.md", UUID, 0.5)
    assert third.text == "Oh."
    assert (fourth.doc_id, fourth.score) == ("a.md", 0.25)


@pytest.mark.parametrize("item", [{"node": NODE, "score": 0.8}, {"node": {"node": NODE}, "score": 0.8}])
def test_nodes_of_llamaindex(item: dict[str, Any]) -> None:
    """source_nodes are the passages: the text and file of the node, its id as the piece's, and the score beside it."""
    assert read("source_nodes", item, answer="response") == [Passage("n1", "a.md", "It is.", 0.8)]


def test_a_node_without_a_file_is_named_by_its_document() -> None:
    """A node that no metadata names belongs to the document that it was cut from."""
    assert read("source_nodes", {"node": {**NODE, "metadata": {}}})[0].doc_id == "whole"
    assert read("source_nodes", {**NODE, "score": 0.8}) == [Passage("n1", "a.md", "It is.", 0.8)]


def test_made_up_ids_do_not_name_a_document() -> None:
    """Of a passage whose id is a SHA-256 the file in its meta is the document, so that labels by file name match."""
    with_file = {"id": HASH, "content": "It is.", "meta": {"file_path": "a.md", "split_id": 3, "source_id": OTHER}}
    with_parent = {"id": HASH, "content": "It is.", "meta": {"source_id": OTHER, "split_id": 3}}
    given = {"id": "a-3", "content": "It is.", "meta": {"file_path": "a.md"}}
    bare = {"id": HASH, "content": "It is."}
    found = [read("documents", one)[0] for one in (with_file, with_parent, given, bare)]
    assert [(one.doc_id, one.passage_id) for one in found] == [
        ("a.md", HASH),
        (OTHER, HASH),
        ("a-3", "a-3"),
        (HASH, HASH),
    ]


def test_a_result_alone_is_no_answer() -> None:
    """A column called result is read as the answer only beside LangChain's or LlamaIndex's passages."""
    said: list[str] = []
    (record,) = read_source([{"query": "Who?", "result": "pass", "passages": ["It is."]}], warn=said.append)
    assert record.response is not None
    assert record.response.answer is None
    assert "result" in said[0]

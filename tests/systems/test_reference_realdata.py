"""The reference system over public passages."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from ragauge.data.document import Document
from ragauge.data.example import Example
from ragauge.llm.embedders.wordllama import WordLlamaEmbedder
from ragauge.systems.reference.extractive import REFUSAL
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
CLAPNQ, CACM = DATA / "clapnq", DATA / "cacm"

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.slow,
    pytest.mark.skipif(not CLAPNQ.is_dir(), reason="the public data sets are not beside the repository"),
]


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CLAPNQ / f"clapnq_dev_{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def pool() -> dict[tuple[str, str], Document]:
    """Every passage of the dev set once, as a document."""
    found: dict[tuple[str, str], Document] = {}
    for row in rows("answerable") + rows("unanswerable"):
        for passage in row["passages"]:
            key = (passage["title"], passage["text"])
            found.setdefault(key, Document(f"p{len(found)}", *key))
    return found


def test_clapnq_passages_are_found(pool: dict[tuple[str, str], Document]) -> None:
    """Of 100 answerable questions over about 600 passages, the gold passage is among the first five for over 95 %."""
    started = process_time()
    rag = ReferenceRag(ReferenceConfig(), list(pool.values()), WordLlamaEmbedder().embed)
    assert process_time() - started < 20
    found = refused = 0
    asked = rows("answerable")[:100]
    for row in asked:
        gold = {pool[passage["title"], passage["text"]].doc_id for passage in row["passages"]}
        response = rag.respond(Example(row["id"], row["input"]))
        found += bool(gold & {passage.doc_id for passage in response.passages or ()})
        refused += response.answer == REFUSAL
    assert found / len(asked) > 0.95
    assert refused / len(asked) < 0.1


def test_clapnq_spans_are_exact(pool: dict[tuple[str, str], Document]) -> None:
    """On passages of another kind too, the text at a span is the end of the passage's text."""
    texts = {document.doc_id: document.text for document in pool.values()}
    rag = ReferenceRag(ReferenceConfig(chunk_tokens=64), list(pool.values()), WordLlamaEmbedder().embed)
    for passage in rag.retrieve("when was the first album released", 500):
        assert passage.span is not None
        assert (passage.text or "").endswith(texts[passage.doc_id][passage.span.start : passage.span.end])


def test_bm25_reaches_the_published_figure_on_cacm() -> None:
    """Mean average precision of BM25 over CACM lies within 0.02 of Anserini's published 0.3123."""
    with tarfile.open(CACM / "cacm.tar.gz") as packed:
        pages = {Path(one.name).stem: packed.extractfile(one) for one in packed if one.name.endswith(".html")}
        texts = {name: file.read().decode("latin-1") for name, file in pages.items() if file is not None}
    whole = ReferenceConfig(retriever="bm25", chunk_tokens=100_000, overlap=0)
    plain = [Document(name, "", re.sub(r"<[^>]+>", " ", text).strip()) for name, text in texts.items()]
    rag = ReferenceRag(whole, plain, WordLlamaEmbedder().embed)
    relevant: dict[str, set[str]] = {}
    for row in (CACM / "qrels.cacm.txt").read_text().splitlines():
        topic, _, doc_id, grade = row.split()
        if int(grade):
            relevant.setdefault(topic, set()).add(doc_id)
    asked = re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", (CACM / "topics.cacm.txt").read_text(), re.DOTALL)
    queries = {topic: " ".join(text.split()) for topic, text in asked}
    found = []
    for topic, gold in relevant.items():
        ranked = [passage.doc_id for passage in rag.retrieve(queries[topic], 1_000)]
        places = [place for place, doc_id in enumerate(ranked, 1) if doc_id in gold]
        found.append(sum(n / place for n, place in enumerate(places, 1)) / len(gold))
    assert len(found) == 52
    assert abs(sum(found) / len(found) - 0.3123) < 0.02

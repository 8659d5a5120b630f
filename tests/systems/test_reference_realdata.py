"""The reference system over public passages."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import OwnTime

import ragauge as rg
from ragauge.core.document import Document
from ragauge.core.example import EvalSet, Example, Relevant
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.studies.figures import StudyTable
from ragauge.systems.reference.extractive import REFUSAL
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
CLAPNQ, CACM, VASWANI = DATA / "clapnq", DATA / "cacm", DATA / "vaswani"
WHOLE: dict[str, Any] = {"chunk_tokens": 100_000, "overlap": 0}

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.prove,
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


def test_clapnq_passages_are_found(pool: dict[tuple[str, str], Document], own_time: OwnTime) -> None:
    """Of 100 answerable questions over about 600 passages, the gold passage is among the first five for over 95 %."""
    made: list[ReferenceRag] = []
    documents, embed = list(pool.values()), WordLlamaEmbedder().embed
    own_time.within(20, lambda: made.append(ReferenceRag(ReferenceConfig(), documents, embed)), times=1)
    rag = made[0]
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


def cacm() -> tuple[list[Document], EvalSet]:
    """CACM's abstracts and labelled questions."""
    with tarfile.open(CACM / "cacm.tar.gz") as packed:
        pages = {Path(one.name).stem: packed.extractfile(one) for one in packed if one.name.endswith(".html")}
        texts = {name: file.read().decode("latin-1") for name, file in pages.items() if file is not None}
    documents = [Document(name, "", re.sub(r"<[^>]+>", " ", text).strip()) for name, text in texts.items()]
    asked = re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", (CACM / "topics.cacm.txt").read_text(), re.DOTALL)
    return documents, labelled("cacm", asked, CACM / "qrels.cacm.txt")


def vaswani() -> tuple[list[Document], EvalSet]:
    """Vaswani's abstracts and labelled questions."""
    text, asked = ((VASWANI / f"{name}-text.trec").read_text() for name in ("doc", "query"))
    documents = [
        Document(name, "", " ".join(words.split()))
        for name, words in re.findall(r"<DOCNO>(\d+)</DOCNO>(.*?)</DOC>", text, re.DOTALL)
    ]
    found = re.findall(r"<num>(\d+)</num><title>(.*?)</title>", asked, re.DOTALL)
    return documents, labelled("vaswani", found, VASWANI / "qrels")


def labelled(name: str, asked: list[tuple[str, str]], judgments: Path) -> EvalSet:
    """The questions that have a relevant document."""
    relevant: dict[str, set[str]] = {}
    for row in judgments.read_text().splitlines():
        if row.strip() and int(row.split()[3]):
            relevant.setdefault(row.split()[0], set()).add(row.split()[2])
    return EvalSet(
        name,
        tuple(
            Example(topic, " ".join(text.split()), relevant=tuple(Relevant((one,)) for one in sorted(relevant[topic])))
            for topic, text in asked
            if topic in relevant
        ),
    )


def retrieved(rag: ReferenceRag, question: str, n: int) -> list[str]:
    return [passage.doc_id for passage in rag.retrieve(question, n)]


def test_bm25_reaches_the_published_figure_on_cacm() -> None:
    """Mean average precision of BM25 over CACM lies within 0.02 of Anserini's published 0.3123."""
    documents, questions = cacm()
    rag = ReferenceRag(ReferenceConfig(retriever="bm25", **WHOLE), documents, WordLlamaEmbedder().embed)
    found = []
    for example in questions:
        gold = {one for label in example.relevant or () for one in label.doc_ids}
        places = [place for place, one in enumerate(retrieved(rag, example.query, 1_000), 1) if one in gold]
        found.append(sum(n / place for n, place in enumerate(places, 1)) / len(gold))
    assert len(found) == 52
    assert abs(sum(found) / len(found) - 0.3123) < 0.02


@pytest.mark.parametrize("collection", [cacm, vaswani])
def test_bm25_beside_dense_matters_in_a_sweep(collection: Any, tmp_path: Path) -> None:
    """A sweep of the retriever finds that BM25 ranks better than word vectors, as docs/reference-rag.md has it."""
    documents, questions = collection()

    def build(retriever: Any) -> Any:
        rag = ReferenceRag(ReferenceConfig(retriever=retriever, **WHOLE), documents, WordLlamaEmbedder().embed)
        return lambda question: {"answer": "", "passages": [{"doc_id": one} for one in retrieved(rag, question, 10)]}

    result = rg.sweep(
        build,
        questions,
        parameters={"retriever": ["bm25", "dense"]},
        base={"retriever": "dense"},
        race=False,
        objective="ndcg@10",
        store=f"sqlite:///{tmp_path / 's.db'}",
    )
    effects = next(
        one
        for one in result.figures.contents
        if isinstance(one, StudyTable) and one.heading == "Effect of each parameter value"
    )
    (row,) = effects.rows
    assert row[:3] == ("retriever", "bm25", "dense")
    assert row[-1] == "matters"
    assert float(row[4]) > 0

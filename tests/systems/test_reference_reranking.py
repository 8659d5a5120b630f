"""Reranking of candidates in the reference system."""

from __future__ import annotations

import pytest

from ragauge.core.document import Document
from ragauge.core.errors import UnknownName
from ragauge.core.example import Example
from ragauge.core.response import Passage
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag
from ragauge.systems.reference.retrievers import Reranker, RerankName, TermWeights, extract_terms

embed = WordLlamaEmbedder().embed
QUERY = "How much does the desk lamp weigh?"
TEXTS = (
    "Our shop sells chairs, tables and shelves.",
    "The floor of the shop was painted in spring.",
    "The desk lamp weighs 3 kg.",
    "A desk lamp weighs 3 kg.",
    "The desk lamp has a heavy foot, so that it does weigh more than others.",
)


def ordered(name: RerankName, texts: tuple[str, ...] = TEXTS, query: str = QUERY) -> tuple[Passage, ...]:
    weights = TermWeights(extract_terms(text) for text in TEXTS)
    candidates = [Passage(f"p{n}", f"p{n}", text, score=-float(n)) for n, text in enumerate(texts)]
    return Reranker(name, weights, embed).rank_candidates(query, candidates)


def ids(passages: tuple[Passage, ...]) -> list[str]:
    return [passage.passage_id for passage in passages]


@pytest.mark.parametrize("name", ["overlap", "mmr"])
def test_a_planted_passage_moves_up(name: RerankName) -> None:
    """A passage that answers the question comes from the third place to the first; nothing is lost; scores fall."""
    found = ordered(name)
    assert found[0].passage_id in ("p2", "p3")
    assert sorted(ids(found)) == ["p0", "p1", "p2", "p3", "p4"]
    scores = [passage.score or 0.0 for passage in found]
    assert scores == sorted(scores, reverse=True)


def test_a_near_copy_makes_room() -> None:
    """Overlap puts two copies of one sentence first; marginal relevance puts other words between them."""
    assert set(ids(ordered("overlap"))[:2]) == {"p2", "p3"}
    assert ids(ordered("mmr"))[1] == "p4"


def test_nothing_to_order() -> None:
    """Without reranking order and scores stay; no candidates are none; a question without terms keeps their order."""
    assert [passage.score for passage in ordered("none")] == [-0.0, -1.0, -2.0, -3.0, -4.0]
    assert ordered("mmr", ()) == ()
    assert ids(ordered("overlap", ("same", "same"), "???")) == ["p0", "p1"]


def test_candidates_are_recorded_before() -> None:
    """Candidates keep the retriever's order and scores; the generator sees the reranked first k, timed apart."""
    documents = [Document(f"d{n}", "", text) for n, text in enumerate(TEXTS)]
    plain = ReferenceRag(ReferenceConfig(k=2, n_candidates=5), documents, embed)
    names: tuple[RerankName, ...] = ("overlap", "mmr")
    for name in names:
        config = ReferenceConfig(k=2, n_candidates=5, rerank=name)
        response = ReferenceRag(config, documents, embed).respond(Example("q", QUERY))
        assert response.candidates == plain.retrieve(QUERY)
        assert (
            response.passages
            == Reranker(config.rerank, TermWeights(extract_terms(text) for text in TEXTS), embed).rank_candidates(
                QUERY, response.candidates or ()
            )[:2]
        )
        assert set(response.latency_ms) == {"retrieval", "rerank", "generation", "total"}


def test_unknown_way() -> None:
    """A way to rerank that is not there is refused with the nearest."""
    with pytest.raises(UnknownName, match="nearest: overlap"):
        ReferenceConfig(rerank="overlaps")  # type: ignore[arg-type]

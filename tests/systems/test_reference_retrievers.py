"""BM25, exact vector search and their fusion."""

from __future__ import annotations

from collections.abc import Sequence

import bm25s
import numpy as np
import numpy.typing as npt
import pytest

from ragauge.core.errors import UsageError
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.systems.reference.retrievers import (
    Bm25,
    Dense,
    Hybrid,
    RankedPassage,
    TermWeights,
    extract_terms,
    select_best,
)

TEXTS = (
    "The red lamp costs nine euros.",
    "A lamp needs a bulb, and a bulb needs power.",
    "Power comes from the wall.",
    "The green chair stands by the wall.",
    "Lamps, lamps, lamps: nothing but lamps.",
    "Chairs and tables are sold in pairs.",
)
IDS = tuple(f"d#{n}" for n in range(1, len(TEXTS) + 1))


class Fixed:
    """A retriever whose ranking is given."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids

    def search(self, query: str, k: int) -> list[RankedPassage]:
        return [RankedPassage(passage_id, 1.0 / n) for n, passage_id in enumerate(self.ids[:k], start=1)]


def axes(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """A vector by hand for each text: "x y" in numbers, scaled to length 1."""
    rows = np.array([[float(part) for part in text.split()] for text in texts], dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


@pytest.mark.parametrize("query", ["which lamp needs power", "a chair at the wall", "lamps", "tables sold in pairs"])
def test_bm25_equals_the_library(query: str) -> None:
    """Order and scores are those of bm25s itself over the same terms, without the passages that score 0."""
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index([extract_terms(text) for text in TEXTS], show_progress=False)
    found, scores = index.retrieve([extract_terms(query)], k=len(TEXTS), show_progress=False)
    theirs = [(IDS[n], score) for n, score in zip(found[0].tolist(), scores[0].tolist(), strict=True) if score > 0]
    ours = [(hit.passage_id, hit.score) for hit in Bm25(IDS, TEXTS).search(query, len(TEXTS))]
    assert theirs == ours
    assert len(ours) >= 1


def test_bm25_without_a_shared_term() -> None:
    """A query of unknown words, of stop words, or an empty one finds nothing."""
    index = Bm25(IDS, TEXTS)
    assert [index.search(query, 5) for query in ("zebra", "what is the", "")] == [[], [], []]


def test_bm25_over_nothing() -> None:
    """An index without a text, or of texts without a term, finds nothing."""
    assert Bm25((), ()).search("lamp", 3) == []
    assert Bm25(("d#1",), ("the of",)).search("the lamp", 3) == []


def test_dense_ranks_by_cosine() -> None:
    """Scores are cosines: of (1, 0) with (1, 0), (1, 1), (0, 1) they are 1, 0.707107, 0."""
    texts = ("0 1", "1 1", "2 0")
    index = Dense(("a", "b", "c"), axes(texts), axes)
    assert index.search("1 0", 3) == [RankedPassage("c", 1.0), RankedPassage("b", 0.707107), RankedPassage("a", 0.0)]


def test_dense_query_without_content() -> None:
    """A query whose vector is zero finds nothing."""
    assert Dense(("a",), axes(["1 0"]), axes).search("0 0", 3) == []


def test_dense_needs_an_id_a_vector() -> None:
    """Ids and vectors that do not match in number are refused."""
    with pytest.raises(UsageError, match="2 passage ids for 1 vectors"):
        Dense(("a", "b"), axes(["1 0"]), axes)


def test_fusion_by_hand() -> None:
    """Reciprocal ranks add up.

    a: 1/61 + 1/63 = 0.0322665, b: 1/62 + 1/61 = 0.0325225, c: 1/63 = 0.0158730, d: 1/62 = 0.0161290.
    """
    hits = Hybrid([Fixed("a", "b", "c"), Fixed("b", "d", "a")]).search("any", 10)
    assert [hit.passage_id for hit in hits] == ["b", "a", "d", "c"]
    assert [hit.score for hit in hits] == pytest.approx([0.0325225, 0.0322665, 0.0161290, 0.0158730], abs=5e-8)


def test_fusion_looks_deeper_than_k() -> None:
    """A passage second in both rankings beats one that is first in one of them, also for k = 1."""
    assert Hybrid([Fixed("a", "b"), Fixed("c", "b")]).search("any", 1)[0].passage_id == "b"


def test_fusion_goes_as_deep_as_it_is_asked() -> None:
    """A search for more than the depth returns as many as there are."""
    assert len(Hybrid([Fixed(*"abcdef")], depth=2).search("any", 6)) == 6


def test_fusion_of_nothing() -> None:
    """No retriever is an error."""
    with pytest.raises(UsageError, match="must not be empty"):
        Hybrid([])


def test_ties_go_by_passage_id() -> None:
    """Of equal scores the smaller id comes first, also across the cut at k, in every retriever."""
    hits = select_best(("c", "a", "b", "d"), np.array([1.0, 1.0, 1.0, 2.0]), 3)
    assert hits == [RankedPassage("d", 2.0), RankedPassage("a", 1.0), RankedPassage("b", 1.0)]
    same = ("lamp", "lamp", "lamp")
    assert [hit.passage_id for hit in Bm25(("c", "a", "b"), same).search("lamp", 2)] == ["a", "b"]
    assert [hit.passage_id for hit in Dense(("c", "a", "b"), axes(["1 0"] * 3), axes).search("1 0", 2)] == ["a", "b"]
    assert [hit.passage_id for hit in Hybrid([Fixed("b"), Fixed("a")]).search("any", 2)] == ["a", "b"]


def test_k_must_be_positive() -> None:
    """A search for no passage is refused by every retriever."""
    for index in (Bm25(IDS, TEXTS), Dense(("a",), axes(["1 0"]), axes), Hybrid([Fixed("a")])):
        with pytest.raises(UsageError, match="k must be at least 1, got 0"):
            index.search("1 0", 0)


def test_dense_with_the_embedded_model() -> None:
    """With real vectors the passage about the subject comes first."""
    embed = WordLlamaEmbedder().embed
    assert Dense(IDS, embed(TEXTS), embed).search("seats and furniture", 1)[0].passage_id in ("d#4", "d#6")


def test_term_weights_by_hand() -> None:
    """A term's weight is ln(1 + (n - n_t + 0.5) / (n_t + 0.5))."""
    weights = TermWeights([["lamp", "lamp", "red"], ["lamp"], ["lamp", "wall"]])
    # n = 3; red in one text: ln(1 + 2.5 / 1.5); lamp in all: ln(1 + 0.5 / 3.5); zebra in none: ln(1 + 3.5 / 0.5)
    expected = [0.980829, 0.133531, 2.079442]
    assert [weights[term] for term in ("red", "lamp", "zebra")] == pytest.approx(expected, abs=1e-6)

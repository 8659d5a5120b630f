"""Vector stores of two methods as retrievers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.systems.one_index import K, embed, embed_one, nearest, one_response, pieces, vectors
from tests.systems.retriever_contract import RetrieverContract

from ragauge.core.errors import UnknownName, UsageError
from ragauge.systems.base import System
from ragauge.systems.system_lookup import find_system

QUESTION = "How do I pair a device?"


class ByVector:
    """embed and search: the whole protocol."""

    def embed(self, text: str) -> Sequence[float]:
        return embed([text])[0]

    def search(self, vector: Any, k: int) -> Sequence[Any]:
        found = [sum(a * b for a, b in zip(vector, row, strict=True)) for row in vectors()]
        order = sorted(range(len(found)), key=lambda n: -found[n])[:k]
        return [(self.shown(n), found[n]) for n in order]

    def shown(self, n: int) -> dict[str, Any]:
        one = pieces()[n]
        return {"passage_id": one.passage_id, "doc_id": one.doc_id, "text": one.text}


class ByText:
    """search alone: the store embeds for itself; distances, in the passages."""

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        return [
            {"url": one.doc_id, "id": one.passage_id, "text": one.text, "score": 1 - score}
            for one, score in nearest(query, k)
        ]


class WithScore:
    """LangChain's method, of a store that is not LangChain's."""

    def similarity_search_with_score(self, query: str, k: int = 4) -> list[Any]:
        found = nearest(query, k)
        return [({"doc_id": one.doc_id, "id": one.passage_id, "text": one.text}, score) for one, score in found]

    def query(self, query: str) -> None:
        raise AssertionError("not what is asked")


class TestByVector(RetrieverContract):
    """A store of two methods."""

    @pytest.fixture
    def system(self) -> System:
        return find_system(ByVector(), {"k": K})


class TestByText(RetrieverContract):
    """A store that embeds for itself and gives distances: 1 - cosine, negated."""

    @pytest.fixture
    def system(self) -> System:
        return find_system(ByText(), {"k": K, "score": "distance", "id_key": "url"})

    def score(self, cosine: float) -> float:
        return cosine - 1


class TestWithScore(RetrieverContract):
    """LangChain's method."""

    @pytest.fixture
    def system(self) -> System:
        return find_system(WithScore(), {"k": K})


class TestLangChainStore(RetrieverContract):
    """LangChain's own in-memory vector store."""

    @pytest.fixture
    def system(self) -> System:
        pytest.importorskip("langchain_core")
        from langchain_core.documents import Document
        from langchain_core.vectorstores import InMemoryVectorStore
        from tests.systems.langchain_vectors import Vectors

        store = InMemoryVectorStore(Vectors())
        store.add_documents(
            [Document(id=one.passage_id, page_content=one.text, metadata={"doc_id": one.doc_id}) for one in pieces()]
        )
        return find_system(store, {"k": K})


def test_what_the_score_was_is_kept() -> None:
    """The configuration says whether scores are similarities or negated distances, and how many are asked for."""
    assert find_system(ByText(), {"score": "distance"}).config == {
        "kind": "ByText",
        "k": 10,
        "score": "negated distance",
    }
    assert find_system(ByVector(), {"k": 2}).config == {"kind": "ByVector", "k": 2, "score": "similarity"}


def test_settings_are_checked() -> None:
    """An impossible k, an unknown setting and an unknown kind of score are refused; so are handed passages."""
    with pytest.raises(UsageError, match="k must be an integer of at least 1, got 0"):
        find_system(ByText(), {"k": 0})
    with pytest.raises(UnknownName, match="nearest: embed"):
        find_system(ByText(), {"embedd": "x"})
    with pytest.raises(UnknownName, match="distance"):
        find_system(ByText(), {"score": "distances"})
    with pytest.raises(UsageError, match="a vector store does not generate answers"):
        find_system(ByText()).check_variant("oracle")


def test_embed_as_a_setting() -> None:
    """A store that takes vectors and embeds nothing is given a function, or module:name of one."""

    class Bare:
        def search(self, vector: Any, k: int) -> Any:
            return ByVector().search(vector, k)

    for given in (embed_one, "tests.systems.one_index:embed_one"):
        found = one_response(find_system(Bare(), {"k": 2, "embed": given}), QUESTION)
        assert found.passages is not None
        assert found.passages[0].passage_id == nearest(QUESTION)[0][0].passage_id

"""The contract of vectors."""

from __future__ import annotations

import numpy as np
import pytest

from ragauge.core.errors import DataError
from ragauge.store.store_access import Store, open_store
from ragauge.store.vectors import EmbeddingEffort, VectorSpace

ONE, TWO = b"1" * 32, b"2" * 32
SPACE = VectorSpace("m", "query: ")
ROW, OTHER = np.array([1.5, -0.25], dtype=np.float32), np.array([0.0, 1.0], dtype=np.float32)


class VectorsContract:
    """What every store of vectors does. A back end supplies `store`."""

    def test_vectors_survive(self, store: Store) -> None:
        """Vectors are read back bit for bit by another connection, of their own embedder and prefix alone."""
        store.vectors.put(SPACE, {ONE: ROW, TWO: OTHER}, EmbeddingEffort(2, 0.5, 7))
        with open_store(store.url) as again:
            found = again.vectors.get(SPACE, [ONE, TWO, b"3" * 32])
            assert set(found) == {ONE, TWO}
            assert found[ONE].tobytes() == ROW.tobytes()
            assert again.vectors.get(VectorSpace("m"), [ONE]) == {}
            assert again.vectors.get(VectorSpace("n", "query: "), [ONE]) == {}

    def test_first_vector_stays(self, store: Store) -> None:
        """A second vector of a text is dropped; what embedding took adds up."""
        store.vectors.put(SPACE, {ONE: ROW}, EmbeddingEffort(1, 0.5, 3))
        store.vectors.put(SPACE, {ONE: OTHER}, EmbeddingEffort(1, 0.25, 4))
        assert store.vectors.get(SPACE, [ONE])[ONE].tolist() == ROW.tolist()
        assert store.vectors.load_effort(SPACE) == EmbeddingEffort(2, 0.75, 7)
        assert store.vectors.load_effort(VectorSpace("new")) == EmbeddingEffort()

    def test_one_length_a_space(self, store: Store) -> None:
        """A vector of another length is refused, and nothing of its batch is kept."""
        store.vectors.put(SPACE, {ONE: ROW}, EmbeddingEffort(1))
        with pytest.raises(DataError, match="vectors of 3 numbers, the stored ones have 2"):
            store.vectors.put(SPACE, {TWO: np.zeros(3, dtype=np.float32)}, EmbeddingEffort(1))
        assert set(store.vectors.get(SPACE, [ONE, TWO])) == {ONE}

    def test_embedder_is_forgotten(self, store: Store) -> None:
        """Deleting an embedder removes its vectors under all prefixes, and no other's."""
        for space in (SPACE, VectorSpace("m"), VectorSpace("n")):
            store.vectors.put(space, {ONE: ROW}, EmbeddingEffort(1))
        store.vectors.delete("m")
        kept = [bool(store.vectors.get(space, [ONE])) for space in (SPACE, VectorSpace("m"), VectorSpace("n"))]
        assert kept == [False, False, True]


class TestSqliteVectors(VectorsContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store

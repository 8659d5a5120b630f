"""Vectors of texts, each embedded once by an embedder under a prefix."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, delete, select

from ragauge.core.errors import DataError
from ragauge.store.database import Database, build_in_condition, split_batches
from ragauge.store.study_schema import embedders, vectors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """Whose vectors, and what stood before each text; vectors of two spaces are never mixed."""

    embedder: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingEffort:
    """What embedding took: texts, seconds by the clock, tokens paid for (0 where nobody counted)."""

    texts: int = 0
    seconds: float = 0.0
    tokens: int = 0


class Vectors:
    """Vectors by space and SHA-256 of their text; the first that is kept of a text stays."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, space: VectorSpace, hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """The vectors that are stored, each of shape (dimensions,), by the hash of its text."""
        import numpy as np

        vectors_by_hash: dict[bytes, Vector] = {}
        with self._database.read() as connection:
            row = _find_row(connection, space)
            if row is None:
                return vectors_by_hash
            space_query = select(vectors.c.sha, vectors.c.body).where(vectors.c.embedder_no == row.embedder_no)
            filtered_query = space_query.where(build_in_condition(vectors.c.sha))
            for batch in split_batches(hashes):
                for sha, body in connection.execute(filtered_query, {"values": batch}):
                    vectors_by_hash[sha] = np.frombuffer(body, dtype="<f4")
        return vectors_by_hash

    def put(self, space: VectorSpace, vectors_by_hash: Mapping[bytes, Vector], effort: EmbeddingEffort) -> None:
        """Stores vectors and what they took, durably, in one transaction.

        Raises:
            DataError: a vector of another length than those of the space.
        """
        lengths = {len(vector) for vector in vectors_by_hash.values()}
        with self._database.write() as connection:
            row = _find_row(connection, space)
            length = row.dimensions if row is not None else max(lengths, default=0)
            if lengths - {length}:
                other_length = min(lengths - {length})
                message = f"{space.embedder} returned vectors of {other_length} numbers, the stored ones have {length}."
                raise DataError(message, hint="--fresh deletes the stored vectors.")
            if row is None:
                values = {"name": space.embedder, "prefix": space.prefix, "dimensions": length}
                connection.execute(embedders.insert().values(**values, texts=0, seconds=0.0, tokens=0))
                row = _find_row(connection, space)
            if row is None or not vectors_by_hash:
                return
            number = row.embedder_no
            rows = [
                {"embedder_no": number, "sha": sha, "body": vector.astype("<f4").tobytes()}
                for sha, vector in vectors_by_hash.items()
            ]
            connection.execute(self._database.insert(vectors).on_conflict_do_nothing(), rows)
            updates = {
                "texts": embedders.c.texts + effort.texts,
                "seconds": embedders.c.seconds + effort.seconds,
                "tokens": embedders.c.tokens + effort.tokens,
            }
            connection.execute(embedders.update().where(embedders.c.embedder_no == number).values(updates))

    def load_effort(self, space: VectorSpace) -> EmbeddingEffort:
        """What embedding the texts of a space took, all of them together."""
        with self._database.read() as connection:
            row = _find_row(connection, space)
        return EmbeddingEffort() if row is None else EmbeddingEffort(row.texts, row.seconds, row.tokens)

    def delete(self, embedder: str) -> None:
        """Removes all vectors of an embedder, whatever the prefix."""
        with self._database.write() as connection:
            connection.execute(delete(embedders).where(embedders.c.name == embedder))


def _find_row(connection: Connection, space: VectorSpace) -> Row[Any] | None:
    condition = (embedders.c.name == space.embedder) & (embedders.c.prefix == space.prefix)
    return connection.execute(select(embedders).where(condition)).first()

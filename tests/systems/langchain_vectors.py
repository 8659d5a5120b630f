"""The embedded embedder as LangChain's."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings
from tests.systems.one_index import embed


class Vectors(Embeddings):  # type: ignore[misc]
    """Vectors of length 1."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return embed(texts)

    def embed_query(self, text: str) -> list[float]:
        return embed([text])[0]

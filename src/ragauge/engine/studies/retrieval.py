"""The reference system's retrievers, and what embedding costs, for those who vary what is searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragauge.data.ask import ModelName, Usage
from ragauge.errors import UsageError
from ragauge.systems.reference.retrievers import Bm25, Dense, Hybrid, Retriever

RetrieverName = Literal["bm25", "dense", "hybrid"]


def retriever_over(name: RetrieverName, ids: Sequence[str], texts: Sequence[str]) -> Retriever:
    """BM25, the embedded model's vectors searched exactly, or both fused, over texts by id."""
    if name == "bm25":
        return Bm25(ids, texts)
    from ragauge.llm.embedders.wordllama import WordLlamaEmbedder

    embed = WordLlamaEmbedder().embed
    dense = Dense(ids, embed(list(texts)), embed)
    return dense if name == "dense" else Hybrid([Bm25(ids, texts), dense])


def embedding_price(model: str, tokens: int) -> float:
    """US dollars for embedding so many tokens, by the table of prices that calls are priced by.

    Raises:
        UsageError: no price is known for the model, or it is not named provider:model.
    """
    from ragauge.llm.prices import FILE, price

    provider, _, name = model.partition(":")
    found = price(ModelName(provider, name), Usage(tokens)) if name else None
    if found is None:
        told = f"no price is known for embedding by {model!r}."
        raise UsageError(f"{told} Write provider:model, such as openai:text-embedding-3-small, or name it in {FILE}.")
    return found

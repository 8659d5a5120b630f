"""The reference system's retrievers, and what embedding costs, for those who vary what is searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ragauge.core.ask import ModelName, Usage
from ragauge.core.errors import UsageError
from ragauge.engine.budget import Budget
from ragauge.engine.caller import RetryPolicy
from ragauge.engine.models import Calling
from ragauge.judges.model.question_spec import read_model
from ragauge.models.embedders.base import Embedder
from ragauge.models.prices import price
from ragauge.systems.reference.retrievers import DECIMALS, IGNORED, Bm25, Dense, Hybrid, Retriever

__all__ = [
    "DECIMALS",
    "STOP_WORDS",
    "Bm25",
    "Embedder",
    "RetrieverName",
    "embedding_calls",
    "embedding_price",
    "local_embedder",
    "price",
    "read_model",
    "retriever_over",
]
STOP_WORDS = IGNORED  # words that retrieval passes by
RetrieverName = Literal["bm25", "dense", "hybrid"]


def retriever_over(name: RetrieverName, ids: Sequence[str], texts: Sequence[str]) -> Retriever:
    """BM25, the embedded model's vectors searched exactly, or both fused, over texts by id."""
    if name == "bm25":
        return Bm25(ids, texts)
    from ragauge.models.embedders.wordllama import WordLlamaEmbedder

    embed = WordLlamaEmbedder().embed
    dense = Dense(ids, embed(list(texts)), embed)
    return dense if name == "dense" else Hybrid([Bm25(ids, texts), dense])


def embedding_price(model: str, tokens: int) -> float:
    """US dollars for embedding so many tokens, by the table of prices that calls are priced by.

    Raises:
        UsageError: no price is known for the model, or it is not named provider:model.
    """
    from ragauge.models.prices import FILE

    provider, _, name = model.partition(":")
    found = price(ModelName(provider, name), Usage(tokens)) if name else None
    if found is None:
        told = f"no price is known for embedding by {model!r}."
        raise UsageError(f"{told} Write provider:model, such as openai:text-embedding-3-small, or name it in {FILE}.")
    return found


def local_embedder() -> Embedder:
    """The embedder in the package."""
    from ragauge.models.embedders.wordllama import WordLlamaEmbedder

    return WordLlamaEmbedder()


def embedding_calls(
    models: Sequence[ModelName],
    *,
    concurrency: int = 16,
    most: int | None = None,
    max_cost: float | None = None,
    timeout: float = 120.0,
) -> Callable[[], Calling]:
    """What makes the means by which providers' embedders are called, all of them within one budget.

    Raises:
        JudgeError: a key that is not set.
        MissingExtra: a client that is not installed.
        RagaugeError: a bound on cost, and a model whose price is unknown.
    """
    from ragauge.models.build import build_embedder

    budget = Budget(max_cost, price)
    for model in models:
        build_embedder(model)
        budget.check(model)
    return lambda: Calling(build_embedder, budget, concurrency, RetryPolicy(call=timeout), most)

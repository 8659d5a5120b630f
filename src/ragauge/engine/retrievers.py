"""The reference system's retrievers, and what embedding costs, for those who vary what is searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ragauge.core.ask import ModelName, Usage
from ragauge.core.errors import UsageError
from ragauge.engine.budget import Budget
from ragauge.engine.caller import RetryPolicy
from ragauge.engine.models import CallOptions
from ragauge.judges.model.question_spec import parse_model_name
from ragauge.models.embedders.base import Embedder
from ragauge.models.prices import compute_price
from ragauge.systems.reference.retrievers import DECIMALS, STOP_TERMS, Bm25, Dense, Hybrid, Retriever

__all__ = [
    "DECIMALS",
    "STOP_WORDS",
    "Bm25",
    "Embedder",
    "RetrieverName",
    "build_embedding_options",
    "build_local_embedder",
    "build_retriever",
    "compute_embedding_price",
    "compute_price",
    "parse_model_name",
]
STOP_WORDS = STOP_TERMS  # words that retrieval passes by
RetrieverName = Literal["bm25", "dense", "hybrid"]


def build_retriever(name: RetrieverName, ids: Sequence[str], texts: Sequence[str]) -> Retriever:
    """BM25, the embedded model's vectors searched exactly, or both fused, over texts by id."""
    if name == "bm25":
        return Bm25(ids, texts)
    from ragauge.models.embedders.base import WordLlamaEmbedder

    embed = WordLlamaEmbedder().embed
    dense = Dense(ids, embed(list(texts)), embed)
    return dense if name == "dense" else Hybrid([Bm25(ids, texts), dense])


def compute_embedding_price(model: str, tokens: int) -> float:
    """US dollars for embedding so many tokens, by the table of prices that calls are priced by.

    Raises:
        UsageError: no price is known for the model, or it is not named provider:model.
    """
    from ragauge.models.prices import PRICES_VARIABLE

    provider, _, name = model.partition(":")
    dollars = compute_price(ModelName(provider, name), Usage(tokens)) if name else None
    if dollars is None:
        message = f"the price of embedding with {model!r} is unknown."
        raise UsageError(
            f"{message} Write provider:model, such as openai:text-embedding-3-small, or add it to the file in "
            f"{PRICES_VARIABLE}."
        )
    return dollars


def build_local_embedder() -> Embedder:
    """The embedder in the package."""
    from ragauge.models.embedders.base import WordLlamaEmbedder

    return WordLlamaEmbedder()


def build_embedding_options(
    models: Sequence[ModelName],
    *,
    concurrency: int = 16,
    max_concurrency: int | None = None,
    max_cost: float | None = None,
    timeout: float = 120.0,
) -> Callable[[], CallOptions]:
    """What makes the means by which providers' embedders are called, all of them within one budget.

    Raises:
        JudgeError: a key that is not set.
        MissingExtra: a client that is not installed.
        RagaugeError: a bound on cost, and a model whose price is unknown.
    """
    from ragauge.models.build import build_embedder

    budget = Budget(max_cost, compute_price)
    for model in models:
        build_embedder(model)
        budget.check_price(model)
    return lambda: CallOptions(build_embedder, budget, concurrency, RetryPolicy(call=timeout), max_concurrency)

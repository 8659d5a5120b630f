"""The reference system's retrievers, for those who vary what they search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragauge.systems.reference.bm25 import Bm25
from ragauge.systems.reference.dense import Dense
from ragauge.systems.reference.hybrid import Hybrid
from ragauge.systems.reference.ranking import Retriever

RetrieverName = Literal["bm25", "dense", "hybrid"]


def retriever_over(name: RetrieverName, ids: Sequence[str], texts: Sequence[str]) -> Retriever:
    """BM25, the embedded model's vectors searched exactly, or both fused, over texts by id."""
    if name == "bm25":
        return Bm25(ids, texts)
    from ragauge.llm.embedders.wordllama import WordLlamaEmbedder

    embed = WordLlamaEmbedder().embed
    dense = Dense(ids, embed(list(texts)), embed)
    return dense if name == "dense" else Hybrid([Bm25(ids, texts), dense])

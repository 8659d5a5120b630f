"""Answers what judges ask, in a plain loop: vectors from the embedded embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.core.ask import Ask, Reply
from ragauge.core.errors import JudgeError

if TYPE_CHECKING:
    from ragauge.models.embedders.base import Embedder


class EmbedAnswers:
    """Answers embed asks. The embedder is loaded by the first of them, once a process."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    def __call__(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply per ask, in order; the texts of all of them are embedded together.

        Raises:
            JudgeError: a chat model is asked, and there is none.
        """
        for ask in asks:
            if ask.kind != "embed":
                raise JudgeError(f"{ask.question} needs a chat model, and this judge has none.")
        counts = [len(ask.messages) for ask in asks]
        vectors = self._load_embedder().embed([text for ask in asks for _, text in ask.messages])
        replies, start = [], 0
        for count in counts:
            replies.append(Reply("ok", vectors=vectors[start : start + count]))
            start += count
        return replies

    def _load_embedder(self) -> Embedder:
        if self._embedder is None:
            from ragauge.models.embedders.base import WordLlamaEmbedder

            self._embedder = WordLlamaEmbedder()
        return self._embedder

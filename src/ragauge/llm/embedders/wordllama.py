"""The embedded embedder: small, offline, its weights in the wheel of wordllama."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from ragauge.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DIMENSIONS = 256
PIECE = 8_192     # characters given to the tokenizer at once; its working memory grows with the text


class WordLlamaEmbedder:
    """Vectors of 256 numbers from wordllama (MIT): the mean of its token vectors, scaled to length 1.

    Nothing is loaded before the first text, and nothing is ever fetched. A text's vector depends on that text alone,
    not on the others of the call. Meant for similarity, deduplication and retrieval; maximum cosine is a poor judge
    of groundedness.

    A text that is empty or blank has a row of zeros. Characters that UTF-8 cannot carry count as question marks.
    """

    name = "wordllama-l2-supercat-256"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text.

        Args:
            texts: any number of strings.

        Returns:
            Array of shape (len(texts), 256), float32; rows have length 1, or 0 for a blank text.
        """
        import numpy as np

        if isinstance(texts, str):
            raise UsageError("embed: texts must be a sequence of strings, got one string. Write embed([text]).")
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            if text.strip():
                row[:] = self._vector(text)
        return rows

    def _vector(self, text: str) -> npt.NDArray[np.float64]:
        import numpy as np

        model = self._loaded()
        last = model.embedding.shape[0] - 1
        total = np.zeros(DIMENSIONS)
        for piece in _pieces(text.encode("utf-8", "replace").decode("utf-8")):
            ids = model.tokenizer.encode(piece, add_special_tokens=False).ids
            total += model.embedding[np.minimum(np.asarray(ids, dtype=np.int64), last)].sum(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(total))
        return total / length if length > 0 else total

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load()
            return self._model


def _pieces(text: str) -> Iterator[str]:
    """The text cut at spaces into pieces that the tokenizer takes at once; a space at a cut is implied by the cut."""
    start = 0
    while len(text) - start > PIECE:
        cut = text.rfind(" ", start + 1, start + PIECE + 1)
        end = cut if cut > start else start + PIECE
        yield text[start:end]
        start = end + 1 if cut > start else end
    if start < len(text):
        yield text[start:]


def _load() -> Any:
    """The model from the installed package's own files.

    wordllama configures the root logger when it is imported; that is undone, so that it stays the caller's.
    """
    import logging
    from pathlib import Path

    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        import wordllama
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    folder = Path(str(wordllama.__file__)).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    # The tokenizer keeps the last 10,000 texts with their pieces, up to 60 MB, since its model cuts no words apart. A
    # text seldom comes twice here, and without them it is no slower.
    keep_texts = getattr(model.tokenizer.model, "_resize_cache", None)
    if keep_texts is not None:
        keep_texts(0)
    return model

"""The embedded embedder: small, offline, wordllama's weights and tokenizer in the package's own wheel."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import MissingFile, UsageError
from ragauge.core.origin import build_install_command

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

DIMENSIONS = 256
PIECE_CHARS = 8_192  # characters given to the tokenizer at once; its working memory grows with the text
MAX_HEADER_BYTES = 10_000  # bytes; this one has 88
WEIGHTS = Path(__file__).parent / "weights"  # what tools/embedder_files.py puts there
MATRIX, TOKENIZER = "l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json"
LOAD_LOCK = Lock()
INSTALL_HINT = (
    f"An installation brings it: {build_install_command('', '--force-reinstall', '--no-deps')}. "
    "In a source tree, python tools/embedder_files.py does."
)


class EmbeddingModel(NamedTuple):
    """A tokenizer and, for each of its token ids, a row of the matrix."""

    tokenizer: Tokenizer
    matrix: npt.NDArray[np.float32]


class WordLlamaEmbedder:
    """Vectors of 256 numbers from wordllama (MIT): the mean of its token vectors, scaled to length 1.

    Nothing is loaded before the first text, what is loaded is shared by all embedders of a process, and nothing is ever
    fetched. A text's vector depends on that text alone, not on the others of the call. Meant for similarity,
    deduplication and retrieval; maximum cosine is a poor judge of groundedness.

    A text that is empty or blank has a row of zeros. Characters that UTF-8 cannot carry count as question marks.
    """

    name = "wordllama-l2-supercat-256"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._model: EmbeddingModel | None = None

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
                row[:] = self._compute_vector(text)
        return rows

    def _compute_vector(self, text: str) -> npt.NDArray[np.float64]:
        import numpy as np

        model = self._get_model()
        last = model.matrix.shape[0] - 1
        total = np.zeros(DIMENSIONS)
        for piece in _split_pieces(text.encode("utf-8", "replace").decode("utf-8")):
            ids = model.tokenizer.encode(piece, add_special_tokens=False).ids
            total += model.matrix[np.minimum(np.asarray(ids, dtype=np.int64), last)].sum(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(total))
        return total / length if length > 0 else total

    def _get_model(self) -> EmbeddingModel:
        if self._model is None:
            with LOAD_LOCK:  # one that finds it loading waits for it
                self._model = _load_model(WEIGHTS)
        return self._model


def _split_pieces(text: str) -> Iterator[str]:
    """The text cut at spaces into pieces that the tokenizer takes at once; a space at a cut is implied by the cut."""
    start = 0
    while len(text) - start > PIECE_CHARS:
        cut = text.rfind(" ", start + 1, start + PIECE_CHARS + 1)
        end = cut if cut > start else start + PIECE_CHARS
        yield text[start:end]
        start = end + 1 if cut > start else end
    if start < len(text):
        yield text[start:]


@cache
def _load_model(weights: Path) -> EmbeddingModel:
    """The model from the package's own files; once, since a server that judges for months would load it every minute.

    Raises:
        MissingFile: one of them is not there, or is not what it must be.
    """
    from tokenizers import Tokenizer

    matrix = _read_matrix(_check_file(weights / MATRIX))
    path = _check_file(weights / TOKENIZER)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no narrower one
        raise MissingFile(f"{path}: must be a tokenizer, got {error}. {INSTALL_HINT}") from None
    tokenizer.no_truncation()
    # The tokenizer keeps the last 10,000 texts with their pieces, up to 60 MB, since its model cuts no words apart. A
    # text seldom comes twice here, and without them it is no slower.
    keep_texts = getattr(tokenizer.model, "_resize_cache", None)
    if keep_texts is not None:
        keep_texts(0)
    return EmbeddingModel(tokenizer, matrix)


def _check_file(path: Path) -> Path:
    if not path.is_file():
        raise MissingFile(f"The embedder's file {path.name} is not in {path.parent}. {INSTALL_HINT}")
    return path


def _read_matrix(path: Path) -> npt.NDArray[np.float32]:
    """The one matrix of a safetensors file: 8 bytes with the length of a JSON header, the header, the numbers.

    Returns:
        Array of shape (tokens, 256), float32, of the file's float16 exactly.
    """
    import numpy as np

    with path.open("rb") as file:
        header = file.read(min(int.from_bytes(file.read(8), "little"), MAX_HEADER_BYTES))
        content = file.read()
    try:
        entry = json.loads(header)["embedding.weight"]
        rows, columns = entry["shape"]
        fits = (entry["dtype"], columns, 2 * rows * columns) == ("F16", DIMENSIONS, len(content))
    except (ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        content_text = f"the header {header[:120]!r} and {len(content)} bytes after it"
        raise MissingFile(
            f"{path}: must hold a matrix of {DIMENSIONS} columns in float16, got {content_text}. {INSTALL_HINT}"
        )
    return np.frombuffer(content, dtype="<f2").reshape(rows, columns).astype(np.float32)

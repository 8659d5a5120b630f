"""Embedders: the embedded one, and those behind the APIs of OpenAI and Google."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragauge.core.ask import Ask, ModelName, Reply, Usage
from ragauge.core.errors import MissingFile, UsageError
from ragauge.core.origin import build_install_command
from ragauge.models.endpoints import hide_keys
from ragauge.models.model import CallError, build_connection_error, build_status_error
from ragauge.models.providers.library import connect_provider

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    Rows = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors of one length; equal texts give equal vectors."""

    @property
    def name(self) -> str:
        """Names the model: vectors of two names are never compared."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text, of length 1; a row of zeros for a text without content."""


MAX_TEXTS = 256  # texts in one request; providers take 2,048 and bound their tokens together


class ProviderVectors(NamedTuple):
    """What a provider says: a vector a text, the tokens paid for, who served them."""

    rows: Sequence[Sequence[float]]
    tokens: int
    served: str


EmbedCall = Callable[[Sequence[str]], Awaitable[ProviderVectors]]


class RemoteEmbedder:
    """`ChatModel` for embed asks: the reply holds one row a text, none of them scaled.

    A blank text has a row of zeros and is not sent: providers refuse it. Vectors of another number, length or kind than
    before are an error, never a reply.
    """

    def __init__(
        self, name: ModelName, embed: EmbedCall, close: Callable[[], Awaitable[None]], max_texts: int | None = None
    ) -> None:
        """An embedder.

        Args:
            name: which.
            embed: one request; CallError where it brings nothing.
            close: closes its connections.
            max_texts: texts in one request; None = MOST.
        """
        self._name, self._embed, self._close = name, embed, close
        self._most = max_texts or MAX_TEXTS
        self._length = 0  # of a vector; 0 before the first

    @property
    def name(self) -> ModelName:
        """Which model."""
        return self._name

    async def reply(self, ask: Ask, timeout: float) -> Reply:  # noqa: ARG002 - the caller's clock ends the call
        """The vectors of an ask's texts. CallError where they cannot be had."""
        import numpy as np

        texts = [text for _, text in ask.messages]
        indices = [n for n, text in enumerate(texts) if text.strip()]
        rows: Rows | None = None
        tokens, served = 0, ""
        for start in range(0, len(indices), self._most):
            batch = indices[start : start + self._most]
            vectors, used, served = await self._request_vectors([texts[n] for n in batch])
            rows = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32) if rows is None else rows
            rows[batch] = vectors
            tokens += used
        if rows is None:
            rows = np.zeros((len(texts), self._length or 1), dtype=np.float32)
        return Reply("ok", vectors=rows, finish="stop", served=served, usage=Usage(tokens) if tokens else None)

    async def close(self) -> None:
        """Closes its connections."""
        await self._close()

    async def _request_vectors(self, texts: Sequence[str]) -> tuple[Rows, int, str]:
        """One row a text, the tokens paid for, and who served them."""
        import numpy as np

        response = await self._embed(texts)
        tokens = response.tokens
        try:
            rows = np.asarray(response.rows, dtype=np.float32)
        except (TypeError, ValueError):
            rows = np.zeros(0, dtype=np.float32)
        right = rows.ndim == 2 and len(rows) == len(texts) and rows.shape[1] > 0 and bool(np.isfinite(rows).all())
        if not right or (self._length and rows.shape[1] != self._length):
            lengths = sorted({len(row) if isinstance(row, Sequence) else 0 for row in response.rows})
            expected = f" of {self._length} numbers, as before" if self._length else " of one length"
            text = (
                f"expected {len(texts)} vectors{expected}, got {len(response.rows)} of "
                f"{' and '.join(map(str, lengths)) or 'no'} numbers"
            )
            raise CallError("server", text, usage=Usage(tokens) if tokens else None)
        self._length = rows.shape[1]
        return rows, tokens, response.served


def build_openai_embedder(name: ModelName) -> RemoteEmbedder:
    """An embedder behind /embeddings. JudgeError where OpenAI's own place is meant and no key is set.

    It is asked through OpenAI's own client: the library's adapter needs a tokenizer, though it does not use it.
    """
    from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, AsyncOpenAI

    provider, close = connect_provider(name, "embedder")
    client: AsyncOpenAI = provider.client

    async def request_vectors(texts: Sequence[str]) -> ProviderVectors:
        try:
            response = await client.embeddings.create(input=list(texts), model=name.model, encoding_format="float")
            rows = [item.embedding for item in sorted(response.data, key=lambda item: item.index)]
            return ProviderVectors(
                rows, response.usage.prompt_tokens if response.usage else 0, hide_keys(response.model or "")
            )
        except APIStatusError as error:
            failure = build_status_error(error.status_code, str(error), error.response.headers)
            raise CallError("refused", failure.reason) if isinstance(failure, Reply) else failure from None
        except APITimeoutError as error:
            raise CallError("timeout", hide_keys(str(error))) from None
        except APIConnectionError as error:
            raise build_connection_error(error) from None
        except (APIError, AttributeError, TypeError, ValueError) as error:
            raise CallError("server", hide_keys(f"a reply that cannot be read: {error}")[:500]) from None

    return RemoteEmbedder(name, request_vectors, close)


MAX_GOOGLE_TEXTS = 100  # texts in one request: the place takes no more
RETRY_DELAY = re.compile(r"retryDelay\W+([\d.]+)s")  # the time to wait stands in the body


def build_google_embedder(name: ModelName) -> RemoteEmbedder:
    """An embedder behind batchEmbedContents; the place says no tokens, so that the cost of a call is not known.

    Raises:
        MissingExtra: the client is not installed.
        JudgeError: no key is set.
    """
    provider, close = connect_provider(name, "embedder")
    from google.genai.errors import APIError
    from httpx2 import HTTPError, TimeoutException

    client = provider.client

    async def request_vectors(texts: Sequence[str]) -> ProviderVectors:
        try:
            contents: Any = list(texts)  # the client asks for a list of a union, which lists of text are not
            response = await client.aio.models.embed_content(model=name.model, contents=contents)
            return ProviderVectors([embedding.values or [] for embedding in response.embeddings or []], 0, "")
        except APIError as error:
            wait = RETRY_DELAY.search(str(error))
            failure = build_status_error(error.code, str(error), {"retry-after": wait[1]} if wait else {})
            raise CallError("refused", failure.reason) if isinstance(failure, Reply) else failure from None
        except TimeoutException as error:
            raise CallError("timeout", hide_keys(str(error))) from None
        except HTTPError as error:
            raise build_connection_error(error) from None
        except (AttributeError, TypeError, ValueError) as error:
            raise CallError("server", hide_keys(f"a reply that cannot be read: {error}")[:500]) from None

    return RemoteEmbedder(name, request_vectors, close, MAX_GOOGLE_TEXTS)


DIMENSIONS = 256
PIECE_CHARS = 8_192  # characters given to the tokenizer at once; its working memory grows with the text
MAX_HEADER_BYTES = 10_000  # bytes; this one has 88
WEIGHTS = Path(__file__).parent / "weights"  # what tools/embedder_files.py puts there
MATRIX, TOKENIZER = "l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json"
LOAD_LOCK = Lock()
INSTALL_HINT = (
    f"To install it: {build_install_command('', '--force-reinstall', '--no-deps')}. "
    "In a source tree, run python tools/embedder_files.py."
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
            f"{path}: must contain a matrix of {DIMENSIONS} columns in float16, got {content_text}. {INSTALL_HINT}"
        )
    return np.frombuffer(content, dtype="<f2").reshape(rows, columns).astype(np.float32)

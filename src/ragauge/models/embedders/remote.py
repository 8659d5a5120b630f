"""Embedders behind the APIs of OpenAI and Google, asked like any model: one call an ask, its troubles told alike."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.ask import Ask, ModelName, Reply, Usage
from ragauge.models.endpoints import hide_keys
from ragauge.models.errors import build_connection_error, build_status_error
from ragauge.models.model import CallError
from ragauge.models.providers.library import connect_provider

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]

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

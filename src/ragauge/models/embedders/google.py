"""Embeddings of Google's Gemini API."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ragauge.core.ask import ModelName, Reply
from ragauge.models.embedders.remote import ProviderVectors, RemoteEmbedder
from ragauge.models.endpoints import hide_keys
from ragauge.models.errors import build_connection_error, build_status_error
from ragauge.models.model import CallError
from ragauge.models.providers.library import connect_provider

MAX_TEXTS = 100  # texts in one request: the place takes no more
RETRY_DELAY = re.compile(r"retryDelay\W+([\d.]+)s")  # the time to wait stands in the body


def build_embedder(name: ModelName) -> RemoteEmbedder:
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

    return RemoteEmbedder(name, request_vectors, close, MAX_TEXTS)

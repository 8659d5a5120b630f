"""Embeddings of Google's Gemini API."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ragauge.core.ask import ModelName, Reply
from ragauge.models.embedders.remote import ProviderVectors, RemoteEmbedder
from ragauge.models.endpoints import hidden
from ragauge.models.errors import connection_error, status_error
from ragauge.models.model import CallError
from ragauge.models.providers.library import connected

MOST = 100  # texts in one request: the place takes no more
RETRY = re.compile(r"retryDelay\W+([\d.]+)s")  # the time to wait stands in the body


def build(name: ModelName) -> RemoteEmbedder:
    """An embedder behind batchEmbedContents; the place says no tokens, so that the cost of a call is not known.

    Raises:
        MissingExtra: the client is not installed.
        JudgeError: no key is set.
    """
    provider, close = connected(name, "embedder")
    from google.genai.errors import APIError
    from httpx2 import HTTPError, TimeoutException

    client = provider.client

    async def embed(texts: Sequence[str]) -> ProviderVectors:
        try:
            contents: Any = list(texts)  # the client asks for a list of a union, which lists of text are not
            said = await client.aio.models.embed_content(model=name.model, contents=contents)
            return ProviderVectors([one.values or [] for one in said.embeddings or []], 0, "")
        except APIError as error:
            wait = RETRY.search(str(error))
            found = status_error(error.code, str(error), {"retry-after": wait[1]} if wait else {})
            raise CallError("refused", found.reason) if isinstance(found, Reply) else found from None
        except TimeoutException as error:
            raise CallError("timeout", hidden(str(error))) from None
        except HTTPError as error:
            raise connection_error(error) from None
        except (AttributeError, TypeError, ValueError) as error:
            raise CallError("server", hidden(f"a reply that cannot be read: {error}")[:500]) from None

    return RemoteEmbedder(name, embed, close, MOST)

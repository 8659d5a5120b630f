"""Embeddings of OpenAI, and of every server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.ask import ModelName, Reply
from ragauge.models.embedders.remote import ProviderVectors, RemoteEmbedder
from ragauge.models.endpoints import hide_keys
from ragauge.models.errors import build_connection_error, build_status_error
from ragauge.models.model import CallError
from ragauge.models.providers.library import connect_provider


def build_embedder(name: ModelName) -> RemoteEmbedder:
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

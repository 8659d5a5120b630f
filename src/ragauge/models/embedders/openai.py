"""Embeddings of OpenAI, and of every server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.core.ask import ModelName, Reply
from ragauge.models.embedders.remote import ProviderVectors, RemoteEmbedder
from ragauge.models.endpoints import hidden
from ragauge.models.errors import connection_error, status_error
from ragauge.models.model import CallError
from ragauge.models.providers.library import connected


def build(name: ModelName) -> RemoteEmbedder:
    """An embedder behind /embeddings. JudgeError where OpenAI's own place is meant and no key is set.

    It is asked through OpenAI's own client: the library's adapter needs a tokenizer, though it does not use it.
    """
    from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, AsyncOpenAI

    provider, close = connected(name, "embedder")
    client: AsyncOpenAI = provider.client

    async def embed(texts: Sequence[str]) -> ProviderVectors:
        try:
            said = await client.embeddings.create(input=list(texts), model=name.model, encoding_format="float")
            rows = [one.embedding for one in sorted(said.data, key=lambda one: one.index)]
            return ProviderVectors(rows, said.usage.prompt_tokens if said.usage else 0, hidden(said.model or ""))
        except APIStatusError as error:
            found = status_error(error.status_code, str(error), error.response.headers)
            raise CallError("refused", found.reason) if isinstance(found, Reply) else found from None
        except APITimeoutError as error:
            raise CallError("timeout", hidden(str(error))) from None
        except APIConnectionError as error:
            raise connection_error(error) from None
        except (APIError, AttributeError, TypeError, ValueError) as error:
            raise CallError("server", hidden(f"a reply that cannot be read: {error}")[:500]) from None

    return RemoteEmbedder(name, embed, close)

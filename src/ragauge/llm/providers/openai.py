"""OpenAI: the Responses API for `openai:`, chat completions for `openai-chat:` at any place that speaks them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ragauge.data.ask import ModelName
from ragauge.errors import JudgeError
from ragauge.llm.chat import LibraryModel, watched

if TYPE_CHECKING:
    from openai import AsyncOpenAI

KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
NO_KEY = "none"     # what servers of one's own are told: the client sends something in any case


def responses(name: ModelName) -> LibraryModel:
    """A model behind the Responses API."""
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = _client(name, needs_key=True)
    return LibraryModel(name, OpenAIResponsesModel(name.model, provider=OpenAIProvider(openai_client=client)), client)


def chat(name: ModelName) -> LibraryModel:
    """A model behind chat completions: vLLM, Ollama, llama.cpp, LM Studio, gateways, OpenAI itself."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = _client(name, needs_key=not (name.endpoint or os.environ.get(BASE_URL)))
    return LibraryModel(name, OpenAIChatModel(name.model, provider=OpenAIProvider(openai_client=client)), client)


def _client(name: ModelName, *, needs_key: bool) -> AsyncOpenAI:
    """A client without retries of its own: one 429 would hide three calls."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    key = os.environ.get(KEY, "")
    if needs_key and not key:
        raise JudgeError(
            f"{name} needs a key. Set {KEY}; or name a server of your own: openai-chat:{name.model}@http://HOST:PORT/v1"
        )
    http = DefaultAsyncHttpxClient(event_hooks={"request": [watched]})
    return AsyncOpenAI(
        api_key=key or NO_KEY, base_url=name.endpoint or os.environ.get(BASE_URL) or None, max_retries=0, timeout=None,
        http_client=http,
    )  # fmt: skip

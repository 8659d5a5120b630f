"""Anthropic."""

from __future__ import annotations

import os

from ragauge.data.ask import ModelName
from ragauge.errors import JudgeError, MissingExtra
from ragauge.llm.chat import LibraryModel, watched

KEY = "ANTHROPIC_API_KEY"


def build(name: ModelName) -> LibraryModel:
    """A model behind the Messages API."""
    try:
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider
    except ImportError:
        raise MissingExtra(f"The judge {name}", "anthropic", "anthropic") from None
    key = os.environ.get(KEY, "")
    if not key:
        raise JudgeError(f"{name} needs a key. Set {KEY}.")
    http = DefaultAsyncHttpxClient(event_hooks={"request": [watched]})
    client = AsyncAnthropic(
        api_key=key, base_url=name.url, max_retries=0, timeout=None, http_client=http
    )
    model = AnthropicModel(name.model, provider=AnthropicProvider(anthropic_client=client))
    return LibraryModel(name, [model], client.close)

"""Anthropic."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ragauge.data.ask import ModelName
from ragauge.errors import JudgeError, MissingExtra
from ragauge.llm.chat import LibraryModel, watched
from ragauge.llm.endpoints import key_of

if TYPE_CHECKING:
    from pydantic_ai.models import Model

KEY = "ANTHROPIC_API_KEY"
OUTPUT = 16_000     # tokens: the protocol wants a bound, and beyond 21,333 the library streams


def build(name: ModelName) -> LibraryModel:
    """A model behind the Messages API."""
    try:
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider
    except ImportError:
        raise MissingExtra(f"The judge {name}", "anthropic", "anthropic") from None
    key = key_of(KEY)
    if not key:
        raise JudgeError(f"{name} needs a key. Set {KEY}.")
    http = DefaultAsyncHttpxClient(event_hooks={"request": [watched]})
    client = AsyncAnthropic(
        api_key=key, base_url=name.url, max_retries=0, timeout=None, http_client=http
    )
    model = AnthropicModel(name.model, provider=AnthropicProvider(anthropic_client=client))
    return LibraryModel(name, model, client.close, always={"max_tokens": OUTPUT}, refused=_refused(model))


def _refused(model: Model) -> tuple[str, ...]:
    """What newer models do not take; the library leaves it out too, with a warning at every call."""
    from pydantic_ai.models import ModelRequestParameters

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept, _ = model.prepare_request({"temperature": 0.0}, ModelRequestParameters())
    return () if "temperature" in (kept or {}) else ("temperature",)

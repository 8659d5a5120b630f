"""OpenAI: the Responses API for `openai:`, chat completions for `openai-chat:` at any place that speaks them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragauge.data.ask import ModelName
from ragauge.errors import JudgeError
from ragauge.llm.chat import TOOL, LibraryModel, watched
from ragauge.llm.endpoints import key_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model

KEY = "OPENAI_API_KEY"
NO_KEY = "none"     # what servers of one's own are told: the client sends something in any case
# the library takes <think>…</think> out of the middle of a JSON text, where a claim may speak of it; see `chat._text`
NO_TAGS = ("\x00", "\x00")


def responses(name: ModelName) -> LibraryModel:
    """A model behind the Responses API."""
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = _client(name, needs_key=not name.endpoint)
    model = OpenAIResponsesModel(name.model, provider=OpenAIProvider(openai_client=client))
    always = {"openai_store": False}     # else texts and replies are kept for 30 days
    return LibraryModel(name, model, client.close, _as_text_format, always, _refused(model))


def chat(name: ModelName) -> LibraryModel:
    """A model behind chat completions: vLLM, Ollama, llama.cpp, LM Studio, gateways, OpenAI itself."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = _client(name, needs_key=not name.endpoint)
    profile: Any = {"thinking_tags": NO_TAGS}
    model = OpenAIChatModel(name.model, provider=OpenAIProvider(openai_client=client), profile=profile)
    older = {"max_tokens": "max_tokens"}     # the library says max_completion_tokens, which not every server knows
    return LibraryModel(name, model, client.close, _as_response_format, refused=_refused(model), instead=older)


def _client(name: ModelName, *, needs_key: bool) -> AsyncOpenAI:
    """The provider's client, without retries of its own: one 429 would hide three calls."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    key = key_of(KEY)
    if needs_key and not key:
        raise JudgeError(
            f"{name} needs a key. Set {KEY}; or name a server of your own: openai-chat:{name.model}@http://HOST:PORT/v1"
        )
    http = DefaultAsyncHttpxClient(event_hooks={"request": [watched]})
    return AsyncOpenAI(api_key=key or NO_KEY, base_url=name.url, max_retries=0, timeout=None, http_client=http)


def _refused(model: Model) -> tuple[str, ...]:
    """What a model that reasons does not take; the library leaves it out too, with a warning at every call."""
    profile: Mapping[str, Any] = model.profile
    reasons = profile.get("openai_supports_reasoning", False) and profile.get("thinking_enabled_by_default", True)
    return ("temperature",) if reasons else ()


def _as_response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": TOOL, "schema": schema, "strict": True}}}


def _as_text_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": {"format": {"type": "json_schema", "name": TOOL, "schema": schema, "strict": True}}}

"""OpenAI: the Responses API for `openai:`, chat completions for `openai-chat:` at any place that speaks them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.data.ask import ModelName
from ragauge.errors import JudgeError
from ragauge.llm.chat import TOOL, LibraryModel, watched
from ragauge.llm.keys import key_of

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model

KEY = "OPENAI_API_KEY"
NO_KEY = "none"     # what servers of one's own are told: the client sends something in any case
# the library takes <think>…</think> out of the middle of a JSON text, where a claim may speak of it; see `chat._text`
NO_TAGS = ("\x00", "\x00")
POOLS = 64     # connection pools behind a proxy: one looks at all of its connections at every call


def responses(name: ModelName) -> LibraryModel:
    """A model behind the Responses API."""
    from openai.types.responses import Response
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    clients = _clients(name, needs_key=not name.endpoint)
    for client in clients:
        _send_as_given(client, client.responses, "/responses", Response)
    models = [OpenAIResponsesModel(name.model, provider=OpenAIProvider(openai_client=client)) for client in clients]
    always = {"openai_store": False}     # else texts and replies are kept for 30 days
    return LibraryModel(name, models, _closing(clients), _as_text_format, always, _refused(models[0]))


def chat(name: ModelName) -> LibraryModel:
    """A model behind chat completions: vLLM, Ollama, llama.cpp, LM Studio, gateways, OpenAI itself."""
    from openai.types.chat import ChatCompletion
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    clients = _clients(name, needs_key=not name.endpoint)
    for client in clients:
        _send_as_given(client, client.chat.completions, "/chat/completions", ChatCompletion)
    profile: Any = {"thinking_tags": NO_TAGS}
    models = [
        OpenAIChatModel(name.model, provider=OpenAIProvider(openai_client=client), profile=profile)
        for client in clients
    ]
    older = {"max_tokens": "max_tokens"}     # the library says max_completion_tokens, which not every server knows
    return LibraryModel(
        name, models, _closing(clients), _as_response_format, refused=_refused(models[0]), instead=older
    )


def _clients(name: ModelName, *, needs_key: bool) -> list[AsyncOpenAI]:
    """Clients without retries of their own: one 429 would hide three calls."""
    from openai import AsyncOpenAI

    key = key_of(KEY)
    if needs_key and not key:
        raise JudgeError(
            f"{name} needs a key. Set {KEY}; or name a server of your own: openai-chat:{name.model}@http://HOST:PORT/v1"
        )
    return [
        AsyncOpenAI(api_key=key or NO_KEY, base_url=name.url, max_retries=0, timeout=None, http_client=http)
        for http in _connections(name.url)
    ]


def _connections(url: str) -> list[AsyncClient]:
    """What carries the requests: one client over direct connections; where a proxy is set, the library's own pools."""
    from httpx2 import create_ssl_context
    from openai import DefaultAsyncHttpxClient

    from ragauge.llm.transport import DirectTransport

    hooks = {"request": [watched]}
    if not _proxied(url):
        return [DefaultAsyncHttpxClient(event_hooks=hooks, transport=DirectTransport())]
    verify = create_ssl_context()
    return [DefaultAsyncHttpxClient(event_hooks=hooks, verify=verify) for _ in range(POOLS)]


def _proxied(url: str) -> bool:
    """Whether the environment names a proxy for a place."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    place, proxies = urlsplit(url), getproxies()
    return bool(proxies.get(place.scheme) or proxies.get("all")) and not proxy_bypass(place.netloc.rpartition("@")[2])


def _send_as_given(client: AsyncOpenAI, resource: Any, path: str, kind: type[Any]) -> None:
    """Lets a resource's `create` send its arguments as they are, over the client's own connections.

    The SDK walks through all of them and the type hints of every kind of message there is, copies them, and prepares
    retries that are switched off: half of a call's time. Errors are raised as the SDK raises them.
    """
    import httpx2
    from openai import APIConnectionError, APITimeoutError, NotGiven, Omit

    http, url = client._client, httpx2.URL(f"{str(client.base_url).rstrip('/')}{path}")
    every = {**http.headers, **client.default_headers, "Authorization": f"Bearer {client.api_key}"}
    ready = {key.lower(): value for key, value in every.items() if isinstance(value, str)}

    async def create(**given: Any) -> Any:
        body = {key: value for key, value in given.items() if not isinstance(value, Omit | NotGiven)}
        headers = ready | {key.lower(): value for key, value in (body.pop("extra_headers", None) or {}).items()}
        params, more = body.pop("extra_query", None), body.pop("extra_body", None) or {}
        body.pop("timeout", None)     # the caller's clock ends the call
        request = httpx2.Request(
            "POST", url, json=body | more, headers=headers, params=params, cookies=http.cookies
        )
        try:
            response = await http.send(request)
        except httpx2.TimeoutException as error:
            raise APITimeoutError(request=request) from error
        except httpx2.RequestError as error:
            raise APIConnectionError(request=request) from error
        if response.is_error:
            raise client._make_status_error_from_response(response)
        try:
            return kind.construct(**response.json())
        except (ValueError, TypeError):     # no JSON object: told as what it is by whoever reads it
            return response.text

    resource.create = create


def _closing(clients: Sequence[AsyncOpenAI]) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        for client in clients:
            await client.close()

    return close


def _refused(model: Model) -> tuple[str, ...]:
    """What a model that reasons does not take; the library leaves it out too, with a warning at every call."""
    profile: Mapping[str, Any] = model.profile
    reasons = profile.get("openai_supports_reasoning", False) and profile.get("thinking_enabled_by_default", True)
    return ("temperature",) if reasons else ()


def _as_response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": TOOL, "schema": schema, "strict": True}}}


def _as_text_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": {"format": {"type": "json_schema", "name": TOOL, "schema": schema, "strict": True}}}

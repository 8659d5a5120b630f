"""Every provider that the library knows, by one path: its own class of provider, and our connections.

The SDKs' own retries are off, since one 429 would hide three calls, and no redirect to another host is followed. Where
a client takes no connections of ours (Bedrock, Hugging Face, xAI) it keeps its own. Ours come in groups, since a
pool looks at all its connections twice a call.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, get_type_hints
from urllib.parse import urlsplit
from urllib.request import getproxies

from ragauge.core.ask import ModelName
from ragauge.core.errors import JudgeError, MissingExtra, RagaugeError, UsageError
from ragauge.core.providers import PROVIDERS
from ragauge.models.chat import TOOL, Dialect, LibraryModel, note_request
from ragauge.models.endpoints import build_headers, check_redirect, find_key, hide_keys, is_own_host

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

Close = Callable[[], Awaitable[None]]
TIMEOUT_S = 86_400.0  # seconds: the caller's clock ends a call
KEY_PARAMS = ("api_key", "token")  # as constructors call them
URL_PARAMS = ("base_url", "azure_endpoint", "api_base", "api_host")
PACKAGES = {  # what an extra installs, where it is called otherwise
    "bedrock": "boto3",
    "google": "google-genai",
    "huggingface": "huggingface-hub",
    "mistral": "mistralai",
    "xai": "xai-sdk",
}
MAX_OUTPUT_TOKENS = 16_000  # tokens: Anthropic's protocol wants a bound, and beyond 21,333 the library streams
# the library takes <think>…</think> out of the middle of a JSON text, where a claim may speak of it; see `chat._text`
NO_TAGS = ("\x00", "\x00")


def build_library_model(name: ModelName) -> LibraryModel:
    """A model of any provider. Nothing is called.

    Raises:
        MissingExtra: the provider's client is not installed.
        JudgeError: its key is not set, or its client lacks something else.
        UsageError: a URL or headers, where its client takes none.
    """
    provider, close = connect_provider(name)
    with _translate_errors(name):
        if name.provider == "openai" and name.endpoint:  # many servers speak chat completions alone
            otherwise = _adapt_model(replace(name, provider="openai-chat"), provider, close)
            return _adapt_model(name, provider, close, otherwise)
        return _adapt_model(name, provider, close)


@contextmanager
def _translate_errors(name: ModelName, kind: str = "judge") -> Iterator[None]:
    """What a provider's client lacks, in words that say what to do: each has exceptions of its own."""
    try:
        yield
    except RagaugeError:
        raise
    except ImportError:
        extra = PROVIDERS[name.provider].extra or "openai"
        raise MissingExtra(f"The {kind} {name}", PACKAGES.get(extra, extra), extra) from None
    except Exception as error:
        message = hide_keys(str(error)).partition(" To try Pydantic")[0].rstrip(".") or type(error).__name__
        hint = "ragauge docs model-judges lists what each provider needs."
        if name.provider.startswith("azure") and "api-version=" not in name.url:
            hint = f"Write {name.provider}:DEPLOYMENT@URL?api-version=VERSION, or set OPENAI_API_VERSION."
        raise JudgeError(f"{name} cannot be built: {message}. {hint}") from None


def connect_provider(name: ModelName, kind: str = "judge") -> tuple[Provider[Any], Close]:
    """A provider with its client, and what closes the connections; the errors of `build_library_model`."""
    with _translate_errors(name, kind):
        return _connect_provider(name)


def _connect_provider(name: ModelName) -> tuple[Provider[Any], Close]:
    from pydantic_ai.providers import infer_provider_class

    made = infer_provider_class(name.provider)
    takes = inspect.signature(made.__init__).parameters
    base, _, version = name.url.partition("?api-version=")
    arguments: dict[str, Any] = {"api_version": version} if version else {}
    key = find_key(name)
    if key is not None:
        arguments |= {parameter: key for parameter in KEY_PARAMS if parameter in takes}
    url = next((parameter for parameter in URL_PARAMS if parameter in takes), None)
    if url and "//" in base:
        arguments[url] = urlsplit(base).netloc if url == "api_host" else base
    http = _build_http_client(name, made) if "http_client" in takes and name.provider != "huggingface" else None
    if http is not None:
        arguments["http_client"] = http
    elif name.headers:
        raise UsageError(f"{name} takes no headers: its client makes its own connections. Remove header.….")
    provider: Provider[Any] = made(**arguments)
    _configure_client(provider, name, url)

    async def close() -> None:
        closed = provider.client.close()
        if inspect.isawaitable(closed):
            await closed

    return provider, close if http is None else http.aclose


def _build_http_client(name: ModelName, made: type[Any]) -> Any:
    """Connections that note what is sent, send what belongs to the endpoint, and never leave it."""
    import httpx2

    kinds = ""
    try:
        kinds = str(get_type_hints(made.__init__)["http_client"])
    except NameError:  # a type that the provider imports for type checkers alone: the older one
        kinds = "httpx.AsyncClient"
    library: Any = httpx2
    if "httpx2" not in kinds:
        import httpx

        library = httpx
    sent = build_headers(name)

    async def add_headers(request: Any) -> None:
        request.headers.update(sent)

    return library.AsyncClient(
        timeout=TIMEOUT_S,
        follow_redirects=True,
        limits=build_limits(library),
        mounts=group_connections(library),
        event_hooks={"request": [add_headers, note_request] if sent else [note_request], "response": [check_redirect]},
    )


def _configure_client(provider: Provider[Any], name: ModelName, url: str | None) -> None:
    """A provider's client without retries, at the place that is named, without what the environment adds to others."""
    if name.provider == "xai":  # it connects when it is first used
        return
    client: Any = provider.client
    variable = PROVIDERS[name.provider].variable
    if hasattr(client, "max_retries"):
        client.max_retries, client.timeout = 0, None
        if url is None and name.endpoint:
            client.base_url = name.endpoint
        maker = type(client).__module__.partition(".")[0]  # whose variables it reads: many take OpenAI's client
        if maker != name.provider.partition("-")[0] or not is_own_host(name):  # ANTHROPIC_CUSTOM_HEADERS, organization
            client.organization = client.project = None
            client._custom_headers = {}
    elif url is None and name.endpoint and name.endpoint != os.environ.get(variable):
        raise UsageError(f"{name}: its client takes no URL. Set {variable}, or omit @URL.")
    if name.provider == "bedrock":
        client.meta.events.unregister("needs-retry.bedrock-runtime", unique_id="retry-config-bedrock-runtime")
    elif name.provider == "cohere":
        client._client_wrapper.httpx_client.base_max_retries = 0


def _adapt_model(
    name: ModelName, provider: Provider[Any], close: Close, otherwise: LibraryModel | None = None
) -> LibraryModel:
    """The library's model as ours, with a schema given natively in the fewest steps."""
    from pydantic_ai.models import infer_model

    kind = "openai-responses" if name.provider == "openai" else name.provider
    model: Any = infer_model(f"{kind}:{name.model}", lambda _: provider)
    # some ask by another client than their provider's; that of xAI cannot be looked at before it connects
    if name.provider != "xai" and hasattr(getattr(model, "client", None), "max_retries"):
        model.client.max_retries, model.client.timeout = 0, None
    always: dict[str, Any] = {"max_tokens": MAX_OUTPUT_TOKENS} if name.provider == "anthropic" else {}
    instead, native, effort = dict[str, str](), None, "thinking"
    bases = {base.__name__ for base in type(model).__mro__}
    if "OpenAIResponsesModel" in bases:
        native, effort = _build_text_format, "openai_reasoning_effort"
        always["openai_store"] = False  # else texts and replies are kept for 30 days
    elif "OpenAIChatModel" in bases:
        native, effort = _build_response_format, "openai_reasoning_effort"
        model = type(model)(name.model, provider=provider, profile={"thinking_tags": NO_TAGS})
        instead = {"max_tokens": "max_tokens"}  # the library says max_completion_tokens: not every server knows it
    dialect = Dialect(native, always, _list_refused(model), instead, effort)
    return LibraryModel(name, model, close, dialect, otherwise)


def _list_refused(model: Model) -> tuple[str, ...]:
    """What newer models do not take; the library leaves it out too, with a warning at every call."""
    from pydantic_ai.models import ModelRequestParameters

    profile: Mapping[str, Any] = model.profile
    reasons = profile.get("openai_supports_reasoning", False) and profile.get("thinking_enabled_by_default", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accepted, _ = model.prepare_request({"temperature": 0.0}, ModelRequestParameters())
    return ("temperature",) if reasons or "temperature" not in (accepted or {}) else ()


def _build_response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": TOOL, "schema": schema, "strict": True}}}


def _build_text_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": {"format": {"type": "json_schema", "name": TOOL, "schema": schema, "strict": True}}}


MAX_CONNECTIONS, MAX_IDLE = 1_000, 100
GROUPS = 8  # pools: of 64 connections in one pool, looking at them took a fifth of a call's processor time


def build_limits(library: Any) -> Any:
    """The limits of a client's own pool.

    Args:
        library: httpx or httpx2.
    """
    return library.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_IDLE)


def group_connections(library: Any) -> dict[str, Any]:
    """The mounts of a client whose calls take turns with several pools.

    Proxies that the environment names for a scheme or a host go before them; where it names one for every address,
    there are no mounts.

    Args:
        library: httpx or httpx2.
    """
    if "all" in getproxies():
        return {}

    class GroupedTransport(library.AsyncBaseTransport):  # type: ignore[misc]
        """Pools that take turns."""

        def __init__(self) -> None:
            share = library.Limits(
                max_connections=MAX_CONNECTIONS // GROUPS, max_keepalive_connections=-(-MAX_IDLE // GROUPS)
            )
            self._pools = [library.AsyncHTTPTransport(limits=share) for _ in range(GROUPS)]
            self._turn = count()

        async def handle_async_request(self, request: Any) -> Any:
            return await self._pools[next(self._turn) % GROUPS].handle_async_request(request)

        async def aclose(self) -> None:
            for pool in self._pools:
                await pool.aclose()

    return {"all://": GroupedTransport()}

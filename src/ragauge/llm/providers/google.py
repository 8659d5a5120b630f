"""Google's Gemini models."""

from __future__ import annotations

from ragauge.data.ask import ModelName
from ragauge.errors import JudgeError, MissingExtra
from ragauge.llm.chat import LibraryModel, watched
from ragauge.llm.endpoints import key_of

KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
LONG = 86_400.0     # seconds: the caller's clock ends a call


def build(name: ModelName) -> LibraryModel:
    """A model behind the Gemini API."""
    try:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider
    except ImportError:
        raise MissingExtra(f"The judge {name}", "google-genai", "google") from None
    from httpx2 import AsyncClient

    key = key_of(*KEYS)
    if not key:
        raise JudgeError(f"{name} needs a key. Set {KEYS[0]}.")
    http = AsyncClient(event_hooks={"request": [watched]}, timeout=LONG)
    provider = GoogleProvider(api_key=key, http_client=http, base_url=name.url)
    return LibraryModel(name, GoogleModel(name.model, provider=provider), http.aclose)

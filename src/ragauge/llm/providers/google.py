"""Google's Gemini models."""

from __future__ import annotations

import os

from ragauge.data.ask import ModelName
from ragauge.errors import JudgeError, MissingExtra
from ragauge.llm.chat import LibraryModel

KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")


def build(name: ModelName) -> LibraryModel:
    """A model behind the Gemini API."""
    try:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider
    except ImportError:
        raise MissingExtra(f"The judge {name}", "google-genai", "google") from None
    key = next((os.environ[one] for one in KEYS if os.environ.get(one)), "")
    if not key:
        raise JudgeError(f"{name} needs a key. Set {KEYS[0]}.")
    provider = GoogleProvider(api_key=key, base_url=name.endpoint or None)
    return LibraryModel(name, GoogleModel(name.model, provider=provider))

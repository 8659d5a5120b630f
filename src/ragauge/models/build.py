"""From a name to the model that answers."""

from __future__ import annotations

from ragauge.core.ask import ModelName
from ragauge.core.errors import UnknownName
from ragauge.core.providers import EMBEDDERS, PROVIDERS
from ragauge.models.model import ChatModel


def build_model(name: ModelName) -> ChatModel:
    """The model of a name. Nothing is called.

    Raises:
        UnknownName: no such provider.
        JudgeError: its key is not set.
        MissingExtra: its library is not installed.
    """
    if name.provider == "own":
        from ragauge.models.providers import custom as own

        return own.build_own_model(name)
    if name.provider not in PROVIDERS:
        raise UnknownName("provider", name.provider, PROVIDERS)
    from ragauge.models.providers import library

    return library.build_library_model(name)


def build_embedder(name: ModelName) -> ChatModel:
    """The embedder of a name, which answers embed asks. Nothing is called.

    Raises:
        UnknownName: no such provider of embeddings.
        JudgeError: its key is not set.
        MissingExtra: its library is not installed.
    """
    if name.provider == "google":
        from ragauge.models.embedders.base import build_google_embedder

        return build_google_embedder(name)
    if name.provider in EMBEDDERS:
        from ragauge.models.embedders.base import build_openai_embedder

        return build_openai_embedder(name)
    raise UnknownName("provider of embeddings", name.provider, EMBEDDERS)

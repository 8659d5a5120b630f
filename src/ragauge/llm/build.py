"""From a name to the model that answers."""

from __future__ import annotations

from ragauge.data.ask import ModelName
from ragauge.data.providers import EMBEDDERS, PROVIDERS
from ragauge.errors import UnknownName
from ragauge.llm.model import ChatModel


def build_model(name: ModelName) -> ChatModel:
    """The model of a name. Nothing is called.

    Raises:
        UnknownName: no such provider.
        JudgeError: its key is not set.
        MissingExtra: its library is not installed.
    """
    if name.provider == "own":
        from ragauge.llm.providers import own

        return own.build(name)
    if name.provider not in PROVIDERS:
        raise UnknownName("provider", name.provider, PROVIDERS)
    from ragauge.llm.providers import library

    return library.build(name)


def build_embedder(name: ModelName) -> ChatModel:
    """The embedder of a name, which answers embed asks. Nothing is called.

    Raises:
        UnknownName: no such provider of embeddings.
        JudgeError: its key is not set.
        MissingExtra: its library is not installed.
    """
    if name.provider == "google":
        from ragauge.llm.embedders import google

        return google.build(name)
    if name.provider in EMBEDDERS:
        from ragauge.llm.embedders import openai

        return openai.build(name)
    raise UnknownName("provider of embeddings", name.provider, EMBEDDERS)

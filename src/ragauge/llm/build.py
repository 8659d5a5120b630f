"""From a name to the model that answers."""

from __future__ import annotations

from ragauge.data.ask import EMBEDDERS, PROVIDERS, ModelName
from ragauge.errors import UnknownName
from ragauge.llm.model import ChatModel


def build_model(name: ModelName) -> ChatModel:
    """The model of a name. Nothing is called.

    Raises:
        UnknownName: no such provider.
        JudgeError: its key is not set.
        MissingExtra: its library is not installed.
    """
    match name.provider:
        case "openai":
            from ragauge.llm.providers import openai

            return openai.responses(name)
        case "openai-chat":
            from ragauge.llm.providers import openai

            return openai.chat(name)
        case "anthropic":
            from ragauge.llm.providers import anthropic

            return anthropic.build(name)
        case "google":
            from ragauge.llm.providers import google

            return google.build(name)
        case "own":
            from ragauge.llm.providers import own

            return own.build(name)
    raise UnknownName("provider", name.provider, PROVIDERS)


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

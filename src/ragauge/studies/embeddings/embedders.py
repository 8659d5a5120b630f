"""Embedders by name: the one in the package, a provider's, a function or object of the user's or of a library."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ragauge.core.ask import ModelName
from ragauge.core.class_lookup import load_object
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.providers import EMBEDDERS
from ragauge.engine.retrievers import build_local_embedder, parse_model_name

LOCAL, LEXICAL = "local", "bm25"
NAME_HINT = "Use local, provider:model (such as openai:text-embedding-3-small), or module:name for your own function."
Embed = Callable[[list[str]], Any]  # texts to a vector each, as the library gives them


@dataclass(frozen=True)
class NamedEmbedder:
    """An embedder that is found, and nothing of it called."""

    name: str  #: as it was typed.
    identity: str  #: whose vectors are in the cache: the name, and a digest of the file that a function stands in.
    documents: Embed | None  #: embeds texts to be found; None = the model is asked.
    queries: Embed | None = None  #: embeds questions, where that is another call; None = as documents.
    model: ModelName | None = None  #: a provider's model, asked through `llm`; None = none.
    prefixes: tuple[str, str] = ("", "")  #: what stands before each question, and before each document.

    @property
    def priced_model(self) -> ModelName | None:
        """What its price is known by; None = it costs nothing."""
        if self.name == LOCAL:
            return None
        provider, _, model = self.name.partition(":")
        return self.model or ModelName(provider, model)


def find_embedder(name: str, objects: Mapping[str, Any], prefixes: tuple[str, str] = ("", "")) -> NamedEmbedder:
    """An embedder by its name.

    Args:
        name: local, provider:model, module:name, or the name of an object that is given.
        objects: name -> function or object, for those that have no module.
        prefixes: what stands before each question, and before each document.

    Raises:
        UnknownName: no such module or name.
        UsageError: what is found embeds nothing.
    """
    if name in objects:
        documents, queries = _find_calls(name, objects[name])
        return NamedEmbedder(
            name, f"object {name} {_hash_source(objects[name])}".strip(), documents, queries, None, prefixes
        )
    if name == LOCAL:
        local_model = build_local_embedder()
        return NamedEmbedder(name, local_model.name, local_model.embed, None, None, prefixes)
    provider, sign, model = name.partition(":")
    if provider in EMBEDDERS:
        spec = parse_model_name(name)
        return NamedEmbedder(name, str(spec), None, None, spec, prefixes)
    if not sign or not model:
        raise UnknownName(
            "embedder", name, [LOCAL, *(f"{provider}:MODEL" for provider in EMBEDDERS), "module:name"], NAME_HINT
        )
    thing = load_object(name)
    documents, queries = _find_calls(name, thing)
    return NamedEmbedder(name, f"{name} {_hash_source(thing)}".strip(), documents, queries, None, prefixes)


def _find_calls(name: str, thing: Any) -> tuple[Embed, Embed | None]:
    """How a thing embeds documents, and questions where that is another call.

    sentence-transformers have encode, LangChain's embeddings embed_documents and embed_query, LlamaIndex's
    get_text_embedding_batch and get_query_embedding; a function takes texts. A class is made first, without arguments.
    """
    thing = thing() if isinstance(thing, type) else thing
    if hasattr(thing, "embed_documents"):
        return thing.embed_documents, lambda texts: [thing.embed_query(text) for text in texts]
    if hasattr(thing, "get_text_embedding_batch"):
        return thing.get_text_embedding_batch, lambda texts: [thing.get_query_embedding(text) for text in texts]
    if hasattr(thing, "encode_query") and hasattr(thing, "encode_document"):
        return thing.encode_document, thing.encode_query
    if hasattr(thing, "encode"):
        return thing.encode, None
    if not callable(thing):
        raise UsageError(f"{name}: expected a function or an embeddings object, got {type(thing).__name__}.")
    return thing, None


def _hash_source(thing: Any) -> str:
    """A digest of the file that a thing is written in; "" where there is none: another text is another embedder."""
    where = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    try:
        path = inspect.getsourcefile(where)
        return sha256(Path(path).read_bytes()).hexdigest()[:12] if path else ""
    except (OSError, TypeError):
        return ""


def call_embedder(embed: Embed, texts: Sequence[str]) -> Any:
    """What a function gives, awaited where it is a coroutine."""
    vectors = embed(list(texts))
    return asyncio.run(_await_vectors(vectors)) if inspect.isawaitable(vectors) else vectors


async def _await_vectors(awaitable: Any) -> Any:
    return await awaitable

"""What the spans of a request say of how its answer was made: model, prompt, embedder, index, k, version.

Instrumentations write it on different spans, also on those of a database or a prompt, which are no steps of their own:
each fact is the first that any span of the request says, in the order in which they began.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ragauge.core.identity import normalize_text
from ragauge.core.response import REDACTED
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import decode_json, parse_word

# what served counts before what was asked for
MODEL = (
    "gen_ai.response.model",
    "llm.model_name",
    "langfuse.observation.model.name",
    "ai.response.model",
    "gen_ai.request.model",
    "ai.model.id",
)
EMBEDDER = ("embedding.model_name", *MODEL)
LINKED_PROMPTS = "mlflow.linkedPrompts"
PROMPT = (  # name, version and text of a prompt, as the dialects write them
    ("langfuse.observation.prompt.name", "langfuse.observation.prompt.version", ""),
    ("traceloop.prompt.key", "traceloop.prompt.version", "traceloop.prompt.template"),
    ("gen_ai.prompt.name", "gen_ai.prompt.version", "gen_ai.system_instructions"),
    ("prompt.id", "llm.prompt_template.version", "llm.prompt_template.template"),
)
INDEX = (
    "db.collection.name",
    "gen_ai.data_source.id",
    "db.milvus.search.collection_name",
    "db.qdrant.collection_name",
    "db.chroma.collection_name",
    "db.weaviate.collection_name",
    "db.pinecone.index_name",
    "db.vector.collection_name",
    "db.namespace",
    "db.name",
)
K = (
    "gen_ai.retrieval.top_k",
    "retrieval.top_k",
    "reranker.top_k",
    "db.vector.query.top_k",
    "db.pinecone.query.top_k",
    "db.chroma.query.n_results",
    "db.milvus.search.limit",
    "db.qdrant.search.limit",
)
VERSION = ("service.version", "langfuse.version", "langfuse.release", "deployment.version", "app.version")
RETRIEVAL_OPERATIONS = frozenset({"retrieval", "vector_db_retrieve"})
FACTS = frozenset(
    {
        *EMBEDDER,
        *INDEX,
        *K,
        *VERSION,
        *(name for names in PROMPT for name in names if name),
        LINKED_PROMPTS,
        "gen_ai.operation.name",
        "gen_ai.request.top_k",
        "openinference.span.kind",
    }
)
MAX_VALUE_CHARS = 120  # characters of a value; a longer one is known by its hash


def collect_origin(spans: Sequence[TraceSpan], span_id: str = "") -> dict[str, str]:
    """What spans say of how an answer was made, and the id of the outermost span where it is given.

    >>> request = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.model": "m-2026"}
    >>> database = {"db.collection.name": "docs-v2", "db.system": "milvus"}
    >>> spans = [TraceSpan("5" * 32, f"{n}" * 16, attributes=one) for n, one in enumerate((request, database), 1)]
    >>> collect_origin(spans)
    {'model': 'm-2026', 'index': 'docs-v2'}
    """
    span_facts = [_select_facts(span.attributes) for span in sorted(spans, key=lambda span: (span.start, span.span_id))]
    ordered = [facts for facts in span_facts if facts]
    asking, embedding = (
        [facts for facts in ordered if not _is_embedding(facts)],
        [facts for facts in ordered if _is_embedding(facts)],
    )
    retrieving = [facts for facts in ordered if facts.get("gen_ai.operation.name") in RETRIEVAL_OPERATIONS]
    origin = {
        "model": _find_first_text(
            list(reversed(asking)), MODEL
        ),  # the last that wrote, not one that rewrote the question
        "prompt": next((text for facts in reversed(ordered) if (text := _describe_prompt(facts))), ""),
        "embedder": _find_first_text(embedding, EMBEDDER),
        "index": _find_first_text(ordered, INDEX),
        "k": _find_first_text(ordered, K) or _find_first_text(retrieving, ("gen_ai.request.top_k",)),
        "version": _find_first_text([*(span.resource for span in spans if span.resource), *ordered], VERSION),
        "span": span_id,
    }
    return {fact: _shorten_value(value) for fact, value in origin.items() if value}


def _select_facts(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a span's attributes that are looked at here: most spans have few of these and many others."""
    return {name: attributes[name] for name in FACTS.intersection(attributes)}


def _is_embedding(attributes: Mapping[str, Any]) -> bool:
    kind = str(attributes.get("openinference.span.kind", "")).upper()
    return (
        kind == "EMBEDDING"
        or attributes.get("gen_ai.operation.name") == "embeddings"
        or "embedding.model_name" in attributes
    )


def _find_first_text(each: Iterable[Mapping[str, Any]], names: Sequence[str]) -> str:
    """The first value under the first of the names that any of them has."""
    several = list(each)
    for name in names:
        for facts in several:
            text = parse_word(facts[name]) if name in facts else None
            if text and text != REDACTED:
                return text.strip()
    return ""


def _describe_prompt(facts: Mapping[str, Any]) -> str:
    """A prompt's name and version; without them, a digest of its template."""
    linked = decode_json(facts.get(LINKED_PROMPTS))
    if isinstance(linked, list) and linked and isinstance(linked[0], Mapping):
        facts = {**facts, "prompt.id": linked[0].get("name"), "llm.prompt_template.version": linked[0].get("version")}
    for name, version, text in PROMPT:
        called, numbered, template = parse_word(facts.get(name)), parse_word(facts.get(version)), facts.get(text)
        if called or numbered:
            return " ".join(part for part in (called, numbered and f"v{numbered.removeprefix('v')}") if part)
        if template and template != REDACTED:
            return f"text:{_hash_text(template if isinstance(template, str) else json.dumps(template, sort_keys=True))}"
    return ""


def _shorten_value(value: str) -> str:
    return value if len(value) <= MAX_VALUE_CHARS else f"text:{_hash_text(value)}"


def _hash_text(text: str) -> str:
    return sha256(normalize_text(text).encode("utf-8", "surrogatepass")).hexdigest()[:12]

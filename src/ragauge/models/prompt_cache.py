"""What providers keep of how prompts begin."""

from __future__ import annotations

from ragauge.core.ask import Ask, ModelName

MIN_CACHED_TOKENS = (
    1_024  # tokens that OpenAI, Anthropic and Google ask of a prompt's beginning to keep it; some models more
)
CHARS_PER_TOKEN = 4.0  # of English prose, on the common tokenizers


def count_shared_tokens(ask: Ask) -> int:
    """Tokens, estimated, that other asks about the same passages begin with too; 0 where there are none."""
    if not ask.shared:
        return 0
    return int((sum(len(text) for _, text in ask.messages[:-1]) + ask.shared) / CHARS_PER_TOKEN)


def is_cacheable(name: ModelName, ask: Ask) -> bool:
    """Whether a provider may keep how an ask begins and serve it for others.

    Servers of one's own keep whatever they have read; of a model that Python code hands over nothing is known.
    """
    if not ask.shared or name.provider == "own":
        return False
    return bool(name.endpoint) or count_shared_tokens(ask) >= MIN_CACHED_TOKENS


def is_schema_first(name: ModelName) -> bool:
    """Whether the schema stands before the messages where prompts are read, as OpenAI and Anthropic say of theirs.

    Then only asks with the same schema begin alike. Servers of one's own bind the reply to it, and read the messages
    alone.
    """
    by_openai = ("openai", "azure", "azure-responses")
    return name.provider in (*by_openai, "anthropic") or (name.provider == "openai-chat" and not name.endpoint)


def needs_cache_mark(name: ModelName) -> bool:
    """Whether a provider keeps only what is marked, at a price: Anthropic."""
    return name.provider == "anthropic"

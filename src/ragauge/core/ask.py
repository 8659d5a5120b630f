"""What a judge asks of a model, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ragauge.core.identity import hash_json, to_json_value
from ragauge.core.providers import PROVIDERS


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to a chat model or an embedder.

    Attributes:
        kind: chat or embed.
        question: which question it belongs to.
        version: of that question.
        messages: (role, text) pairs; for embed, one ("text", text) per text.
        schema: JSON Schema of the reply, for chat.
        params: such as temperature.
        judge_repeat: which asking of the judge.
        attempt: 1, or 2 for a re-ask.
        shared: characters of the last message that other asks about the same passages begin with too, as their other
            messages are the same; 0 = none. What is asked does not depend on it.
        family: schema that holds a reply under the key "reply", whichever of these asks it belongs to; None = there is
            none. Providers that read the schema before the messages are given it instead: else nothing is shared.
    """

    kind: Literal["chat", "embed"]
    question: str
    version: int
    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    judge_repeat: int = 0
    attempt: int = 1
    shared: int = 0
    family: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ModelName:
    """Which model at which place: part of every reply key.

    Attributes:
        provider: one of PROVIDERS.
        model: as the provider names it.
        endpoint: base URL without credentials and fragment, and without a query but the version of Azure's API; "" =
            the provider's own.
        key_env: variable of the environment that holds the key for this endpoint; "" = the provider's usual one, which
            goes to the provider's own hosts alone. It is no part of what a model is.
        headers: (name, value) pairs sent with every call; a value $NAME is read from the environment when it is sent.
    """

    provider: str
    model: str
    endpoint: str = ""
    key_env: str = field(default="", compare=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def url(self) -> str:
        """The base URL that is called."""
        return self.endpoint or PROVIDERS[self.provider].official

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" + (f"@{self.endpoint}" if self.endpoint else "")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the provider counted them.

    Of input_tokens cached_tokens were served from its cache and billed at less, written_tokens read into it and, by
    some, billed at more.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one Ask; a failed call is a Reply too.

    Attributes:
        status: ok or failed.
        text: of a chat reply: the structured text alone, where a schema was asked for.
        vectors: of an embed reply, one row of floats a text; an array of shape (texts, dimensions).
        reason: why it failed.
        key: of the reply in the store; "" where nothing is stored.
        finish: why the model stopped: stop, length, content_filter or the provider's word; "" when unknown.
        served: the model that the provider says it used.
        sent: what was really sent where it differs from what was asked: parameters left out, how the schema was given.
        usage: tokens; None when unknown.
        cost: in US dollars; None when the price is unknown, never 0 for that.
        latency_ms: of the call that was answered.
    """

    status: Literal["ok", "failed"]
    text: str = ""
    vectors: Any = None
    reason: str = ""
    key: str = ""
    finish: str = ""
    served: str = ""
    sent: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    cost: float | None = None
    latency_ms: float | None = None


def build_reply_key(name: ModelName, ask: Ask) -> str:
    """SHA-256 of who is asked and of everything that is asked: no run, no example, no question's name.

    Two attempts at one text are two keys; so are two asking of a judge. Time-outs and concurrency are in none.
    """
    return hash_json(
        [
            name.provider,
            name.endpoint,
            name.model,
            ask.kind,
            ask.messages,
            to_json_value(ask.schema),
            to_json_value(ask.params),
            ask.judge_repeat,
            ask.attempt,
            *([name.headers] if name.headers else []),
        ]
    )

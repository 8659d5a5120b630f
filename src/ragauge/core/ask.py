"""What a judge asks of a model, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ragauge.core.identity import hash_json, to_json_value
from ragauge.core.providers import PROVIDERS


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to a chat model or an embedder."""

    kind: Literal["chat", "embed"]  #: chat or embed.
    question: str  #: which question it belongs to.
    version: int  #: of that question.
    messages: tuple[tuple[str, str], ...]  #: (role, text) pairs; for embed, one ("text", text) per text.
    schema: Mapping[str, Any] | None = None  #: JSON Schema of the reply, for chat.
    params: Mapping[str, Any] = field(default_factory=dict)  #: such as temperature.
    judge_repeat: int = 0  #: which asking of the judge.
    attempt: int = 1  #: 1, or 2 for a re-ask.
    #: characters of the last message that other asks about the same passages begin with too, as their other messages
    #: are the same; 0 = none. What is asked does not depend on it.
    shared: int = 0
    #: schema that holds a reply under the key "reply", whichever of these asks it belongs to; None = there is none.
    #: Providers that read the schema before the messages are given it instead: else nothing is shared.
    family: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ModelName:
    """Which model at which place: part of every reply key."""

    provider: str  #: one of PROVIDERS.
    model: str  #: as the provider names it.
    #: base URL without credentials and fragment, and without a query but the version of Azure's API; "" = the
    #: provider's own.
    endpoint: str = ""
    #: variable of the environment that holds the key for this endpoint; "" = the provider's usual one, which goes to
    #: the provider's own hosts alone. It is no part of what a model is.
    key_env: str = field(default="", compare=False)
    #: (name, value) pairs sent with every call; a value $NAME is read from the environment when it is sent.
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
    """What came back for one Ask; a failed call is a Reply too."""

    status: Literal["ok", "failed"]  #: ok or failed.
    text: str = ""  #: of a chat reply: the structured text alone, where a schema was asked for.
    vectors: Any = None  #: of an embed reply, one row of floats a text; an array of shape (texts, dimensions).
    reason: str = ""  #: why it failed.
    key: str = ""  #: of the reply in the store; "" where nothing is stored.
    finish: str = ""  #: why the model stopped: stop, length, content_filter or the provider's word; "" when unknown.
    served: str = ""  #: the model that the provider says it used.
    #: what was really sent where it differs from what was asked: parameters left out, how the schema was given.
    sent: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None  #: tokens; None when unknown.
    cost: float | None = None  #: in US dollars; None when the price is unknown, never 0 for that.
    latency_ms: float | None = None  #: of the call that was answered.


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

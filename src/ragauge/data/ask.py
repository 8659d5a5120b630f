"""What a judge asks of a model, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


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
    """

    kind: Literal["chat", "embed"]
    question: str
    version: int
    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    judge_repeat: int = 0
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one Ask; a failed call is a Reply too.

    Attributes:
        status: ok or failed.
        text: of a chat reply.
        vectors: of an embed reply, one row of floats a text; an array of shape (texts, dimensions).
        reason: why it failed.
    """

    status: Literal["ok", "failed"]
    text: str = ""
    vectors: Any = None
    reason: str = ""

"""A model that can be asked: what every provider's file gives, and how a call goes wrong."""

from __future__ import annotations

from typing import Literal, Protocol

from ragauge.data.ask import Ask, ModelName, Reply, Usage

Trouble = Literal[
    "rate_limited", "server", "timeout", "connection", "too_long", "refused", "auth", "quota", "unknown_model"
]

PASSING: frozenset[Trouble] = frozenset({"rate_limited", "server", "timeout", "connection"})     # worth another try
FATAL: frozenset[Trouble] = frozenset({"auth", "quota", "unknown_model"})     # no other call to this model can succeed


class CallError(Exception):
    """A call that brought no reply.

    Attributes:
        trouble: what kind.
        status: HTTP status; None where there was no answer.
        retry_after: seconds that the server asked to wait; None where it said nothing.
        usage: tokens that were paid for nevertheless; None when none are known of.
    """

    def __init__(
        self,
        trouble: Trouble,
        text: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(text)
        self.trouble: Trouble = trouble
        self.status = status
        self.retry_after = retry_after
        self.usage = usage


class ChatModel(Protocol):
    """Answers chat asks, one call an ask.

    It repeats a call only to learn what a model takes: a parameter that is refused is left out from then on, and the
    schema is given natively, else as a tool, else in the prompt.
    """

    @property
    def name(self) -> ModelName:
        """Which model."""

    async def reply(self, ask: Ask, timeout: float) -> Reply:
        """The reply, ok or failed (filtered, cut off).

        Args:
            ask: what to ask.
            timeout: seconds for the whole call, slow drips included.

        Raises:
            CallError: nothing came that says anything about the text.
        """

    async def close(self) -> None:
        """Closes its connections."""

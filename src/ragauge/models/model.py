"""A model that can be asked: what every provider's file gives, and how a call goes wrong."""

from __future__ import annotations

from typing import Literal, Protocol

from ragauge.core.ask import Ask, ModelName, Reply, Usage

Trouble = Literal[
    "rate_limited",
    "server",
    "timeout",
    "connection",
    "unreachable",
    "too_long",
    "cut",
    "refused",
    "unstructured",
    "auth",
    "quota",
    "unknown_model",
    "client",
]

# worth another try
TRANSIENT_TROUBLES: frozenset[Trouble] = frozenset({"rate_limited", "server", "timeout", "connection", "unreachable"})
BROKEN_TROUBLES: frozenset[Trouble] = frozenset(
    {"server", "timeout", "connection"}
)  # the provider may have finished it
UNBILLED_STATUSES = frozenset({500, 503, 529})
FATAL_TROUBLES: frozenset[Trouble] = frozenset(
    {"auth", "quota", "unknown_model"}
)  # no other call to this model can succeed


class CallError(Exception):
    """A call that brought no reply.

    Attributes:
        trouble: what kind.
        status: HTTP status; None where there was no answer.
        retry_after: seconds that the server asked to wait; None where it said nothing.
        usage: tokens that were paid for nevertheless; None when none are known of.
        learned: the model object learned from it how to ask, so the same ask is worth making again at once.
    """

    def __init__(
        self,
        trouble: Trouble,
        text: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
        learned: bool = False,
    ) -> None:
        super().__init__(text)
        self.trouble: Trouble = trouble
        self.status = status
        self.retry_after = retry_after
        self.usage = usage
        self.learned = learned

    @property
    def can_be_billed(self) -> bool:
        """Whether it broke off where the provider may have done its work, and nothing is known of its tokens."""
        return self.usage is None and self.trouble in BROKEN_TROUBLES and self.status not in UNBILLED_STATUSES


class ChatModel(Protocol):
    """Answers chat asks, one call an ask.

    What a model takes is learned from its answers: a parameter that is refused is left out from then on, and the schema
    is given natively, else as a tool, else in the prompt. The call that taught it raises a CallError that says so.
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

"""A model that can be asked, and the errors of a call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from ragauge.core.ask import Ask, ModelName, Reply, Usage
from ragauge.models.endpoints import LeftHostError, hide_keys

if TYPE_CHECKING:
    from pydantic import ValidationError


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


TOO_LONG = re.compile(
    r"context[ _-]?(?:size|length|window)|too many tokens|maximum.{0,20}tokens|token count.{0,40}exceeds"
    r"|(?:prompt|input) (?:is )?too (?:long|large)|maximum (?:model|prompt|input) length"
    r"|longer than the (?:model|maximum)|too large for model|inputs.{0,20}tokens.{0,40}must|reduce the length"
    r"|exceed_context",
    re.I,
)
NO_MONEY = re.compile(r"insufficient_quota|billing|exceeded your current quota|credit balance", re.I)
LASTING_QUOTA = re.compile(r"insufficient_quota|credit balance|PerDay", re.I)  # no wait of minutes mends it
FILTER_MESSAGE = re.compile(
    r"content_filter|content filtering policy|content management policy|content_policy_violation|flagged_input", re.I
)
MAX_FIELDS = 4  # of a reply that are named
MAX_MESSAGE_CHARS = 500  # characters of a provider's message that are kept


def build_call_error(error: Exception, provider: str = "the provider") -> CallError | Reply:
    """The trouble that an exception tells of; a failed Reply where the provider refused the text itself.

    Anything that is not an error of a call is raised again.

    Args:
        error: what was raised.
        provider: who was asked.
    """
    from pydantic import ValidationError
    from pydantic_ai import exceptions as known

    full_text = hide_keys(str(error))
    text = full_text[:MAX_MESSAGE_CHARS]
    if left_host := [cause for cause in _list_causes(error) if isinstance(cause, LeftHostError)]:
        return CallError("auth", str(left_host[0]))
    if isinstance(error, known.ContentFilterError):
        return Reply("failed", reason=f"the provider's content filter: {text}", finish="content_filter")
    if isinstance(error, known.ModelHTTPError):
        retry_after = error.retry_after if error.retry_after is not None else _parse_retry_after(error.headers)
        return _classify_status(
            error.status_code, full_text, retry_after, no_money=isinstance(error, known.ModelQuotaExceededError)
        )
    if isinstance(error, known.ModelTimeoutError | known.ModelRequestTimeout | TimeoutError):
        return CallError("timeout", text)
    if isinstance(error, known.ModelConnectionError):
        return build_connection_error(error)
    if isinstance(error, known.ModelAPIError):
        return _build_statusless_error(error, text)
    if unlike := next((cause for cause in _list_causes(error) if isinstance(cause, ValidationError)), None):
        return CallError("server", f"the server's reply is not what {provider} sends: {_describe_mismatch(unlike)}")
    if isinstance(error, known.UnexpectedModelBehavior):
        return CallError("server", f"a reply that cannot be read: {text}")
    if isinstance(error, IndexError):  # of the first choice
        return CallError("server", "the server's reply has no choices")
    if isinstance(error, LookupError | TypeError | AttributeError):  # the library reads the reply
        return CallError("server", f"the server's reply is not what {provider} sends: {type(error).__name__}: {text}")
    if isinstance(error, known.UserError):
        return CallError("refused", text)
    raise error


def _describe_mismatch(error: ValidationError) -> str:
    """What a reply lacks: a server may tell its error with status 200."""
    problems = error.errors(include_url=False)
    locations = (".".join(map(str, problem["loc"])) or "its body" for problem in problems[:MAX_FIELDS])
    return f"wrong or missing: {', '.join(dict.fromkeys(locations))}"


def build_status_error(status: int, text: str, headers: Mapping[str, str]) -> CallError | Reply:
    """The trouble that an HTTP status and its text tell of; a failed Reply where the provider refused the text."""
    return _classify_status(status, hide_keys(text), _parse_retry_after(headers), no_money=False)


def build_connection_error(error: BaseException) -> CallError:
    """A connection that could not be made, or that broke, in the words of what lies beneath."""
    causes = _list_causes(error)
    text = next((str(cause) for cause in reversed(causes) if str(cause)), type(error).__name__)
    is_unreachable = any(type(cause).__name__ == "ConnectError" for cause in causes)  # of httpx or httpx2
    return CallError("unreachable" if is_unreachable else "connection", hide_keys(text)[:MAX_MESSAGE_CHARS])


def _list_causes(error: BaseException) -> list[BaseException]:
    """An exception and what it came from, the deepest last."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)
    return causes


def _build_statusless_error(error: object, text: str) -> CallError:
    """What is told inside a reply that came with status 200."""
    from pydantic_ai import exceptions as known

    trouble: Trouble = "server"
    if isinstance(error, known.ModelQuotaExceededError):
        trouble = "quota"
    elif isinstance(error, known.ModelRateLimitError):
        trouble = "rate_limited"
    elif isinstance(error, known.ModelContextWindowExceededError):
        trouble = "too_long"
    return CallError(trouble, text, retry_after=getattr(error, "retry_after", None))


def _classify_status(status: int, full_text: str, retry_after: float | None, *, no_money: bool) -> CallError | Reply:
    trouble: Trouble
    text = full_text[:MAX_MESSAGE_CHARS]
    # Google speaks of quota and billing where a minute's limit is met, and says how long to wait
    passes = status == 429 and retry_after is not None and not LASTING_QUOTA.search(full_text)
    if status == 402 or ((no_money or (status == 429 and NO_MONEY.search(full_text))) and not passes):
        trouble = "quota"
    elif status == 429:
        trouble = "rate_limited"
    elif status in (400, 403, 422) and FILTER_MESSAGE.search(full_text):
        return Reply("failed", reason=f"the provider's content filter: {text}", finish="content_filter")
    elif status in (401, 403, 407):
        trouble = "auth"
    elif status == 404:
        trouble = "unknown_model"
    elif status in (408, 409, 425) or status >= 500:
        trouble = "server"
    elif status == 413 or TOO_LONG.search(full_text):
        trouble = "too_long"
    else:
        trouble = "refused"
    return CallError(trouble, text, status=status, retry_after=retry_after)


def _parse_retry_after(headers: Mapping[str, str] | None) -> float | None:
    """Retry-After as a fraction of seconds, which the standard does not know and gateways send."""
    try:
        seconds = float((headers or {}).get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None

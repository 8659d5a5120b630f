"""What went wrong with a call: the library's exceptions as ours, without a key in their text."""

from __future__ import annotations

import os
import re

from ragauge.data.ask import Reply
from ragauge.llm.model import CallError, Trouble

KEYLIKE = re.compile(r"\b(?:sk|pk|key|AIza|gsk|xai|hf)[-_A-Za-z0-9]{12,}|(?i:bearer)\s+\S+|(?i:api[-_ ]?key)=\S+")
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")
TOO_LONG = re.compile(
    r"context[ _-]?(?:size|length|window)|too many tokens|maximum.{0,20}tokens|prompt is too long", re.IGNORECASE
)
NO_MONEY = re.compile(r"insufficient_quota|billing|exceeded your current quota|credit balance", re.I)
LONGEST = 500     # characters of a provider's message that are kept


def hidden(text: str) -> str:
    """A text without keys: what looks like one, and what stands in the environment as one.

    >>> hidden("Incorrect API key provided: sk-proj-abcdefghijklmnop.")
    'Incorrect API key provided: [key].'
    """
    for name, value in os.environ.items():
        if len(value) >= 8 and SECRET.search(name.upper()):
            text = text.replace(value, "[key]")
    return KEYLIKE.sub("[key]", text)


def call_error(error: Exception) -> CallError | Reply:
    """The trouble that an exception tells of; a failed Reply where the provider refused the text itself.

    Anything that is not an error of a call is raised again.
    """
    from pydantic_ai import exceptions as known

    text = hidden(str(error))[:LONGEST]
    if isinstance(error, known.ContentFilterError):
        return Reply("failed", reason=f"the provider's content filter: {text}", finish="content_filter")
    if isinstance(error, known.ModelHTTPError):
        return _of_status(error, text)
    if isinstance(error, known.ModelTimeoutError):
        return CallError("timeout", text)
    if isinstance(error, known.ModelConnectionError):
        return CallError("connection", text)
    if isinstance(error, known.ModelAPIError):
        return CallError("server", text, retry_after=error.retry_after)
    if isinstance(error, known.UnexpectedModelBehavior):
        return CallError("server", f"a reply that cannot be read: {text}")
    if isinstance(error, known.UserError):
        return CallError("refused", text)
    raise error


def _of_status(error: object, text: str) -> CallError | Reply:
    status: int = error.status_code  # type: ignore[attr-defined]
    retry_after: float | None = error.retry_after  # type: ignore[attr-defined]
    trouble: Trouble
    if status == 429:
        trouble = "quota" if NO_MONEY.search(text) else "rate_limited"
    elif status in (401, 403):
        trouble = "auth"
    elif status == 404:
        trouble = "unknown_model"
    elif status in (408, 409, 425) or status >= 500:
        trouble = "server"
    elif "content_filter" in text or "content management policy" in text:
        return Reply("failed", reason=f"the provider's content filter: {text}", finish="content_filter")
    elif status == 413 or TOO_LONG.search(text):
        trouble = "too_long"
    else:
        trouble = "refused"
    return CallError(trouble, text, status=status, retry_after=retry_after)

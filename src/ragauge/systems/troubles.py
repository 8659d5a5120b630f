"""How a system fails to answer one question, whatever it is built with."""

from __future__ import annotations

import sysconfig
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from traceback import walk_tb
from typing import Any, Literal

from ragauge.data.response import Response
from ragauge.errors import SystemFailed

Kind = Literal[
    "rate_limited", "server", "connection", "timeout", "auth", "not_found", "refused", "unreadable", "exception",
    "absent", "reported",
]  # fmt: skip
PASSING: frozenset[Kind] = frozenset({"server", "connection"})     # worth another try
# so early in a run, nothing answered yet, these say that the system is not the one meant
HOPELESS: frozenset[Kind] = frozenset({"auth", "not_found", "connection", "unreadable"})
TOO_MANY = ("RateLimit", "TooManyRequests", "ResourceExhausted", "Throttling")     # in the names of exceptions
REFUSED_FROM, SERVER_FROM, TOO_MANY_STATUS = 400, 500, 429
NOT_OWN = (Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1])     # where code that is not the system's is


class SystemTrouble(SystemFailed):
    """One question brought no response.

    Attributes:
        kind: what went wrong: rate_limited, server (5xx), connection, timeout, auth, not_found, refused (another 4xx),
            unreadable (it returned what no response can be made of), exception, absent, reported (by the system).
        retry_after: seconds that the system asked to wait; None where it said nothing.
        spent: a response with the latency, tokens and cost that its reply carried all the same; None for none.
        seconds: that the attempt took; None where nobody has measured it.
    """

    def __init__(
        self, kind: Kind, text: str, *, retry_after: float | None = None, spent: Response | None = None
    ) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.retry_after = retry_after
        self.spent = spent
        self.seconds: float | None = None


def trouble_of(error: BaseException) -> SystemTrouble:
    """What an exception of a system means; clients of every kind are known by what theirs carry.

    A status code stands in `status_code`, `status` or `code`, of the exception or of its `response`.

    >>> trouble_of(ConnectionResetError("gone")).kind, trouble_of(ValueError("no")).kind
    ('connection', 'exception')
    """
    if isinstance(error, SystemTrouble):
        return error
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    status = _status(error)
    names = " ".join(cls.__name__ for cls in type(error).__mro__)
    if status == TOO_MANY_STATUS or any(part in names for part in TOO_MANY):
        return SystemTrouble("rate_limited", text, retry_after=_retry_after(error))
    if isinstance(error, TimeoutError) or "Timeout" in names:
        return SystemTrouble("timeout", text)
    if status is not None:
        return SystemTrouble(kind_of(status), text, retry_after=_retry_after(error))
    if isinstance(error, ConnectionError) or "ConnectionError" in names or "ConnectError" in names:
        return SystemTrouble("connection", text)
    return SystemTrouble("exception", f"{text}{_where(error)}")


def kind_of(status: int) -> Kind:
    """What an HTTP status other than success means.

    >>> kind_of(429), kind_of(503), kind_of(401), kind_of(404), kind_of(422)
    ('rate_limited', 'server', 'auth', 'not_found', 'refused')
    """
    if status == TOO_MANY_STATUS:
        return "rate_limited"
    if status >= SERVER_FROM or status in (408, 409, 425):
        return "server"
    if status in (401, 403, 407):
        return "auth"
    return "not_found" if status in (404, 405, 410) or status < REFUSED_FROM else "refused"     # a redirect: not here


def seconds_of(header: Any) -> float | None:
    """Retry-After as seconds from now: a number, or a date; None where it is neither.

    >>> seconds_of("1.5"), seconds_of("soon"), seconds_of(None)
    (1.5, None, None)
    """
    try:
        seconds = float(header)
    except (TypeError, ValueError):
        try:
            seconds = (parsedate_to_datetime(str(header)) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None


def _where(error: BaseException) -> str:
    """The innermost line of the system's own code that an exception came through; "" where it came through none.

    What is installed, what belongs to Python, and what is ours is not its own.
    """
    found = ""
    for frame, line in walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.suffix == ".py" and not any(path.is_relative_to(folder) for folder in NOT_OWN) and (
            not {"site-packages", "dist-packages"} & set(path.parts)
        ):
            found = f" ({path.name} line {line}, in {frame.f_code.co_name})"
    return found


def _retry_after(error: BaseException) -> float | None:
    given = seconds_of(getattr(error, "retry_after", None))
    if given is not None:
        return given
    for holder in (error, getattr(error, "response", None)):
        headers: Any = getattr(holder, "headers", None)
        if hasattr(headers, "get"):
            found = seconds_of(headers.get("retry-after") or headers.get("Retry-After"))
            if found is not None:
                return found
    return None

"""Who may do what: tokens that read, write or send, and sessions of who logged in, which end."""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ragauge.core.errors import UsageError

MIN_TOKEN_CHARS = 16  # characters
IDLE_S, MAX_SESSION_S = 3600.0, 12 * 3600.0  # seconds without a request, and in all, after which a session ends
RIGHT_LINE = re.compile(r"(read|write|ingest):\s*(\S*)")
MAKE_ADVICE = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe())'"
Right = Literal["", "read", "write"]


@dataclass(frozen=True, slots=True)
class AccessTokens:
    """What whoever asks must know; "" = nobody has this right."""

    every: str = field(default="", repr=False)  #: gives all rights.
    read: str = field(default="", repr=False)  #: shows pages.
    write: str = field(default="", repr=False)  #: shows pages, and takes labels and changes.
    ingest: str = field(default="", repr=False)  #: takes traces, and shows nothing.

    def __bool__(self) -> bool:
        """Whether any is needed."""
        return any((self.every, self.read, self.write, self.ingest))

    def right_of(self, word: str) -> Right:
        """What a token lets its bearer do with pages; all are compared in constant time."""
        writes = [is_same(word, token) for token in (self.every, self.write)]
        reads = is_same(word, self.read)
        return "write" if any(writes) else "read" if reads else ""

    def may_send(self, word: str) -> bool:
        """Whether a token lets its bearer send traces."""
        return is_same(word, self.every) | is_same(word, self.ingest)


def read_tokens(path: Path) -> AccessTokens:
    """The tokens in a file: one, which gives all rights, or lines read: TOKEN, write: TOKEN, ingest: TOKEN.

    Raises:
        UsageError: the file cannot be read, a token is too short, or a line is neither.
    """
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file {path} cannot be read: {error}. Give a text file with the token.") from error
    matches = [RIGHT_LINE.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
    if not any(matches):
        return AccessTokens(_check_token(path, text))
    tokens: dict[str, str] = {}
    for line in matches:
        if line is None or line[1] in tokens:
            expected = "expected lines read: TOKEN, write: TOKEN and ingest: TOKEN, each at most once"
            raise UsageError(f"--token-file {path}: {expected}. A single token grants all permissions.")
        tokens[line[1]] = _check_token(path, line[2])
    if len(set(tokens.values())) < len(tokens):
        raise UsageError(f"--token-file {path}: two permissions share a token. Use one token for each, or one for all.")
    return AccessTokens(**tokens)


def _check_token(path: Path, token: str) -> str:
    if len(token) < MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"--token-file {path}: expected a token of at least {MIN_TOKEN_CHARS} letters, digits or signs, without "
            f"spaces, got {len(token)} characters. {MAKE_ADVICE}"
        )
    return token


def is_same(secret: str, expected: str) -> bool:
    """Whether a secret is the known one, in constant time; never where none is known."""
    return bool(expected) and hmac.compare_digest(secret.encode(), expected.encode())


class Sessions:
    """Who is logged in, in this process's memory: a restart ends all sessions.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._open: dict[str, tuple[Right, float, float]] = {}  # right, when it began, when it was seen last

    def begin_session(self, right: Right) -> str:
        """A new session's secret."""
        now, name = self._clock(), secrets.token_urlsafe()
        with self._lock:
            self._open = {session_id: session for session_id, session in self._open.items() if _is_alive(session, now)}
            self._open[name] = right, now, now
        return name

    def right_of(self, name: str) -> Right:
        """What a session lets do; "" where it has ended. It counts as used."""
        now = self._clock()
        with self._lock:
            session = self._open.get(name)
            if session is None or not _is_alive(session, now):
                self._open.pop(name, None)
                return ""
            self._open[name] = session[0], session[1], now
            return session[0]

    def end(self, name: str) -> None:
        """Logs out."""
        with self._lock:
            self._open.pop(name, None)


def _is_alive(session: tuple[Right, float, float], now: float) -> bool:
    return now - session[2] < IDLE_S and now - session[1] < MAX_SESSION_S


def read_required_tokens(path: Path | None, host: str) -> AccessTokens:
    """The tokens in a file; none where none is needed.

    Raises:
        UsageError: a host beyond this machine without a token, a file that cannot be read, or too short a token.
    """
    if path is not None:
        return read_tokens(path)
    if not is_loopback(host):
        raise UsageError(
            f"--host {host} accepts other machines, which needs a token. Write one of at least {MIN_TOKEN_CHARS} "
            "characters to a file and pass it with --token-file."
        )
    return AccessTokens()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("::1")
    (True, True, False, True)
    """
    address = _parse_address(host)
    return host.casefold() == "localhost" if address is None else address.is_loopback


def _parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None

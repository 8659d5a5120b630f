"""Who may do what: tokens that read, write or send, and sessions of who logged in, which end."""

from __future__ import annotations

import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ragauge.core.errors import UsageError

LEAST_TOKEN = 16  # characters
IDLE, LONGEST = 3600.0, 12 * 3600.0  # seconds without a request, and in all, after which a session ends
LINE = re.compile(r"(read|write|ingest):\s*(\S*)")
MAKE = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe())'"
Right = Literal["", "read", "write"]


@dataclass(frozen=True, slots=True)
class AccessTokens:
    """What whoever asks must know; "" = nobody has this right.

    Attributes:
        every: gives all rights.
        read: shows pages.
        write: shows pages, and takes labels and changes.
        ingest: takes traces, and shows nothing.
    """

    every: str = field(default="", repr=False)
    read: str = field(default="", repr=False)
    write: str = field(default="", repr=False)
    ingest: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        """Whether any is needed."""
        return any((self.every, self.read, self.write, self.ingest))

    def right_of(self, word: str) -> Right:
        """What a token lets its bearer do with pages; all are compared in constant time."""
        writes = [is_same(word, one) for one in (self.every, self.write)]
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
        raise UsageError(f"--token-file {path} cannot be read: {error}. Name a text file with the token.") from error
    named = [LINE.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
    if not any(named):
        return AccessTokens(_checked(path, text))
    found: dict[str, str] = {}
    for line in named:
        if line is None or line[1] in found:
            expected = "expected lines read: TOKEN, write: TOKEN and ingest: TOKEN, each at most once"
            raise UsageError(f"--token-file {path}: {expected}. One token alone gives every right.")
        found[line[1]] = _checked(path, line[2])
    if len(set(found.values())) < len(found):
        raise UsageError(f"--token-file {path}: two rights have one token. Give each its own, or write one for all.")
    return AccessTokens(**found)


def _checked(path: Path, token: str) -> str:
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"--token-file {path}: expected a token of at least {LEAST_TOKEN} letters, digits and signs, without "
            f"blanks, got {len(token)} characters. {MAKE}"
        )
    return token


def is_same(given: str, known: str) -> bool:
    """Whether a secret is the known one, in constant time; never where none is known."""
    return bool(known) and hmac.compare_digest(given.encode(), known.encode())


class Sessions:
    """Who is logged in, in this process's memory: a restart ends all sessions.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._open: dict[str, tuple[Right, float, float]] = {}  # right, when it began, when it was seen last

    def begin(self, right: Right) -> str:
        """A new session's secret."""
        now, name = self._clock(), secrets.token_urlsafe()
        with self._lock:
            self._open = {one: held for one, held in self._open.items() if _holds(held, now)}
            self._open[name] = right, now, now
        return name

    def right_of(self, name: str) -> Right:
        """What a session lets do; "" where it has ended. It counts as used."""
        now = self._clock()
        with self._lock:
            held = self._open.get(name)
            if held is None or not _holds(held, now):
                self._open.pop(name, None)
                return ""
            self._open[name] = held[0], held[1], now
            return held[0]

    def end(self, name: str) -> None:
        """Logs out."""
        with self._lock:
            self._open.pop(name, None)


def _holds(held: tuple[Right, float, float], now: float) -> bool:
    return now - held[2] < IDLE and now - held[1] < LONGEST

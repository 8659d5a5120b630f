"""Endpoints, and what all who call one of them share: the calls under way, their order, and the pause after a 429.

Keys: read from the environment, and hidden from everything else.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote, urlsplit
from weakref import WeakKeyDictionary, WeakSet

from ragauge.core.ask import ModelName
from ragauge.core.errors import JudgeError, without_password
from ragauge.core.providers import PROVIDERS

KEYLIKE = re.compile(
    r"\b(?:sk|pk|rk|key|gsk|xai|hf|pplx|r8)[-_][-_A-Za-z0-9]{12,}|\bAIza[-_A-Za-z0-9]{20,}"
    r"|(?i:bearer)\s+[^\s'\",]+|(?i:api[-_ ]?key)=[^\s&'\"]+"
)
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")
NO_KEY = "none"  # what servers without keys are sent: a client sends something in any case
VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_read: set[str] = set()  # variables that a key was read from, whatever they are called


def key_of(*variables: str) -> str:
    """The key that the first of these variables holds, without the blanks and line ends around it; "" where none does.

    Raises:
        JudgeError: it holds what no request can carry, such as a typographic quote or a second line.
    """
    for name in variables:
        key = os.environ.get(name, "").strip()
        _read.add(name)
        if key and not (key.isascii() and key.isprintable()):
            raise JudgeError(
                f"{name} holds a character that no key has, such as a typographic quote, an accent or a line's end. "
                "Set it again."
            )
        if key:
            return key
    return ""


def is_own(name: ModelName) -> bool:
    """Whether a model's place is the provider's own, or the one that the provider's variable names."""
    place, url = PROVIDERS[name.provider], endpoint(name.url)
    named = os.environ.get(place.variable, "").strip() if place.variable else ""
    host = urlsplit(url).hostname or ""
    return url in (endpoint(place.official), endpoint(named)) or (
        url.startswith("https:") and any(host.endswith(end) for end in place.hosts)
    )


def key_for(name: ModelName) -> str | None:
    """The key that goes to a model's place; None where the provider's client finds credentials of its own there.

    The provider's usual key goes to the provider's own hosts alone. Any other place is sent the key that `key_env`
    names, or a word that is none.

    Raises:
        JudgeError: none is set.
    """
    place = PROVIDERS[name.provider]
    if name.key_env:
        key = key_of(name.key_env)
        if not key:
            raise JudgeError(f"{name} takes its key from {name.key_env}, and that is not set. Set {name.key_env}.")
        return key
    if not is_own(name):
        return NO_KEY
    key = key_of(*place.keys)
    if not key and not place.keyless:
        raise JudgeError(
            f"{name} needs a key. Set {place.keys[0]}; or name a server of your own: "
            f"{name.provider}:{name.model}@http://HOST:PORT/v1"
        )
    return key or (NO_KEY if "//" in name.url else None)


def key_variable(name: ModelName) -> str:
    """The variable that holds the key which goes to a model's place; "" where none goes there."""
    keys = (name.key_env,) if name.key_env else PROVIDERS[name.provider].keys if is_own(name) else ()
    return next((key for key in keys if os.environ.get(key, "").strip()), "")


def headers_of(name: ModelName) -> dict[str, str]:
    """What is sent to a model's place with every call, its variables read from the environment.

    Raises:
        JudgeError: one of them is not set.
    """

    def read(match: re.Match[str]) -> str:
        value = key_of(match[1])
        if not value:
            raise JudgeError(f"{name} is sent a header with ${match[1]}, and that is not set. Set {match[1]}.")
        return value

    return {header: VARIABLE.sub(read, value) for header, value in name.headers}


class LeftHostError(Exception):
    """A server sends a call on to another host, where neither the key nor the text belongs."""


async def stays(response: Any) -> None:
    """A response hook of httpx and of httpx2: no redirect leaves the host, but from http to https of the same."""
    if not response.has_redirect_location:
        return
    here, there = response.request.url, response.request.url.join(response.headers["location"])
    if endpoint(str(there)) == endpoint(str(here)):
        return
    if (here.scheme, there.scheme, here.host) == ("http", "https", there.host) and not here.port and not there.port:
        return
    raise LeftHostError(
        f"the server sends calls on to {endpoint(str(there))}, and neither key nor text follows there. "
        f"Name that place where it is meant: @{there.scheme}://{there.netloc.decode()}/…"
    )


def hidden(text: str) -> str:
    """A text without keys and passwords of URLs: what looks like one, and what stands in the environment as one.

    >>> hidden("Incorrect API key provided: sk-proj-abcdefghijklmnop.")
    'Incorrect API key provided: [key].'
    """
    return without_password(KEYLIKE.sub("[key]", without(text, known_keys())))


def known_keys() -> tuple[str, ...]:
    """The keys of the environment, in every form that they are shown in; the longest first."""
    keys = [
        value
        for name, value in os.environ.items()
        if len(value.strip()) >= 8 and (name in _read or SECRET.search(name.upper()))
    ]
    return tuple(sorted({form for key in keys for form in _forms(key)}, key=len, reverse=True))


def without(text: str, keys: Iterable[str]) -> str:
    """A text in which none of these stands."""
    for key in keys:
        if key in text:
            text = text.replace(key, "[key]")
    return text


@lru_cache(maxsize=64)
def _forms(key: str) -> frozenset[str]:
    """A key as it is, in a URL, in JSON, in Python's own words and in base64."""
    bare = key.strip()
    raw = bare.encode("utf-8", "surrogateescape")
    inside = (json.dumps(bare), repr(bare))  # between quotes
    return frozenset(
        {
            key,
            bare,
            quote(raw, safe=""),
            *(one[1:-1] for one in inside),
            repr(raw)[2:-1],
            b64encode(raw).decode("ascii").rstrip("="),
        }
    )


PORTS = {"http": 80, "https": 443}


class EndpointUser(Protocol):
    """One of those who call a place, with its own bound.

    Attributes:
        allowed: calls that it may have under way.
        running: calls that it has under way.
        waiting: its calls that wait, each with the number of its turn.
    """

    allowed: int
    running: int
    waiting: deque[tuple[int, asyncio.Future[None]]]

    def fall(self) -> None:
        """The place said "too many" to somebody."""


class Endpoint:
    """One endpoint, on one event loop.

    A call begins when three things hold: its caller has room, all callers together have no more under way than the one
    of them that may have most, and no pause is on. Calls that wait begin in the order in which they came, whoever they
    belong to; so nobody is starved.

    Attributes:
        running: calls under way, of all callers.
        until: time of the loop until which no call begins.
        fell_at: when it last said "too many"; calls that began earlier tell nothing new.
        strikes: how often it did since the last call that was answered.
    """

    def __init__(self, until: float = 0.0, told: Callable[[float], object] | None = None) -> None:
        """A place.

        Args:
            until: of a pause that is on already.
            told: is told of each further one.
        """
        self._told = told
        self.running = 0
        self.until = until
        self.fell_at = -1.0
        self.strikes = 0
        self._callers: WeakSet[EndpointUser] = WeakSet()
        self._turns = 0
        self._timer: asyncio.TimerHandle | None = None

    def join(self, caller: EndpointUser) -> None:
        """Another one calls this place."""
        self._callers.add(caller)

    def fall(self) -> None:
        """Tells every caller."""
        for caller in self._callers:
            caller.fall()

    def pause(self, until: float) -> None:
        """No call begins before this time."""
        self.until = max(self.until, until)
        if self._told is not None:
            self._told(self.until)

    async def enter(self, caller: EndpointUser) -> None:
        """Returns when a call may begin, which is then counted."""
        if self._open(caller):
            self._begin(caller)
            return
        turn = asyncio.get_running_loop().create_future()
        self._turns += 1
        caller.waiting.append((self._turns, turn))
        self._set_timer()
        try:
            await turn  # whoever wakes it has counted it as running
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(caller)
            raise

    def leave(self, caller: EndpointUser) -> None:
        """A call is over."""
        self.running -= 1
        caller.running -= 1
        self.wake()

    def wake(self) -> None:
        """Begins what waits and may begin."""
        while True:
            for caller in self._callers:
                while caller.waiting and caller.waiting[0][1].done():  # given up meanwhile
                    caller.waiting.popleft()
            ready = [caller for caller in self._callers if caller.waiting and self._open(caller)]
            if not ready:
                break
            caller = min(ready, key=lambda one: one.waiting[0][0])
            _, turn = caller.waiting.popleft()
            self._begin(caller)
            turn.set_result(None)
        self._set_timer()

    def _begin(self, caller: EndpointUser) -> None:
        self.running += 1
        caller.running += 1

    def _open(self, caller: EndpointUser) -> bool:
        if caller.running >= caller.allowed or asyncio.get_running_loop().time() < self.until:
            return False
        busy = (one.allowed for one in self._callers if one is caller or one.running or one.waiting)
        return self.running < max(busy)

    def _set_timer(self) -> None:
        if self._timer is None and any(caller.waiting for caller in self._callers):
            loop = asyncio.get_running_loop()
            left = self.until - loop.time()
            if left > 0:
                self._timer = loop.call_later(left, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self.wake()


class Places:
    """The places that are called, by endpoint: one a loop, since what waits belongs to a loop."""

    def __init__(self) -> None:
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Endpoint]] = WeakKeyDictionary()
        self._until: dict[str, float] = {}  # of loops that are over, too

    def at(self, url: str) -> Endpoint:
        """The place of a URL on the running loop. A pause that it asked for on another loop holds here too."""
        key = endpoint(url)
        mine = self._by_loop.setdefault(asyncio.get_running_loop(), {})
        if key not in mine:
            mine[key] = Endpoint(self._until.get(key, 0.0), told=lambda until: self._until.update({key: until}))
        return mine[key]


def endpoint(url: str) -> str:
    """Scheme, host and port of a URL: what counts calls, whatever the path and whoever asks.

    >>> endpoint("https://user:password@LLM.example/v1/chat?x=1"), endpoint("http://127.0.0.1:8000")
    ('https://llm.example:443', 'http://127.0.0.1:8000')
    """
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:  # a placeholder stands there
        port = None
    return f"{parts.scheme}://{parts.hostname or ''}:{port or PORTS.get(parts.scheme, 0)}"


PLACES = Places()

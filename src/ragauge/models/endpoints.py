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
from ragauge.core.errors import JudgeError, mask_secrets
from ragauge.core.providers import PROVIDERS

KEYLIKE = re.compile(
    r"\b(?:sk|pk|rk|key|gsk|xai|hf|pplx|r8)[-_][-_A-Za-z0-9]{12,}|\bAIza[-_A-Za-z0-9]{20,}"
    r"|(?i:bearer)\s+[^\s'\",]+|(?i:api[-_ ]?key)=[^\s&'\"]+"
)
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")
NO_KEY = "none"  # what servers without keys are sent: a client sends something in any case
VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_READ_VARIABLES: set[str] = set()  # variables that a key was read from, whatever they are called


def read_key(*variables: str) -> str:
    """The key that the first of these variables holds, without the blanks and line ends around it; "" where none does.

    Raises:
        JudgeError: it holds what no request can carry, such as a typographic quote or a second line.
    """
    for name in variables:
        key = os.environ.get(name, "").strip()
        _READ_VARIABLES.add(name)
        if key and not (key.isascii() and key.isprintable()):
            raise JudgeError(
                f"{name} contains a character that is not valid in a key, such as a typographic quote, an accent "
                "or a line ending. Set it again."
            )
        if key:
            return key
    return ""


def is_own_host(name: ModelName) -> bool:
    """Whether a model's place is the provider's own, or the one that the provider's variable names."""
    provider, url = PROVIDERS[name.provider], normalize_endpoint(name.url)
    own_url = os.environ.get(provider.variable, "").strip() if provider.variable else ""
    host = urlsplit(url).hostname or ""
    return url in (normalize_endpoint(provider.official), normalize_endpoint(own_url)) or (
        url.startswith("https:") and any(host.endswith(end) for end in provider.hosts)
    )


def find_key(name: ModelName) -> str | None:
    """The key that goes to a model's place; None where the provider's client finds credentials of its own there.

    The provider's usual key goes to the provider's own hosts alone. Any other place is sent the key that `key_env`
    names, or a word that is none.

    Raises:
        JudgeError: none is set.
    """
    provider = PROVIDERS[name.provider]
    if name.key_env:
        key = read_key(name.key_env)
        if not key:
            raise JudgeError(f"{name} needs a key in {name.key_env}, which is not set. Set {name.key_env}.")
        return key
    if not is_own_host(name):
        return NO_KEY
    key = read_key(*provider.keys)
    if not key and not provider.keyless:
        raise JudgeError(
            f"{name} needs a key. Set {provider.keys[0]}; or use your own server: "
            f"{name.provider}:{name.model}@http://HOST:PORT/v1"
        )
    return key or (NO_KEY if "//" in name.url else None)


def find_key_variable(name: ModelName) -> str:
    """The variable that holds the key which goes to a model's place; "" where none goes there."""
    keys = (name.key_env,) if name.key_env else PROVIDERS[name.provider].keys if is_own_host(name) else ()
    return next((key for key in keys if os.environ.get(key, "").strip()), "")


def build_headers(name: ModelName) -> dict[str, str]:
    """What is sent to a model's place with every call, its variables read from the environment.

    Raises:
        JudgeError: one of them is not set.
    """

    def read_variable(match: re.Match[str]) -> str:
        value = read_key(match[1])
        if not value:
            raise JudgeError(f"{name} has a header with ${match[1]}, which is not set. Set {match[1]}.")
        return value

    return {header: VARIABLE.sub(read_variable, value) for header, value in name.headers}


class LeftHostError(Exception):
    """A server sends a call on to another host, where neither the key nor the text belongs."""


async def check_redirect(response: Any) -> None:
    """A response hook of httpx and of httpx2: no redirect leaves the host, but from http to https of the same."""
    if not response.has_redirect_location:
        return
    source, target = response.request.url, response.request.url.join(response.headers["location"])
    if normalize_endpoint(str(target)) == normalize_endpoint(str(source)):
        return
    if (
        (source.scheme, target.scheme, source.host) == ("http", "https", target.host)
        and not source.port
        and not target.port
    ):
        return
    raise LeftHostError(
        f"the server redirects to {normalize_endpoint(str(target))}. The key and text are not sent "
        f"there. To allow it, use that address: @{target.scheme}://{target.netloc.decode()}/…"
    )


def hide_keys(text: str) -> str:
    """A text without keys and passwords of URLs: what looks like one, and what stands in the environment as one.

    >>> hide_keys("Incorrect API key provided: sk-proj-abcdefghijklmnop.")
    'Incorrect API key provided: [key].'
    """
    return mask_secrets(KEYLIKE.sub("[key]", remove_keys(text, list_known_keys())))


def list_known_keys() -> tuple[str, ...]:
    """The keys of the environment, in every form that they are shown in; the longest first."""
    keys = [
        value
        for name, value in os.environ.items()
        if len(value.strip()) >= 8 and (name in _READ_VARIABLES or SECRET.search(name.upper()))
    ]
    return tuple(sorted({form for key in keys for form in _list_key_forms(key)}, key=len, reverse=True))


def remove_keys(text: str, keys: Iterable[str]) -> str:
    """A text in which none of these stands."""
    for key in keys:
        if key in text:
            text = text.replace(key, "[key]")
    return text


@lru_cache(maxsize=64)
def _list_key_forms(key: str) -> frozenset[str]:
    """A key as it is, in a URL, in JSON, in Python's own words and in base64."""
    bare = key.strip()
    raw = bare.encode("utf-8", "surrogateescape")
    inside = (json.dumps(bare), repr(bare))  # between quotes
    return frozenset(
        {
            key,
            bare,
            quote(raw, safe=""),
            *(text[1:-1] for text in inside),
            repr(raw)[2:-1],
            b64encode(raw).decode("ascii").rstrip("="),
        }
    )


PORTS = {"http": 80, "https": 443}


class EndpointUser(Protocol):
    """One of those who call a place, with its own bound."""

    allowed: int  #: calls that it may have under way.
    running: int  #: calls that it has under way.
    waiting: deque[tuple[int, asyncio.Future[None]]]  #: its calls that wait, each with the number of its turn.

    def halve_calls(self) -> None:
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

    def __init__(self, until: float = 0.0, on_pause: Callable[[float], object] | None = None) -> None:
        """A place.

        Args:
            until: of a pause that is on already.
            on_pause: is told of each further one.
        """
        self._told = on_pause
        self.running = 0
        self.until = until
        self.fell_at = -1.0
        self.strikes = 0
        self._callers: WeakSet[EndpointUser] = WeakSet()
        self._turns = 0
        self._timer: asyncio.TimerHandle | None = None

    def add_caller(self, caller: EndpointUser) -> None:
        """Another one calls this place."""
        self._callers.add(caller)

    def halve_callers(self) -> None:
        """Tells every caller."""
        for caller in self._callers:
            caller.halve_calls()

    def pause(self, until: float) -> None:
        """No call begins before this time."""
        self.until = max(self.until, until)
        if self._told is not None:
            self._told(self.until)

    async def enter(self, caller: EndpointUser) -> None:
        """Returns when a call may begin, which is then counted."""
        if self._has_room(caller):
            self._begin_call(caller)
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
        self.start_waiting()

    def start_waiting(self) -> None:
        """Begins what waits and may begin."""
        while True:
            for caller in self._callers:
                while caller.waiting and caller.waiting[0][1].done():  # given up meanwhile
                    caller.waiting.popleft()
            ready = [caller for caller in self._callers if caller.waiting and self._has_room(caller)]
            if not ready:
                break
            caller = min(ready, key=lambda waiting_caller: waiting_caller.waiting[0][0])
            _, turn = caller.waiting.popleft()
            self._begin_call(caller)
            turn.set_result(None)
        self._set_timer()

    def _begin_call(self, caller: EndpointUser) -> None:
        self.running += 1
        caller.running += 1

    def _has_room(self, caller: EndpointUser) -> bool:
        if caller.running >= caller.allowed or asyncio.get_running_loop().time() < self.until:
            return False
        busy = (other.allowed for other in self._callers if other is caller or other.running or other.waiting)
        return self.running < max(busy)

    def _set_timer(self) -> None:
        if self._timer is None and any(caller.waiting for caller in self._callers):
            loop = asyncio.get_running_loop()
            seconds = self.until - loop.time()
            if seconds > 0:
                self._timer = loop.call_later(seconds, self._handle_timer)

    def _handle_timer(self) -> None:
        self._timer = None
        self.start_waiting()


class EndpointRegistry:
    """The places that are called, by endpoint: one a loop, since what waits belongs to a loop."""

    def __init__(self) -> None:
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Endpoint]] = WeakKeyDictionary()
        self._until: dict[str, float] = {}  # of loops that are over, too

    def at(self, url: str) -> Endpoint:
        """The place of a URL on the running loop. A pause that it asked for on another loop holds here too."""
        key = normalize_endpoint(url)
        by_url = self._by_loop.setdefault(asyncio.get_running_loop(), {})
        if key not in by_url:
            by_url[key] = Endpoint(self._until.get(key, 0.0), on_pause=lambda until: self._until.update({key: until}))
        return by_url[key]


def normalize_endpoint(url: str) -> str:
    """Scheme, host and port of a URL: what counts calls, whatever the path and whoever asks.

    >>> normalize_endpoint("https://user:password@LLM.example/v1/chat?x=1"), normalize_endpoint("http://127.0.0.1:8000")
    ('https://llm.example:443', 'http://127.0.0.1:8000')
    """
    url_parts = urlsplit(url)
    try:
        port = url_parts.port
    except ValueError:  # a placeholder stands there
        port = None
    return f"{url_parts.scheme}://{url_parts.hostname or ''}:{port or PORTS.get(url_parts.scheme, 0)}"


ENDPOINTS = EndpointRegistry()

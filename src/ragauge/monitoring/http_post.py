"""One POST with an end: a receiver that hangs, or answers a byte at a time, holds nobody up for longer than is said."""

from __future__ import annotations

import http.client
import os
import socket
import threading
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ragauge.core.errors import UsageError

TIMEOUT_S = 10.0  # seconds that a receiver has
MAX_ANSWER_BYTES = 64 * 1024  # bytes of an answer that are read


def resolve_secret(value: str) -> str:
    """A value, or that of the environment variable which it names.

    Raises:
        UsageError: the variable is not set.
    """
    if not value.startswith("$"):
        return value
    name = value.strip("${}")
    if name not in os.environ:
        raise UsageError(f"the environment variable {name} is not set.")
    return os.environ[name]


def post_body(url: str, body: bytes, headers: Mapping[str, str], timeout: float = TIMEOUT_S) -> bytes:
    """Sends a body; returns the answer.

    Args:
        url: begins with http:// or https://.
        body: as it is sent.
        headers: of the request.
        timeout: seconds until the answer must be there.

    Raises:
        UsageError: no such address.
        OSError: it did not arrive; urllib's HTTPError where it was refused, TimeoutError where time ran out.
    """
    if not url.startswith(("http://", "https://")):
        raise UsageError("the target address must begin with http:// or https://.")
    connections: list[http.client.HTTPConnection] = []
    over = threading.Event()

    def abort() -> None:
        over.set()
        for connection in connections:
            if connection.sock is not None:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)

    request = urllib.request.Request(url, body, {"User-Agent": "ragauge", **headers})  # noqa: S310 - asked above
    timer = threading.Timer(timeout, abort)
    timer.daemon = True
    timer.start()
    try:
        opener = urllib.request.build_opener(_TrackedHTTPHandler(connections), _TrackedHTTPSHandler(connections))
        with opener.open(request, timeout=timeout) as answer:
            return bytes(answer.read(MAX_ANSWER_BYTES))
    except (OSError, http.client.HTTPException) as error:
        if over.is_set() or isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError):
            raise TimeoutError(f"no response within {timeout:g} s") from None
        if isinstance(error, http.client.HTTPException):
            raise ConnectionError(f"the reply is not valid HTTP: {type(error).__name__}") from None
        raise
    finally:
        timer.cancel()


def _track_connections(kind: Callable[..., Any], connections: list[http.client.HTTPConnection]) -> Any:
    """Makes connections of a kind, and keeps each where it can be shut."""

    def make_connection(*args: Any, **kwargs: Any) -> Any:
        connections.append(kind(*args, **kwargs))
        return connections[-1]

    return make_connection


class _TrackedHTTPHandler(urllib.request.HTTPHandler):
    """Opens http:// and keeps the connection."""

    def __init__(self, connections: list[http.client.HTTPConnection]) -> None:
        super().__init__()
        self._make = _track_connections(http.client.HTTPConnection, connections)

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._make, req)


class _TrackedHTTPSHandler(urllib.request.HTTPSHandler):
    """Opens https:// and keeps the connection."""

    def __init__(self, connections: list[http.client.HTTPConnection]) -> None:
        super().__init__()
        self._make = _track_connections(http.client.HTTPSConnection, connections)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._make, req)

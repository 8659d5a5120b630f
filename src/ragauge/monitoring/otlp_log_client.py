"""HTTP requests with a deadline, and log records by OTLP: one attempt to send them.

A receiver that hangs, or answers a byte at a time, holds up nobody for longer than the deadline.
"""

from __future__ import annotations

import gzip
import http.client
import os
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError

if TYPE_CHECKING:
    from ragauge.core.config.monitor import NotifySection


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


LOGS_PATH = "/v1/logs"
AttributeValues = Mapping[str, str | int | float | Sequence[str]]


class LogRecords:
    """A request of log records of ours.

    Attributes:
        records: of OpenTelemetry's message, to be added to.
    """

    def __init__(self) -> None:
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

        self._request = ExportLogsServiceRequest()
        resource = self._request.resource_logs.add()
        add_attributes(resource.resource.attributes, {"service.name": "ragauge"})
        scope = resource.scope_logs.add()
        scope.scope.name = "ragauge"
        self.records: Any = scope.log_records

    def pack_request(self) -> bytes:
        """The body of the request in gzip: the same bytes for the same records."""
        return gzip.compress(self._request.SerializeToString(), mtime=0)


def add_attributes(attributes: Any, values: AttributeValues) -> None:
    """Adds attributes: texts, whole numbers, numbers and lists of texts."""
    for name, value in values.items():
        attribute = attributes.add()
        attribute.key = name
        if isinstance(value, str):
            attribute.value.string_value = value
        elif isinstance(value, int):
            attribute.value.int_value = value
        elif isinstance(value, float):
            attribute.value.double_value = value
        else:
            for text in value:
                attribute.value.array_value.values.add().string_value = text


def send_records(receiver: NotifySection, body: bytes, request_id: str) -> tuple[str, bool]:
    """Sends a request once.

    Args:
        receiver: by OTLP.
        body: packed.
        request_id: the id of the request, the same at every attempt.

    Returns:
        Why not all of it was taken, without the address, "" = it was; and whether that is the last word.
    """
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

    try:
        url = resolve_secret(str(receiver.otlp)).rstrip("/")
        headers = {name: resolve_secret(value) for name, value in receiver.headers.items()}
        answer = post_body(
            url if url.endswith(LOGS_PATH) else url + LOGS_PATH,
            body,
            {
                **headers,
                "Content-Type": "application/x-protobuf",
                "Content-Encoding": "gzip",
                "Idempotency-Key": request_id,
            },
        )
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}", False
    except (OSError, UsageError) as error:
        return f"{type(error).__name__}: {getattr(error, 'reason', None) or error}"[:200], False
    try:
        partial = ExportLogsServiceResponse.FromString(answer).partial_success
    except ValueError:  # an answer of another form: it was taken
        return "", True
    return (f"{partial.rejected_log_records} rejected" if partial.rejected_log_records else ""), True

"""Log records of ours by OTLP/HTTP: how they are written, and one attempt to send them."""

from __future__ import annotations

import gzip
import urllib.error
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.monitoring.http_post import post_body, resolve_secret

if TYPE_CHECKING:
    from ragauge.core.config.monitor import NotifySection

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

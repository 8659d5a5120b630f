"""Request bodies and their limits, and the durable intake: a batch is on disk before its sender is answered."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.errors import StoreError
from ragauge.engine.reply_writer import GroupCommitWriter
from ragauge.monitoring.series.gauge_monitors import SignalPoint
from ragauge.store.inbox import Batch, ReadDelay
from ragauge.store.store_access import Store

if TYPE_CHECKING:
    from starlette.types import Message, Receive


MEBIBYTE = 1 << 20
MAX_PACKED_BYTES, MAX_UNPACKED_BYTES = 16 * MEBIBYTE, 64 * MEBIBYTE  # most bytes of a body
STEP_BYTES = MEBIBYTE  # bytes unpacked in one step
BODY_TIMEOUT_S = 30.0  # seconds that a body may take to arrive
MAX_DISCARDED_BYTES, DISCARD_TIMEOUT_S = (
    32 * MEBIBYTE,
    5.0,
)  # bytes and seconds in which the rest of what is refused is read
AUTO, RAW = 32 + zlib.MAX_WBITS, -zlib.MAX_WBITS  # gzip or zlib by its head; deflate without any

Form = Literal["protobuf", "json"]
TYPES: dict[Form, str] = {"protobuf": "application/x-protobuf", "json": "application/json"}
TOO_SLOW = 408  # of HTTP: the request did not come in time
# codes of google.rpc.Status
CODES = {400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 408: 4, 413: 11, 415: 3, 421: 7, 429: 8, 503: 14}


class RequestRefusedError(Exception):
    """A request that is not taken.

    Attributes:
        status: of HTTP.
        why: what was found, what was expected, what to do.
        headers: further ones of the answer.
    """

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        super().__init__(reason)
        self.status, self.why = status, reason
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class IncomingBody:
    """The parts of a request's body as they come; called, it gives the next.

    Args:
        receive: gives the parts.
        headers: of the request, by their names in lower case.
    """

    def __init__(self, receive: Receive, headers: Mapping[str, str]) -> None:
        self._receive = receive
        declared = headers.get("content-length", "")
        self._declared = int(declared) if declared.isdecimal() else 0
        self._waits = headers.get("expect", "").lower() == "100-continue"  # it sends nothing before it is asked
        self._size, self._whole = 0, False

    async def __call__(self) -> Message:
        """The next part."""
        message = await self._receive()
        self._waits = False
        self._size += len(message.get("body", b""))
        self._whole = message["type"] != "http.request" or not message.get("more_body")
        return message

    async def discard(self) -> None:
        """Reads what a refused request still sends, within limits: a connection that is closed before loses the answer.

        Of what is declared to be longer than the limit nothing is read.
        """
        if self._waits or self._declared - self._size > MAX_DISCARDED_BYTES:
            return
        max_size = self._size + MAX_DISCARDED_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARD_TIMEOUT_S):
                while not self._whole and self._size < max_size:
                    await self()


def parse_encoding(header: str) -> str:
    """gzip, deflate or "" = not packed.

    Raises:
        Refused: anything else.
    """
    encoding = header.strip().lower()
    if encoding in ("", "identity"):
        return ""
    if encoding in ("gzip", "x-gzip", "deflate"):
        return "deflate" if encoding == "deflate" else "gzip"
    raise RequestRefusedError(415, f"Content-Encoding {encoding[:40]!r} is not supported; send gzip, deflate or none.")


async def read_body(receive: Receive, encoding: str, declared: str, grow: Callable[[int], None]) -> bytes:
    """The unpacked body of a request.

    Args:
        receive: gives the parts.
        encoding: gzip, deflate or "".
        declared: Content-Length, "" where there is none.
        grow: takes room for so many bytes more, or raises Refused where there is none.

    Raises:
        Refused: it is too long, packed or unpacked; it cannot be unpacked; it does not arrive in time; no room.
    """
    if declared.isdecimal() and int(declared) > MAX_PACKED_BYTES:
        raise _build_too_long("packed" if encoding else "long", MAX_PACKED_BYTES)
    unpacking = BodyUnpacker(encoding, grow)
    size = 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise RequestRefusedError(400, "the client disconnected before its request was complete.")
                data = message.get("body", b"")
                size += len(data)
                if size > MAX_PACKED_BYTES:
                    raise _build_too_long("packed" if encoding else "long", MAX_PACKED_BYTES)
                unpacking.add(data)
                if not message.get("more_body"):
                    return unpacking.whole()
    except TimeoutError:
        raise RequestRefusedError(TOO_SLOW, f"the request was not complete after {BODY_TIMEOUT_S:g} seconds.") from None


class BodyUnpacker:
    """Unpacks a body as it comes; what is too long is refused before it is in memory.

    Args:
        encoding: gzip, deflate or "".
        grow: told of so many unpacked bytes before they are kept; it may raise Refused.
    """

    def __init__(self, encoding: str, grow: Callable[[int], None]) -> None:
        self._encoding, self._parts, self._size = encoding, list[bytes](), 0
        self._grow = grow
        self._unpacker = zlib.decompressobj(AUTO) if encoding else None
        self._begun = False

    def add(self, data: bytes) -> None:
        """Takes the next bytes of the request."""
        if self._unpacker is None:
            self._append(data)
            return
        while data:
            try:
                self._append(self._unpacker.decompress(data, STEP_BYTES))
            except zlib.error as error:
                if self._encoding != "deflate" or self._begun:
                    raise RequestRefusedError(
                        400, f"the body cannot be decompressed as {self._encoding}: {error}."
                    ) from None
                self._unpacker, self._begun = zlib.decompressobj(RAW), True  # some call that deflate
                continue
            self._begun = True
            if self._unpacker.eof:
                data = self._unpacker.unused_data  # a further member
                if data:
                    self._unpacker = zlib.decompressobj(AUTO)
            else:
                data = self._unpacker.unconsumed_tail

    def whole(self) -> bytes:
        """Everything.

        Raises:
            Refused: the packed data ends early.
        """
        if self._unpacker is not None and self._begun and not self._unpacker.eof:
            raise RequestRefusedError(400, f"the {self._encoding} data of the body ends early; send it again.")
        return b"".join(self._parts)

    def _append(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MAX_UNPACKED_BYTES:
            raise _build_too_long("unpacked", MAX_UNPACKED_BYTES)
        self._grow(len(data))
        self._parts.append(data)


def _build_too_long(how: str, max_bytes: int) -> RequestRefusedError:
    subject = {"packed": "the compressed body is", "unpacked": "the decompressed body is", "long": "the body is"}[how]
    return RequestRefusedError(413, f"{subject} longer than {max_bytes // MEBIBYTE} MiB. Send smaller batches.")


def parse_form(content_type: str, header: str = "Content-Type") -> Form:
    """How a body is written, by its content type; parameters are ignored.

    Raises:
        Refused: neither protobuf nor JSON.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    for form, form_type in TYPES.items():
        if media_type == form_type:
            return form
    if media_type.startswith("application/grpc"):
        raise RequestRefusedError(
            415,
            "gRPC is not supported. Set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf for the exporter, and leave "
            "the endpoint as it is.",
        )
    raise RequestRefusedError(
        415, f"{header} must be application/x-protobuf or application/json, got {media_type[:60] or 'nothing'}."
    )


def build_status(form: Form, http: int, message: str) -> bytes:
    """A google.rpc.Status in a form: code and message."""
    import json

    code = CODES.get(http, 2)
    if form == "json":
        return json.dumps({"code": code, "message": message}, ensure_ascii=False).encode()
    text = message.encode()
    return bytes((0x08, code, 0x12)) + _encode_varint(len(text)) + text  # 1: code, 2: message


def _encode_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


MAX_UNCHECKED_BYTES = 4 * MEBIBYTE  # a body up to here is read as it is: the worst takes 25 times as much
MAX_PARTS = 1_000_000  # some 30,000 spans with twenty attributes each
FIXED_WIDTHS = {1: 8, 5: 4}  # wire type -> bytes


def check_parts(body: bytes, form: Form, message: Any) -> None:
    """Refuses a body of too many parts.

    Args:
        body: of the request, unpacked.
        form: how it is written.
        message: the type of message that it holds.

    Raises:
        Refused: 413.
    """
    if len(body) <= MAX_UNCHECKED_BYTES:
        return
    n_parts = body.count(b"{") + body.count(b"[") if form == "json" else _count_messages(body, message.DESCRIPTOR)
    if n_parts > MAX_PARTS:
        raise RequestRefusedError(413, f"the body has more than {MAX_PARTS:,} parts. Send smaller batches.")


@cache
def _index_messages(descriptor: Any) -> dict[int, Any]:
    """Number of a field that holds messages -> their type."""
    return {field.number: field.message_type for field in descriptor.fields if field.message_type is not None}


def _count_messages(body: bytes, descriptor: Any) -> int:
    """How many messages a message holds, as far as it can be read; it stops soon after the most that are allowed."""
    n_messages, waiting = 0, [(0, len(body), descriptor)]
    try:
        while waiting and n_messages <= MAX_PARTS:
            offset, end, kind = waiting.pop()
            inside = _index_messages(kind)
            while offset < end:
                tag, offset = _decode_varint(body, offset)
                wire = tag & 7
                if wire == 2:
                    size, offset = _decode_varint(body, offset)
                    message_type = inside.get(tag >> 3)
                    if message_type is not None:
                        n_messages += 1
                        if n_messages > MAX_PARTS:
                            break
                        if size:
                            waiting.append((offset, min(end, offset + size), message_type))
                    offset += size
                elif wire == 0:
                    _, offset = _decode_varint(body, offset)
                elif wire in FIXED_WIDTHS:
                    offset += FIXED_WIDTHS[wire]
                else:
                    break  # no protobuf; who reads it says so
    except IndexError:  # it ends early
        pass
    return n_messages


def _decode_varint(body: bytes, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = body[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, offset
        shift += 7


MAX_WAITING_BYTES = 128 * MEBIBYTE  # bytes of bodies, unpacked, that have come and are read or wait for the disk
SHORT_RETRY_S, LONG_RETRY_S = "1", "10"  # seconds


class Intake:
    """Writes batches, many to a commit.

    Args:
        store: with the inbox.
        patience: how long a trace waits for more.
    """

    def __init__(self, store: Store, patience: ReadDelay | None = None) -> None:
        self._store, self._patience = store, patience or ReadDelay()
        self._writer = GroupCommitWriter[Batch, int](self._write_batches)
        self._bytes = 0

    @contextmanager
    def reserve_room(self) -> Iterator[Callable[[int], None]]:
        """Room for one body: called with a size, it grows by so many bytes; at the end all of it is given back.

        It grows as bytes come, so who declares much and sends nothing takes nothing.

        Raises:
            Refused: 429 where it would grow and too much waits already.
        """
        reserved = 0

        def grow(size: int) -> None:
            nonlocal reserved
            if self._bytes + size > MAX_WAITING_BYTES:
                raise RequestRefusedError(
                    429,
                    "too much data is waiting to be written; send this again in a second.",
                    retry_after=SHORT_RETRY_S,
                )
            self._bytes += size
            reserved += size

        try:
            yield grow
        finally:
            self._bytes -= reserved

    async def save_batch(self, batch: Batch) -> None:
        """Returns when the batch is on disk.

        Raises:
            Refused: 503, where the store cannot take it.
        """
        try:
            await self._writer.write_item(batch)
        except StoreError as error:
            raise RequestRefusedError(
                503, f"{error} Nothing from this request was saved; you can send it again.", retry_after=LONG_RETRY_S
            ) from error

    def save_points(self, points: Sequence[tuple[str, SignalPoint]]) -> None:
        """Returns when values of gauges are on disk.

        Raises:
            Refused: 503, where the store cannot take them.
        """
        try:
            self._store.inbox.add_signals(points)
        except StoreError as error:
            raise RequestRefusedError(
                503, f"{error} Nothing from this request was saved.", retry_after=LONG_RETRY_S
            ) from error

    async def close(self) -> None:
        """Writes what waits."""
        await self._writer.close()

    def _write_batches(self, batches: Sequence[Batch]) -> list[int]:
        return self._store.inbox.add(batches, self._patience)

"""The bodies of requests: read with limits, unpacked as they come, and how a request is refused."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from starlette.types import Message, Receive

MEBIBYTE = 1 << 20
PACKED, UNPACKED = 16 * MEBIBYTE, 64 * MEBIBYTE  # most bytes of a body
AT_ONCE = MEBIBYTE  # bytes unpacked in one step
PATIENCE = 30.0  # seconds that a body may take to arrive
DISCARDED, LINGERING = 32 * MEBIBYTE, 5.0  # bytes and seconds in which the rest of what is refused is read
AUTO, RAW = 32 + zlib.MAX_WBITS, -zlib.MAX_WBITS  # gzip or zlib by its head; deflate without any

Form = Literal["protobuf", "json"]
TYPES: dict[Form, str] = {"protobuf": "application/x-protobuf", "json": "application/json"}
TOO_SLOW = 408  # of HTTP: the request did not come in time
# codes of google.rpc.Status
CODES = {400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 408: 4, 413: 11, 415: 3, 421: 7, 429: 8, 503: 14}


class Refused(Exception):  # noqa: N818 - what happened
    """A request that is not taken.

    Attributes:
        status: of HTTP.
        why: what was found, what was expected, what to do.
        headers: further ones of the answer.
    """

    def __init__(self, status: int, why: str, **headers: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Incoming:
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
        if self._waits or self._declared - self._size > DISCARDED:
            return
        most = self._size + DISCARDED
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGERING):
                while not self._whole and self._size < most:
                    await self()


def encoding_of(header: str) -> str:
    """gzip, deflate or "" = not packed.

    Raises:
        Refused: anything else.
    """
    named = header.strip().lower()
    if named in ("", "identity"):
        return ""
    if named in ("gzip", "x-gzip", "deflate"):
        return "deflate" if named == "deflate" else "gzip"
    raise Refused(415, f"Content-Encoding {named[:40]!r} is not read here; send gzip, deflate or none.")


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
    if declared.isdecimal() and int(declared) > PACKED:
        raise _too_long("packed" if encoding else "long", PACKED)
    unpacking = Unpacking(encoding, grow)
    size = 0
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Refused(400, "the client went away before its request was whole.")
                part = message.get("body", b"")
                size += len(part)
                if size > PACKED:
                    raise _too_long("packed" if encoding else "long", PACKED)
                unpacking.add(part)
                if not message.get("more_body"):
                    return unpacking.whole()
    except TimeoutError:
        raise Refused(TOO_SLOW, f"the request was not whole after {PATIENCE:g} seconds.") from None


class Unpacking:
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

    def add(self, part: bytes) -> None:
        """Takes the next bytes of the request."""
        if self._unpacker is None:
            self._keep(part)
            return
        while part:
            try:
                self._keep(self._unpacker.decompress(part, AT_ONCE))
            except zlib.error as error:
                if self._encoding != "deflate" or self._begun:
                    raise Refused(400, f"the body cannot be unpacked as {self._encoding}: {error}.") from None
                self._unpacker, self._begun = zlib.decompressobj(RAW), True  # some call that deflate
                continue
            self._begun = True
            if self._unpacker.eof:
                part = self._unpacker.unused_data  # a further member
                if part:
                    self._unpacker = zlib.decompressobj(AUTO)
            else:
                part = self._unpacker.unconsumed_tail

    def whole(self) -> bytes:
        """Everything.

        Raises:
            Refused: the packed data ends early.
        """
        if self._unpacker is not None and self._begun and not self._unpacker.eof:
            raise Refused(400, f"the {self._encoding} data of the body ends early; send it again.")
        return b"".join(self._parts)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > UNPACKED:
            raise _too_long("unpacked", UNPACKED)
        self._grow(len(part))
        self._parts.append(part)


def _too_long(how: str, most: int) -> Refused:
    said = {"packed": "the packed body is", "unpacked": "the body, unpacked, is", "long": "the body is"}[how]
    return Refused(413, f"{said} longer than {most // MEBIBYTE} MiB. Send smaller batches.")


def form_of(content_type: str, header: str = "Content-Type") -> Form:
    """How a body is written, by its content type; parameters are ignored.

    Raises:
        Refused: neither protobuf nor JSON.
    """
    named = content_type.partition(";")[0].strip().lower()
    for form, known in TYPES.items():
        if named == known:
            return form
    if named.startswith("application/grpc"):
        raise Refused(
            415,
            "gRPC is not served here. Set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf for the exporter, and leave "
            "the endpoint as it is.",
        )
    raise Refused(415, f"{header} must be application/x-protobuf or application/json, got {named[:60] or 'nothing'}.")


def status_body(form: Form, http: int, why: str) -> bytes:
    """A google.rpc.Status in a form: code and message."""
    import json

    code = CODES.get(http, 2)
    if form == "json":
        return json.dumps({"code": code, "message": why}, ensure_ascii=False).encode()
    text = why.encode()
    return bytes((0x08, code, 0x12)) + _varint(len(text)) + text  # 1: code, 2: message


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))

"""How many parts a long body has, counted before it is read: parts without content take far more memory than bytes."""

from __future__ import annotations

from functools import cache
from typing import Any

from ragauge.monitoring.intake.bodies import MEBIBYTE, Form, RequestRefusedError

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

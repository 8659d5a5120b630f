"""How many parts a long body has, counted before it is read: parts without content take far more memory than bytes."""

from __future__ import annotations

from functools import cache
from typing import Any

from ragauge.monitoring.intake.bodies import MEBIBYTE, Form, Refused

SHORT = 4 * MEBIBYTE  # a body up to here is read as it is: the worst takes 25 times as much
MOST_PARTS = 1_000_000  # some 30,000 spans with twenty attributes each
FIXED = {1: 8, 5: 4}  # wire type -> bytes


def check_parts(body: bytes, form: Form, message: Any) -> None:
    """Refuses a body of too many parts.

    Args:
        body: of the request, unpacked.
        form: how it is written.
        message: the type of message that it holds.

    Raises:
        Refused: 413.
    """
    if len(body) <= SHORT:
        return
    parts = body.count(b"{") + body.count(b"[") if form == "json" else _messages(body, message.DESCRIPTOR)
    if parts > MOST_PARTS:
        raise Refused(413, f"the body has more than {MOST_PARTS:,} parts. Send smaller batches.")


@cache
def _inside(descriptor: Any) -> dict[int, Any]:
    """Number of a field that holds messages -> their type."""
    return {one.number: one.message_type for one in descriptor.fields if one.message_type is not None}


def _messages(body: bytes, descriptor: Any) -> int:
    """How many messages a message holds, as far as it can be read; it stops soon after the most that are allowed."""
    found, waiting = 0, [(0, len(body), descriptor)]
    try:
        while waiting and found <= MOST_PARTS:
            at, end, kind = waiting.pop()
            inside = _inside(kind)
            while at < end:
                tag, at = _varint(body, at)
                wire = tag & 7
                if wire == 2:
                    size, at = _varint(body, at)
                    held = inside.get(tag >> 3)
                    if held is not None:
                        found += 1
                        if found > MOST_PARTS:
                            break
                        if size:
                            waiting.append((at, min(end, at + size), held))
                    at += size
                elif wire == 0:
                    _, at = _varint(body, at)
                elif wire in FIXED:
                    at += FIXED[wire]
                else:
                    break  # no protobuf; who reads it says so
    except IndexError:  # it ends early
        pass
    return found


def _varint(body: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7

"""User text as bytes, and short user text inside a text column, without losing anything.

Two traps: a database text cannot hold a lone surrogate (no UTF-8 for it), and a NUL cuts it short in SQL functions
and is refused by PostgreSQL. So bodies are bytes (UTF-8, surrogates passed, deflated where that pays), and short
identities that must stay readable and searchable (query ids, names) have just those characters escaped.
"""

from __future__ import annotations

import hashlib
import re
import zlib

from ragauge.core.errors import StoreError

PLAIN_MARK, DEFLATED_MARK = b"\x00", b"\x01"
DAMAGED_MESSAGE = (
    "a part of the store is damaged and cannot be read ({}). ragauge doctor names the runs and examples that it "
    "belongs to, and what to do."
)
MIN_DEFLATED_BYTES = 200  # bytes; below, the header eats the gain
ESCAPE = "\x1a"
UNSAFE_CHARACTERS = re.compile("[\x00\x1a\ud800-\udfff]")
ESCAPE_SEQUENCE = re.compile("\x1a([0-9a-f]{4})")


def pack_text(text: str) -> bytes:
    """Text as bytes for a body column: one byte that says how, then UTF-8, deflated where that makes it smaller."""
    return pack_bytes(text.encode("utf-8", "surrogatepass"))


def pack_bytes(raw: bytes) -> bytes:
    """`pack_text` of what is bytes already."""
    if len(raw) >= MIN_DEFLATED_BYTES:
        deflated = _deflate_bytes(raw)
        if len(deflated) < len(raw):
            return DEFLATED_MARK + deflated
    return PLAIN_MARK + raw


def _deflate_bytes(raw: bytes) -> bytes:
    """Level 1: on JSON and prose within a few percent of level 6 at half the time.

    The window is no larger than the text needs. One of full size takes 256 KiB at every call: four times as long, and
    what is kept meanwhile stands where the next one would fit, so that over thousands of texts the heap grows.
    """
    bits = min(len(raw).bit_length() + 1, zlib.MAX_WBITS)
    packer = zlib.compressobj(1, zlib.DEFLATED, bits, min(bits - 6, zlib.DEF_MEM_LEVEL))
    return packer.compress(raw) + packer.flush()


class DamagedBody(StoreError):  # noqa: N818 - what it is
    """A body is not what was packed: the store's file was changed or damaged."""


def unpack_text(body: bytes) -> str:
    """The text that `pack_text` packed.

    Raises:
        DamagedBody: it is no such text any more, by its checksum or its encoding.
    """
    try:
        return unpack_bytes(body).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise DamagedBody(DAMAGED_MESSAGE.format(error.reason)) from error


def unpack_bytes(body: bytes) -> bytes:
    """The bytes that `pack_bytes` packed; DamagedBody where their checksum says that they are others."""
    try:
        return zlib.decompress(body[1:]) if body[:1] == DEFLATED_MARK else body[1:]
    except zlib.error as error:
        raise DamagedBody(DAMAGED_MESSAGE.format(error)) from error


def hash_text(text: str) -> bytes:
    """SHA-256 of a text: what tells whether it is here already."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def escape_text(text: str) -> str:
    r"""Text that every database keeps and compares whole: NUL and lone surrogates written as escapes.

    >>> escape_text("a\x00b") == "a\x1a0000b"
    True
    """
    return (
        UNSAFE_CHARACTERS.sub(lambda matched: f"{ESCAPE}{ord(matched[0]):04x}", text)
        if UNSAFE_CHARACTERS.search(text)
        else text
    )


def escape_for_frame(text: str) -> str:
    """Text for a frame, whose strings are UTF-8: with a lone surrogate in it, escaped; any other as it is."""
    return escape_text(text) if not text.isascii() and UNSAFE_CHARACTERS.search(text) else text


def unescape_text(text: str) -> str:
    """The text that `escape_text` escaped."""
    return ESCAPE_SEQUENCE.sub(lambda matched: chr(int(matched[1], 16)), text) if ESCAPE in text else text

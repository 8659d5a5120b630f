"""Stable identities for queries and texts that come without one."""

from __future__ import annotations

import hashlib
import unicodedata


def folded(text: str) -> str:
    r"""NFKC with every run of whitespace as one space: what makes two texts the same text.

    >>> folded("  a\u00a0b\n c ")
    'a b c'
    """
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).split())


def _short(text: str, length: int) -> str:
    return hashlib.sha256(folded(text).encode("utf-8", "replace")).hexdigest()[:length]


def query_id_of(query: str) -> str:
    """The id of a query that has none: its content, so that sorting the file changes nothing.

    >>> query_id_of("Who  wrote it?") == query_id_of("Who wrote it?")
    True
    """
    return f"q-{_short(query, 10)}"


def text_id(text: str) -> str:
    """The doc_id of a text that has none; equal texts are one document.

    >>> text_id("Paris is the capital.")
    'text:8356d9bd6d5b'
    """
    return f"text:{_short(text, 12)}"

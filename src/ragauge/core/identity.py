"""Values as plain JSON, and hashes of them.

Stable identities for queries and texts that come without one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import unicodedata
from collections.abc import Mapping, Set
from functools import cache
from typing import Any

SCALARS = frozenset({str, int, float, bool, type(None)})
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


@cache
def _parts(cls: Any) -> tuple[tuple[str, Any], ...] | None:
    """(field, default) of a dataclass; None of any other type. Read once: it runs for every value stored."""
    if not dataclasses.is_dataclass(cls):
        return None
    return tuple(
        (part.name, part.default_factory() if part.default_factory is not dataclasses.MISSING else part.default)
        for part in dataclasses.fields(cls)
    )


def plain(value: Any) -> Any:
    """A frozen value as JSON types, numpy's numbers and arrays too; fields that hold their default are left out.

    Leaving defaults out keeps hashes stable when a type gains a field.
    """
    kind: Any = type(value)
    if kind in SCALARS:
        return value
    # scalars are told apart before the call: most of what is stored is one, and a call takes longer than all else here
    if kind is tuple or kind is list:
        return [item if type(item) in SCALARS else plain(item) for item in value]
    if kind is dict:
        return {str(key): item if type(item) in SCALARS else plain(item) for key, item in value.items()}
    parts = _parts(kind)
    if parts is not None:
        out = {}
        for name, default in parts:
            item = getattr(value, name)
            if default is dataclasses.MISSING or item != default:
                out[name] = item if type(item) in SCALARS else plain(item)
        return out
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(plain(item) for item in value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    numbers = getattr(value, "tolist", None)  # numpy's
    return value if numbers is None else numbers()


def canonical(value: Any) -> str:
    """Canonical JSON: keys sorted, no spaces, UTF-8 kept, no NaN.

    >>> canonical({"b": 1, "a": ["é"]})
    '{"a":["é"],"b":1}'
    """
    return _encode(value)


def digest(value: Any) -> str:
    """SHA-256, in hex, of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


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

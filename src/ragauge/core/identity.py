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
def _list_fields(cls: Any) -> tuple[tuple[str, Any], ...] | None:
    """(field, default) of a dataclass; None of any other type. Read once: it runs for every value stored."""
    if not dataclasses.is_dataclass(cls):
        return None
    return tuple(
        (field.name, field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default)
        for field in dataclasses.fields(cls)
    )


def to_json_value(value: Any) -> Any:
    """A frozen value as JSON types, numpy's numbers and arrays too; fields that hold their default are left out.

    Leaving defaults out keeps hashes stable when a type gains a field.
    """
    kind: Any = type(value)
    if kind in SCALARS:
        return value
    # scalars are told apart before the call: most of what is stored is one, and a call takes longer than all else here
    if kind is tuple or kind is list:
        return [item if type(item) in SCALARS else to_json_value(item) for item in value]
    if kind is dict:
        return {str(key): item if type(item) in SCALARS else to_json_value(item) for key, item in value.items()}
    fields = _list_fields(kind)
    if fields is not None:
        out = {}
        for name, default in fields:
            item = getattr(value, name)
            if default is dataclasses.MISSING or item != default:
                out[name] = item if type(item) in SCALARS else to_json_value(item)
        return out
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(to_json_value(item) for item in value)
    if isinstance(value, tuple | list):
        return [to_json_value(item) for item in value]
    numbers = getattr(value, "tolist", None)  # numpy's
    return value if numbers is None else numbers()


def to_canonical_json(value: Any) -> str:
    """Canonical JSON: keys sorted, no spaces, UTF-8 kept, no NaN.

    >>> to_canonical_json({"b": 1, "a": ["é"]})
    '{"a":["é"],"b":1}'
    """
    return _encode(value)


def hash_json(value: Any) -> str:
    """SHA-256, in hex, of a value's canonical JSON."""
    return hashlib.sha256(to_canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def normalize_text(text: str) -> str:
    r"""NFKC with every run of whitespace as one space: what makes two texts the same text.

    >>> normalize_text("  a\u00a0b\n c ")
    'a b c'
    """
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).split())


def _hash_text(text: str, length: int) -> str:
    return hashlib.sha256(normalize_text(text).encode("utf-8", "replace")).hexdigest()[:length]


def derive_query_id(query: str) -> str:
    """The id of a query that has none: its content, so that sorting the file changes nothing.

    >>> derive_query_id("Who  wrote it?") == derive_query_id("Who wrote it?")
    True
    """
    return f"q-{_hash_text(query, 10)}"


def derive_doc_id(text: str) -> str:
    """The doc_id of a text that has none; equal texts are one document.

    >>> derive_doc_id("Paris is the capital.")
    'text:8356d9bd6d5b'
    """
    return f"text:{_hash_text(text, 12)}"

"""Values as plain JSON, and hashes of them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Set
from typing import Any


def plain(value: Any) -> Any:
    """A frozen value as JSON types; fields that hold their default are left out.

    Leaving defaults out keeps hashes stable when a type gains a field.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out = {}
        for part in dataclasses.fields(value):
            item = getattr(value, part.name)
            default = part.default_factory() if part.default_factory is not dataclasses.MISSING else part.default
            if default is dataclasses.MISSING or item != default:
                out[part.name] = plain(item)
        return out
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(plain(item) for item in value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def canonical(value: Any) -> str:
    """Canonical JSON: keys sorted, no spaces, UTF-8 kept, no NaN.

    >>> canonical({"b": 1, "a": ["é"]})
    '{"a":["é"],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256, in hex, of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()

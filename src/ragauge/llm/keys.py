"""Keys: read from the environment, and hidden from everything else."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote

from ragauge.errors import JudgeError

KEYLIKE = re.compile(
    r"\b(?:sk|pk|rk|key|gsk|xai|hf|pplx|r8)[-_][-_A-Za-z0-9]{12,}|\bAIza[-_A-Za-z0-9]{20,}"
    r"|(?i:bearer)\s+[^\s'\",]+|(?i:api[-_ ]?key)=[^\s&'\"]+"
)
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")


def key_of(*variables: str) -> str:
    """The key that the first of these variables holds, without the blanks and line ends around it; "" where none does.

    Raises:
        JudgeError: it holds what no request can carry, such as a typographic quote or a second line.
    """
    for name in variables:
        key = os.environ.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise JudgeError(
                f"{name} holds a character that no key has, such as a typographic quote, an accent or a line's end. "
                "Set it again."
            )
        if key:
            return key
    return ""


def hidden(text: str) -> str:
    """A text without keys: what looks like one, and what stands in the environment as one.

    >>> hidden("Incorrect API key provided: sk-proj-abcdefghijklmnop.")
    'Incorrect API key provided: [key].'
    """
    return KEYLIKE.sub("[key]", without(text, known_keys()))


def known_keys() -> tuple[str, ...]:
    """The keys of the environment, in every form that they are shown in; the longest first."""
    keys = [value for name, value in os.environ.items() if len(value.strip()) >= 8 and SECRET.search(name.upper())]
    return tuple(sorted({form for key in keys for form in _forms(key)}, key=len, reverse=True))


def without(text: str, keys: Iterable[str]) -> str:
    """A text in which none of these stands."""
    for key in keys:
        if key in text:
            text = text.replace(key, "[key]")
    return text


@lru_cache(maxsize=64)
def _forms(key: str) -> frozenset[str]:
    """A key as it is, in a URL, in JSON, in Python's own words and in base64."""
    bare = key.strip()
    raw = bare.encode("utf-8", "surrogateescape")
    inside = (json.dumps(bare), repr(bare))     # between quotes
    return frozenset({
        key, bare, quote(raw, safe=""), *(one[1:-1] for one in inside), repr(raw)[2:-1],
        b64encode(raw).decode("ascii").rstrip("="),
    })  # fmt: skip

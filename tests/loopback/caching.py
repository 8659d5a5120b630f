"""A provider's cache of how prompts begin: what it has read once it serves, to the block, when the reply has ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.loopback.protocols import Asked

BLOCK = 64  # characters


@dataclass(frozen=True, slots=True)
class Looked:
    """A prompt's text as far as a cache may keep it, how much of it is kept already, and how much the schema adds."""

    text: str
    kept: int
    schema: int = 0


@dataclass
class PrefixCache:
    """What was read. OpenAI's Responses and Anthropic put the schema first; Anthropic keeps nothing beyond a mark."""

    _kept: set[str] = field(default_factory=set)

    def look(self, path: str, body: Mapping[str, Any], asked: Asked) -> Looked:
        """How much of a request is kept when it comes in."""
        ahead = json.dumps(asked.schema) if path.endswith(("/responses", "/messages")) else ""
        text = ahead + asked.system + asked.user
        if path.endswith("/messages"):
            marked = _marked(body)
            text = "" if marked is None else ahead + asked.system + marked
        kept = 0
        while kept + BLOCK <= len(text) and text[: kept + BLOCK] in self._kept:
            kept += BLOCK
        return Looked(text, kept, len(ahead))

    def keep(self, looked: Looked) -> None:
        """The reply has ended: what was read is served from now on."""
        self._kept |= {looked.text[:end] for end in range(BLOCK, len(looked.text) + 1, BLOCK)}


def _marked(body: Mapping[str, Any]) -> str | None:
    """The user's text to the last mark; None where there is none."""
    parts = [
        part
        for message in body.get("messages", [])
        if not isinstance(message["content"], str)
        for part in message["content"]
    ]
    ends = [n for n, part in enumerate(parts) if "cache_control" in part]
    return "".join(part.get("text", "") for part in parts[: ends[-1] + 1]) if ends else None

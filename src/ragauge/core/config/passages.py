"""Whose passages count where a trace searches several times, as it is written in ragauge.yaml."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from ragauge.core.values import describe_value

PASSAGES = r"^(union|last|span:.*\S.*)$"


def _check_passages(value: Any) -> str:
    if not isinstance(value, str) or not re.match(PASSAGES, value):
        raise ValueError(f"expected union, last or span:NAME, such as span:search, got {describe_value(value)}.")
    return value


Passages = Annotated[str, BeforeValidator(_check_passages), WithJsonSchema({"type": "string", "pattern": PASSAGES})]

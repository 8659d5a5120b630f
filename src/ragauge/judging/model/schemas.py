"""JSON Schemas of replies, as strict modes take them: every field required, no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

INTEGER: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
YES_NO: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}


def one_of(*words: str) -> Schema:
    """One of some words."""
    return {"type": "string", "enum": list(words)}


def an_object(**fields: Schema) -> Schema:
    """An object with these fields."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def a_list(**fields: Schema) -> Schema:
    """A list of objects with these fields."""
    return {"type": "array", "items": an_object(**fields)}

"""The one encoder of results: a value as JSON types, by the form of its type.

A type without a form has its fields as keys. A form (`json_forms`) is a line of keys:

    name              the field of that name; dots lead on: run.name; None on the way is null
    key=path          under another key; `self` is the value itself
    key=function()    computed by a function of `json_values`
    key=path#         how many there are
    key=path!         null where the text is empty
    key=path[field]   a list as a mapping by a field of its members
    key=path:form     in the form of that name, not that of its type; so are the members of lists and mappings
    key?=path         left out where there is None or nothing in it
    *path             its keys among these
    =path             no key at all: the value alone; [a b] is a list of values
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Set
from datetime import date
from functools import cache
from math import isinf
from operator import attrgetter
from typing import Any, NamedTuple

TOKEN = re.compile(
    r"(?P<spread>\*)?(?:(?P<key>\w*)(?P<optional>\?)?=)?(?P<path>[\w.]+)(?P<bare>\?)?"
    r"(?P<end>\(\)|#|!)?(?:\[(?P<by>[\w.]+)\])?(?::(?P<form>\w+))?"
)


class FormKey(NamedTuple):
    """One entry of a form."""

    key: str
    path: tuple[str, ...]
    spread: bool
    optional: bool
    end: str
    by: str
    form: str


class JsonForm(NamedTuple):
    """A form that was read; `values` where it is a list, or one value without a key."""

    keys: tuple[FormKey, ...]
    values: bool


def encode(value: Any, form: str = "", by: str = "") -> Any:
    """A result as JSON types; infinity is null, since JSON has no such number.

    Args:
        value: a number, a text, a day or moment, a mapping, a sequence, a dataclass or a named tuple.
        form: name of a form in place of that of its type.
        by: the field by which the members of a sequence are keys of a mapping.
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return None if isinf(value) else value
    if isinstance(value, date):  # a moment too
        return value.isoformat()
    if isinstance(value, Mapping):
        return {_format_key(key): encode(item, form, by) for key, item in value.items()}
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        if by:
            return {attrgetter(by)(item): encode(item, form) for item in value}
        return [encode(item, form) for item in value]
    if isinstance(value, Set):
        return sorted(map(encode, value))
    return _encode_with_form(value, form or type(value).__name__)


def format_json(value: Any) -> str:
    """A result as a JSON file: indented, in UTF-8, without NaN."""
    return json.dumps(encode(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


@cache
def find_form(name: str) -> JsonForm | None:
    """The form of a type, or of this name; None where the fields are the keys."""
    from ragauge.rendering.json_forms import FORMS

    text = FORMS.get(name)
    if text is None:
        return None
    return JsonForm(tuple(map(_parse_key, (text[1:-1] if text[0] == "[" else text).split())), text[0] in "[=")


def _parse_key(token: str) -> FormKey:
    match = TOKEN.fullmatch(token)
    if match is None:
        raise ValueError(f"a form has {token!r}, which is no entry of one.")
    path = tuple(match["path"].split("."))
    optional = bool(match["optional"] or match["bare"])
    end, by, form = (match[name] or "" for name in ("end", "by", "form"))
    return FormKey(match["key"] or path[-1], path, bool(match["spread"]), optional, end, by, form)


def _encode_with_form(value: Any, name: str) -> Any:
    form = find_form(name)
    if form is None:
        names = getattr(value, "_fields", None) or [field_name.name for field_name in dataclasses.fields(value)]
        return {field_name: encode(getattr(value, field_name)) for field_name in names}
    pairs = [(key, _get_value(value, key)) for key in form.keys]
    if form.values:
        values = [item for _, item in pairs]
        return values if len(values) > 1 else values[0]
    return dict(pair for key, item in pairs for pair in _list_pairs(key, item))


def _list_pairs(key: FormKey, item: Any) -> Iterator[tuple[str, Any]]:
    if key.spread:
        yield from (item or {}).items()
    elif not (key.optional and item in (None, {}, [])):
        yield key.key, item


def _get_value(value: Any, key: FormKey) -> Any:
    if key.end == "()":
        from ragauge.rendering import json_values

        return encode(getattr(json_values, key.path[0])(value), key.form, key.by)
    for step in key.path:
        value = value if step == "self" or value is None else getattr(value, step)
    if key.end == "#":
        return len(value)
    return None if key.end == "!" and not value else encode(value, key.form, key.by)


def _format_key(key: object) -> str:
    """A key of a mapping; of quantiles p50.

    >>> _format_key("a"), _format_key(0.95)
    ('a', 'p95')
    """
    return f"p{round(100 * key)}" if isinstance(key, float) else str(key)

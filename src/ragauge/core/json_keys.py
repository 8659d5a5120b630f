"""The JSON of results: a type declares its keys beside its fields, `encode` writes them.

Without a declaration the fields are the keys. A field with another key says so (`field(metadata=key("ci"))`);
where the keys have another order, or properties stand among them, `json_keys` above the class lists the attributes:

    @json_keys("mean interval n")

`make docs` writes the JSON Schemas from the same declarations, with the types and comments of the attributes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import date
from functools import cache
from math import isinf
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, TypeVar

from ragauge.core.identity import to_json_value

T = TypeVar("T")


class Key(NamedTuple):
    """One key of the JSON of a type."""

    of: str = ""  #: the attribute that is written; "self" = the whole, "" = the attribute named as the key.
    #: attributes of that one which stand in its place: of one the value, of several their keys; null for None.
    at: str = ""
    by: str = ""  #: the attribute by which the members of a sequence are keys of a mapping.
    view: str = ""  #: in which view of its type it is written.
    spread: bool = False  #: whether its keys stand in its place; none for None.
    null: bool = False  #: whether an empty value is null.
    #: fields that are written in any case, where it is written as it is stored: without defaults; else None.
    stored: tuple[str, ...] | None = None
    name: str = ""  #: in JSON.
    optional: bool = False  #: whether it is left out where it is null or empty.


class JsonView(NamedTuple):
    """What is written of a type."""

    keys: tuple[Key, ...]  #: in their order.
    as_list: bool = False  #: the values alone; a single one stands for itself.


class Versioned:
    """An output of its own, which says the version of its keys."""

    __slots__ = ()
    schema_version: ClassVar[int] = 2  #: of this JSON: it changes when a key changes its meaning or goes.


VIEWS: dict[type, dict[str, JsonView]] = {}  # what types declare, by the name of the view; "" = what is usual


def key(name: str = "", **traits: Any) -> dict[str, Any]:
    """The metadata of a field whose key has another name, or other traits of `Key`."""
    return {"json": Key(name=name, **traits)}


def json_keys(
    names: str, *, view: str = "", optional: str = "", as_list: bool = False, **keys: str | Key
) -> Callable[[type[T]], type[T]]:
    """Declares a view of the class below.

    Args:
        names: attributes, or names of `keys`, in the order in which they are written.
        view: its name; "" = the usual one.
        optional: those of the names that are left out where they are null or empty.
        as_list: the values are written without their keys.
        keys: keys in JSON that differ from the attribute, or that only this view has -> the attribute, or more of it.
    """

    def declare_view(cls: type[T]) -> type[T]:
        resolved = (_resolve_key(cls, name, keys)._replace(optional=name in optional.split()) for name in names.split())
        VIEWS.setdefault(cls, {})[view] = JsonView(tuple(resolved), as_list)
        return cls

    return declare_view


def json_property(cls: type[T], name: str) -> Callable[[Callable[[T], Any]], Callable[[T], Any]]:
    """Declares a function as the property of a type below: what is worded where the type is not known how to be."""

    def declare_property(function: Callable[[T], Any]) -> Callable[[T], Any]:
        setattr(cls, name, property(function))
        return function

    return declare_property


@cache
def find_view(cls: type, view: str = "") -> JsonView:
    """What is written of a type in a view, which it declares, or which lists attributes."""
    if view in VIEWS.get(cls, {}):
        return VIEWS[cls][view]
    fields = getattr(cls, "_fields", None) or [field.name for field in dataclasses.fields(cls)]
    return JsonView(tuple(_resolve_key(cls, name, {}) for name in view.split() or fields))


def _resolve_key(cls: type, name: str, keys: Mapping[str, str | Key]) -> Key:
    if name in keys:
        key = keys[name]
        key = Key(key) if isinstance(key, str) else key
        return key._replace(name=name, of=key.of or name)
    fields = getattr(cls, "__dataclass_fields__", {})
    key = fields[name].metadata.get("json", Key()) if name in fields else Key()
    return key._replace(name=key.name or name, of=name)


def encode(value: Any, view: str = "", by: str = "") -> Any:
    """A result as JSON types; infinity is null, since JSON has no such number.

    Args:
        value: a number, a text, a day or moment, a mapping, a sequence, a dataclass or a named tuple.
        view: a view of its type, or attributes of it; "" = the usual one.
        by: the field by which the members of a sequence are keys of a mapping.
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return None if isinf(value) else value
    if isinstance(value, date):  # a moment too
        return value.isoformat()
    if isinstance(value, Mapping):
        return {_format_key(key): encode(item, view, by) for key, item in value.items()}
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        if by:
            return {attrgetter(by)(item): encode(item, view) for item in value}
        return [encode(item, view) for item in value]
    if isinstance(value, Set):
        return sorted(map(encode, value))
    cls: Any = type(value)
    keys, as_list = find_view(cls, view)
    pairs = [pair for key in keys for pair in _list_pairs(value, key)]
    if as_list:
        return [item for _, item in pairs] if len(pairs) > 1 else pairs[0][1]
    return dict(pairs)


def format_json(value: Any) -> str:
    """A result as a JSON file: indented, in UTF-8, without NaN."""
    return json.dumps(encode(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _list_pairs(value: Any, key: Key) -> Iterator[tuple[str, Any]]:
    part = value if key.of == "self" else getattr(value, key.of)
    several = " " in key.at
    if key.spread or several:
        yield from (dict.fromkeys(key.at.split()) if part is None else encode(part, key.at or key.view)).items()
        return
    if key.at and part is not None:
        part = getattr(part, key.at)
    if part is None or (key.null and not part):
        item = None
    elif key.stored is not None:
        item = {name: getattr(part, name) for name in key.stored} | to_json_value(part)
    else:
        item = encode(part, key.view, key.by)
    if not (key.optional and item in (None, {}, [])):
        yield key.name, item


def _format_key(key: object) -> str:
    """A key of a mapping; of quantiles p50.

    >>> _format_key("a"), _format_key(0.95)
    ('a', 'p95')
    """
    return f"p{round(100 * key)}" if isinstance(key, float) else str(key)

"""Printed names of metrics: name[:param=value]…[@k], read back into an equal object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ragauge.core.errors import UnknownName, UsageError, nearest
from ragauge.metrics.base import Metric, shown

FORM = re.compile(r"^(?P<name>[a-z0-9_]+)(?P<params>(?::[a-z_]+=[\w./+-]+)*)(?:@(?P<k>[^@:]+))?$")

CUTOFF_FIRST = re.compile(r"^([a-z0-9_]+)(@[^@:]+)((?::[a-z_]+=[\w./+-]+)+)$")  # precision@5:unit=chunk is read too


Aliases = Mapping[str, tuple[str, Mapping[str, Any]]]


def head_of(name: str) -> str:
    """The name without parameters and cutoff, whether it is well formed or not.

    >>> head_of("ndcg:gain=exp@10")
    'ndcg'
    """
    return re.split("[:@]", name.strip(), maxsplit=1)[0]


def read(name: str, classes: Mapping[str, type[Metric]], aliases: Aliases) -> Metric:
    """The metric that a printed name or alias stands for.

    Args:
        name: such as recall@5 or context_precision:by=reference:ranked=true.
        classes: name -> class.
        aliases: other name -> (name, parameters).

    Raises:
        UnknownName: no such metric or parameter.
        UsageError: a value that the parameter does not take, or a malformed name.
    """
    match = FORM.match(CUTOFF_FIRST.sub(r"\1\3\2", name.strip()))
    if not match and FORM.match(_spelled(name)):
        raise unknown(name.strip(), classes, aliases)
    if not match:
        raise UsageError(f"{name!r} is not a metric's name. Write name:param=value@k, such as ndcg:gain=exp@10.")
    head, params = match["name"], dict(part.split("=", 1) for part in match["params"].split(":")[1:])
    given: dict[str, Any] = {}
    if head in aliases and not (params and head in classes):
        head, given = aliases[head][0], dict(aliases[head][1])
    if head not in classes:
        raise unknown(name.strip(), classes, aliases)
    cls = classes[head]
    if match["k"] is not None:
        params["k"] = match["k"]
    hints = get_type_hints(cls)
    known = {part.name: part for part in fields(cls)}
    for key, text in params.items():
        if key not in known:
            if key == "k":
                raise UsageError(f"{head} takes no cutoff, got @{text}. Write {head}.")
            raise UnknownName(f"parameter of {head}", key, [other for other in known if other != "k"])
        given[key] = _value(head, key, text, hints[key])
    absent = [part.name for part in known.values() if part.default is MISSING and part.name not in given]
    if absent:
        raise UsageError(f"{head} needs {absent[0]}. Write {_usage(head, absent[0], hints[absent[0]])}.")
    return cls(**given)


def unknown(
    name: str, classes: Mapping[str, type[Metric]], aliases: Aliases, others: Iterable[str] = ()
) -> UnknownName:
    """The error of a name that nothing has; the nearest keep its parameters and cutoff where they take them.

    Args:
        name: as it was given.
        classes: name -> class.
        aliases: other name -> (name, parameters).
        others: names that would do too, such as presets.
    """
    head, tail = head_of(spelled := _spelled(name)), spelled[len(head_of(spelled)) :]
    given = {part.partition("=")[0] for part in re.findall(r":([^:@]+)", tail)} | ({"k"} if "@" in tail else set())
    known = {**classes, **{alias: classes[ours] for alias, (ours, _) in aliases.items() if ours in classes}}
    whole = {name: name + tail for name, cls in known.items() if given <= {part.name for part in fields(cls)}}
    names = [*known, *others]
    meant = [whole.get(name, name) for name in nearest(head, names)]
    kind = "metric or preset" if others else "metric"
    return UnknownName(kind, name, names, "ragauge metrics lists them.", meant=meant)


def _spelled(name: str) -> str:
    """A name as names are spelled: "Recall@5" -> recall@5, "context recall" -> context_recall."""
    return CUTOFF_FIRST.sub(r"\1\3\2", re.sub(r"[ -]", "_", name.strip().lower()))


def _usage(head: str, key: str, hint: Any) -> str:
    if key == "k":
        return f"{head}@5"
    options = get_args(hint) if get_origin(hint) is Literal else ("VALUE",)
    return " or ".join(f"{head}:{key}={shown(option)}" for option in options)


def _value(head: str, key: str, text: str, hint: Any) -> Any:
    options = [option for option in get_args(hint) if option is not type(None)]
    if get_origin(hint) is Literal:
        if text not in options:
            raise UnknownName(f"value of {head}:{key}", text, [str(option) for option in options])
        return text
    kind = options[0] if options else hint
    if kind is bool:
        if text not in ("true", "false"):
            raise UsageError(f"{head}: {key} must be true or false, got {text}.")
        return text == "true"
    if kind is int:
        if not re.fullmatch(r"[0-9]+", text) or int(text) < 1:
            hint_text = f"{head}@5" if key == "k" else f"{head}:{key}=1"
            raise UsageError(f"{head}: {key} must be an integer of at least 1, got {text}. Write {hint_text}.")
        return int(text)
    if kind is float:
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{head}: {key} must be a number, got {text}.") from None
    return text

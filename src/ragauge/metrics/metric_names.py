"""Printed names of metrics: name[:param=value]…[@k], read back into an equal object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ragauge.core.errors import UnknownName, UsageError, find_nearest
from ragauge.metrics.base import Metric, format_parameter

FORM = re.compile(r"^(?P<name>[a-z0-9_]+)(?P<params>(?::[a-z_]+=[\w./+-]+)*)(?:@(?P<k>[^@:]+))?$")

CUTOFF_FIRST = re.compile(r"^([a-z0-9_]+)(@[^@:]+)((?::[a-z_]+=[\w./+-]+)+)$")  # precision@5:unit=chunk is read too


Aliases = Mapping[str, tuple[str, Mapping[str, Any]]]


def get_head(name: str) -> str:
    """The name without parameters and cutoff, whether it is well formed or not.

    >>> get_head("ndcg:gain=exp@10")
    'ndcg'
    """
    return re.split("[:@]", name.strip(), maxsplit=1)[0]


def parse_name(name: str, classes: Mapping[str, type[Metric]], aliases: Aliases) -> Metric:
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
    if not match and FORM.match(_normalize_spelling(name)):
        raise build_unknown_error(name.strip(), classes, aliases)
    if not match:
        raise UsageError(f"{name!r} is not a valid metric name. Write name:param=value@k, such as ndcg:gain=exp@10.")
    head, params = match["name"], dict(parameter.split("=", 1) for parameter in match["params"].split(":")[1:])
    values: dict[str, Any] = {}
    if head in aliases and not (params and head in classes):
        head, values = aliases[head][0], dict(aliases[head][1])
    if head not in classes:
        raise build_unknown_error(name.strip(), classes, aliases)
    cls = classes[head]
    if match["k"] is not None:
        params["k"] = match["k"]
    hints = get_type_hints(cls)
    fields_by_name = {parameter.name: parameter for parameter in fields(cls)}
    for key, text in params.items():
        if key not in fields_by_name:
            if key == "k":
                raise UsageError(f"{head} takes no cutoff, got @{text}. Write {head}.")
            raise UnknownName(f"parameter of {head}", key, [other for other in fields_by_name if other != "k"])
        values[key] = _parse_value(head, key, text, hints[key])
    absent = [
        parameter.name
        for parameter in fields_by_name.values()
        if parameter.default is MISSING and parameter.name not in values
    ]
    if absent:
        raise UsageError(f"{head} needs {absent[0]}. Write {_format_usage(head, absent[0], hints[absent[0]])}.")
    return cls(**values)


def build_unknown_error(
    name: str, classes: Mapping[str, type[Metric]], aliases: Aliases, others: Iterable[str] = ()
) -> UnknownName:
    """The error of a name that nothing has; the nearest keep its parameters and cutoff where they take them.

    Args:
        name: as it was given.
        classes: name -> class.
        aliases: other name -> (name, parameters).
        others: names that would do too, such as presets.
    """
    head, tail = get_head(spelled := _normalize_spelling(name)), spelled[len(get_head(spelled)) :]
    param_names = {parameter.partition("=")[0] for parameter in re.findall(r":([^:@]+)", tail)} | (
        {"k"} if "@" in tail else set()
    )
    classes_by_name = {**classes, **{alias: classes[ours] for alias, (ours, _) in aliases.items() if ours in classes}}
    full_names = {
        name: name + tail
        for name, cls in classes_by_name.items()
        if param_names <= {parameter.name for parameter in fields(cls)}
    }
    names = [*classes_by_name, *others]
    meant = [full_names.get(name, name) for name in find_nearest(head, names)]
    kind = "metric or preset" if others else "metric"
    return UnknownName(kind, name, names, "Run ragauge metrics for a list.", meant=meant)


def _normalize_spelling(name: str) -> str:
    """A name as names are spelled: "Recall@5" -> recall@5, "context recall" -> context_recall."""
    return CUTOFF_FIRST.sub(r"\1\3\2", re.sub(r"[ -]", "_", name.strip().lower()))


def _format_usage(head: str, key: str, hint: Any) -> str:
    if key == "k":
        return f"{head}@5"
    options = get_args(hint) if get_origin(hint) is Literal else ("VALUE",)
    return " or ".join(f"{head}:{key}={format_parameter(option)}" for option in options)


def _parse_value(head: str, key: str, text: str, hint: Any) -> Any:
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

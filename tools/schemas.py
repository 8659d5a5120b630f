"""Writes the JSON Schemas: of ragauge.yaml from its models, of every JSON output from the types of results.

The keys of an output are those that its type declares (`ragauge.core.json_keys`); types and descriptions are those of
its fields and properties. NARROWER holds what a type cannot say.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from inspect import getdoc, getsource
from pathlib import Path
from textwrap import fill
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import ragauge
from ragauge.core.config.file import build_json_schema
from ragauge.core.json_keys import Key, find_view
from ragauge.gating.kinds.rule import KINDS

FOLDER = Path(__file__).resolve().parents[1] / "src/ragauge/core/schema"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
OUTPUTS = {
    "scorecard": ("ScorecardData", "ragauge: the scorecard, as evaluate --json and report --json print it"),
    "comparison": ("BaselineComparison", "ragauge: a comparison, as compare --json prints it"),
    "gate": ("Gated", "ragauge: the verdict of a gate, as gate --json prints it"),
    "explained_run": ("RunExplained", "ragauge: a run explained, as explain RUN --json prints it"),
    "explained_example": ("ExampleExplained", "ragauge: an example explained, as explain RUN ID --json prints it"),
}
SHARE = {"minimum": 0, "maximum": 1}
LEVEL = {"exclusiveMinimum": 0, "exclusiveMaximum": 1}
P = {"exclusiveMinimum": 0, "maximum": 1}
CHANGES = {"enum": ["better", "worse", "changed", "no change seen", "not enough data"]}
NARROWER: Mapping[str, Mapping[str, Any]] = {
    "ScorecardData.level": LEVEL,
    "BaselineComparison.level": LEVEL,
    "RunExplained.level": LEVEL,
    "Interval.level": LEVEL,
    "JudgeNote.uncertain": SHARE,
    "JudgeUse.failure_rate": SHARE,
    "CauseTally.share": SHARE,
    "LabelledError.people_mean": SHARE,
    "LabelledError.judge_mean": SHARE,
    "Alignment.correlation": {"minimum": -1, "maximum": 1},
    "LengthBand.unit": {"enum": ["tokens", "characters"]},
    "MetricChange.p_value": P,
    "MetricChange.holm": P,
    "MetricChange.discovery": P,
    "CallTotals.known_cost": {"minimum": 0},
    "MetricChange.verdict": CHANGES,
    "MetricChange.alone": CHANGES,
    "RunComparison.verdict": {"enum": [*CHANGES["enum"], "mixed"]},
    "BaselineComparison.correction": {"enum": ["holm", "bh", "none"]},
    "Finding.confidence": {"enum": ["high", "medium", "low"]},
    "Finding.against": {"enum": ["", "baseline", "oracle passages", "starting points"]},
    "Reading.against": {"enum": ["baseline", "oracle passages", "starting points"]},
    "Reading.level": {"enum": ["low", "high"]},
    "Reading.of": {"enum": ["own", "oracle"]},
    "MetricGaps.direction": {"enum": ["higher", "lower"]},
    "Gated.exit_code": {"enum": [0, 3, 4]},
    "CountedItem.counts": {"type": ["boolean", "number", "null"]},
    "Check.kind": {"enum": list(KINDS)},
    "Check.statistic": {"enum": ["mean", "p50", "p95", "p99"]},
    # null = infinite: the ends of a quantile's interval, and what failed scores of no bound allow
    "Interval.low": {"type": ["number", "null"]},
    "Interval.high": {"type": ["number", "null"]},
    "Check.reach": {"items": {"type": ["number", "null"]}},
    "Fact.about": {"enum": ["record", "answer", "passages", "reference", "labels"]},
    "RowWorked.verdict": {"enum": ["yes", "second", "also", "no", "unknown"]},
    "Flipped.base": {"enum": [0, 1]},
    "Flipped.new": {"enum": [0, 1]},
}
SIMPLE: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


FRONTS = (".verb", ".command", ".page")  # no type of an output stands there


def names() -> dict[str, Any]:
    """Every class of the packages that results come from, by its name: no name stands for two."""
    found: dict[str, Any] = {"Mapping": Mapping, "Sequence": Sequence, "Any": Any, "Literal": Literal}
    for package in (
        "core",
        "stats",
        "scores",
        "diagnosis",
        "comparison",
        "evaluation",
        "gating",
        "labels",
        "testsets",
        "rendering",
    ):
        folder = f"ragauge.{package}"
        for one in pkgutil.walk_packages([str(Path(ragauge.__path__[0]) / package)], f"{folder}."):
            if one.name.endswith(FRONTS):
                continue
            members = vars(importlib.import_module(one.name)).items()
            found |= {
                name: value
                for name, value in members
                if isinstance(value, type) and value.__module__.startswith("ragauge")
            }
    return found


class OutputSchema:
    """The schema of one output, and the definitions that it refers to."""

    def __init__(self, classes: Mapping[str, Any]) -> None:
        self.classes, self.definitions = classes, dict[str, Any]()

    def whole(self, name: str, title: str) -> dict[str, Any]:
        """The schema of the type of this name."""
        self.of(self.classes[name])
        top = self.definitions.pop(name)
        return {"$schema": DRAFT, "title": title, **top, "$defs": dict(sorted(self.definitions.items()))}

    def of(self, kind: Any, view: str = "", by: str = "") -> dict[str, Any]:
        """What a value of a type looks like in a view."""
        if kind in SIMPLE:
            return dict(SIMPLE[kind])
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Literal:
            return {"enum": list(parts)}
        if origin in (Union, types.UnionType):
            return _either([self.of(part, view, by) for part in parts])
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of((*parts, int)[1], view, by)}
        if origin is tuple and parts[-1] is not Ellipsis:
            return _list([self.of(part, view) for part in parts])
        if isinstance(origin, type) and issubclass(origin, Sequence):
            items = self.of(parts[0], view)
            return {"type": "object", "additionalProperties": items} if by else {"type": "array", "items": items}
        return self._named(kind, view)

    def _named(self, kind: Any, view: str) -> dict[str, Any]:
        keys, as_list = find_view(kind, view)
        if as_list:
            values = [self._typed(kind, key) for key in keys]
            return _list(values) if len(values) > 1 else values[0]
        name = view or kind.__name__
        if name not in self.definitions:
            self.definitions[name] = {}  # it may hold itself
            self.definitions[name] = self._object(kind, keys)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, kind: Any, keys: Sequence[Key]) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        required: list[str] = []
        rest: Any = False
        for key in self.split_keys(kind, keys):
            found = self._typed(kind, key)
            if not key.spread:
                properties[key.name] = found
                required += [] if key.optional else [key.name]
                continue
            maybe = "anyOf" in found
            inner = self.definitions[next(_references(found))] if "$ref" in json.dumps(found) else found
            properties |= inner.get("properties", {})
            required += [] if maybe else inner.get("required", [])
            rest = rest or inner["additionalProperties"]
        about = (getdoc(kind) or "").split("\n")[0]
        return {
            "description": about,
            "type": "object",
            "required": required,
            "additionalProperties": rest,
            "properties": properties,
        }

    def split_keys(self, kind: Any, keys: Sequence[Key]) -> Iterator[Key]:
        """The keys, one for each where a key stands for several attributes, or for a view of what is always there."""
        for key in keys:
            several = (key.spread and key.view) or " " in key.at
            attribute = self._attribute(kind, key.of)[0] if several else None
            if attribute is None or (key.spread and type(None) in get_args(attribute)):
                yield key
                continue
            for part in find_view(_without_none(attribute), key.at or key.view).keys:
                yield part._replace(of=key.of, at=f"{part.of}.{part.at}".rstrip("."))

    def _typed(self, kind: Any, key: Key) -> dict[str, Any]:
        """One key of a view: its type, what a type cannot say, and what is said beside it."""
        owner, about, maybe = kind, "", False
        steps = [part for part in (key.of, *key.at.split(".")) if part not in ("self", "")]
        for part in steps:
            owner, maybe = _without_none(kind), maybe or type(None) in get_args(kind)
            kind, about = self._attribute(owner, part)
        if key.stored is not None:
            kind = dict[str, Any] | None if type(None) in get_args(kind) else dict[str, Any]
        found = self.of(kind, key.view, key.by)
        found |= NARROWER.get(f"{owner.__name__}.{steps[-1]}" if steps else "", {})
        if "enum" in found:
            found.pop("type", None)
        if key.optional and isinstance(found.get("type"), list):  # it is left out, never null
            (found["type"],) = [one for one in found["type"] if one != "null"]
        if (maybe or key.null) and not key.optional:
            found = _either([found, {"type": "null"}])
        return {"description": about, **found} if about else found

    def _attribute(self, owner: Any, name: str) -> tuple[Any, str]:
        """The type of a field or property, and what is said of it."""
        member = getattr(owner, name, None)
        if isinstance(member, property):
            return self._hints(member.fget)["return"], (getdoc(member) or "").split("\n")[0]
        kind, text = self._hints(owner)[name], field_comment(owner, name)
        return get_args(kind)[0] if get_origin(kind) is ClassVar else kind, opened(text) if text else ""

    def _hints(self, of: Any) -> dict[str, Any]:
        return get_type_hints(of, localns=dict(self.classes))


source_of = cache(getsource)


def field_comment(owner: Any, name: str) -> str:
    """What `#:` says beside a field, or above it; of a base where the class has no such field."""
    for cls in owner.__mro__[:-1]:
        found = re.search(rf"((?:^ +#: .*\n)*)^ +{name}: .*?(?:#: (.*))?$", source_of(cls), re.M)
        if found:
            return found[2] or " ".join(found[1].replace("#:", "").split())
    return ""


def opened(text: str) -> str:
    """A sentence with its first letter large and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _without_none(kind: Any) -> Any:
    return (
        next((part for part in get_args(kind) if part is not type(None)), kind)
        if type(None) in get_args(kind)
        else kind
    )


def _list(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    plain = [{key: value for key, value in item.items() if key != "description"} for item in items]
    same = {"items": plain[0]} if all(one == plain[0] for one in plain) else {"prefixItems": plain}
    return {"type": "array", **same, "minItems": len(plain), "maxItems": len(plain)}


def _either(options: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One of several; a simple type that may be null is a list of both types."""
    if options[-1] != {"type": "null"} or len(options) > 2:
        return {"anyOf": list(options)}
    (one, null) = options
    if isinstance(one.get("type"), str) and one["type"] not in ("object",) and "enum" not in one:
        return {**one, "type": [one["type"], "null"]}
    return one if "null" in one.get("type", ()) or {"type": "null"} in one.get("anyOf", ()) else {"anyOf": [one, null]}


def _references(found: Any) -> Iterator[str]:
    yield from re.findall(r'"#/\$defs/(\w+)"', json.dumps(found))


def text_of(value: Any, depth: int = 0) -> str:
    """JSON in which what fits on a line stands on one."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + 2 * depth < 118 or not value or not isinstance(value, dict | list):
        return flat
    inner = "  " * (depth + 1)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "[\n" + fill(flat[1:-1], 118, initial_indent=inner, subsequent_indent=inner) + "\n" + "  " * depth + "]"
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + text_of(one, depth + 1) for one in value) + "\n" + "  " * depth + "]"
    pairs = (f"{inner}{json.dumps(key)}: {text_of(one, depth + 1)}" for key, one in value.items())
    return "{\n" + ",\n".join(pairs) + "\n" + "  " * depth + "}"


def schemas() -> dict[str, str]:
    """Name of a file -> its text."""
    found = {"ragauge": json.dumps(build_json_schema(), indent=2, ensure_ascii=False)}
    classes = names()
    for name, (kind, title) in OUTPUTS.items():
        found[name] = text_of(OutputSchema(classes).whole(kind, title))
    return {f"{name}.schema.json": f"{text}\n" for name, text in found.items()}


if __name__ == "__main__":
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote {FOLDER / name}")

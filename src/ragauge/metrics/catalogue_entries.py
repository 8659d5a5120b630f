"""The metrics as a list for people: one entry a class, and samples of every class for tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from itertools import product
from math import isfinite
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ragauge.core.errors import UsageError
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import list_classes, list_questions, parse_metric


def get_definition(metric: Metric) -> tuple[str, str, str]:
    """(sentence, formula, source) of a metric with its parameters, from its docstring.

    >>> get_definition(parse_metric("faithfulness"))[1]
    'faithfulness = #{i : S[i] is not empty} / c; Σ p[i] / c where the judge has probabilities'
    """
    from ragauge.metrics.docstring import describe_from_docstring

    return describe_from_docstring(metric)


def list_entries() -> list[dict[str, Any]]:
    """One entry a class, in order, as JSON types: what `ragauge metrics` lists.

    name, example (a printed name that parses), parameters, aliases (other name -> printed name), measures, asks (the
    questions), needs, range (None: no bound), direction, kind, version, sentence, formula, source.
    """
    return [_build_entry(cls, _build_instances(cls)[0]) for cls in list_classes().values()]


def list_samples() -> list[Metric]:
    """At least one metric of every class and of every option of its parameters, for tests over all of them."""
    return [metric for cls in list_classes().values() for metric in _build_instances(cls)]


def _build_entry(cls: type[Metric], example: Metric) -> dict[str, Any]:
    sentence, formula, source = get_definition(example)
    hints = get_type_hints(cls)
    return {
        "name": cls.name(),
        "example": str(example),
        "parameters": [_build_parameter(parameter, hints[parameter.name]) for parameter in fields(cls)],
        "aliases": {alias: str(parse_metric(alias)) for alias in cls.aliases},
        "measures": example.measures,
        "asks": list(list_questions([example])),
        "needs": dict(example.needs),
        "range": [bound if isfinite(bound) else None for bound in example.range],
        "direction": example.direction,
        "kind": example.scale,
        "version": example.version,
        "sentence": sentence,
        "formula": formula,
        "source": source,
    }


def _build_parameter(parameter: Field[Any], hint: Any) -> dict[str, Any]:
    """A parameter as JSON types: its values where they are few, else their kind."""
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    few = list(kinds) if get_origin(hint) is Literal else [False, True] if kinds == [bool] else None
    return {
        "name": parameter.name,
        "values": few,
        "kind": "choice" if few else kinds[0].__name__,
        "required": parameter.default is MISSING,
        "default": None if parameter.default is MISSING else parameter.default,
    }


def _build_instances(cls: type[Metric]) -> list[Metric]:
    """Every combination of options that the class takes, the defaults first; other parameters at one value each."""
    hints = get_type_hints(cls)
    made: dict[Metric, None] = {}
    for choice in product(*(list(_list_values(parameter, hints[parameter.name])) for parameter in fields(cls))):
        try:
            made[cls(*choice)] = None
        except UsageError:
            continue  # options that do not go together
    if not made:
        raise UsageError(
            f"{cls.name()}: cannot create an instance with its "
            'options. Give a parameter a sample value: field(metadata={"sample": ...}).'
        )
    return list(made)


def _list_values(parameter: Field[Any], hint: Any) -> Iterator[Any]:
    """Values of one parameter to try: its default, every option, and an instance of an open kind where there is none.

    A class names one of its own where these would not do: field(metadata={"sample": ...}).
    """
    if parameter.default is not MISSING:
        yield parameter.default
    if "sample" in parameter.metadata:
        yield parameter.metadata["sample"]
        return
    described_as = _build_parameter(parameter, hint)
    if described_as["values"]:
        yield from (value for value in described_as["values"] if value != parameter.default)
    elif parameter.default is MISSING or parameter.default is None:
        yield {"int": 5, "float": 0.5, "str": "sample"}[described_as["kind"]]

"""The classes of metrics of the user's own, what they say of themselves, and what their code's results mean."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache, partial
from math import inf, isfinite
from numbers import Real
from typing import Any, ClassVar

from ragauge.core.errors import UsageError
from ragauge.metrics import base
from ragauge.metrics.base import Direction, Measures, Metric, MetricResult, Needs, NotApplicable, Scale

NAME = re.compile(r"[a-z][a-z0-9_]*")
TIMEOUT_S = 60.0
ROUNDING_TOLERANCE = 1e-9  # by which a value may leave its range: it is taken for the end
EXPECTED_RESULTS = "a number, True or False, rg.Value(value, reason=…), or None if it does not apply"


@dataclass(frozen=True, slots=True)
class Value:
    """What a metric's function returns where it says more than a number."""

    value: Any  #: a number, True or False; None where the metric does not apply.
    reason: str = ""  #: one sentence, shown with the score.


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is known about a metric of the user's own without its code: a store keeps it with the scores."""

    name: str  #: printed name.
    version: int  #: of the metric.
    measures: Measures = "generation"  #: which layer it speaks about.
    direction: Direction = "higher"  #: which is better.
    scale: Scale = "mean"  #: rate, mean or amount.
    range: tuple[float, float] = (-inf, inf)  #: least and greatest value.
    needs: Needs = field(default_factory=dict)  #: argument -> fact.
    sentence: str = ""  #: what it measures.
    #: how to name it where it is to be computed, such as my_metrics:polite; "" = by its object in Python only.
    load: str = ""
    #: what else its kind of metric keeps, as JSON types: then a store's declaration is all of it, without code.
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As JSON types; an end of the range that is no number is None."""
        bounds = [end if isfinite(end) else None for end in self.range]
        return {declared_field.name: getattr(self, declared_field.name) for declared_field in fields(self)} | {
            "range": bounds,
            "needs": {**self.needs},
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Declaration:
        """The declaration that `to_json` wrote; what a later version adds is left out."""
        values = {
            declared_field.name: saved[declared_field.name]
            for declared_field in fields(cls)
            if declared_field.name in saved
        }
        low, high = values["range"]
        return cls(**values | {"range": (-inf if low is None else low, inf if high is None else high)})


class OwnMetric(Metric):
    """Base of the classes that are made of a declaration. They have no parameters."""

    __slots__ = ()
    declared: ClassVar[Declaration]  #: what is known about it.

    @classmethod
    def name(cls) -> str:
        """As it was declared."""
        return cls.declared.name


class FunctionMetric(OwnMetric):
    """Base of the classes that are made of functions."""

    __slots__ = ()
    function: ClassVar[Callable[..., Any]]  #: gives the value.
    awaited: ClassVar[bool]  #: the function is a coroutine's.
    timeout: ClassVar[float]  #: seconds that a call may take.

    def value(self, **arguments: Any) -> base.Value:
        """What the function gives for these arguments, called here and now; `engine.own_calls` bounds its time."""
        result: base.Value = call_code(self, self.function, arguments)
        return result


class ColumnMetric(OwnMetric):
    """Base of the classes whose value stands in a column of the user's own: the response's outcome of that name."""

    __slots__ = ()

    def value(self, outcome: Mapping[str, float | bool | str]) -> base.Value:
        """The number that was read."""
        column = self.declared.more["column"]
        number = outcome.get(self.name(), outcome.get(column))
        if number is None:
            return NotApplicable(f"no value in the column {column}")
        if isinstance(number, str):
            return MetricResult.failed(
                f"{_describe_result(number)} in the column {column}; expected a number", self.range
            )
        return float(number)


def is_same_function(first: type[Metric], other: type[Metric]) -> bool:
    """Whether two classes were made of the same function, with the same facts."""
    if not (issubclass(first, FunctionMetric) and issubclass(other, FunctionMetric)):
        return False
    return first.function is other.function and first.declared == other.declared


def build_stored_class(declared: Declaration) -> type[Metric]:
    """The class of a metric whose code is not here: its scores are read, and nothing can be computed but columns."""
    return build_metric_class(declared, ColumnMetric if "column" in declared.more else OwnMetric)


@cache
def build_column_class(column: str, direction: Direction) -> type[Metric]:
    """The class of a metric whose values stand in a column, under the column's name in snake case.

    Raises:
        UsageError: a name that no metric may have.
    """
    name = re.sub(r"[^a-z0-9]+", "_", base.to_snake_case(column)).strip("_")
    if not NAME.fullmatch(name):
        raise UsageError(
            f"the column {column!r} is not a valid metric name. Use lower-case letters, digits and _. Name it with: "
            f"--map my_score={column} --scores my_score."
        )
    sentence = f"The value of the column {column} in your data."
    needs, more = {"outcome": "response.outcome"}, {"column": column}
    declared = Declaration(name, 1, "end_to_end", direction, needs=needs, sentence=sentence, more=more)
    return build_metric_class(declared, ColumnMetric)


def build_metric_class(declared: Declaration, kind: type[OwnMetric], **facts: Any) -> type[Metric]:
    """A class of a metric without parameters.

    Args:
        declared: what it says of itself.
        kind: the base, which computes.
        facts: more of the class, such as what the base computes with.
    """
    about = {name: getattr(declared, name) for name in ("measures", "direction", "scale", "range", "version", "needs")}
    body = {"__slots__": (), "__doc__": declared.sentence, "declared": declared, **about, **facts}
    return type(declared.name, (kind,), body)


def build_declaration(metric: Metric) -> Declaration:
    """What a store keeps of a metric of the user's own."""
    if isinstance(metric, OwnMetric):
        return metric.declared
    sentence = read_first_paragraph(type(metric))
    return Declaration(
        str(metric),
        metric.version,
        metric.measures,
        metric.direction,
        metric.scale,
        metric.range,
        dict(metric.needs),
        sentence,
        format_import_path(type(metric)),
    )


def _describe_origin(metric: Metric) -> str:
    """Where a metric of the user's own comes from, to tell it from another one of its name."""
    declared = build_declaration(metric)
    if "column" in declared.more:
        return f"the column {declared.more['column']}"
    if "criterion" in declared.more:
        return f"the criterion {declared.name}"
    code = getattr(metric, "function", type(metric))
    return declared.load or f"{getattr(code, '__module__', '')}:{getattr(code, '__qualname__', declared.name)}"


def check_distinct_names(metrics: Sequence[Metric]) -> None:
    """Refuses two metrics of one name: their scores could not be told apart.

    Raises:
        UsageError: there are two.
    """
    first: dict[str, Metric] = {}
    for metric in metrics:
        other = first.setdefault(metric.name(), metric)
        if type(other) is not type(metric):
            raise UsageError(
                f"{_describe_origin(other)} and {_describe_origin(metric)} are both named {metric.name()}. Rename "
                "one of them, such "
                f'as with @rg.metric(name="other_{metric.name()}").'
            )


def has_own_code(metric: Metric) -> bool:
    """Whether a metric of the user's own runs their code, so that anything may happen."""
    return isinstance(metric, FunctionMetric) or not isinstance(metric, OwnMetric)


def get_code(metric: Metric) -> tuple[Callable[..., Any], bool, float]:
    """What is called for a metric, whether it is a coroutine's, and the seconds that a call may take."""
    if isinstance(metric, FunctionMetric):
        return metric.function, metric.awaited, metric.timeout
    arithmetic = inspect.unwrap(type(metric).value)
    return partial(arithmetic, metric), inspect.iscoroutinefunction(arithmetic), TIMEOUT_S


def format_import_path(code: Any) -> str:
    """module:name of a function or class that another process can import; "" where it cannot."""
    module, name = getattr(code, "__module__", None), getattr(code, "__qualname__", "")
    target: Any = sys.modules.get(module or "")
    for attribute in name.split("."):
        target = getattr(target, attribute, None)
    return f"{module}:{name}" if target is code and module != "__main__" else ""


def read_result(metric: Metric, result: Any) -> Any:
    """What a metric's own code returned, as `Measured.of` takes it: a failed one where it is no value of the metric."""
    reason = ""
    if isinstance(result, Value):
        result, reason = result.value, str(result.reason)
    if result is None:
        return NotApplicable(reason or f"{metric} returned None: it does not apply")
    if isinstance(result, base.Ratio | base.Undefined | NotApplicable | MetricResult):
        return result
    number = _to_number(result)
    low, high = metric.range
    if number is None:
        problem = f"{metric} gave {_describe_result(result)}; expected {EXPECTED_RESULTS}"
    elif not isfinite(number):
        problem = f"{metric} gave {number}; expected a number, or None if it does not apply"
    elif metric.scale == "rate" and number not in (0.0, 1.0):
        problem = f"{metric} gave {number:g}; expected True or False, as declared"
    elif not low - ROUNDING_TOLERANCE <= number <= high + ROUNDING_TOLERANCE:
        range_source = (
            "@rg.metric(range=…)" if isinstance(metric, OwnMetric) else "range = …; 0 to 1 if a class has none"
        )
        problem = f"{metric} gave {number!r}; expected {low:g} to {high:g}, its declared range ({range_source})"
    else:
        number = min(max(number, low), high)
        return MetricResult("scored", number, None, None, number, number, reason)
    return MetricResult.failed(problem, metric.range)


def _to_number(result: Any) -> float | None:
    """A result as a number; those of numpy, polars and torch are, arrays are not."""
    if getattr(result, "shape", None) == () and hasattr(result, "item"):
        result = result.item()
    try:
        return float(result) if isinstance(result, Real | Decimal) else None
    except OverflowError:
        return inf


def _describe_result(result: Any) -> str:
    if inspect.iscoroutine(result):
        result.close()
        return "a coroutine, which only an `async def` function may return"
    if isinstance(result, str):
        return f"the text {result[:40]!r}{'…' if len(result) > 40 else ''}"
    shape = getattr(result, "shape", None)
    return f"an array of shape {shape}" if isinstance(shape, tuple) else f"a value of type {type(result).__name__}"


def call_code(metric: Metric, code: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """What a metric's code gives, called in this thread; what it raises fails that score, but for Ctrl-C."""
    if inspect.iscoroutinefunction(inspect.unwrap(type(metric).value)) or getattr(metric, "awaited", False):
        return MetricResult.failed(f"{metric} is computed by a coroutine, which only evaluate awaits", metric.range)
    try:
        return read_result(metric, code(**arguments))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return MetricResult.failed(f"{type(error).__name__}: {error}", metric.range)


def read_first_paragraph(code: Any) -> str:
    """The first paragraph of the docstring of a function or class, on one line."""
    text = inspect.cleandoc(code.__doc__ or "")
    return " ".join(text.split("\n\n", 1)[0].split())

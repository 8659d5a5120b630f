"""Metrics of the user's own: what makes one of a function, an object or a subclass.

`catalogue.register` takes the classes that are made here; from then on they are found by name as built-in ones are.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from math import inf
from numbers import Real
from types import FunctionType, MethodType
from typing import Any, TypeVar, get_args, overload

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.object_lookup import get_package_name, list_entry_points
from ragauge.metrics import base
from ragauge.metrics.base import Direction, Measures, Metric, Needs, Scale
from ragauge.metrics.own_class import (
    NAME,
    TIMEOUT_S,
    Declaration,
    FunctionMetric,
    build_metric_class,
    call_code,
    format_import_path,
    read_first_paragraph,
)
from ragauge.metrics.own_version import METRIC_ATTRIBUTE, compute_source_version, format_state

F = TypeVar("F", bound=Callable[..., Any])
ARGUMENTS: Mapping[str, str] = {  # of a metric's function -> the fact that it gets
    "query": "set.query",
    "answer": "response.answer",
    "passages": "response.passages",
    "texts": "response.plain_texts",
    "reference": "set.reference",
    "references": "set.references",
    "history": "set.messages",
    "segments": "set.segments",
    "example": "set.example",
    "response": "response.whole",
}
PASSAGE_FACTS = {"response.passages", "response.plain_texts"}
BOOL_ANNOTATION = re.compile(
    r"(<class ')?bool('>)?( \| None)?|(typing\.)?Optional\[bool\]"
)  # annotations, as they print


@dataclass(frozen=True, slots=True)
class _MetricOptions:
    """What `metric` says of a function."""

    name: str | None
    direction: Direction
    range: tuple[float, float] | None
    needs: Needs
    measures: Measures | None
    version: int | None
    timeout: float


_DEFAULT_OPTIONS = _MetricOptions(None, "higher", None, {}, None, None, TIMEOUT_S)


@overload
def metric(function: F, /) -> F: ...
@overload
def metric(
    *,
    name: str | None = None,
    direction: Direction = "higher",
    range: tuple[float, float] | None = None,
    needs: Needs | None = None,
    measures: Measures | None = None,
    version: int | None = None,
    timeout: float = TIMEOUT_S,
) -> Callable[[F], F]: ...
def metric(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    direction: Direction = "higher",
    range: tuple[float, float] | None = None,
    needs: Needs | None = None,
    measures: Measures | None = None,
    version: int | None = None,
    timeout: float = TIMEOUT_S,
) -> Any:
    """Says more of a function, or of a class of callable objects, that is a metric. It stays callable as it was.

    Args:
        function: the function, where this is used without parentheses.
        name: the metric's; the function's by default.
        direction: which is better: higher, lower or neither.
        range: least and greatest value; a value outside fails that score. Drops in points, and verdicts on which
            examples flipped, need one.
        needs: argument -> fact of a judge or of the labels, such as {"claims": "verify_answer.claims"}.
        measures: retrieval, generation or end_to_end; by the arguments where it is not said.
        version: another one with each change of what it measures; by default a hash of its code.
        timeout: seconds that a call may take.

    Raises:
        UsageError: an argument out of its range.
    """
    _check_options(name, direction, range, measures, version, timeout)
    options = _MetricOptions(name, direction, range, dict(needs or {}), measures, version, timeout)

    def decorate(decorated: F) -> F:
        setattr(decorated, METRIC_ATTRIBUTE, options)
        return decorated

    return decorate if function is None else decorate(function)


def _check_options(
    name: str | None, direction: str, bounds: Any, measures: str | None, version: Any, timeout: float
) -> None:
    if name is not None:
        _check_name(name)
    if direction not in get_args(Direction):
        raise UnknownName("direction", str(direction), get_args(Direction))
    if measures is not None and measures not in get_args(Measures):
        raise UnknownName("layer to measure", str(measures), get_args(Measures))
    if version is not None and (isinstance(version, bool) or not isinstance(version, int) or not 0 < version < 1 << 48):
        raise UsageError(f"version must be a whole number of at least 1, got {version!r}.")
    if not timeout > 0:
        raise UsageError(f"timeout must be above 0 seconds, got {timeout:g}.")
    if bounds is not None:
        limits = tuple(bounds) if isinstance(bounds, tuple | list) else ()
        if len(limits) != 2 or not all(isinstance(end, Real) for end in limits) or not limits[0] < limits[1]:
            raise UsageError(f"range must be the minimum and the maximum value, such as (0, 1), got {bounds!r}.")


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a valid metric name. Use lower-case letters, "
            'digits and _. Name it: @rg.metric(name="polite").'
        )


def build_metric(candidate: object) -> Metric | None:
    """The metric that a function, a callable object, or a subclass of Metric is; an object of a subclass is one itself.

    Raises:
        UsageError: it cannot be one.
    """
    if isinstance(candidate, type) and issubclass(candidate, Metric):
        return _build_instance(_complete_class(candidate))
    if isinstance(candidate, Metric):
        _complete_class(type(candidate))
        return candidate
    return _build_function_metric(candidate) if callable(candidate) and not isinstance(candidate, type) else None


def load_plug_ins(register: Callable[[object], Metric], name: str = "") -> bool:
    """Registers what packages bring by entry points of the group ragauge.metrics; a broken one is a warning.

    Args:
        register: takes a function or class.
        name: of an entry point, which is the metric's; "" = all.

    Returns:
        Whether there is one of this name.
    """
    is_registered = False
    for point_name, point in list_entry_points("ragauge.metrics").items():
        if name in ("", point_name):
            try:
                loaded = register(point.load()).name()
                if loaded != point_name:
                    raise UsageError(f"it brings {loaded}")
                is_registered = True
            except (Exception, SystemExit) as error:
                warnings.warn(
                    f"the metric {point_name} of {get_package_name(point)} cannot be loaded: {type(error).__name__}: "
                    f"{error}",
                    UserWarning,
                    stacklevel=2,
                )
    return is_registered


def _build_function_metric(function: Any) -> Metric:
    options: _MetricOptions = getattr(function, METRIC_ATTRIBUTE, _DEFAULT_OPTIONS)
    called = function.func if isinstance(function, partial) else function
    code: Any = inspect.unwrap(getattr(called, "__func__", called))
    holder = getattr(called, "__self__", None)  # of a method
    if not isinstance(code, FunctionType):
        code, holder = type(called), called
    state = (holder, *((function.args, function.keywords) if isinstance(function, partial) else ()))
    if options.name is None and code.__name__ == "<lambda>":
        raise UsageError('a lambda has no name. Name it: rg.metric(name="polite")(lambda answer: …).')
    name = options.name or base.to_snake_case(code.__name__)
    _check_name(name)
    needs, defaults = _read_arguments(name, function, options.needs)
    answers = str(inspect.signature(function).return_annotation)
    rate = options.range is None and BOOL_ANNOTATION.fullmatch(answers) is not None
    low, high = options.range or ((0.0, 1.0) if rate else (-inf, inf))
    scale: Scale = "rate" if rate else "mean"
    version = options.version or compute_source_version(
        code, needs, scale, [repr(float(low)), repr(float(high))], format_state(state)
    )
    declared = Declaration(
        name,
        version,
        options.measures or _infer_layer(needs),
        options.direction,
        scale,
        (float(low), float(high)),
        needs,
        read_first_paragraph(code),
        format_import_path(function),
    )
    waits = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    return build_metric_class(
        declared,
        FunctionMetric,
        function=staticmethod(function),
        awaited=waits,
        timeout=options.timeout,
        optional=defaults,
    )()


def _read_arguments(name: str, function: Any, more: Needs) -> tuple[dict[str, str], dict[str, Any]]:
    """(argument -> fact, argument -> its default) of a function.

    Raises:
        UnknownName: an argument that nothing is known by, and that has no default; or a fact that there is not.
    """
    from ragauge.metrics.facts import FREE_FACTS, JUDGE_FACTS

    facts = {*JUDGE_FACTS, *FREE_FACTS, *ARGUMENTS.values()}
    if unknown_facts := [fact for fact in more.values() if fact not in facts]:
        raise UnknownName(f"such fact for {name}:", unknown_facts[0], facts)
    facts_by_argument, needs, defaults = {**ARGUMENTS, **more}, {}, {}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise UsageError(f"{name}: its arguments cannot be read. Wrap it: def {name}(answer): …") from None
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.name in facts_by_argument and parameter.kind is not parameter.POSITIONAL_ONLY:
            needs[parameter.name] = facts_by_argument[parameter.name]
            if parameter.default is not parameter.empty:
                defaults[parameter.name] = parameter.default
        elif parameter.default is parameter.empty:
            raise UnknownName(
                f"such argument for {name}:", parameter.name, facts_by_argument, "Arguments are passed by name."
            )
    return needs, defaults


def _infer_layer(needs: Needs) -> Measures:
    """What a metric speaks about, by what it sees."""
    facts = set(needs.values())
    if facts & {"set.reference", "set.references", "set.example"}:
        return "end_to_end"
    return (
        "retrieval"
        if facts & PASSAGE_FACTS and facts <= {*PASSAGE_FACTS, "set.query", "set.messages"}
        else "generation"
    )


def _complete_class(cls: type[Metric]) -> type[Metric]:
    """A subclass with all that a metric has: what it does not say follows from its code.

    Raises:
        UsageError: it computes nothing, or its parameters are no fields.
    """
    own_classes = [
        own_class
        for own_class in cls.__mro__
        if issubclass(own_class, Metric) and own_class.__module__.partition(".")[0] != "ragauge"
    ]
    if cls not in own_classes or METRIC_ATTRIBUTE in vars(cls):
        return cls
    if not callable(getattr(cls, "value", None)):
        raise UsageError(f"{cls.__name__} does not compute anything. Add a method: def value(self, answer): …")
    _check_name(cls.name())
    base.make_dataclass(cls)
    stated_names = {name for own_class in own_classes for name in vars(own_class)}
    about: dict[str, Any] = {"value": _guard_value(cls.value), METRIC_ATTRIBUTE: True}
    declared_needs: Any = {} if cls.needs is Metric.needs else cls.needs
    if isinstance(declared_needs, Mapping):
        argument_needs, defaults = _read_arguments(cls.name(), MethodType(cls.value, cls), declared_needs)
        about["needs"], about["optional"] = {**declared_needs, **argument_needs}, {**defaults, **cls.optional}
    if not hasattr(cls, "measures"):
        needs = about.get("needs", cls.needs)
        about["measures"] = _infer_layer(needs) if isinstance(needs, Mapping) else "generation"
    if "version" not in stated_names:
        about["version"] = compute_source_version(cls)
    for name, fact in about.items():
        setattr(cls, name, fact)
    return cls


def _guard_value(arithmetic: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(arithmetic)
    def value(self: Metric, **arguments: Any) -> Any:
        return call_code(self, partial(arithmetic, self), arguments)

    return value


def _build_instance(cls: type[Metric]) -> Metric:
    try:
        return cls()
    except TypeError as error:
        raise UsageError(f"{cls.__name__}: {error}. Pass an instance of it, such as {cls.__name__}(…).") from None

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
from ragauge.core.object_lookup import package_of, registered
from ragauge.metrics import base
from ragauge.metrics.base import Direction, Measures, Metric, Needs, Scale
from ragauge.metrics.own_class import (
    NAME,
    TIMEOUT_S,
    Declaration,
    FunctionMetric,
    call_here,
    first_paragraph,
    importable,
    metric_class,
)
from ragauge.metrics.own_version import SAID, source_version, state_text

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
FOUND = {"response.passages", "response.plain_texts"}
BOOL = re.compile(r"(<class ')?bool('>)?( \| None)?|(typing\.)?Optional\[bool\]")  # annotations, as they print


@dataclass(frozen=True, slots=True)
class _Said:
    """What `metric` says of a function."""

    name: str | None
    direction: Direction
    range: tuple[float, float] | None
    needs: Needs
    measures: Measures | None
    version: int | None
    timeout: float


_NOTHING_SAID = _Said(None, "higher", None, {}, None, None, TIMEOUT_S)


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
    _check_said(name, direction, range, measures, version, timeout)
    said = _Said(name, direction, range, dict(needs or {}), measures, version, timeout)

    def decorate(decorated: F) -> F:
        setattr(decorated, SAID, said)
        return decorated

    return decorate if function is None else decorate(function)


def _check_said(
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
        ends = tuple(bounds) if isinstance(bounds, tuple | list) else ()
        if len(ends) != 2 or not all(isinstance(end, Real) for end in ends) or not ends[0] < ends[1]:
            raise UsageError(f"range is the least and the greatest value, such as (0, 1), got {bounds!r}.")


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be a metric's name: a name is lower-case letters, digits and _, which no shell reads "
            'otherwise. Name it: @rg.metric(name="polite").'
        )


def metric_of(given: object) -> Metric | None:
    """The metric that a function, a callable object, or a subclass of Metric is; an object of a subclass is one itself.

    Raises:
        UsageError: it cannot be one.
    """
    if isinstance(given, type) and issubclass(given, Metric):
        return _instance(_completed(given))
    if isinstance(given, Metric):
        _completed(type(given))
        return given
    return _of_function(given) if callable(given) and not isinstance(given, type) else None


def load_plug_ins(register: Callable[[object], Metric], name: str = "") -> bool:
    """Registers what packages bring by entry points of the group ragauge.metrics; a broken one is a warning.

    Args:
        register: takes a function or class.
        name: of an entry point, which is the metric's; "" = all.

    Returns:
        Whether there is one of this name.
    """
    found = False
    for known, point in registered("ragauge.metrics").items():
        if name in ("", known):
            try:
                loaded = register(point.load()).name()
                if loaded != known:
                    raise UsageError(f"it brings {loaded}")
                found = True
            except (Exception, SystemExit) as error:
                warnings.warn(
                    f"the metric {known} of {package_of(point)} cannot be had: {type(error).__name__}: {error}",
                    UserWarning,
                    stacklevel=2,
                )
    return found


def _of_function(function: Any) -> Metric:
    said: _Said = getattr(function, SAID, _NOTHING_SAID)
    called = function.func if isinstance(function, partial) else function
    code: Any = inspect.unwrap(getattr(called, "__func__", called))
    holder = getattr(called, "__self__", None)  # of a method
    if not isinstance(code, FunctionType):
        code, holder = type(called), called
    state = (holder, *((function.args, function.keywords) if isinstance(function, partial) else ()))
    if said.name is None and code.__name__ == "<lambda>":
        raise UsageError('a lambda has no name of its own. Name it: rg.metric(name="polite")(lambda answer: …).')
    name = said.name or base.snake(code.__name__)
    _check_name(name)
    needs, defaults = _arguments(name, function, said.needs)
    answers = str(inspect.signature(function).return_annotation)
    rate = said.range is None and BOOL.fullmatch(answers) is not None
    low, high = said.range or ((0.0, 1.0) if rate else (-inf, inf))
    scale: Scale = "rate" if rate else "mean"
    version = said.version or source_version(
        code, needs, scale, [repr(float(low)), repr(float(high))], state_text(state)
    )
    declared = Declaration(
        name,
        version,
        said.measures or _layer(needs),
        said.direction,
        scale,
        (float(low), float(high)),
        needs,
        first_paragraph(code),
        importable(function),
    )
    waits = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    return metric_class(
        declared,
        FunctionMetric,
        function=staticmethod(function),
        awaited=waits,
        timeout=said.timeout,
        optional=defaults,
    )()


def _arguments(name: str, function: Any, more: Needs) -> tuple[dict[str, str], dict[str, Any]]:
    """(argument -> fact, argument -> its default) of a function.

    Raises:
        UnknownName: an argument that nothing is known by, and that has no default; or a fact that there is not.
    """
    from ragauge.metrics.facts import ASKED, FREE

    facts = {*ASKED, *FREE, *ARGUMENTS.values()}
    if lost := [fact for fact in more.values() if fact not in facts]:
        raise UnknownName(f"such fact for {name}:", lost[0], facts)
    known, needs, defaults = {**ARGUMENTS, **more}, {}, {}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise UsageError(f"{name}: its arguments are not known. Wrap it: def {name}(answer): …") from None
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.name in known and parameter.kind is not parameter.POSITIONAL_ONLY:
            needs[parameter.name] = known[parameter.name]
            if parameter.default is not parameter.empty:
                defaults[parameter.name] = parameter.default
        elif parameter.default is parameter.empty:
            raise UnknownName(f"such argument for {name}:", parameter.name, known, "Arguments go by their names.")
    return needs, defaults


def _layer(needs: Needs) -> Measures:
    """What a metric speaks about, by what it sees."""
    facts = set(needs.values())
    if facts & {"set.reference", "set.references", "set.example"}:
        return "end_to_end"
    return "retrieval" if facts & FOUND and facts <= {*FOUND, "set.query", "set.messages"} else "generation"


def _completed(cls: type[Metric]) -> type[Metric]:
    """A subclass with all that a metric has: what it does not say follows from its code.

    Raises:
        UsageError: it computes nothing, or its parameters are no fields.
    """
    own = [one for one in cls.__mro__ if issubclass(one, Metric) and one.__module__.partition(".")[0] != "ragauge"]
    if cls not in own or SAID in vars(cls):
        return cls
    if not callable(getattr(cls, "value", None)):
        raise UsageError(f"{cls.__name__} computes nothing. Give it a method: def value(self, answer): …")
    _check_name(cls.name())
    base.complete(cls)
    says = {name for one in own for name in vars(one)}
    about: dict[str, Any] = {"value": _guarded(cls.value), SAID: True}
    said: Any = {} if cls.needs is Metric.needs else cls.needs
    if isinstance(said, Mapping):
        found, defaults = _arguments(cls.name(), MethodType(cls.value, cls), said)
        about["needs"], about["optional"] = {**said, **found}, {**defaults, **cls.optional}
    if not hasattr(cls, "measures"):
        needs = about.get("needs", cls.needs)
        about["measures"] = _layer(needs) if isinstance(needs, Mapping) else "generation"
    if "version" not in says:
        about["version"] = source_version(cls)
    for name, fact in about.items():
        setattr(cls, name, fact)
    return cls


def _guarded(arithmetic: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(arithmetic)
    def value(self: Metric, **given: Any) -> Any:
        return call_here(self, partial(arithmetic, self), given)

    return value


def _instance(cls: type[Metric]) -> Metric:
    try:
        return cls()
    except TypeError as error:
        raise UsageError(f"{cls.__name__}: {error}. Give an object of it, such as {cls.__name__}(…).") from None

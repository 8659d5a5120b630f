"""What a metric is, and which facts a judge cannot read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from math import floor, isfinite
from typing import Any, ClassVar, Literal, Self, Union

from ragauge.core.errors import UsageError
from ragauge.core.response import (
    MIN_AUROC,
    MIN_GAP,
    MIN_PAIRS,
    PASSAGE_FACTS,
    ControlledFact,
    ControlScale,
    Readability,
    Response,
)
from ragauge.core.score import Status
from ragauge.metrics.reasons import TOO_FEW_CONTROLS, UNREAD

Needs = Mapping[str, str]
Measures = Literal["retrieval", "generation", "end_to_end"]
Direction = Literal["higher", "lower", "neither"]
Scale = Literal["rate", "mean", "amount"]


@dataclass(slots=True)  # not frozen, which would take as long again: every score makes one
class Ratio:
    """A numerator over a denominator; a denominator of 0 has no value."""

    numerator: float
    denominator: float
    counted: Sequence[float] = field(default=(), repr=False, compare=False)  #: what each item adds to the numerator
    weights: Sequence[float] = field(default=(), repr=False, compare=False)  #: and to the denominator; () = 1 each

    @staticmethod
    def count_items(counted: Sequence[float], weights: Sequence[float] = ()) -> Ratio:
        """What some items count of what they could: an explanation names each of them.

        Args:
            counted: per item, in the order of the fact that it stands in, what it adds to the numerator.
            weights: per item, what it adds to the denominator; () = 1 each.

        >>> Ratio.count_items([True, False, True]), Ratio.count_items([0.2, 0.0], [0.5, 0.0])
        (Ratio(numerator=2, denominator=3), Ratio(numerator=0.2, denominator=0.5))
        """
        return Ratio(sum(counted), sum(weights) if weights else len(counted), counted, weights)


class ComputedNumber(float):
    """A plain number that can write out the arithmetic it comes from, which costs nothing where nobody asks.

    >>> half = ComputedNumber(0.5, lambda: "1 / 2")
    >>> half, half.write()
    (0.5, '1 / 2')
    """

    __slots__ = ("write",)
    write: Callable[[], str]  #: the formula with the numbers put in, without the result; "" where there is nothing.

    def __new__(cls, value: float, write: Callable[[], str]) -> Self:
        """The number with its arithmetic."""
        number = float.__new__(cls, value)
        number.write = write
        return number


@dataclass(frozen=True, slots=True)
class Undefined:
    """The inputs are there, but what the system did leaves 0/0."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The example or the run lacks an input."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotAsked(NotApplicable):
    """Everything that is needed is there, but the question was not put to the judge."""


@dataclass(frozen=True, slots=True)
class NotRead:
    """The judge cannot read texts of this language and layout, so that what it answered is no fact."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A needed fact could not be had."""

    reason: str


Value = Union[Ratio, float, Undefined, NotApplicable, "MetricResult"]


@dataclass(slots=True)
class MetricResult:
    """A metric's result for one example: see `Score`, which adds whose it is."""

    status: Status
    value: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""

    @staticmethod
    def of(result: Value) -> MetricResult:
        """What a metric's arithmetic returned, with its status; a denominator of 0 is undefined.

        >>> MetricResult.of(Ratio(1, 4)).value, MetricResult.of(Ratio(0, 0)).status
        (0.25, 'undefined')
        """
        if isinstance(result, MetricResult):
            return result
        if isinstance(result, Ratio):
            if result.denominator == 0:
                return MetricResult("undefined", None, 0.0, 0.0, reason="nothing to divide by")
            value = result.numerator / result.denominator
            return MetricResult("scored", value, float(result.numerator), float(result.denominator), value, value)
        if isinstance(result, Undefined):
            return MetricResult("undefined", reason=result.reason)
        if isinstance(result, NotApplicable):
            return MetricResult("not_applicable", reason=result.reason)
        value = float(result)
        return MetricResult("scored", value, None, None, value, value)

    @staticmethod
    def failed(reason: str, bounds: tuple[float, float]) -> MetricResult:
        """No value; the bounds that are finite are kept."""
        low, high = bounds
        return MetricResult(
            "failed", low=low if isfinite(low) else None, high=high if isfinite(high) else None, reason=reason
        )


@cache
def to_snake_case(class_name: str) -> str:
    """A class's name as a metric's: ContextPrecision -> context_precision, RPrecision -> r_precision, F1 -> f1."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", class_name).lower()


def format_parameter(value: object) -> str:
    """A parameter as it stands in a printed name: true, 0.8, exp.

    >>> format_parameter(True), format_parameter(0.8), format_parameter(2.0), format_parameter("exp")
    ('true', '0.8', '2', 'exp')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return format(value, "g") if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Metric:
    """Base of every metric. A subclass is a frozen dataclass whose fields are the parameters.

    Its name is the class's in snake_case. Class facts:

    measures   which layer it speaks about
    needs      argument of `value` -> fact (`metrics/facts.py` lists them); a property where it depends on parameters
    range      least and greatest value; a property where it depends on parameters
    direction  which is better
    scale      rate (0 or 1 an example), mean, or amount (summarised as quantiles)
    version    raised when the meaning changes
    aliases    other names -> the parameters that they stand for
    optional   argument of `value` -> what it gets where the example or the run lacks the fact
    separable  each missing verdict has a best and a worst value that do not depend on the other missing ones
               (sums over claims; shares and rankings of passages), so that bounds are found without trying every
               combination: see `metrics/measure.py`
    """

    measures: ClassVar[Measures]
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[Direction] = "higher"
    scale: ClassVar[Scale] = "mean"
    version: ClassVar[int] = 1
    aliases: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    optional: ClassVar[Mapping[str, Any]] = {}
    separable: ClassVar[bool] = False
    value: ClassVar[Callable[..., Value]]

    def __init_subclass__(cls) -> None:
        if "__init__" in vars(cls) and "__dataclass_fields__" not in vars(cls):
            raise UsageError(
                f"{cls.__name__} has an __init__, but the parameters of a metric are fields, so that its name shows "
                'them. Declare them in the class, such as tone: str = "formal".'
            )

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """An object of a class whose fields are its parameters, with or without the decorator."""
        make_dataclass(cls)
        return object.__new__(cls)

    @property
    def needs(self) -> Needs:
        """Argument of `value` -> fact."""
        raise NotImplementedError(f"{type(self).__name__} does not declare its needs")

    def check(self) -> None:
        """Raises UsageError where a parameter names what is not there; asked before a run, not when reading scores."""

    @classmethod
    def name(cls) -> str:
        """The name without parameters."""
        return to_snake_case(cls.__name__)

    def __str__(self) -> str:
        parts, cutoff = [self.name()], ""
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if parameter.name == "k":
                cutoff = "" if value is None else f"@{value}"
            elif value != parameter.default:
                parts.append(f"{parameter.name}={format_parameter(value)}")
        return ":".join(parts) + cutoff


def make_dataclass(cls: type[Metric]) -> None:
    """Makes a subclass that is written without the decorator the frozen dataclass that a metric is."""
    if "__dataclass_fields__" not in vars(cls):
        sentence = cls.__doc__
        try:
            dataclass(frozen=True)(cls)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{cls.__name__}: {error}.") from None
        cls.__doc__ = sentence


def format_number(value: float) -> str:
    """A number as arithmetic needs it: three significant digits and no more than four decimals; whole ones whole.

    >>> format_number(3.0), format_number(0.66667), format_number(1234.5), format_number(0.00042)
    ('3', '0.667', '1,234.5', '0.00042')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}" if abs(value) >= 100 else f"{value:.3g}"


def compute_mean(values: Sequence[float]) -> ComputedNumber:
    """The mean of some numbers, of one at least."""
    n = len(values)
    return ComputedNumber(sum(values) / n, lambda: f"({' + '.join(map(format_number, values))}) / {n}")


def compute_harmonic_mean(precision: Ratio, recall: Ratio) -> float:
    """2 P R / (P + R) of two shares with values; 0 where R is 0."""
    p, r = precision.numerator / precision.denominator, recall.numerator / recall.denominator
    if not p or not r:
        return 0.0
    first, second = format_number(p), format_number(r)
    return ComputedNumber(2 * p * r / (p + r), lambda: f"2 · {first} · {second} / ({first} + {second})")


# which control pairs tell whether a fact, or all facts of a question, can be read
CONTROLS_BY_FACT: Mapping[str, ControlledFact] = {
    "verify_answer.support": "support",
    "verify_answer.used": "support",
    "verify_answer.address": "address",
    "verify_answer.addressed": "address",
    "agree": "agreement",
    "verify_reference": "reference",
    "rate_passages": "relevance",
    "rate_sentences": "relevance",
    "rate_answer": "relevance",
}
FACT_NAMES: Mapping[ControlledFact, str] = {
    "support": "whether passages support a claim",
    "reference": "whether passages contain a reference claim",
    "relevance": "whether a passage is about the question",
    "address": "whether an answer addresses the question",
    "agreement": "whether an answer agrees with a reference",
}
LAYOUT_NAMES = {"prose": "prose", "table": "tables", "cells": "tables with one cell per line"}


def explain_unread(fact: str, readability: Readability | None, response: Response) -> NotRead | None:
    """Why the judge cannot read a fact, or all facts of a question; None where it can, or no controls were asked."""
    controlled = CONTROLS_BY_FACT.get(fact) or CONTROLS_BY_FACT.get(fact.partition(".")[0])
    if readability is None or controlled is None or readability.can_read(controlled):
        return None
    if controlled in PASSAGE_FACTS and not response.passages:
        return None  # nothing to read: no passage supports or holds anything
    layout = f"{LAYOUT_NAMES[readability.layout]}, " if controlled in PASSAGE_FACTS else ""  # of the passages
    shortfall = _describe_shortfall(readability.scales.get(controlled))
    return NotRead(UNREAD.build_reason(FACT_NAMES[controlled], f"{layout}language {readability.language}", shortfall))


def _describe_shortfall(scale: ControlScale | None) -> str:
    """What control pairs lack for a fact to count as read.

    >>> _describe_shortfall(ControlScale(yes=(0.9,) * 12, no=(0.1,) * 30))
    '12 control pairs known to be true and 30 known to be false; at least 20 of each are needed'
    >>> _describe_shortfall(ControlScale(yes=(0.5,) * 25, no=(0.1,) * 15 + (0.9,) * 15))
    'AUROC 0.50 over 25 control pairs known to be true and 30 known to be false: 0.90 needed'
    """
    if scale is None or min(len(scale.yes), len(scale.no)) < MIN_PAIRS:
        yes, no = (0, 0) if scale is None else (len(scale.yes), len(scale.no))
        return TOO_FEW_CONTROLS.build_reason(yes, no, MIN_PAIRS)
    over = f"over {len(scale.yes)} control pairs known to be true and {len(scale.no)} known to be false"
    if scale.auroc < MIN_AUROC:
        return f"AUROC {floor(100 * scale.auroc) / 100:.2f} {over}: {MIN_AUROC:.2f} needed"
    return f"medians {floor(100 * scale.gap) / 100:.2f} apart {over}: {MIN_GAP:.2f} needed"

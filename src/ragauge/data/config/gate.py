"""The section `gate` of ragauge.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, WithJsonSchema
from pydantic.types import Strict

from ragauge.data.config.section import Section
from ragauge.data.readers.values import described

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PERCENT = re.compile(rf"\s*({_NUMBER})\s*%\s*")
_POINTS = re.compile(rf"\s*({_NUMBER})\s*points?\s*")
_PLAIN = re.compile(rf"\s*{_NUMBER}\s*")


@dataclass(frozen=True, slots=True)
class Drop:
    """How much worse a mean may become.

    Attributes:
        amount: a share of the baseline's mean where `relative`, else in the metric's unit (3 points = 0.03).
        relative: which of the two.
        text: as written.
    """

    amount: float
    relative: bool
    text: str


def _drop(value: Any) -> Drop | None:
    if value is None or isinstance(value, Drop):
        return value
    how = 'expected "3%" (of the baseline) or "3 points" (0.03)'
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value == 0:
            return Drop(0.0, False, "0")
        given = f"{value:g}"
        raise ValueError(f"{how}, got {given} without a unit. Write {given}% or {given} points.")
    for pattern, relative in ((_PERCENT, True), (_POINTS, False)):
        found = pattern.fullmatch(value) if isinstance(value, str) else None
        if found:
            amount = float(found[1]) / 100
            if amount < 0 or not isfinite(amount):
                raise ValueError(f"{how}, at least 0, got {value!r}. A drop is written without a sign.")
            return Drop(amount, relative, " ".join(value.split()))
    raise ValueError(f"{how}, got {described(value)}.")


def _level(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        if found := _PERCENT.fullmatch(value):
            return float(found[1]) / 100
        value = float(value) if _PLAIN.fullmatch(value) else value
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"expected a number such as 0.85, or 85%, got {described(value)}.")
    return float(value)


def _share(value: Any) -> float:
    found = _level(value)
    if found is None or not 0 <= found < 1:
        raise ValueError(f'expected a share from 0 up to, but not, 100 %, such as "2%", got {described(value)}.')
    return found


def _columns(value: Any) -> tuple[str, ...] | None:
    """None = every declared column."""
    if value is None or value == "all":
        return None
    if value == "none":
        return ()
    named = isinstance(value, list | tuple) and value and all(isinstance(item, str) and item for item in value)
    if not named:
        raise ValueError(f"expected none, all, or a list of columns such as [type, tenant], got {described(value)}.")
    return tuple(dict.fromkeys(value))


def _schema(pattern: str, **number: Any) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "number", **number}, {"type": "string", "pattern": pattern}]})


PERCENT = rf"^\s*{_NUMBER}\s*%\s*$"
DropField = Annotated[
    Drop | None,
    BeforeValidator(_drop),
    WithJsonSchema({"anyOf": [{"const": 0}, {"type": "string", "pattern": r"^\s*[\d.eE+-]+\s*(%|points?)\s*$"}]}),
]
LevelField = Annotated[float | None, BeforeValidator(_level), _schema(PERCENT)]
ShareField = Annotated[float, BeforeValidator(_share), _schema(PERCENT, minimum=0, exclusiveMaximum=1)]
ColumnsField = Annotated[
    tuple[str, ...] | None,
    BeforeValidator(_columns),
    WithJsonSchema({
        "anyOf": [{"enum": ["all", "none"]}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
    }),
]  # fmt: skip
Name = Annotated[str, Strict(), Field(min_length=1)]
Count = Annotated[int, Strict(), Field(ge=1)]


class RuleSection(Section):
    """One rule of a gate."""

    metric: Name | None = Field(default=None, description="Printed name of a metric, such as recall@5.")
    tag: Name | None = Field(default=None, description="Only examples with this tag.")
    max_drop: DropField = Field(
        default=None, description="How much worse than the baseline the mean may be: 3% of it, or 3 points (0.03)."
    )
    min: LevelField = Field(default=None, description="The least mean allowed, where higher is better.")
    max: LevelField = Field(default=None, description="The greatest mean or p95 allowed, where lower is better.")
    must_pass: StrictBool = Field(default=False, description="Every example with the tag must pass.")
    statistic: Literal["mean", "p50", "p95", "p99"] | None = Field(
        default=None, description="Of latency, tokens and cost: what max speaks of. p95 of latency, else the mean."
    )
    decide: Literal["interval", "point"] = Field(
        default="interval", description="By the whole interval, or by the estimate alone."
    )
    on_fail: Literal["block", "warn"] = Field(default="block", description="Whether a failure stops the gate.")
    segments: ColumnsField = Field(
        default=None, description="Columns in whose values the rule must hold too: all (declared), none, or a list."
    )
    segments_need_data: StrictBool | None = Field(
        default=None, description="Whether a segment without enough data holds the gate up; the gate's own by default."
    )
    min_n: Count | None = Field(default=None, description="Fewest examples to decide on; the gate's own by default.")


class GateSection(Section):
    """Rules that a run must meet."""

    max_failed: ShareField = Field(default=0.02, description="Greatest share of examples with failed judge calls.")
    min_n: Count = Field(default=10, description="Fewest examples to decide on: fewer is not enough data.")
    segments_need_data: StrictBool = Field(
        default=False, description="Whether a segment without enough data holds the gate up."
    )
    rules: tuple[RuleSection, ...] = Field(default=(), description="The rules, all of which must hold.")

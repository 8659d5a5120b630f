"""The section `gate` of ragauge.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, WithJsonSchema
from pydantic.types import Strict

from ragauge.core.config.section import Section
from ragauge.core.values import describe_value

# read here and written into the JSON Schema: an editor accepts what is read. As text, since YAML 1.1 reads 1e3 as text
UNSIGNED = r"(?:[0-9]{1,15}\.?[0-9]{0,15}|\.[0-9]{1,15})(?:[eE][+-]?[0-9]{1,2})?"
DROP = rf"^\s*\+?({UNSIGNED})\s*(%|points?)\s*$"
LEVEL = rf"^\s*([+-]?{UNSIGNED})\s*(%?)\s*$"
SHARE = r"^\s*(?:[0-9]{1,2}\.?[0-9]{0,9}\s*%|(?:0?\.[0-9]{1,9}|0)|[0-9]\.?[0-9]{0,9}[eE]-[1-9][0-9]?)\s*$"


@dataclass(frozen=True, slots=True)
class Drop:
    """How much worse a mean may become."""

    amount: float  #: a share of the baseline's mean where `relative`, else in the metric's unit (3 points = 0.03).
    relative: bool  #: which of the two.
    text: str  #: as written.


def parse_drop(value: Any) -> Drop | None:
    """A drop as it is written, such as 3%; ValueError says what is wrong with another."""
    if value is None or isinstance(value, Drop):
        return value
    how = 'expected "3%" (of the baseline) or "3 points" (0.03)'
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value == 0:
            return Drop(0.0, False, "0")
        meant = f"{100 * value if 0 < value < 1 else value:g}"
        raise ValueError(f"{how}, got {value:g} without a unit. Write {meant}% or {meant} points.")
    match = re.match(DROP, value) if isinstance(value, str) else None
    if match:
        return Drop(float(match[1]) / 100, match[2] == "%", " ".join(value.split()))
    if isinstance(value, str) and re.match(DROP, value.replace("-", "", 1)):
        raise ValueError(f"{how}, at least 0, got {value!r}. Write a drop without a sign.")
    raise ValueError(f"{how}, got {describe_value(value)}.")


def _parse_level(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, str) and (match := re.match(LEVEL, value)):
        return float(match[1]) / (100 if match[2] else 1)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_NUMBER:
        raise ValueError(f"expected a number such as 0.85, or 85%, got {describe_value(value)}.")
    return float(value)


def _parse_share(value: Any) -> float:
    text = isinstance(value, str)
    level = _parse_level(value) if not text or re.match(SHARE, value) else None
    if level is None or not 0 <= level < 1:
        raise ValueError(
            f'expected a share of at least 0 % and less than 100 %, such as "2%", got {describe_value(value)}.'
        )
    return level


def _parse_count(value: Any) -> Any:
    """10.0 is a whole number to JSON Schema, and so it is here."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _parse_columns(value: Any) -> tuple[str, ...] | None:
    """None = every declared column."""
    if value is None or value == "all":
        return None
    if value == "none":
        return ()
    is_column_list = isinstance(value, list | tuple) and value and all(isinstance(item, str) and item for item in value)
    if not is_column_list:
        form = "none, all, or a list of columns such as [type, tenant]"
        raise ValueError(f"expected {form}, got {describe_value(value)}.")
    return tuple(dict.fromkeys(value))


def build_text_schema(pattern: str, *other: Any) -> WithJsonSchema:
    """The schema of what may be written as such a text, or otherwise."""
    return WithJsonSchema({"anyOf": [*other, {"type": "string", "pattern": pattern}]})


MAX_NUMBER = 1e300
NULL = {"type": "null"}
NUMBER = {"type": "number", "minimum": -MAX_NUMBER, "maximum": MAX_NUMBER}
DropField = Annotated[Drop | None, BeforeValidator(parse_drop), build_text_schema(DROP, NULL, {"const": 0})]
LevelField = Annotated[float | None, BeforeValidator(_parse_level), build_text_schema(LEVEL, NULL, NUMBER)]
ShareField = Annotated[
    float,
    BeforeValidator(_parse_share),
    build_text_schema(SHARE, {"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
]
COLUMN_LIST = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}
ColumnsField = Annotated[
    tuple[str, ...] | None,
    BeforeValidator(_parse_columns),
    WithJsonSchema({"anyOf": [NULL, {"enum": ["all", "none"]}, COLUMN_LIST]}),
]
Name = Annotated[str, Strict(), Field(min_length=1)]
Count = Annotated[int, Strict(), Field(ge=1), BeforeValidator(_parse_count)]


def _require_key(key: str) -> dict[str, Any]:
    return {"required": [key], "properties": {key: {"not": NULL}}}


def _require_value(key: str, value: Any) -> dict[str, Any]:
    return {"required": [key], "properties": {key: {"const": value}}}


LIMIT = object()  # marks a key of `gating.kinds` that limits a mean or another estimate
MEAN_OPTIONS = ("decide", "segments", "segments_need_data", "min_n", "statistic")


def list_limits(model: type[Section]) -> list[str]:
    """The keys that set a limit."""
    return [name for name, field in model.model_fields.items() if LIMIT in field.metadata]


def list_mean_keys(model: type[Section]) -> list[str]:
    """The keys that have no place beside must_pass, which takes min and max as the score at which an example passes."""
    return [*MEAN_OPTIONS, *(key for key in list_limits(model) if key not in ("min", "max")), "rectified"]


def _add_key_combinations(schema: dict[str, Any], model: type[Section]) -> None:
    """Says which keys go together, as `gating.kinds` reads them; what depends on the metric it knows alone."""
    levels = {"anyOf": [_require_key("min"), _require_key("max")]}
    schema["if"] = _require_value("must_pass", True)
    schema["then"] = {
        **_require_key("tag"),
        "allOf": [
            {"properties": dict.fromkeys(list_mean_keys(model), False)},
            {"if": _require_key("metric"), "then": levels, "else": {"not": levels}},
        ],
    }
    schema["else"] = {
        **_require_key("metric"),
        "anyOf": [_require_key(key) for key in list_limits(model)],
        "not": {"allOf": [_require_value("segments", "none"), _require_value("segments_need_data", True)]},
        "if": _require_key("max_drop"),
        "then": {"properties": {"statistic": {"enum": [None, "mean"]}}},
    }


class RuleSection(Section):
    """One rule of a gate."""

    model_config = ConfigDict(json_schema_extra=_add_key_combinations)

    metric: Name | None = Field(default=None, description="Name of a metric as printed, such as recall@5.")
    tag: Name | None = Field(default=None, description="Only examples with this tag.")
    max_drop: Annotated[DropField, LIMIT] = Field(
        default=None, description="How far the mean may fall below the baseline: 3% of it, or 3 points (0.03)."
    )
    min: Annotated[LevelField, LIMIT] = Field(
        default=None, description="Lowest mean allowed, for metrics where higher is better."
    )
    max: Annotated[LevelField, LIMIT] = Field(
        default=None, description="Highest mean or p95 allowed, for metrics where lower is better."
    )
    must_pass: StrictBool = Field(default=False, description="Every example with the tag must pass.")
    statistic: Literal["mean", "p50", "p95", "p99"] | None = Field(
        default=None, description="Statistic for max: by default p95 for latency, the mean for tokens and cost."
    )
    decide: Literal["interval", "point"] = Field(
        default="interval", description="Decide by the whole interval or by the estimate alone."
    )
    on_fail: Literal["block", "warn"] = Field(default="block", description="Whether a failure fails the gate.")
    segments: ColumnsField = Field(
        default=None, description="Columns whose segments must also meet the rule: all (declared), none, or a list."
    )
    segments_need_data: StrictBool | None = Field(
        default=None, description="Whether a segment without enough data blocks the gate; default: as the gate."
    )
    min_n: Count | None = Field(default=None, description="Minimum number of examples; default: as the gate.")
    rectified: StrictBool | None = Field(
        default=None,
        description="Decide by the label-corrected mean. true: always (fewer than 50 labels is not enough data). "
        "false: never. Default: when there are at least 50 labels.",
    )


class GateSection(Section):
    """Rules that a run must meet."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": ["rules"],
            "allOf": [
                {"properties": {"rules": {"minItems": 1, "contains": {"not": _require_value("on_fail", "warn")}}}}
            ],
        }
    )

    max_failed: ShareField = Field(
        default=0.02, description="Highest share of examples with failed system or judge calls."
    )
    min_n: Count = Field(default=10, description="Minimum number of examples for a decision; fewer is not enough data.")
    segments_need_data: StrictBool = Field(
        default=False, description="Whether a segment without enough data blocks the gate."
    )
    rules: tuple[RuleSection, ...] = Field(default=(), description="The rules. All of them must hold.")

"""The section `criteria` of ragauge.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, ValidationInfo, field_validator
from pydantic.types import Strict

from ragauge.core.config.gate import Count, Name
from ragauge.core.config.section import Section, YamlList, YamlMapping
from ragauge.core.criterion import DEFAULT_VISIBLE_FIELDS, Criterion, VisibleField
from ragauge.core.values import describe_value

Level = Annotated[str, Strict(), Field(min_length=1)]
NAME = re.compile(r"[a-z][a-z0-9_]*")  # of a metric
MIN_LEVELS, MAX_LEVELS = 2, 10


class RepeatedName(str):
    """A name that a criterion before it has."""

    __slots__ = ()


class CriterionSection(Section):
    """A statement that each answer of a run is held against."""

    name: Name = Field(description="Name of the metric that this criterion becomes.")
    text: Name = Field(description="The statement to check, or what the levels rate.")
    sees: tuple[VisibleField, ...] = Field(
        default=DEFAULT_VISIBLE_FIELDS,
        description="The parts of an example that the judge sees.",
        json_schema_extra={"minItems": 1},
    )
    levels: tuple[Level, ...] = Field(default=(), description="Description of each level, from worst to best.")
    scale: Literal["yes_no", "levels"] | None = Field(
        default=None, validate_default=True, description="levels if levels are given."
    )
    pass_from: Count | None = Field(default=None, description="Lowest level that passes; by default the highest.")
    required: StrictBool = Field(default=False, description="An answer that fails this criterion counts as wrong.")

    @field_validator("name", mode="before")
    @classmethod
    def _check_name(cls, value: Any) -> Any:
        if isinstance(value, RepeatedName):
            raise ValueError(f"the name {value} is already used by an earlier criterion. Rename one of them.")
        if isinstance(value, str) and value and not NAME.fullmatch(value):
            raise ValueError(f"{value!r} is not a valid metric name. Use lower-case letters, digits and _.")
        return value

    @field_validator("text", mode="before")
    @classmethod
    def _check_text(cls, value: Any) -> Any:
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"expected a statement, got {describe_value(value) if value else 'nothing'}.")
        return value

    @field_validator("sees")
    @classmethod
    def _check_sees(cls, value: tuple[VisibleField, ...]) -> tuple[VisibleField, ...]:
        if not value:
            raise ValueError("the judge must see something: sees: [query, answer].")
        return value

    @field_validator("levels")
    @classmethod
    def _check_levels(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        n = len(value)
        if n and not MIN_LEVELS <= n <= MAX_LEVELS:
            raise ValueError(f"expected {MIN_LEVELS} to {MAX_LEVELS} level descriptions, got {n}.")
        if len(set(value)) < n:
            raise ValueError("two levels have the same description.")
        return value

    @field_validator("scale")
    @classmethod
    def _check_scale(cls, value: str | None, info: ValidationInfo) -> str | None:
        levels = info.data.get("levels")  # None = they are wrong
        if value == "yes_no" and levels:
            raise ValueError("scale: yes_no cannot have levels. Remove one of the two.")
        if value == "levels" and levels == ():
            raise ValueError('scale: levels needs a list of levels, from worst to best: levels: ["rude", "polite"].')
        return value

    @field_validator("pass_from")
    @classmethod
    def _check_pass_from(cls, value: int | None, info: ValidationInfo) -> int | None:
        levels = info.data.get("levels")
        if value is not None and levels == ():
            raise ValueError("this is the number of a level, but no levels are defined.")
        if value is not None and levels and not 1 < value <= len(levels):
            raise ValueError(f"the lowest passing level must be from 2 to {len(levels)}, got {value}.")
        return value

    def to_criterion(self) -> Criterion:
        """As it is used."""
        sees = tuple(dict.fromkeys(self.sees))
        passes = (self.pass_from or len(self.levels)) if self.levels else 0
        return Criterion(self.name, " ".join(self.text.split()), sees, self.levels, passes, self.required)


def parse_criteria(value: Any) -> Any:
    """The criteria as a list, each with its name; those of a mapping are named by its keys."""
    if isinstance(value, Mapping):
        lines, items = getattr(value, "lines", {}), []
        for n, (name, body) in enumerate(value.items(), 1):
            item = body if isinstance(body, Mapping) else {"text": body}
            key_line = lines.get(name)
            key_lines = {"name": key_line, "text": key_line, **getattr(item, "lines", {})}
            key_lines = {key: line for key, line in key_lines.items() if line is not None}
            items.append(YamlMapping({"name": name, **item}, key_lines, key_line, n))
        value = YamlList(items, [lines[name] for name in value if name in lines], getattr(value, "line", None))
    names: set[str] = set()
    for n, item in enumerate(value if isinstance(value, list) else []):
        name = item.get("name") if isinstance(item, Mapping) else None
        if isinstance(name, str) and name in names:
            lines, line = getattr(item, "lines", {}), getattr(item, "line", None)
            value[n] = YamlMapping({**item, "name": RepeatedName(name)}, lines, line, getattr(item, "place", n + 1))
        elif isinstance(name, str):
            names.add(name)
    return value


def add_mapping_form(schema: dict[str, Any]) -> None:
    """Adds the other form to the JSON Schema of the list: names with texts, or with all else that a criterion has."""
    list_schema = {name: schema.pop(name) for name in ("type", "items")}
    body = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "object"}]}
    schema["anyOf"] = [list_schema, {"type": "object", "additionalProperties": body}]

"""The section `criteria` of ragauge.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictBool, model_validator
from pydantic.types import Strict

from ragauge.data.config.gate import Count, Name
from ragauge.data.config.section import Section, YamlList, YamlMapping
from ragauge.data.criterion import SEEN_BY_DEFAULT, Criterion, Seen

Level = Annotated[str, Strict(), Field(min_length=1)]
MIN_LEVELS, MAX_LEVELS = 2, 10


class CriterionSection(Section):
    """A statement that each answer of a run is held against."""

    name: Name = Field(description="Of the metric that it is.")
    text: Name = Field(description="The statement, or what the levels describe.")
    sees: tuple[Seen, ...] = Field(
        default=SEEN_BY_DEFAULT, min_length=1, description="What the judge is shown of an example."
    )
    scale: Literal["yes_no", "levels"] | None = Field(default=None, description="levels where levels are given.")
    levels: tuple[Level, ...] = Field(default=(), description="From the worst to the best, in words.")
    pass_from: Count | None = Field(default=None, description="Least level, from 1, that passes; the best by default.")
    required: StrictBool = Field(default=False, description="An answer that does not meet it is not right.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        n = len(self.levels)
        if self.scale == "yes_no" and n:
            raise ValueError("has levels, and scale: yes_no has none. Remove one of the two.")
        if self.scale == "levels" and not n:
            raise ValueError('scale: levels needs levels, from the worst to the best: levels: ["rude", "polite"].')
        if n and not MIN_LEVELS <= n <= MAX_LEVELS:
            raise ValueError(f"levels are {MIN_LEVELS} to {MAX_LEVELS} descriptions, got {n}.")
        if len(set(self.levels)) < n:
            raise ValueError("two levels have the same words.")
        if self.pass_from is not None and not n:
            raise ValueError("pass_from is the number of a level, and there are no levels.")
        if n and not 1 < (self.pass_from or n) <= n:
            raise ValueError(f"pass_from is the least level that passes, 2 to {n}, got {self.pass_from}.")
        return self

    def criterion(self) -> Criterion:
        """As it is used."""
        sees = tuple(dict.fromkeys(self.sees))
        passes = (self.pass_from or len(self.levels)) if self.levels else 0
        return Criterion(self.name, " ".join(self.text.split()), sees, self.levels, passes, self.required)


def read_items(value: Any) -> Any:
    """The criteria as a list, each with its name; those of a mapping are named by its keys."""
    if not isinstance(value, Mapping):
        return value
    lines, items = getattr(value, "lines", {}), []
    for n, (name, body) in enumerate(value.items(), 1):
        item = body if isinstance(body, Mapping) else {"text": body}
        named = {"name": name, **item}
        at = lines.get(name)
        known = {"name": at, "text": at, **getattr(item, "lines", {})}
        items.append(YamlMapping(named, {key: line for key, line in known.items() if line is not None}, at, n))
    return YamlList(items, [lines[name] for name in value if name in lines], getattr(value, "line", None))


def with_mapping(schema: dict[str, Any]) -> None:
    """Adds the other form to the JSON Schema of the list: names with texts, or with all else that a criterion has."""
    listed = {name: schema.pop(name) for name in ("type", "items")}
    body = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "object"}]}
    schema["anyOf"] = [listed, {"type": "object", "additionalProperties": body}]

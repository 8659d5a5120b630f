"""The whole of ragauge.yaml, and its short sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, ValidationInfo, field_validator
from pydantic.types import Strict

from ragauge.core.config.gate import Count, GateSection, Name
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.config.section import JudgeText, Section, YamlList, YamlMapping
from ragauge.core.config.yaml_tree import read_tree
from ragauge.core.errors import DataError, UsageError
from ragauge.core.facts import DEFAULT_VISIBLE_FIELDS, Criterion, VisibleField
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


Check = Callable[[str, str], None]
SHAPE = "expected prompt names, each with its text"


def read_prompts(source: Path | Mapping[str, Any], check: Check) -> dict[str, str]:
    """The templates of a file, or of a mapping in Python.

    A text of one line without a brace is the path of a file, seen from the folder of the YAML file.

    Args:
        source: path of a YAML or JSON file; or name -> text, or a Path.
        check: refuses a template by its name and text.

    Raises:
        DataError: what cannot be read or is refused, with its line.
    """
    name, folder = ("prompts", Path()) if isinstance(source, Mapping) else (str(source), source.parent)
    if isinstance(source, Path) and not source.exists():
        raise DataError("there is no such file.", source=name, hint="See ragauge docs model-judges for the format.")
    tree = source if isinstance(source, Mapping) else read_tree(source)
    if not isinstance(tree, Mapping) or not tree:
        raise DataError(f"{SHAPE}, got {describe_value(tree) if tree else 'nothing'}.", source=name)
    lines: Mapping[str, int] = getattr(tree, "lines", {})
    prompts = {}
    for key, value in tree.items():
        try:
            prompts[key] = _read_template(value, folder)
            check(key, prompts[key])
        except UsageError as error:
            raise DataError(f"{key}: {error}", source=name, line=lines.get(key)) from None
    return prompts


def _read_template(value: Any, folder: Path) -> str:
    if isinstance(value, str) and ("\n" in value.strip() or "{" in value):
        return value
    if not isinstance(value, str | Path) or not str(value).strip():
        raise UsageError(f"expected a text with slots, or a file that contains one, got {describe_value(value)}.")
    path = folder / str(value).strip()
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "the file is not UTF-8 text"
        raise UsageError(f"a line without a slot is a file name, but {path} cannot be read: {reason}.") from None


SpecValue = str | dict[str, Any]


class SweepSection(Section):
    """Which configurations to try, and what decides between them."""

    system: SpecValue = Field(description="module:function that builds a system, reference:FOLDER, or {index, build}.")
    set: str = Field(description="The questions: a file or folder, or a stored set's name.")
    parameters: dict[str, list[Any]] = Field(
        default_factory=dict, description="Name -> values; optional with a preset."
    )
    index: list[str] = Field(default_factory=list, description="Parameters of index; all others go to build.")
    base: dict[str, Any] = Field(default_factory=dict, description="The configuration in use today.")
    leave_out: list[dict[str, Any]] = Field(
        default_factory=list, alias="except", description="Combinations of values to skip."
    )
    objective: SpecValue = Field(default="context_recall", description="A metric, or composite: {metric: weight, …}.")
    metrics: list[str] = Field(default_factory=list, description="Metrics to show next to the objective.")
    design: Literal["grid", "one_factor", "random", "staged"] = Field(
        default="grid", description="Which configurations to try."
    )
    trials: int = Field(default=24, ge=2, description="Number of configurations, if they are sampled at random.")
    race: bool = Field(default=True, description="Drop clear losers early.")
    margin: float = Field(default=0.0, ge=0, description="Also drop what cannot beat the leader by this.")
    budget: int | None = Field(default=None, ge=1, description="Context budget in tokens, instead of k passages.")
    confirm: str | float | None = Field(default=None, description="An eval set, or a share held back, to confirm on.")
    judge: JudgeText = Field(
        default="local", description="Judge for what labels don't cover: its spec, or {model, key_env, headers, …}."
    )
    noise: float = Field(default=0.03, ge=0, description="Differences within ± this value are not a bottleneck.")
    cost: str = Field(default="", description="What to count as the cost of a trial: cost, latency or context_tokens.")
    keep_open: int | None = Field(default=None, ge=1, description="Maximum number of open indexes; others are rebuilt.")


ENDING = ".jsonl"


class UiSection(Section):
    """What the dashboard does."""

    regression_set: str = Field(
        min_length=1,
        description=f"File that the dashboard adds examples to; its name ends in {ENDING}. See ragauge docs dashboard.",
    )

    @field_validator("regression_set")
    @classmethod
    def _check_ending(cls, value: str) -> str:
        if not value.endswith(ENDING):
            raise ValueError(f"expected a file that ends in {ENDING}, got {value!r}.")
        return value


class Config(Section):
    """The one configuration file of ragauge."""

    controls: Annotated[int, Field(ge=0)] | Literal["none"] | None = Field(
        default=None,
        description="Number of control pairs, whose truth is known, that check what the "
        "judge can read, or none; same as ragauge evaluate --controls. See ragauge docs local-judge.",
    )
    criteria: Annotated[tuple[CriterionSection, ...], BeforeValidator(parse_criteria)] = Field(
        default=(),
        description="Criteria that every answer must meet: a list, or name: text. See ragauge docs criteria.",
        json_schema_extra=add_mapping_form,
    )
    gate: GateSection | None = Field(default=None, description="Rules that a run must meet. See ragauge docs gates.")
    monitor: MonitorSection | None = Field(
        default=None, description="What to monitor in production. See ragauge docs monitoring."
    )
    system: dict[str, Any] | None = Field(
        default=None,
        description="Settings for the system that ragauge run --system-config runs. See ragauge docs systems.",
    )
    sweep: SweepSection | None = Field(default=None, description="Configurations to try. See ragauge docs sweeps.")
    ui: UiSection | None = Field(default=None, description="Dashboard settings. See ragauge docs dashboard.")

    @field_validator("controls", mode="before")
    @classmethod
    def _check_controls(cls, value: Any) -> Any:
        number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if value is None or value == "none" or number:
            return value
        raise ValueError(f"expected a number of pairs or none, got {describe_value(value)}.")


def build_json_schema() -> dict[str, Any]:
    """The JSON Schema of ragauge.yaml, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(),
        "minProperties": 1,
        "title": "ragauge.yaml",
    }

"""What every part of the configuration has: unknown keys are refused, and each key knows its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PrivateAttr, WithJsonSchema, model_validator

from ragauge.core.providers import format_judge_spec

# a judge's text, or a mapping of its model, key_env, headers and other settings
JudgeText = Annotated[
    str,
    BeforeValidator(format_judge_spec),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "required": ["model"]}]}),
]


class YamlMapping(dict[str, Any]):
    """A mapping of a YAML file that knows where it and each of its keys stand, and its place in a list, from 1."""

    def __init__(self, items: Mapping[str, Any], lines: Mapping[str, int], line: int | None, index: int = 0) -> None:
        super().__init__(items)
        self.lines, self.line, self.place = dict(lines), line, index


class YamlList(list[Any]):
    """A list of a YAML file that knows where it and each of its items stand."""

    def __init__(self, items: Sequence[Any], lines: Sequence[int], line: int | None) -> None:
        super().__init__(items)
        self.lines, self.line = list(lines), line


def to_yaml_values(value: Any, index: int = 0) -> Any:
    """Plain values as a file's would be, without lines: a mapping in a list knows its place there."""
    if isinstance(value, Mapping):
        return YamlMapping({key: to_yaml_values(item) for key, item in value.items()}, {}, None, index)
    if isinstance(value, list | tuple):
        return YamlList([to_yaml_values(item, n) for n, item in enumerate(value, 1)], [], None)
    return value


class Section(BaseModel):
    """Base of every part of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    _lines: dict[str, int] = PrivateAttr(default_factory=dict)
    _place: int = PrivateAttr(default=0)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_lines(cls, value: Any, handler: Callable[[Any], Any]) -> Any:
        made = handler(value)
        if isinstance(value, YamlMapping):
            made._lines = {**({"": value.line} if value.line is not None else {}), **value.lines}
            made._place = value.place
        return made

    @property
    def place(self) -> int:
        """Place in the list that it stands in, from 1; 0 where it stands in none."""
        return self._place

    def line(self, key: str = "") -> int | None:
        """The line of a key, or of the whole part; None where it does not come from a file."""
        return self._lines.get(key, self._lines.get(""))

    def has_key(self, key: str) -> bool:
        """Whether the file says something about a key."""
        return key in self.model_fields_set

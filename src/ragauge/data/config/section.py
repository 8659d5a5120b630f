"""What every part of the configuration has: unknown keys are refused, and each key knows its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr, model_validator


class Mapped(dict[str, Any]):
    """A mapping of a YAML file that knows where it and each of its keys stand."""

    def __init__(self, items: Mapping[str, Any], lines: Mapping[str, int], line: int) -> None:
        super().__init__(items)
        self.lines, self.line = dict(lines), line


class Listed(list[Any]):
    """A list of a YAML file that knows where it and each of its items stand."""

    def __init__(self, items: list[Any], lines: list[int], line: int) -> None:
        super().__init__(items)
        self.lines, self.line = list(lines), line


class Section(BaseModel):
    """Base of every part of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    _lines: dict[str, int] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_lines(cls, value: Any, handler: Callable[[Any], Any]) -> Any:
        made = handler(value)
        if isinstance(value, Mapped):
            made._lines = {"": value.line, **value.lines}
        return made

    def line(self, key: str = "") -> int | None:
        """The line of a key, or of the whole part; None where it does not come from a file."""
        return self._lines.get(key, self._lines.get(""))

    def given(self, key: str) -> bool:
        """Whether the file says something about a key."""
        return key in self.model_fields_set

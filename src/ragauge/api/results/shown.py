"""What every result that shows itself has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from rich.console import RenderableType


class ShownResult(ABC):
    """A result with a machine-readable form; in a Python shell it shows itself as the command line does."""

    _width: ClassVar = 120

    @property
    @abstractmethod
    def _value(self) -> Any:
        """Every number as plain frozen values."""

    @abstractmethod
    def to_terminal(self) -> RenderableType:
        """What the command line prints."""

    def to_dict(self) -> dict[str, Any]:
        """The machine-readable form, as `--json` prints it."""
        from ragauge.reporting.encoder import encode

        found: dict[str, Any] = encode(self._value)
        return found

    def to_json(self) -> str:
        """The same as text: valid JSON, no NaN."""
        from ragauge.reporting.encoder import json_text

        return json_text(self._value)

    def __repr__(self) -> str:
        from rich.console import Console

        console = Console(width=self._width, color_system=None, force_terminal=False)
        with console.capture() as captured:
            console.print(self.to_terminal())
        return captured.get()

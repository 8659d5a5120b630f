"""What every result that shows itself has in common: its sections, written in every form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.api.inputs.arguments import path_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.reporting.sections import ReportSection


class ShownResult(ABC):
    """A result of sections, with a machine-readable form; in a Python shell it shows itself as the command line does.

    A subclass gives `_value` and `_sections`; a form that needs more than sections it writes itself.
    """

    FORMS: ClassVar[Mapping[str, str]] = {".md": "to_markdown", ".json": "to_json"}     # ending -> method
    _width: ClassVar = 120
    _file: ClassVar = "report.md"     # of an error's example

    @property
    @abstractmethod
    def _value(self) -> Any:
        """Every number as plain frozen values."""

    @abstractmethod
    def _sections(self) -> Iterable[ReportSection]:
        """What is shown."""

    def to_terminal(self) -> RenderableType:
        """What the command line prints."""
        from ragauge.reporting.writers.terminal import terminal

        return terminal(self._sections())

    def to_markdown(self) -> str:
        """Short enough for a pull request."""
        from ragauge.reporting.writers.markdown import markdown

        return markdown("", self._sections(), 2)

    def to_dict(self) -> dict[str, Any]:
        """The machine-readable form, as `--json` prints it."""
        from ragauge.reporting.encoder import encode

        values: dict[str, Any] = encode(self._value)
        return values

    def to_json(self) -> str:
        """The same as text: valid JSON, no NaN."""
        from ragauge.reporting.encoder import json_text

        return json_text(self._value)

    def save(self, path: str | Path) -> Path:
        """Writes the form that the ending names, one of `FORMS`.

        Raises:
            UsageError: another ending, or a path that cannot be written.
        """
        from ragauge.api.results.files import check, write_text

        where = path_of(path, self._file)
        check(where, self.FORMS)
        write_text(where, getattr(self, self.FORMS[where.suffix.lower()])())
        return where

    def __repr__(self) -> str:
        from rich.console import Console

        console = Console(width=self._width, color_system=None, force_terminal=False)
        with console.capture() as captured:
            console.print(self.to_terminal())
        return captured.get()


class PageResult(ShownResult):
    """A result with a page, which a notebook shows."""

    FORMS: ClassVar[Mapping[str, str]] = {".html": "to_html", **ShownResult.FORMS}
    _file: ClassVar = "report.html"
    _what: ClassVar = "result"     # what a frame is called aloud

    def _page(self, *, framed: bool) -> str:
        """One self-contained page of the sections.

        Args:
            framed: for the srcdoc of a frame, as notebooks show it.
        """
        from ragauge.reporting.html import sections_page

        return sections_page(self._sections(), framed=framed)

    def to_html(self) -> str:
        """One self-contained page."""
        return self._page(framed=False)

    def _repr_html_(self) -> str:
        """A notebook's view: the page in a frame of its own, so that its style touches nothing else."""
        from html import escape

        page, frame = escape(self._page(framed=True), quote=True), "width:100%;height:720px;border:0"
        return f'<iframe srcdoc="{page}" style="{frame}" title="ragauge {self._what}"></iframe>'

"""What every result that shows itself has in common: its sections, written in every form.

One example of a scorecard as a dictionary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.scores.results.scorecard import ExampleView
from ragauge.verbs.arguments import validate_path

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.rendering.sections import ReportSection


class ShownResult(ABC):
    """A result of sections, with a machine-readable form; in a Python shell it shows itself as the command line does.

    A subclass gives `_value` and `_build_sections`; a form that needs more than sections it writes itself.
    """

    FORMS: ClassVar[Mapping[str, str]] = {".md": "to_markdown", ".json": "to_json"}  # ending -> method
    _width: ClassVar = 120
    _file: ClassVar = "report.md"  # of an error's example

    @property
    @abstractmethod
    def _value(self) -> Any:
        """Every number as plain frozen values."""

    @abstractmethod
    def _build_sections(self) -> Iterable[ReportSection]:
        """What is shown."""

    def to_terminal(self) -> RenderableType:
        """What the command line prints."""
        from ragauge.rendering.writers.terminal import render_terminal

        return render_terminal(self._build_sections())

    def to_markdown(self) -> str:
        """Short enough for a pull request."""
        from ragauge.rendering.writers.markdown import render_markdown

        return render_markdown("", self._build_sections(), 2)

    def to_dict(self) -> dict[str, Any]:
        """The machine-readable form, as `--json` prints it."""
        from ragauge.core.json_keys import encode

        values: dict[str, Any] = encode(self._value)
        return values

    def to_json(self) -> str:
        """The same as text: valid JSON, no NaN."""
        from ragauge.core.json_keys import format_json

        return format_json(self._value)

    def save(self, path: str | Path) -> Path:
        """Writes the form that the ending names, one of `FORMS`.

        Raises:
            UsageError: another ending, or a path that cannot be written.
        """
        from ragauge.verbs.files import validate_report_path, write_text

        where = validate_path(path, self._file)
        validate_report_path(where, self.FORMS)
        write_text(where, getattr(self, self.FORMS[where.suffix.lower()])())
        return where

    def __repr__(self) -> str:
        from rich.console import Console

        console = Console(width=self._width, color_system=None, force_terminal=False)
        with console.capture() as captured:
            console.print(self.to_terminal())
        return captured.get()


class ValueResult(ShownResult):
    """A result that is one frozen value; a subclass says of which type."""

    data: Any  #: every number as plain frozen values.

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def _value(self) -> Any:
        return self.data


class PageResult(ShownResult):
    """A result with a page, which a notebook shows."""

    FORMS: ClassVar[Mapping[str, str]] = {".html": "to_html", **ShownResult.FORMS}
    _file: ClassVar = "report.html"
    _what: ClassVar = "result"  # what a frame is called aloud

    def _build_page(self, *, framed: bool) -> str:
        """One self-contained page of the sections.

        Args:
            framed: for the srcdoc of a frame, as notebooks show it.
        """
        from ragauge.evaluation.scorecard.html import render_sections_page

        return render_sections_page(self._build_sections(), framed=framed)

    def to_html(self) -> str:
        """One self-contained page."""
        return self._build_page(framed=False)

    def _repr_html_(self) -> str:
        """A notebook's view: the page in a frame of its own, so that its style touches nothing else."""
        from html import escape

        page, frame = escape(self._build_page(framed=True), quote=True), "width:100%;height:720px;border:0"
        return f'<iframe srcdoc="{page}" style="{frame}" title="ragauge {self._what}"></iframe>'


def find_view(views: Iterable[ExampleView], query_id: str | None, repeat: int) -> ExampleView:
    """The example of an id; the only one where none is named."""
    query_ids: list[str] = []
    only: ExampleView | None = None
    for view in views:
        if view.example.query_id == query_id and view.response.repeat == repeat:
            return view
        query_ids.append(view.example.query_id)
        only = view if len(query_ids) == 1 else None
    if query_id is not None:
        raise UnknownName("example of this scorecard", query_id, query_ids)
    if only is None:
        raise UsageError(
            f"the scorecard has {len(query_ids)} answers. Name one by its query_id: {', '.join(query_ids[:5])}."
        )
    return only


def build_plain_example(view: ExampleView) -> dict[str, Any]:
    """A view as plain values; see `Scorecard.example`."""
    evidence = view.evidence.get("verify_answer")
    facts = evidence.facts if evidence is not None else None
    return {
        "query_id": view.example.query_id,
        "repeat": view.response.repeat,
        "query": view.example.query,
        "answer": view.response.answer,
        "scores": {name: score.value for name, score in view.scores.items()},
        "reasons": {name: score.reason for name, score in view.scores.items() if score.value is None or score.reason},
        "claims": [_build_claim(claim) for claim in facts.claims] if isinstance(facts, AnswerFacts) else None,
        "verdict": view.verdict,
        "cause": view.cause.name if view.cause is not None else None,
    }


def _build_claim(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "label": claim.label,
        "strength": claim.strength,
        "passages": list(claim.supporting),
        "contradicted_by": list(claim.contradicting),
        "p": claim.p,
    }

"""What `gate` returns: the verdict with its checks, in every form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.api.inputs.arguments import path_of
from ragauge.api.results.shown import ShownResult
from ragauge.errors import GateFailed, NotEnoughData

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.gating.result import Check, Gated, Verdict


FORMS = (".xml", ".md", ".json")


class GateResult(ShownResult):
    """Whether a run meets its rules.

    Attributes:
        gated: everything as plain frozen values.
    """

    def __init__(self, gated: Gated) -> None:
        self.gated = gated

    @property
    def _value(self) -> Gated:
        return self.gated

    @property
    def verdict(self) -> Verdict:
        """pass, fail or not_enough_data."""
        return self.gated.verdict

    @property
    def exit_code(self) -> int:
        """What the command line ends with: 0 pass, 3 fail, 4 not enough data."""
        return self.gated.exit_code

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every rule on the whole run and in every segment."""
        return self.gated.checks

    @property
    def passed(self) -> bool:
        """Whether the verdict is pass."""
        return self.verdict == "pass"

    def raise_if_failed(self, *, not_enough_data: bool = True) -> GateResult:
        """Itself, when the gate passed.

        Args:
            not_enough_data: whether that verdict is an error too.

        Raises:
            GateFailed: it failed; what failed is in the text.
            NotEnoughData: it can say neither.
        """
        from ragauge.reporting.gate_words import summary

        if self.verdict == "fail":
            raise GateFailed(summary(self.gated))
        if self.verdict == "not_enough_data" and not_enough_data:
            raise NotEnoughData(summary(self.gated))
        return self

    def explain(self) -> str:
        """The arithmetic of every check with its numbers put in."""
        from ragauge.reporting.gate_explain import explain

        return explain(self.gated)

    def to_markdown(self) -> str:
        """Short enough for a pull request."""
        from ragauge.reporting.gate import markdown

        return markdown(self.gated)

    def to_junit(self) -> str:
        """JUnit XML: one test case a rule and segment."""
        from ragauge.reporting.junit import junit

        return junit(self.gated)

    def to_github(self) -> list[str]:
        """Annotations for GitHub Actions, a line each."""
        from ragauge.reporting.github import commands

        return commands(self.gated)

    def to_terminal(self) -> RenderableType:
        """What the command line prints."""
        from ragauge.reporting.gate import sections
        from ragauge.reporting.writers.terminal import terminal

        return terminal(sections(self.gated))

    def save(self, path: str | Path) -> Path:
        """Writes the form that the ending names: .xml (JUnit), .md, .json.

        Raises:
            UsageError: another ending, or a path that cannot be written.
        """
        from ragauge.api.results.files import check, write_text

        path = path_of(path, "gate.xml")
        check(path, FORMS)
        write_text(path, {".xml": self.to_junit, ".md": self.to_markdown, ".json": self.to_json}[path.suffix.lower()]())
        return path

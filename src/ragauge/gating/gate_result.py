"""What `gate` returns: the verdict with its checks, in every form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from ragauge.core.errors import GateFailed, NotEnoughData
from ragauge.gating.tables.texts import format_summary
from ragauge.verbs.result_base import ShownResult

if TYPE_CHECKING:
    from ragauge.gating.result import Check, Gated, Verdict
    from ragauge.rendering.sections import ReportSection


class GateResult(ShownResult):
    """Whether a run meets its rules.

    Attributes:
        gated: everything as plain frozen values.
    """

    FORMS: ClassVar = {".xml": "to_junit", **ShownResult.FORMS}
    _file: ClassVar = "gate.xml"

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
        if self.verdict == "fail":
            raise GateFailed(format_summary(self.gated))
        if self.verdict == "not_enough_data" and not_enough_data:
            raise NotEnoughData(format_summary(self.gated))
        return self

    def explain(self) -> str:
        """The arithmetic of every check with its numbers put in."""
        from ragauge.gating.tables.gate import format_explanation

        return format_explanation(self.gated)

    def to_markdown(self) -> str:
        """Short enough for a pull request."""
        from ragauge.gating.tables.gate import format_markdown

        return format_markdown(self.gated)

    def to_junit(self) -> str:
        """JUnit XML: one test case a rule and segment."""
        from ragauge.gating.tables.continuous_integration import build_junit_xml

        return build_junit_xml(self.gated)

    def to_github(self) -> list[str]:
        """Annotations for GitHub Actions, a line each."""
        from ragauge.gating.tables.continuous_integration import build_commands

        return build_commands(self.gated)

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.gating.tables.gate import build_sections

        return build_sections(self.gated)

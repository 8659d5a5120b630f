"""What `compare` returns: the comparison, in every form that it can be shown in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from ragauge.comparison.tables.sections import build_comparison_table, build_sections
from ragauge.core.errors import UnknownName
from ragauge.verbs.result_base import PageResult

if TYPE_CHECKING:
    import polars as pl

    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.results.comparison import BaselineComparison, MetricChange, RunComparison, SegmentChange


class ComparisonResult(PageResult):
    """What got better, what got worse, and how sure that is. In a notebook it shows itself.

    Attributes:
        compared: every number as plain frozen values.
    """

    FORMS: ClassVar = {**PageResult.FORMS, ".csv": "to_csv"}
    _file: ClassVar = "change.html"
    _what: ClassVar = "comparison"

    def __init__(self, compared: BaselineComparison) -> None:
        self.compared = compared

    @property
    def _value(self) -> BaselineComparison:
        return self.compared

    @property
    def runs(self) -> tuple[RunComparison, ...]:
        """One comparison a run, in the order given."""
        return self.compared.runs

    @property
    def verdict(self) -> str:
        """Of the first run: worse, better, mixed, changed, no change seen or not enough data."""
        return self.runs[0].verdict

    @property
    def metrics(self) -> Mapping[str, MetricChange]:
        """Printed name -> change, of the first run."""
        return {change.metric: change for change in self.runs[0].metrics}

    @property
    def worse_segments(self) -> tuple[SegmentChange, ...]:
        """The segments of the first run that got worse, the most first."""
        return self.runs[0].worse_segments

    def __getitem__(self, metric: str) -> MetricChange:
        changes = self.metrics
        if metric not in changes:
            raise UnknownName("metric of this comparison", metric, changes)
        return changes[metric]

    def to_polars(self) -> pl.DataFrame:
        """A row a run, metric and segment; column and value are null over all examples."""
        return build_comparison_table(self.compared)

    def to_csv(self) -> str:
        """The table of `to_polars`."""
        from ragauge.rendering.plain_csv import format_csv

        return format_csv(self.to_polars())

    def _build_sections(self) -> Iterable[ReportSection]:
        return build_sections(self.compared)

    def _build_page(self, *, framed: bool) -> str:
        from ragauge.evaluation.scorecard.html import render_comparison

        return render_comparison(self.compared, framed=framed)

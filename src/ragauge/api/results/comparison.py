"""What `compare` returns: the comparison, in every form that it can be shown in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.api.inputs.arguments import path_of
from ragauge.api.results.shown import ShownResult
from ragauge.errors import UnknownName

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from ragauge.analysis.results.change import MetricChange
    from ragauge.analysis.results.comparison import Compared, RunComparison, SegmentChange


class ComparisonResult(ShownResult):
    """What got better, what got worse, and how sure that is. In a notebook it shows itself.

    Attributes:
        compared: every number as plain frozen values.
    """

    def __init__(self, compared: Compared) -> None:
        self.compared = compared

    @property
    def _value(self) -> Compared:
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
        found = self.metrics
        if metric not in found:
            raise UnknownName("metric of this comparison", metric, found)
        return found[metric]

    def to_polars(self) -> pl.DataFrame:
        """A row a run, metric and segment; column and value are null over all examples."""
        from ragauge.reporting.comparing.table import table

        return table(self.compared)

    def to_markdown(self) -> str:
        """Short enough for a pull request."""
        from ragauge.reporting.comparing.sections import sections
        from ragauge.reporting.writers.markdown import markdown

        return markdown("", sections(self.compared), 2)

    def to_html(self) -> str:
        """One self-contained page."""
        from ragauge.reporting.html import comparison_html

        return comparison_html(self.compared)

    def to_terminal(self) -> RenderableType:
        """For a terminal; print it with rich."""
        from ragauge.reporting.comparing.sections import sections
        from ragauge.reporting.writers.terminal import terminal

        return terminal(sections(self.compared))

    def save(self, path: str | Path) -> Path:
        """Writes a report whose form its ending names: .html, .md, .json, or .csv for the table.

        Raises:
            UsageError: another ending.
        """
        from ragauge.api.results import files

        where = path_of(path, "change.html")
        files.check(where, FORMS)
        FORMS[where.suffix.lower()](self, where)
        return where

    def _repr_html_(self) -> str:
        """A notebook's view: the page in a frame of its own, so that its style touches nothing else."""
        from html import escape

        from ragauge.reporting.html import comparison_html

        page = escape(comparison_html(self.compared, framed=True), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:720px;border:0" title="ragauge comparison"></iframe>'


def _write(path: Path, text: str) -> None:
    from ragauge.api.results.files import write_text

    write_text(path, text)


def _csv(result: ComparisonResult, path: Path) -> None:
    from ragauge.api.results.files import make_folder
    from ragauge.data.writers.scores_csv import write_scores

    make_folder(path)
    write_scores(path, result.to_polars())


FORMS: Mapping[str, Callable[[ComparisonResult, Path], None]] = {
    ".html": lambda result, path: _write(path, result.to_html()),
    ".md": lambda result, path: _write(path, result.to_markdown()),
    ".json": lambda result, path: _write(path, result.to_json()),
    ".csv": _csv,
}

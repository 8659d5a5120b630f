"""What `evaluate` returns: the scorecard with its scores at hand."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import Run
from ragauge.scores.results.scorecard import ExampleView, Finding, Summary
from ragauge.scores.results.scorecard import ScorecardData as Card
from ragauge.verbs.arguments import validate_path
from ragauge.verbs.result_base import PageResult

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.console import RenderableType

    from ragauge.rendering.sections import ReportSection
    from ragauge.verbs.example_views import ScoreTables


class Scorecard(PageResult):
    """How good retrieval and generation each are, with what certainty, and what to do.

    In a notebook it shows itself; `card["recall@5"]` is one metric's summary; `card.failures` are the failed examples.

    Attributes:
        card: every number as plain frozen values.
        kept_as: what every other reading of the same numbers from this store has too; None where they are not kept.
    """

    _what: ClassVar = "scorecard"

    def __init__(self, card: Card, score_tables: ScoreTables, kept_as: Hashable = None) -> None:
        self.card, self.kept_as = card, kept_as
        self._shown = score_tables

    @property
    def _value(self) -> Card:
        return self.card

    @property
    def run(self) -> Run:
        """The run whose responses were evaluated."""
        return self.card.run

    @property
    def url(self) -> str:
        """The store that it was read from."""
        return self._shown.url

    @property
    def summaries(self) -> Mapping[str, Summary]:
        """Printed name -> mean, interval, counts."""
        return {summary.metric: summary for summary in self.card.summaries}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The diagnosis, what explains most first."""
        return self.card.findings

    @property
    def causes(self) -> Mapping[str, int]:
        """Cause -> failed examples."""
        return self.card.causes

    @property
    def worst(self) -> tuple[ExampleView, ...]:
        """The examples to look at first, with their evidence."""
        return self.card.worst

    @cached_property
    def failures(self) -> pl.DataFrame:
        """The failed examples: query_id, repeat, cause, decided_by, second, query, then the metrics.

        Read from the store when first asked for.
        """
        return self._shown.failures()

    def examples(self) -> Iterator[ExampleView]:
        """Every evaluated example with its response, evidence, scores and cause, one at a time, from the store."""
        return self._shown.examples()

    def __getitem__(self, metric: str) -> Summary:
        """One metric's summary, by its printed name or any other that it is asked for by."""
        from ragauge.metrics.catalogue import parse_metric

        summaries, name = self.summaries, metric
        if name not in summaries:
            with suppress(UsageError):  # no metric at all: said below, with the nearest of this card
                name = str(parse_metric(metric))
        if name not in summaries:
            raise UnknownName("metric of this scorecard", metric, summaries)
        return summaries[name]

    def example(self, query_id: str | None = None, repeat: int = 0) -> dict[str, Any]:
        """One example as plain values: its texts, scores and claims, the cause where it failed.

        Args:
            query_id: may be left out where the scorecard is of one example.
            repeat: which of the system's answers.

        Returns:
            query_id, repeat, query, answer, scores (metric -> value, None where there is none), reasons (metric -> why
            there is none, or what was said of it), claims ([{text, label, strength, passages, contradicted_by, p}],
            strength being direct, implied or None; None where nobody was asked), verdict (failed, passed, unknown) and
            cause.

        Raises:
            UnknownName: no such example; the nearest ids are in the text.
        """
        from ragauge.verbs.result_base import build_plain_example, find_view

        return build_plain_example(find_view(self.examples(), query_id, repeat))

    def to_polars(self, *, wide: bool = False) -> pl.DataFrame:
        """Every score, a row each: query_id, repeat, metric, status, value, numerator, denominator, bounds, reason.

        The verdicts on its answer stand in each of its rows: verdict, right, grounded.

        Read from the store, which must still hold the run; nothing of it is kept here.

        Args:
            wide: one row an answer instead: query_id, repeat, query, the value of each declared segment, then that of
                each metric, null where it has none; why not stands in the long table.
        """
        return self._shown.load_wide() if wide else self._shown.scores()

    def to_pandas(self, *, wide: bool = False) -> pd.DataFrame:
        """The same as a pandas frame; needs the extra `pandas`."""
        from ragauge.core.errors import MissingExtra

        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("to_pandas", "pandas", "pandas") from None
        # column by column, since polars itself would want pyarrow for it
        return pd.DataFrame(
            {
                column.name: column.to_numpy() if column.dtype.is_numeric() else column.to_list()
                for column in self.to_polars(wide=wide)
            }
        )

    def _build_sections(self, report: Path | None = None) -> Iterable[ReportSection]:
        from ragauge.evaluation.scorecard.tables import build_sections

        return build_sections(self.card, report)

    def _build_page(self, *, framed: bool) -> str:
        from ragauge.evaluation.scorecard.html import render_report
        from ragauge.evaluation.scorecard.page_cache import ChartCache
        from ragauge.rendering.charts.svg import render_with_cache

        return render_with_cache(ChartCache(self.url), lambda: render_report(self.card, framed=framed))

    def to_terminal(self, report: Path | None = None) -> RenderableType:
        """What the command line prints; it ends with the path of the full report, or how to write one."""
        from ragauge.rendering.writers.terminal import render_terminal

        return render_terminal(self._build_sections(report))

    def save(self, path: str | Path) -> Path:
        """Writes a report whose form its ending names: .html, .md, .json; .jsonl, .csv, .parquet for the scores.

        Raises:
            UsageError: another ending.
        """
        from ragauge.verbs.files import save_report

        return save_report(self, validate_path(path, self._file))

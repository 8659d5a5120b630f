"""The gaps of a run as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.comparison.gaps.losses import (
    COLUMNS_NOTE,
    HEADERS,
    describe_losses,
    describe_other_runs,
    format_cells,
    format_metric,
    list_caveats,
    order_metrics,
)
from ragauge.rendering.sections import ReportSection, ReportTable, build_columns
from ragauge.rendering.words import make_safe, to_line
from ragauge.scores.results.overview import Gaps, MetricGaps

MAX_ROWS = 40  # of segments


def build_sections(gaps: Gaps) -> Iterator[ReportSection]:
    """A table overall and one by segment."""
    overall = _build_table([("", gap) for gap in order_metrics(gaps)], "metric")
    yield ReportSection(
        make_safe(gaps.run), f"compared with {describe_other_runs(gaps)}", (make_safe(describe_losses(gaps)),), overall
    )
    first = order_metrics(gaps)[0].metric
    rows = [
        (f"{to_line(column)} = {to_line(value)}", gap)
        for column, values in gaps.segments.items()
        for value, gaps_of in values.items()
        for gap in gaps_of
        if gap.metric == first
    ]
    if rows:
        more = f"{len(rows) - MAX_ROWS:,} more segments and " if len(rows) > MAX_ROWS else ""
        note = f"{more}the other metrics by segment are in --json."
        yield ReportSection(f"By segment: {first}", table=_build_table(rows[:MAX_ROWS], "segment"), notes=(note,))
    yield ReportSection(after=tuple(f"! {make_safe(note)}" for note in list_caveats(gaps)), notes=(COLUMNS_NOTE,))


def _build_table(rows: Sequence[tuple[str, MetricGaps]], head: str) -> ReportTable:
    table_rows = (
        (label or format_metric(gap), *(" ".join(cell).strip() for cell in format_cells(gap))) for label, gap in rows
    )
    return ReportTable(build_columns(head, numbers=HEADERS), tuple(table_rows))

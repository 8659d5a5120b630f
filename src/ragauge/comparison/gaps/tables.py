"""The gaps of a run as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.comparison.gaps.losses import HEADS, MEANING, against, cells, leading, minded, named, sentence
from ragauge.rendering.sections import ReportSection, ReportTable, columns
from ragauge.rendering.words import line, safe
from ragauge.scores.results.gap_rows import Gaps, MetricGaps

MOST_ROWS = 40  # of segments


def sections(gaps: Gaps) -> Iterator[ReportSection]:
    """A table overall and one by segment."""
    overall = _table([("", gap) for gap in leading(gaps)], "metric")
    yield ReportSection(safe(gaps.run), f"held against {against(gaps)}", (safe(sentence(gaps)),), overall)
    first = leading(gaps)[0].metric
    rows = [
        (f"{line(column)} = {line(value)}", gap)
        for column, values in gaps.segments.items()
        for value, gaps_of in values.items()
        for gap in gaps_of
        if gap.metric == first
    ]
    if rows:
        more = f"{len(rows) - MOST_ROWS:,} more segments, and " if len(rows) > MOST_ROWS else ""
        note = f"{more}the other metrics by segment: --json has them."
        yield ReportSection(f"By segment: {first}", table=_table(rows[:MOST_ROWS], "segment"), notes=(note,))
    yield ReportSection(after=tuple(f"! {safe(note)}" for note in minded(gaps)), notes=(MEANING,))


def _table(rows: Sequence[tuple[str, MetricGaps]], head: str) -> ReportTable:
    shown = ((label or named(gap), *(" ".join(cell).strip() for cell in cells(gap))) for label, gap in rows)
    return ReportTable(columns(head, numbers=HEADS), tuple(shown))

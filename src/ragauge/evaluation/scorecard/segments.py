"""The values of the segment columns, by failures first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.core.messages import format_value
from ragauge.rendering.words import interval, is_clearly_worse
from ragauge.scores.results.scorecard import ScorecardData, Summary


@dataclass(frozen=True, slots=True)
class SegmentValue:
    """One value of a segment column."""

    name: str  #: the value.
    n: int  #: its examples.
    failed: int | None  #: how many of them failed; None where that is not known.
    summaries: dict[str, Summary]  #: of its examples, by metric.

    def has_mean(self, names: Sequence[str]) -> bool:
        """Whether one of these metrics has a mean here."""
        return any(self.summaries[name].mean is not None for name in names if name in self.summaries)


@dataclass(frozen=True, slots=True)
class WorstSegment:
    """The worst value of one segment column; a cell is mean, interval, and whether it is clearly worse than overall."""

    column: str
    value: str
    n: int
    failed: int | None
    cells: tuple[tuple[str, str, bool], ...]


def rank_values(card: ScorecardData, column: str, names: Sequence[str]) -> list[SegmentValue]:
    """The values of a column of which anything is known, that where the largest share failed first.

    Where as many failed, that which lies farther on the bad side of the mean over all examples comes first. Those that
    have a mean of none of these metrics come last.
    """
    failed = card.overview.causes_by_segment.get(column)
    values = []
    for name, summaries in card.segments[column].items():
        summaries_by_metric = {summary.metric: summary for summary in summaries}
        n_failed = None if failed is None else sum(failed.get(name, {}).values())
        value = SegmentValue(name, max((summary.n for summary in summaries), default=0), n_failed, summaries_by_metric)
        if value.n and (value.has_mean(names) or n_failed):
            values.append(value)
    return sorted(values, key=lambda value: (not value.has_mean(names), -(value.failed or 0) / value.n))


def list_worst_segments(card: ScorecardData, names: Sequence[str]) -> list[WorstSegment]:
    """The worst value of every segment column, with the metrics named; a column without any mean has none."""
    overall = {summary.metric: summary for summary in card.summaries}
    worst = []
    for column in card.segments:
        value = next(iter(rank_values(card, column, names)), None)
        if value is not None and value.has_mean(names):
            cells = tuple(_build_cell(value.summaries.get(name), overall[name]) for name in names)
            worst.append(WorstSegment(column, value.name, value.n, value.failed, cells))
    return worst


def _build_cell(summary: Summary | None, overall: Summary) -> tuple[str, str, bool]:
    if summary is None or summary.mean is None:
        return "–", "", False
    return format_value(summary.mean, summary.kind), interval(summary), is_clearly_worse(summary, overall)

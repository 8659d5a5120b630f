"""The values of the segment columns, where most failed first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.core.messages import number
from ragauge.rendering.words import clearly_worse, interval
from ragauge.scores.results.scorecard import ScorecardData, Summary


@dataclass(frozen=True, slots=True)
class SegmentValue:
    """One value of a segment column.

    Attributes:
        name: the value.
        n: its examples.
        failed: how many of them failed; None where that is not known.
        summaries: of its examples, by metric.
    """

    name: str
    n: int
    failed: int | None
    summaries: dict[str, Summary]

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


def ranked(card: ScorecardData, column: str, names: Sequence[str]) -> list[SegmentValue]:
    """The values of a column of which anything is known, that where the largest share failed first.

    Where as many failed, that which lies farther on the bad side of the mean over all examples comes first. Those that
    have a mean of none of these metrics come last.
    """
    failed = card.overview.causes_by_segment.get(column)
    values = []
    for name, summaries in card.segments[column].items():
        mine = {summary.metric: summary for summary in summaries}
        lost = None if failed is None else sum(failed.get(name, {}).values())
        value = SegmentValue(name, max((summary.n for summary in summaries), default=0), lost, mine)
        if value.n and (value.has_mean(names) or lost):
            values.append(value)
    return sorted(values, key=lambda value: (not value.has_mean(names), -(value.failed or 0) / value.n))


def worst_segments(card: ScorecardData, names: Sequence[str]) -> list[WorstSegment]:
    """The worst value of every segment column, with the metrics named; a column without any mean has none."""
    whole = {summary.metric: summary for summary in card.summaries}
    worst = []
    for column in card.segments:
        value = next(iter(ranked(card, column, names)), None)
        if value is not None and value.has_mean(names):
            cells = tuple(_cell(value.summaries.get(name), whole[name]) for name in names)
            worst.append(WorstSegment(column, value.name, value.n, value.failed, cells))
    return worst


def _cell(mine: Summary | None, whole: Summary) -> tuple[str, str, bool]:
    if mine is None or mine.mean is None:
        return "–", "", False
    return number(mine.mean, mine.kind), interval(mine), clearly_worse(mine, whole)

"""Where quality is lost: to retrieval, to generation; and what the model knew by itself.

Three runs of one system over the same examples, m a metric of the answers:

    oracle_gap(m)      = m on the labelled passages − m on own retrieval     what perfect retrieval would buy
    closed_book_gap(m) = m on own retrieval − m without passages             what retrieval buys
    rest(m)            = best value of m − m on the labelled passages        what is left for the generator

so that own + oracle_gap + rest = best, and closed book + closed_book_gap = own. Each is over the examples that both
runs scored, paired. Where lower is better, gaps that help are negative and the rest is 0 − m.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from ragauge.comparison.pairs import Pairs
from ragauge.metrics.base import Metric
from ragauge.scores.estimation import ScoreSample, interval_of_difference, interval_of_mean
from ragauge.scores.results.gap_rows import ClosedBook, MetricGaps, Oracle
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.segments import tidy
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import polars as pl

FEWEST = 5  # pairs of a segment; smaller ones are left out


Sides = tuple[Pairs | None, Pairs | None]  # own held against oracle, and against closed book


def measurable(metric: Metric) -> bool:
    """Whether gaps of a metric mean anything: it speaks of the answer, has a good side, and is no amount."""
    return metric.measures != "retrieval" and metric.direction != "neither" and all(map(isfinite, metric.range))


def best_of(metric: Metric) -> float:
    """The best value of a measurable metric."""
    return metric.range[0 if metric.direction == "lower" else 1]


def gaps_of(
    metric: Metric, against_oracle: Pairs | None, against_none: Pairs | None, level: float = 0.95
) -> MetricGaps:
    """One metric's gaps.

    Args:
        metric: one that is measurable.
        against_oracle: own scores (new) with those on the labelled passages (base).
        against_none: own scores (new) with those without passages (base).
        level: of the intervals.
    """
    return MetricGaps(
        str(metric),
        metric.direction,
        None if against_oracle is None or not len(against_oracle) else _oracle(metric, against_oracle, level),
        None if against_none is None or not len(against_none) else _closed_book(metric, against_none, level),
    )


def by_segment(
    of: Sequence[tuple[Metric, Sides]], segments: tuple[pl.DataFrame | None, pl.DataFrame | None], level: float = 0.95
) -> dict[str, dict[str, tuple[MetricGaps, ...]]]:
    """Column -> value -> gaps of each metric, in the order of the values' names.

    Args:
        of: metrics with their pairs.
        segments: for either side a frame with query_id and segment columns, a row an example of the own run, in the
            order of the numbers in `Pairs.query`; None without such a run.
        level: of the intervals.
    """
    frames = [None if frame is None else tidy(frame) for frame in segments]
    columns = dict.fromkeys(
        column for frame in frames if frame is not None for column in frame.columns if column != "query_id"
    )
    by_value: dict[str, dict[str, tuple[MetricGaps, ...]]] = {}
    for column in columns:
        values = sorted({value for frame in frames for value in _values(frame, column)})
        cells = {value: _cell(of, frames, column, value, level) for value in values}
        by_value[column] = {value: cell for value, cell in cells.items() if cell}
    return {column: cells for column, cells in by_value.items() if cells}


def _cell(
    of: Sequence[tuple[Metric, Sides]], frames: Sequence[pl.DataFrame | None], column: str, value: str, level: float
) -> tuple[MetricGaps, ...]:
    masks = [
        None if frame is None or column not in frame.columns else (frame[column] == value).to_numpy()
        for frame in frames
    ]
    gaps = []
    for metric, sides in of:
        parts = [
            pairs.within(mask) if pairs is not None and mask is not None else None
            for pairs, mask in zip(sides, masks, strict=True)
        ]
        kept = [part if part is not None and len(part) >= FEWEST else None for part in parts]
        if any(part is not None for part in kept):
            gaps.append(gaps_of(metric, kept[0], kept[1], level))
    return tuple(gaps)


def _values(frame: pl.DataFrame | None, column: str) -> list[str]:
    return [] if frame is None or column not in frame.columns else frame[column].unique().drop_nulls().to_list()


def _oracle(metric: Metric, pairs: Pairs, level: float) -> Oracle:
    own, oracle = pairs.means()
    best = best_of(metric)
    interval = _interval(metric, pairs, level)
    gap = MeanEstimate(oracle - own, _turned(interval, 0.0), len(pairs))  # the interval is of own − oracle
    rest = MeanEstimate(best - oracle, _turned(_of_base(metric, pairs, level), best), len(pairs))
    return Oracle(own, oracle, gap, rest, *_left_out(pairs))


def _closed_book(metric: Metric, pairs: Pairs, level: float) -> ClosedBook:
    own, alone = pairs.means()
    known = MeanEstimate(alone, _of_base(metric, pairs, level), len(pairs))
    gap = MeanEstimate(own - alone, _interval(metric, pairs, level), len(pairs))
    return ClosedBook(own, known, gap, *_left_out(pairs))


def _left_out(pairs: Pairs) -> tuple[int, int]:
    return int(pairs.failed.query.size), int(pairs.undefined.size)


def _interval(metric: Metric, pairs: Pairs, level: float) -> Interval | None:
    return interval_of_difference(*ScoreSample.pair(metric, pairs.new, pairs.base, pairs.weight, pairs.cluster), level)


def _of_base(metric: Metric, pairs: Pairs, level: float) -> Interval | None:
    return interval_of_mean(ScoreSample.of(metric, pairs.base, pairs.weight, pairs.cluster), level)


def _turned(interval: Interval | None, best: float) -> Interval | None:
    """The interval of best − x from that of x."""
    return (
        None
        if interval is None
        else Interval(best - interval.high, best - interval.low, interval.method, interval.level)
    )

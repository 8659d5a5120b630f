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
from ragauge.scores.estimation import ScoreSample, compute_difference_interval, compute_mean_interval
from ragauge.scores.results.overview import ClosedBook, MeanEstimate, MetricGaps, Oracle
from ragauge.scores.segments import tidy_segments
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import polars as pl

MIN_PAIRS = 5  # pairs of a segment; smaller ones are left out


PairsByVariant = tuple[Pairs | None, Pairs | None]  # own held against oracle, and against closed book


def can_have_gaps(metric: Metric) -> bool:
    """Whether gaps of a metric mean anything: it speaks of the answer, has a good side, and is no amount."""
    return metric.measures != "retrieval" and metric.direction != "neither" and all(map(isfinite, metric.range))


def find_best_value(metric: Metric) -> float:
    """The best value of a measurable metric."""
    return metric.range[0 if metric.direction == "lower" else 1]


def compute_metric_gaps(
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
        None if against_oracle is None or not len(against_oracle) else _build_oracle(metric, against_oracle, level),
        None if against_none is None or not len(against_none) else _build_closed_book(metric, against_none, level),
    )


def compute_segment_gaps(
    metric_pairs: Sequence[tuple[Metric, PairsByVariant]],
    segments: tuple[pl.DataFrame | None, pl.DataFrame | None],
    level: float = 0.95,
) -> dict[str, dict[str, tuple[MetricGaps, ...]]]:
    """Column -> value -> gaps of each metric, in the order of the values' names.

    Args:
        metric_pairs: metrics with their pairs.
        segments: for either side a frame with query_id and segment columns, a row an example of the own run, in the
            order of the numbers in `Pairs.query`; None without such a run.
        level: of the intervals.
    """
    frames = [None if frame is None else tidy_segments(frame) for frame in segments]
    columns = dict.fromkeys(
        column for frame in frames if frame is not None for column in frame.columns if column != "query_id"
    )
    by_value: dict[str, dict[str, tuple[MetricGaps, ...]]] = {}
    for column in columns:
        values = sorted({value for frame in frames for value in _list_values(frame, column)})
        cells = {value: _compute_cell_gaps(metric_pairs, frames, column, value, level) for value in values}
        by_value[column] = {value: cell for value, cell in cells.items() if cell}
    return {column: cells for column, cells in by_value.items() if cells}


def _compute_cell_gaps(
    metric_pairs: Sequence[tuple[Metric, PairsByVariant]],
    frames: Sequence[pl.DataFrame | None],
    column: str,
    value: str,
    level: float,
) -> tuple[MetricGaps, ...]:
    masks = [
        None if frame is None or column not in frame.columns else (frame[column] == value).to_numpy()
        for frame in frames
    ]
    gaps = []
    for metric, variant_pairs in metric_pairs:
        segment_pairs = [
            pairs.select_examples(mask) if pairs is not None and mask is not None else None
            for pairs, mask in zip(variant_pairs, masks, strict=True)
        ]
        large_enough = [
            in_segment if in_segment is not None and len(in_segment) >= MIN_PAIRS else None
            for in_segment in segment_pairs
        ]
        if any(in_segment is not None for in_segment in large_enough):
            gaps.append(compute_metric_gaps(metric, large_enough[0], large_enough[1], level))
    return tuple(gaps)


def _list_values(frame: pl.DataFrame | None, column: str) -> list[str]:
    return [] if frame is None or column not in frame.columns else frame[column].unique().drop_nulls().to_list()


def _build_oracle(metric: Metric, pairs: Pairs, level: float) -> Oracle:
    own_mean, oracle_mean = pairs.means()
    best = find_best_value(metric)
    interval = _compute_interval(metric, pairs, level)
    gap = MeanEstimate(oracle_mean - own_mean, _reflect_interval(interval, 0.0), len(pairs))  # it is of own − oracle
    of_generator = _reflect_interval(_compute_base_interval(metric, pairs, level), best)
    generator_gap = MeanEstimate(best - oracle_mean, of_generator, len(pairs))
    return Oracle(own_mean, oracle_mean, gap, generator_gap, *_count_left_out(pairs))


def _build_closed_book(metric: Metric, pairs: Pairs, level: float) -> ClosedBook:
    own_mean, alone_mean = pairs.means()
    alone_estimate = MeanEstimate(alone_mean, _compute_base_interval(metric, pairs, level), len(pairs))
    gap = MeanEstimate(own_mean - alone_mean, _compute_interval(metric, pairs, level), len(pairs))
    return ClosedBook(own_mean, alone_estimate, gap, *_count_left_out(pairs))


def _count_left_out(pairs: Pairs) -> tuple[int, int]:
    return int(pairs.failed.query.size), int(pairs.undefined.size)


def _compute_interval(metric: Metric, pairs: Pairs, level: float) -> Interval | None:
    return compute_difference_interval(
        *ScoreSample.from_pairs(metric, pairs.new, pairs.base, pairs.weight, pairs.cluster), level
    )


def _compute_base_interval(metric: Metric, pairs: Pairs, level: float) -> Interval | None:
    return compute_mean_interval(ScoreSample.of(metric, pairs.base, pairs.weight, pairs.cluster), level)


def _reflect_interval(interval: Interval | None, best: float) -> Interval | None:
    """The interval of best − x from that of x."""
    if interval is None:
        return None
    return Interval(best - interval.high, best - interval.low, interval.method, interval.level)

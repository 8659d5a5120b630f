"""Scores of a run -> one summary a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from ragauge.metrics.base import Metric
from ragauge.scores.arrays import (
    FAILED,
    NOT_APPLICABLE,
    NOT_READ,
    SCORED,
    UNDEFINED,
    Columns,
    ScoreArrays,
    ScoreColumns,
    by_example,
)
from ragauge.scores.estimation import ScoreSample, interval_of_mean, judged_mean, quantiles, rectified
from ragauge.scores.results.scorecard import Summary
from ragauge.stats.judge_error import JudgeMeanError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]
    Rows = npt.NDArray[np.intp]

QUANTILES = (0.5, 0.95, 0.99)
NO_ERRORS: Mapping[str, JudgeMeanError] = {}  # nobody judged, or nothing is known of how far the judge errs
MOST_REASONS = 20


def summarize(
    scores: pl.DataFrame | ScoreColumns,
    metrics: Sequence[Metric],
    *,
    level: float = 0.95,
    errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
) -> tuple[Summary, ...]:
    """One summary a metric, in the order of the metrics.

    mean = Σ wᵢxᵢ / Σ wᵢ over the scored examples (macro), its interval by `estimating.interval_of_mean`.
    micro = Σ wᵢ·numeratorᵢ / Σ wᵢ·denominatorᵢ, for ratios of the layers generation and end_to_end: there the
    denominators are claims or citations, and the ratio is a share of all of them. Label metrics such as recall@k
    have none: a share of all labelled documents speaks of the few questions that have many.
    low and high = the least and the greatest mean that the failed scores allow: each at its lowest or highest possible
    value, or left out where that goes further still, since a failed score might have been undefined. So
    low <= mean <= high, and no failure makes low better.

    A mean is None when nothing is scored; no field is ever NaN. A metric without scores has n = 0.

    Args:
        scores: a score frame (see `frames.score_frame`), or columns.
        metrics: what to summarise; their kind, range and direction decide how.
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.
    """
    import polars as pl

    columns = ScoreArrays.of(scores) if isinstance(scores, pl.DataFrame) else scores
    found = ((metric, columns.column(str(metric))) for metric in metrics)
    return tuple(
        summary(metric, None if one is None else by_example(one), level, errors.get(str(metric)))
        for metric, one in found
    )


def summary(
    metric: Metric, columns: Columns | None, level: float = 0.95, error: JudgeMeanError | None = None
) -> Summary:
    """The summary of one metric over the examples of its columns, which stand there once each.

    Args:
        metric: whose scores.
        columns: one entry an example; None = it has none.
        level: of the intervals.
        error: how far the judge errs on this metric; None = nobody judged, or not known.
    """
    import numpy as np

    named = (str(metric), metric.measures, metric.direction, metric.scale)
    if columns is None or not columns.status.size:
        return Summary(*named, n=0, scored=0, undefined=0, not_applicable=0, failed=0, mean=None, interval=None)
    counts = np.bincount(columns.status, minlength=5)
    scored = np.flatnonzero(columns.status == SCORED)
    values, weights = columns.value[scored], None if columns.weight is None else columns.weight[scored]
    total, size = _sum(values, weights), _sum(None, weights, scored.size)
    clusters = None if columns.cluster is None else columns.cluster[scored]
    sample = ScoreSample.of(metric, values, weights, clusters)
    interval = interval_of_mean(sample, level)
    people, inclusion = (None if one is None else one[scored] for one in (columns.people, columns.inclusion))
    failed = columns.take(np.flatnonzero(columns.status == FAILED))
    mean = total / size if size > 0 else None
    own = Summary(
        *named,
        n=int(columns.status.size),
        scored=int(counts[SCORED]),
        undefined=int(counts[UNDEFINED]),
        not_applicable=int(counts[NOT_APPLICABLE]),
        failed=int(counts[FAILED]),
        not_read=int(counts[NOT_READ]),
        mean=mean,
        interval=interval,
        micro=_micro(columns, scored) if metric.measures != "retrieval" and metric.scale == "mean" else None,
        low=extreme(failed.low, failed.weight, metric.range[0], total, size),
        high=extreme(failed.high, failed.weight, metric.range[1], total, size, sign=-1.0),
        quantiles=_quantiles(values, weights) if metric.scale == "amount" else {},
        reasons=_reasons(columns, columns.status != SCORED) if scored.size < columns.status.size else {},
        failure=next(iter(_reasons(columns, columns.status == FAILED)), "") if counts[FAILED] else "",
        judged=judged_mean(interval, mean, error, values, weights),
    )
    return own.corrected_by(rectified(sample, people, inclusion, level))


def _sum(values: Floats | None, weights: Floats | None, n: int = 0) -> float:
    """Weighted sum of values, or of the weights alone; n where all weights are alike."""
    if weights is None:
        return float(n) if values is None else float(values.sum())
    return float(weights.sum()) if values is None else float((weights * values).sum())


def _micro(columns: Columns, scored: Rows) -> float | None:
    import numpy as np

    weights = columns.weight if columns.weight is None else columns.weight[scored]
    above, below = columns.numerator[scored], columns.denominator[scored]
    known = np.isfinite(above) & np.isfinite(below)
    if not known.all():
        weights, above, below = None if weights is None else weights[known], above[known], below[known]
    whole = _sum(below, weights)
    return _sum(above, weights) / whole if whole > 0 else None


def extreme(
    ends: Floats, weights: Floats | None, end: float, total: float, size: float, sign: float = 1.0
) -> float | None:
    """The least mean, or with sign −1 the greatest, that the failed scores allow; None where it has no bound.

    Each failed score lies at its end, or is left out where that goes further still.

    Args:
        ends: each failed score's lowest (highest) value; NaN = the range's end.
        weights: of the failed scores.
        end: of the metric's range.
        total: weighted sum of the scored values.
        size: sum of their weights.
        sign: 1 for the least, −1 for the greatest.
    """
    import numpy as np

    reached = np.where(np.isnan(ends), end, ends)
    if not np.isfinite(reached).all():
        return None
    order = np.argsort(sign * reached)
    reached, weight = reached[order], np.ones(reached.size) if weights is None else weights[order]
    totals = np.cumsum(np.concatenate([[total], weight * reached]))
    sizes = np.cumsum(np.concatenate([[size], weight]))
    means = totals[sizes > 0] / sizes[sizes > 0]
    return float(sign * (sign * means).min()) if means.size else None


def _quantiles(values: Floats, weights: Floats | None) -> dict[float, float]:
    """Interpolated between values; with weights the least value that reaches the share."""
    found = quantiles(values, QUANTILES, weights) if values.size else ()
    return {q: value for q, value in zip(QUANTILES, found, strict=False) if isfinite(value)}


def _reasons(columns: Columns, of: Any) -> dict[str, int]:
    """Why some scores have no value, most frequent first; what is left of a long list is counted together."""
    import numpy as np

    codes, counts = np.unique(columns.reason[of], return_counts=True)
    texts = (columns.reasons[code] or "no reason given" for code in codes)
    every = [(text, int(count)) for text, count in zip(texts, counts, strict=True)]
    found = sorted(every, key=lambda item: (-item[1], item[0]))
    shown = dict(found[:MOST_REASONS])
    rest = sum(count for _, count in found[MOST_REASONS:])
    return shown | ({"other reasons": rest} if rest else {})

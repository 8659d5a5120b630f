"""Scores as frames, and one summary a metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from ragauge.core.score import Score, build_score_table
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
    merge_repeats,
    number_values,
)
from ragauge.scores.estimation import (
    ScoreSample,
    compute_judged_mean,
    compute_mean_interval,
    compute_quantiles,
    correct_mean,
)
from ragauge.scores.results.scorecard import Cause, Summary
from ragauge.stats.judge_error import JudgeMeanError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from ragauge.scores.arrays import Codes

    Floats = npt.NDArray[np.float64]
    Rows = npt.NDArray[np.intp]
    Integers = npt.NDArray[np.integer]


QUANTILES = (0.5, 0.95, 0.99)
NO_ERRORS: Mapping[str, JudgeMeanError] = {}  # nobody judged, or nothing is known of how far the judge errs
MAX_REASONS = 20


def summarize_scores(
    scores: pl.DataFrame | ScoreColumns,
    metrics: Sequence[Metric],
    *,
    level: float = 0.95,
    errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
) -> tuple[Summary, ...]:
    """One summary a metric, in the order of the metrics.

    mean = Σ wᵢxᵢ / Σ wᵢ over the scored examples (macro), its interval by `estimation.compute_mean_interval`.
    micro = Σ wᵢ·numeratorᵢ / Σ wᵢ·denominatorᵢ, for ratios of the layers generation and end_to_end: there the
    denominators are claims or citations, and the ratio is a share of all of them. Label metrics such as recall@k
    have none: a share of all labelled documents speaks of the few questions that have many.
    low and high = the least and the greatest mean that the failed scores allow: each at its lowest or highest possible
    value, or left out where that goes further still, since a failed score might have been undefined. So
    low <= mean <= high, and no failure makes low better.

    A mean is None when nothing is scored; no field is ever NaN. A metric without scores has n = 0.

    Args:
        scores: a score frame (see `summarize.build_score_frame`), or columns.
        metrics: what to summarise; their kind, range and direction decide how.
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.
    """
    import polars as pl

    columns = ScoreArrays.of(scores) if isinstance(scores, pl.DataFrame) else scores
    columns_by_metric = ((metric, columns.column(str(metric))) for metric in metrics)
    return tuple(
        summarize_metric(
            metric, None if metric_columns is None else merge_repeats(metric_columns), level, errors.get(str(metric))
        )
        for metric, metric_columns in columns_by_metric
    )


def summarize_metric(
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

    identity = (str(metric), metric.measures, metric.direction, metric.scale)
    if columns is None or not columns.status.size:
        return Summary(*identity, n=0, scored=0, undefined=0, not_applicable=0, failed=0, mean=None, interval=None)
    counts = np.bincount(columns.status, minlength=5)
    scored = np.flatnonzero(columns.status == SCORED)
    values, weights = columns.value[scored], None if columns.weight is None else columns.weight[scored]
    total, size = _weighted_sum(values, weights), _weighted_sum(None, weights, scored.size)
    clusters = None if columns.cluster is None else columns.cluster[scored]
    sample = ScoreSample.of(metric, values, weights, clusters)
    interval = compute_mean_interval(sample, level)
    people, inclusion = (
        None if values_or_none is None else values_or_none[scored]
        for values_or_none in (columns.people, columns.inclusion)
    )
    failed = columns.take(np.flatnonzero(columns.status == FAILED))
    mean = total / size if size > 0 else None
    uncorrected = Summary(
        *identity,
        n=int(columns.status.size),
        scored=int(counts[SCORED]),
        undefined=int(counts[UNDEFINED]),
        not_applicable=int(counts[NOT_APPLICABLE]),
        failed=int(counts[FAILED]),
        not_read=int(counts[NOT_READ]),
        mean=mean,
        interval=interval,
        micro=_compute_micro(columns, scored) if metric.measures != "retrieval" and metric.scale == "mean" else None,
        low=bound_mean(failed.low, failed.weight, metric.range[0], total, size),
        high=bound_mean(failed.high, failed.weight, metric.range[1], total, size, sign=-1.0),
        quantiles=_compute_quantiles(values, weights) if metric.scale == "amount" else {},
        reasons=_count_reasons(columns, columns.status != SCORED) if scored.size < columns.status.size else {},
        failure=next(iter(_count_reasons(columns, columns.status == FAILED)), "") if counts[FAILED] else "",
        judged=compute_judged_mean(interval, mean, error, values, weights),
    )
    return uncorrected.correct_with(correct_mean(sample, people, inclusion, level))


def _weighted_sum(values: Floats | None, weights: Floats | None, n: int = 0) -> float:
    """Weighted sum of values, or of the weights alone; n where all weights are alike."""
    if weights is None:
        return float(n) if values is None else float(values.sum())
    return float(weights.sum()) if values is None else float((weights * values).sum())


def _compute_micro(columns: Columns, scored: Rows) -> float | None:
    import numpy as np

    weights = columns.weight if columns.weight is None else columns.weight[scored]
    above, below = columns.numerator[scored], columns.denominator[scored]
    finite = np.isfinite(above) & np.isfinite(below)
    if not finite.all():
        weights, above, below = None if weights is None else weights[finite], above[finite], below[finite]
    total = _weighted_sum(below, weights)
    return _weighted_sum(above, weights) / total if total > 0 else None


def bound_mean(
    bounds: Floats, weights: Floats | None, range_limit: float, total: float, size: float, sign: float = 1.0
) -> float | None:
    """The least mean, or with sign −1 the greatest, that the failed scores allow; None where it has no bound.

    Each failed score lies at its end, or is left out where that goes further still.

    Args:
        bounds: each failed score's lowest (highest) value; NaN = the range's end.
        weights: of the failed scores.
        range_limit: of the metric's range.
        total: weighted sum of the scored values.
        size: sum of their weights.
        sign: 1 for the least, −1 for the greatest.
    """
    import numpy as np

    reached = np.where(np.isnan(bounds), range_limit, bounds)
    if not np.isfinite(reached).all():
        return None
    order = np.argsort(sign * reached)
    reached, weight = reached[order], np.ones(reached.size) if weights is None else weights[order]
    totals = np.cumsum(np.concatenate([[total], weight * reached]))
    sizes = np.cumsum(np.concatenate([[size], weight]))
    means = totals[sizes > 0] / sizes[sizes > 0]
    return float(sign * (sign * means).min()) if means.size else None


def _compute_quantiles(values: Floats, weights: Floats | None) -> dict[float, float]:
    """Interpolated between values; with weights the least value that reaches the share."""
    estimates = compute_quantiles(values, QUANTILES, weights) if values.size else ()
    return {q: value for q, value in zip(QUANTILES, estimates, strict=False) if isfinite(value)}


def _count_reasons(columns: Columns, mask: Any) -> dict[str, int]:
    """Why some scores have no value, most frequent first; what is left of a long list is counted together."""
    import numpy as np

    codes, counts = np.unique(columns.reason[mask], return_counts=True)
    texts = (columns.reasons[code] or "no reason given" for code in codes)
    every = [(text, int(count)) for text, count in zip(texts, counts, strict=True)]
    ranked = sorted(every, key=lambda item: (-item[1], item[0]))
    visible = dict(ranked[:MAX_REASONS])
    remaining = sum(count for _, count in ranked[MAX_REASONS:])
    return visible | ({"other reasons": remaining} if remaining else {})


BATCH_SIZE_CAUSES = 500  # causes held as Python objects


def build_score_frame(
    scores: Iterable[Score],
    weights: Mapping[tuple[str, int], float] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Scores as a table, one row a response and metric, as `summarize` reads them.

    Columns: those of `data.score_table`, and weight and cluster.

    Args:
        scores: of one run, one judge and one asking of it.
        weights: (query_id, repeat) -> how many real requests a response stands for; absent = 1.
        clusters: query_id -> what its example depends on; absent = nothing.
    """
    import polars as pl

    rows, weights, clusters = list(scores), weights or {}, clusters or {}
    weight = [weights.get((score.query_id, score.repeat), 1.0) for score in rows]
    cluster = [clusters.get(score.query_id) for score in rows]
    return build_score_table(rows).with_columns(
        pl.Series("weight", weight, dtype=pl.Float64), pl.Series("cluster", cluster, dtype=pl.String)
    )


def build_cause_frame(causes: Iterable[tuple[str, int, Cause | None]]) -> pl.DataFrame:
    """Causes as a table, one row a failed response; what did not fail (None) is left out.

    Columns: query_id, repeat, cause, component, second, decided_by, lacking (a list), basis, p, shown_by.
    """
    import polars as pl

    text = pl.String
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "query_id": text,
        "repeat": pl.Int64,
        "cause": text,
        "component": text,
        "second": text,
        "decided_by": text,
        "lacking": pl.List(text),
        "basis": text,
        "p": pl.Float64,
        "shown_by": text,
    }
    rows = (
        (query_id, repeat, c.name, c.component, c.second, c.decided_by, list(c.lacking), c.basis, c.p, c.shown_by)
        for query_id, repeat, c in causes
        if c is not None
    )
    frames = [pl.DataFrame([], schema=schema)]
    while batch := list(islice(rows, BATCH_SIZE_CAUSES)):  # as objects the rows take ten times the room
        frames.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(frames)


def select_failures(causes: pl.DataFrame) -> pl.DataFrame:
    """One row a failed example: the most frequent cause among its failed repeats, the first repeat's among equals."""
    ids, query = number_values(causes["query_id"])
    rows = find_first_failures(
        ids, query.to_numpy(), causes["repeat"].to_numpy(), number_values(causes["cause"])[1].to_numpy()
    )
    return causes if rows is None else causes[rows]


def find_first_failures(ids: Sequence[str], query: Integers, repeat: Integers, cause: Integers) -> Codes | None:
    """The failed response that stands for each failed example, as `select_failures` says; None = every one of them.

    Args:
        ids: of the examples, by number.
        query: shape (n,), number of the example.
        repeat: shape (n,).
        cause: shape (n,), number of the cause.
    """
    import numpy as np

    if not repeat.any():
        return None
    _, pair, times = np.unique(
        query.astype(np.int64) * (int(cause.max()) + 1) + cause, return_inverse=True, return_counts=True
    )
    first = np.full(times.size, repeat.max())
    np.minimum.at(first, pair, repeat)
    failed_queries = np.unique(query).tolist()
    rank = np.zeros(len(ids), dtype=np.int64)
    rank[sorted(failed_queries, key=ids.__getitem__)] = np.arange(len(failed_queries))
    order = np.lexsort((repeat, first[pair], -times[pair], rank[query]))
    sorted_queries = query[order]
    selected: Codes = order[np.append(True, sorted_queries[1:] != sorted_queries[:-1])]
    return selected

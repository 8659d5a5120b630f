"""Means of the trials of a study: over all examples and by segment, with differences to a base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.core.errors import DataError
from ragauge.core.score import STATUSES
from ragauge.core.study import Measurement, Trial
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import Columns, ScoreColumns, merge_repeats
from ragauge.scores.estimation import (
    ScoreSample,
    compute_difference_interval,
    compute_mean_interval,
    run_difference_test,
)
from ragauge.stats.families import benjamini_hochberg, holm
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

ALL = ""


@dataclass(frozen=True, slots=True)
class TrialMean:
    """One metric of one trial, over all examples or those of a segment."""

    trial: str  #: its name.
    metric: str  #: printed name.
    segment: str  #: "" for all examples, else column=value.
    mean: float | None  #: None where nothing is scored.
    interval: Interval | None  #: of the mean.
    counts: Mapping[str, int]  #: status -> examples.
    difference: float | None = None  #: to the base trial, paired; None for the base itself and without one.
    difference_interval: Interval | None = None  #: of the difference.
    #: of the difference. Over all examples corrected by Holm over the trials alone; in segments by Benjamini and
    #: Hochberg over trials and segments, so that looking closely costs the main answer nothing.
    p_value: float | None = None


def compute_trial_means(
    scores: Mapping[str, ScoreColumns], metric: Metric, *, base: str = "", segments: Mapping[str, Mask] | None = None
) -> list[TrialMean]:
    """Means of a metric, a trial and segment each; with a base, paired differences.

    The differences over all examples are one family (Holm), those in segments another (Benjamini and Hochberg).

    Args:
        scores: trial -> its scores; of the same examples in the same order.
        metric: which.
        base: the trial that others are held against; "" = none.
        segments: column=value -> which examples; all examples come first.
    """
    import numpy as np

    means: list[TrialMean] = []
    columns = {trial: get_score_column(trial_scores, str(metric)) for trial, trial_scores in scores.items()}
    index = next(iter(scores.values())).index
    every: Mapping[str, Mask] = {ALL: np.ones(len(index.query_ids), dtype=bool), **(segments or {})}
    for segment, mask in every.items():
        for trial, column in columns.items():
            base_column = columns[base] if base and trial != base else None
            means.append(_compute_mean(trial, metric, segment, column, base_column, mask))
    for overall, corrected in ((True, holm), (False, benjamini_hochberg)):
        family = [n for n, mean in enumerate(means) if mean.p_value is not None and (mean.segment == ALL) == overall]
        for n, p in zip(family, corrected([means[n].p_value or 0.0 for n in family]), strict=True):
            means[n] = replace(means[n], p_value=p)
    return means


def build_measured_means(trials: Sequence[Trial], name: str) -> tuple[TrialMean, ...]:
    """A measurement of each trial in the form of a mean, for trials that have no scores."""
    means = []
    for trial in trials:
        by_name = (measurement for measurement in trial.measurements if measurement.name == name)
        measured = next(by_name, Measurement(name, None))
        interval = None
        if measured.value is not None and measured.low is not None and measured.high is not None:
            interval = Interval(measured.low, measured.high, "measured")
        counts: dict[str, int] = dict.fromkeys(STATUSES, 0)
        counts["scored"] = measured.n if measured.value is not None else 0
        means.append(TrialMean(trial.name, name, ALL, measured.value, interval, counts))
    return tuple(means)


def get_score_column(scores: ScoreColumns, metric: str) -> Columns:
    """The scores of a trial by one metric, an entry an example; DataError where it has none."""
    column = scores.column(metric)
    if column is None:
        raise DataError(f"a trial has no {metric} score.", hint="Choose a metric that all trials have.")
    return merge_repeats(column)


def _compute_mean(
    trial: str, metric: Metric, segment: str, column: Columns, base: Columns | None, mask: Mask
) -> TrialMean:
    import numpy as np

    here = mask[column.query]
    status, value = column.status[here], column.value[here]
    cluster = None if column.cluster is None else column.cluster[here]
    counts: dict[str, int] = {name: int((status == code).sum()) for code, name in enumerate(STATUSES)}
    scored = ~np.isnan(value)
    clusters = None if cluster is None else cluster[scored]
    interval = compute_mean_interval(ScoreSample.of(metric, value[scored], clusters=clusters))
    mean = float(value[scored].mean()) if scored.any() else None
    if base is None:
        return TrialMean(trial, str(metric), segment, mean, interval, counts)
    other = base.value[here]
    both = scored & ~np.isnan(other)
    if both.sum() < 2:
        return TrialMean(trial, str(metric), segment, mean, interval, counts)
    pairs = ScoreSample.from_pairs(metric, value[both], other[both], None, None if cluster is None else cluster[both])
    tested = run_difference_test(*pairs)
    return TrialMean(
        trial,
        str(metric),
        segment,
        mean,
        interval,
        counts,
        float((value[both] - other[both]).mean()),
        compute_difference_interval(*pairs),
        None if tested is None else tested.p_value,
    )

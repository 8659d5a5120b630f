"""Tests of a sweep's trials against its base that never contradict which trials may be the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.metrics.base import Metric
from ragauge.scores.arrays import ScoreColumns
from ragauge.stats.families import compute_p_values_against, plan_checkpoints, spend_alpha
from ragauge.studies.means import ALL, TrialMean, get_score_column
from ragauge.studies.objective import compute_score_span
from ragauge.studies.trial_summary import StudyReading, compute_column_bounds

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ALPHA = 0.05  # of the set that may be the best, over all looks of a race
JUST_ABOVE = 0.0501  # the least p-value of what may be the best, where its draws round otherwise


def compute_look_shares(n: int, *, raced: bool) -> tuple[float, ...]:
    """The chance of an error that each look at n examples (clusters) may spend; without a race there is one look."""
    stops = plan_checkpoints(n) if raced else (n,)
    return spend_alpha([stop / n for stop in stops], ALPHA)


def add_base_tests(
    means: Sequence[TrialMean],
    scores: Mapping[str, ScoreColumns],
    metric: Metric,
    base: str,
    reading: StudyReading,
    *,
    raced: bool,
) -> tuple[TrialMean, ...]:
    """The means over all examples with p-values of the test that decides which trials may be the best.

    p = one-sided, corrected over all rivals of the worse of the two, and over the looks of a race

    So p lies below .05 only where the better of the pair surely beats the other, which then is not in the best set.

    Args:
        means: of the trials, with differences to the base.
        scores: trial -> its scores.
        metric: what decides.
        base: the trial that others are compared with.
        reading: what was decided.
        raced: whether there were looks on the way.
    """
    import numpy as np

    names = [name for name in reading.trials if name in scores]
    if base not in names:
        return tuple(means)
    columns = [get_score_column(scores[name], str(metric)) for name in names]
    low, high = compute_column_bounds(columns, metric)
    base_index, clusters = names.index(base), columns[0].cluster
    one_sided = compute_p_values_against(low, base_index, high, clusters=clusters, span=compute_score_span(metric))
    n = len(low) if clusters is None else len(np.unique(clusters))
    scale = ALPHA / compute_look_shares(n, raced=raced)[-1]
    better = _compare_with_base(low, high, base_index)
    p_values = {
        name: None if p is None else _align_p_value(min(1.0, p * scale), base if better[j] else name, reading)
        for j, (name, p) in enumerate(zip(names, one_sided, strict=True))
    }
    return tuple(
        replace(mean, p_value=p_values.get(mean.trial)) if mean.segment == ALL and mean.difference is not None else mean
        for mean in means
    )


def _compare_with_base(low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], base_index: int) -> list[bool]:
    """Which columns are better than the one at `base_index` by the examples that both have."""
    import numpy as np

    gaps = low - high[:, [base_index]]
    return [bool(np.nansum(gaps[:, j]) > 0) for j in range(low.shape[1])]


def _align_p_value(p: float, worse: str, reading: StudyReading) -> float:
    """The p-value on the side of .05 that the decision took, where the two differ by rounding of their draws."""
    return max(p, JUST_ABOVE) if worse in reading.best_set else p

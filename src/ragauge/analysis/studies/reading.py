"""What the trials of a study say together: means, differences to a base, which may be best, which to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from ragauge.analysis.estimating import ScoreSample, difference_test, interval_of_difference, interval_of_mean
from ragauge.analysis.scores.arrays import Columns, ScoreColumns, by_example
from ragauge.analysis.studies.front import Knee, knee, pareto_front
from ragauge.data.score import STATUSES
from ragauge.errors import DataError
from ragauge.metrics.base import Metric
from ragauge.stats.families import holm
from ragauge.stats.max_t import may_be_best
from ragauge.stats.result import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

ALL = ""


@dataclass(frozen=True, slots=True)
class TrialMean:
    """One metric of one trial, over all examples or those of a segment.

    Attributes:
        trial: its name.
        metric: printed name.
        segment: "" for all examples, else column=value.
        mean: None where nothing is scored.
        interval: of the mean.
        counts: status -> examples.
        difference: to the base trial, paired; None for the base itself and without one.
        difference_interval: of the difference.
        p_value: of the difference, corrected by Holm over the trials and segments of the metric.
    """

    trial: str
    metric: str
    segment: str
    mean: float | None
    interval: Interval | None
    counts: Mapping[str, int]
    difference: float | None = None
    difference_interval: Interval | None = None
    p_value: float | None = None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Which trial to take.

    Attributes:
        trial: its name; None = not enough data, or none will do.
        reason: one sentence.
        examples: about how many would decide; None where that is not the question.
    """

    trial: str | None
    reason: str
    examples: int | None = None


@dataclass(frozen=True, slots=True)
class StudyReading:
    """What is decided by one metric against one cost.

    Attributes:
        metric: what trials are held to.
        cost: the measurement that says what they cost.
        best_set: trials that may be the best, the confidence being 95 %.
        front: trials that no other beats in metric and cost, the cheapest first.
        knee: of the front, trials by their number in `trials`.
        trials: names, in order.
        recommendation: which to take.
    """

    metric: str
    cost: str
    best_set: tuple[str, ...]
    front: tuple[str, ...]
    knee: Knee
    trials: tuple[str, ...]
    recommendation: Recommendation


def trial_means(
    scores: Mapping[str, ScoreColumns], metric: Metric, *, base: str = "", segments: Mapping[str, Mask] | None = None
) -> list[TrialMean]:
    """Means of a metric, a trial and segment each; with a base, paired differences corrected as one family.

    Args:
        scores: trial -> its scores; of the same examples in the same order.
        metric: which.
        base: the trial that others are held against; "" = none.
        segments: column=value -> which examples; all examples come first.
    """
    import numpy as np

    found: list[TrialMean] = []
    columns = {trial: _column(one, str(metric)) for trial, one in scores.items()}
    index = next(iter(scores.values())).index
    every: Mapping[str, Mask] = {ALL: np.ones(len(index.query_ids), dtype=bool), **(segments or {})}
    for segment, mask in every.items():
        for trial, column in columns.items():
            there = columns[base] if base and trial != base else None
            found.append(_mean(trial, metric, segment, column, there, mask))
    tested = [n for n, one in enumerate(found) if one.p_value is not None]
    for n, p in zip(tested, holm([found[n].p_value or 0.0 for n in tested]), strict=True):
        one = found[n]
        found[n] = TrialMean(
            one.trial, one.metric, one.segment, one.mean, one.interval, one.counts, one.difference,
            one.difference_interval, p,
        )     # fmt: skip
    return found


def read_trials(
    scores: Mapping[str, ScoreColumns], metric: Metric, cost: str, costs: Mapping[str, float], *,
    target: float | None = None, logarithmic: bool = False,
) -> StudyReading:     # fmt: skip
    """Which trials may be best by a metric, which none beats at their cost, and which to take.

    Args:
        scores: trial -> its scores; of the same examples in the same order.
        metric: which; where lower is better its sign is turned.
        cost: the name of the cost.
        costs: trial -> what it costs.
        target: take the cheapest whose interval lies above this value; None = the cheapest that may be best.
        logarithmic: look for the knee on the logarithm of cost.
    """
    import numpy as np

    names, sign = tuple(scores), -1.0 if metric.direction == "lower" else 1.0
    columns = [_column(one, str(metric)) for one in scores.values()]
    values = sign * np.column_stack([one.value for one in columns])
    clusters = columns[0].cluster
    marks = may_be_best(values, clusters)
    best = tuple(name for name, stays in zip(names, marks, strict=True) if stays)
    whole = ~np.isnan(values).any(axis=1)
    means = values[whole].mean(axis=0).tolist() if whole.any() else [0.0] * len(names)
    prices = [costs[name] for name in names]
    front = tuple(names[n] for n in pareto_front(means, prices))
    bend = knee(values, prices, clusters, logarithmic=logarithmic)
    if target is None:
        taken = _cheapest_of_best(best, costs, cost, int(whole.sum()))
    else:
        taken = _cheapest_above(trial_means(scores, metric), costs, metric, target)
    return StudyReading(str(metric), cost, best, front, bend, names, taken)


def _column(scores: ScoreColumns, metric: str) -> Columns:
    found = scores.column(metric)
    if found is None:
        raise DataError(f"a trial has no score of {metric}.", hint="Name a metric that all trials have.")
    return by_example(found)


def _mean(
    trial: str, metric: Metric, segment: str, column: Columns, base: Columns | None, mask: Mask
) -> TrialMean:
    import numpy as np

    here = mask[column.query]
    status, value = column.status[here], column.value[here]
    cluster = None if column.cluster is None else column.cluster[here]
    counts: dict[str, int] = {name: int((status == code).sum()) for code, name in enumerate(STATUSES)}
    scored = ~np.isnan(value)
    clusters = None if cluster is None else cluster[scored]
    interval = interval_of_mean(ScoreSample.of(metric, value[scored], clusters=clusters))
    mean = float(value[scored].mean()) if scored.any() else None
    if base is None:
        return TrialMean(trial, str(metric), segment, mean, interval, counts)
    other = base.value[here]
    both = scored & ~np.isnan(other)
    if both.sum() < 2:
        return TrialMean(trial, str(metric), segment, mean, interval, counts)
    pairs = ScoreSample.pair(metric, value[both], other[both], None, None if cluster is None else cluster[both])
    tested = difference_test(*pairs)
    return TrialMean(
        trial, str(metric), segment, mean, interval, counts, float((value[both] - other[both]).mean()),
        interval_of_difference(*pairs), None if tested is None else tested.p_value,
    )     # fmt: skip


def _cheapest_of_best(best: Sequence[str], costs: Mapping[str, float], cost: str, n: int) -> Recommendation:
    if n < 2:
        return Recommendation(None, "not enough data: fewer than two examples are scored in every trial")
    taken = min(best, key=lambda name: costs[name])
    if len(best) == 1:
        return Recommendation(taken, "it is the best, the confidence being 95 %")
    return Recommendation(taken, f"the cheapest by {cost} of the {len(best)} that may be the best")


def _cheapest_above(
    means: Sequence[TrialMean], costs: Mapping[str, float], metric: Metric, target: float
) -> Recommendation:
    lower = metric.direction == "lower"
    known = [(one, one.mean, one.interval) for one in means if one.mean is not None and one.interval is not None]
    sure = [one.trial for one, _, i in known if (i.high <= target if lower else i.low >= target)]
    if sure:
        taken = min(sure, key=lambda name: costs[name])
        return Recommendation(taken, f"the cheapest whose whole interval meets {metric} {target:g}")
    near = [(abs(mean - target), i, one) for one, mean, i in known if (mean < target if lower else mean > target)]
    if not near:
        return Recommendation(None, f"no trial's mean meets {metric} {target:g}")
    gap, interval, one = max(near, key=lambda item: item[0])
    n = one.counts["scored"]
    needed = ceil(n * (max(abs(interval.high - interval.low) / 2, 1e-9) / gap) ** 2)
    told = f"not enough data: {one.trial} meets {metric} {target:g} by its mean, not by its interval"
    return Recommendation(None, told, max(needed, n + 1))

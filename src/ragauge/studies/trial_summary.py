"""What the trials of a study say together: means, tests against the baseline, and the objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, UsageError
from ragauge.core.score import STATUSES
from ragauge.core.study import Trial
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import Columns, ScoreColumns
from ragauge.stats.families import compare_rivals, compute_p_values_against, plan_checkpoints, spend_alpha
from ragauge.studies.front import Knee, compute_shared_means, find_knee, find_pareto_front, round_unnoticed
from ragauge.studies.means import ALL, TrialMean, build_measured_means, compute_trial_means, get_score_column
from ragauge.studies.recommendation import (
    RaceOutcome,
    Recommendation,
    StudyTarget,
    TrialCosts,
    apply_race,
    is_target_met,
    recommend_cheapest_above,
    recommend_cheapest_best,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]


def parse_objective(value: Any) -> Metric:
    """An objective as it is written: a metric's name, or {"composite": {name: weight}}.

    Raises:
        UnknownName: no such metric.
        UsageError: a weight that is not above 0, a metric that a composite does not take, no direction, another shape.

    >>> str(parse_objective({"composite": {"exact_match": 3, "token_f1": 1}}))
    'composite:of=exact_match+token_f1:weights=3+1'
    """
    if isinstance(value, Mapping) and set(value) == {"composite"} and isinstance(value["composite"], Mapping):
        weights_by_metric = value["composite"]
        weights = [
            f"{weight:g}" if isinstance(weight, int | float) else str(weight) for weight in weights_by_metric.values()
        ]
        weight_suffix = "" if len(set(weights)) == 1 and weights[0] == "1" else f":weights={'+'.join(weights)}"
        value = f"composite:of={'+'.join(map(str, weights_by_metric))}{weight_suffix}"
    if not isinstance(value, str | Metric):
        raise UsageError(f"objective: expected a metric, or composite: {{metric: weight}}, got {value!r}.")
    metric = parse_metric(value) if isinstance(value, str) else value
    if metric.direction == "neither":
        raise UsageError(f"objective: {metric} has no better direction. Choose a metric that has one.")
    return metric


def compute_score_bounds(metric: Metric, frame: pl.DataFrame, order: Sequence[str]) -> tuple[Floats, Floats]:
    """The least and the most that each example's score may be, larger is better: the sign is turned where less is.

    Args:
        metric: whose scores.
        frame: scores of a trial: query_id, metric, status, value, low, high.
        order: the examples wanted.

    Returns:
        Shapes (len(order),) twice: equal where the score is known, bounds where a failed call hides it, NaN where it is
        undefined, not there, or hidden and without a bound, as latency and cost are.
    """
    import numpy as np

    row_by_id = {query_id: n for n, query_id in enumerate(order)}
    limits = np.full((2, len(order)), np.nan)
    range_low, range_high = metric.range
    rows = frame.filter(frame["metric"] == str(metric)).select("query_id", "status", "value", "low", "high")
    for query_id, status, value, low, high in rows.iter_rows():
        if (n := row_by_id.get(query_id)) is None:
            continue
        if status == "scored":
            limits[:, n] = value
        elif status == "failed":
            bounds = (range_low if _is_missing(low) else low, range_high if _is_missing(high) else high)
            limits[:, n] = bounds if isfinite(bounds[1] - bounds[0]) else np.nan
    return (-limits[1], -limits[0]) if metric.direction == "lower" else (limits[0], limits[1])


def compute_score_span(metric: Metric) -> float:
    """Greatest less least possible score; 0 where there is no bound."""
    low, high = metric.range
    return high - low if isfinite(high - low) else 0.0


def _is_missing(value: float | None) -> bool:
    return value is None or isnan(value)


@dataclass(frozen=True, slots=True)
class StudyReading:
    """What is decided by one metric against one cost."""

    metric: str  #: what trials are held to.
    #: the measurement that says what they cost; "" where none does, and the front is that of the metric alone.
    cost: str
    best_set: tuple[str, ...]  #: trials that may be the best, the confidence being 95 %.
    front: tuple[str, ...]  #: trials that no other beats in metric and cost, the cheapest first.
    knee: Knee  #: of the front, trials by their number in `trials`.
    trials: tuple[str, ...]  #: names, in order.
    recommendation: Recommendation  #: which to take.


def read_trials(
    scores: Mapping[str, ScoreColumns],
    metric: Metric,
    cost: str,
    costs: Mapping[str, float],
    *,
    target: StudyTarget | None = None,
    logarithmic: bool = False,
    race: RaceOutcome | None = None,
) -> StudyReading:
    """Which trials may be best by a metric, which none beats at their cost, and which to take.

    Args:
        scores: trial -> its scores; of the same examples in the same order.
        metric: which; where lower is better its sign is turned.
        cost: the name of the cost; "" = there is none.
        costs: trial -> what it costs; a trial that is absent stands on no front and is not recommended.
        target: take the cheapest whose whole interval reaches it; None = the cheapest that may be best.
        logarithmic: look for the knee on the logarithm of cost.
        race: of a sweep: what its race left.

    Raises:
        DataError: a trial lacks the metric, or has scores of other examples.
    """
    import numpy as np

    if len({entry.index.query_ids for entry in scores.values()}) > 1:
        raise DataError("the trials have scores of different examples.", hint="Run the study again with --fresh.")
    scores = {
        name: entry for name, entry in scores.items() if not np.isnan(get_score_column(entry, str(metric)).value).all()
    }
    if not scores:
        none = Recommendation(None, f"not enough data: no trial has a score of {metric}")
        return StudyReading(str(metric), cost, (), (), Knee(None, 0.0, 0.0, "no clear knee: no score"), (), none)
    names, sign = tuple(scores), -1.0 if metric.direction == "lower" else 1.0
    columns = [get_score_column(entry, str(metric)) for entry in scores.values()]
    values, clusters = sign * np.column_stack([entry.value for entry in columns]), columns[0].cluster
    remaining = None if race is None else race.left
    worst, upper = compute_column_bounds(columns, metric)
    if remaining is None:
        results = compare_rivals(worst, upper, clusters=clusters, span=compute_score_span(metric))
        remaining = [name for name, entry in zip(names, results, strict=True) if not entry.is_beaten]
    best = tuple(name for name in names if name in remaining)
    scored, (means, fair) = (~np.isnan(values)).sum(axis=0), compute_shared_means(worst)
    priced = [n for n, name in enumerate(names) if fair[n] and (name in costs or not cost)]
    prices = round_unnoticed([costs[names[n]] if cost else 0.0 for n in priced], cost)
    front = tuple(names[priced[n]] for n in find_pareto_front([means[n] for n in priced], prices))
    bend = find_knee(values[:, priced], prices, clusters, logarithmic=logarithmic)
    bend = bend if bend.trial is None else replace(bend, trial=priced[bend.trial])
    if target is None:
        quality, paid = {name: means[n] for n, name in enumerate(names) if fair[n]}, TrialCosts(cost, costs)
        taken = recommend_cheapest_best(scores, metric, best, paid, quality, base="" if race is None else race.base)
        if race is not None and taken.trial is not None:
            taken = apply_race(taken, len(best), race.of, int(scored[names.index(taken.trial)]))
    else:
        target_means = compute_trial_means(
            {name: scores[name] for n, name in enumerate(names) if fair[n]}, parse_metric(target.metric)
        )
        taken = recommend_cheapest_above(
            target_means, costs, cost, target, lower=parse_metric(target.metric).direction == "lower"
        )
    return StudyReading(str(metric), cost, best, front, bend, names, taken)


def read_measured(
    trials: Sequence[Trial], name: str, cost: str, costs: Mapping[str, float], *, target: StudyTarget | None = None
) -> StudyReading:
    """As `read_trials`, of a measurement where larger is better and nothing is known but its interval.

    A trial may be the best unless the whole interval of another lies above its own. There is no knee: there are no
    examples to draw again.
    """
    means = [entry for entry in build_measured_means(trials, name) if entry.mean is not None]
    if not means:
        raise DataError(f"no trial has a {name} value.", hint="Choose another metric with --metric.")
    lows = [entry.interval.low if entry.interval else entry.mean or 0.0 for entry in means]
    best = tuple(
        entry.trial for entry in means if (entry.interval.high if entry.interval else entry.mean or 0.0) >= max(lows)
    )
    priced = [entry for entry in means if entry.trial in costs or not cost]
    points = find_pareto_front(
        [entry.mean or 0.0 for entry in priced], [costs.get(entry.trial, 0.0) for entry in priced]
    )
    front = tuple(priced[n].trial for n in points)
    bend = Knee(None, 0.0, 0.0, "no clear knee: a measurement has no examples to resample")
    if target is None:
        choices = [entry for entry in best if entry in costs] or list(best)
        taken = Recommendation(
            min(choices, key=lambda entry: costs.get(entry, 0.0)),
            f"the lowest {cost} of the {len(best)} trials whose interval reaches the best value"
            if cost
            else f"the first of the {len(best)} trials whose interval reaches the best value",
        )
    else:
        taken = recommend_cheapest_above(build_measured_means(trials, target.metric), costs, cost, target, lower=False)
    return StudyReading(name, cost, best, front, bend, tuple(entry.trial for entry in means), taken)


def list_eligible(
    reading: StudyReading, target: StudyTarget | None, trials: Mapping[str, ScoreColumns] | Sequence[Trial]
) -> Sequence[str]:
    """The trials that may be the best, or that surely meet a target; all where these are fewer than two.

    Args:
        reading: what is decided between them, whatever they cost.
        target: what has to be reached; None = as much as can be had.
        trials: their scores, or the trials themselves where a measurement decides.
    """
    if target is None:
        names = reading.best_set
    else:
        if isinstance(trials, Mapping):
            means, lower = (
                compute_trial_means(trials, parse_metric(target.metric)),
                parse_metric(target.metric).direction == "lower",
            )
        else:
            means, lower = list(build_measured_means(trials, target.metric)), False
        sure = {mean.trial for mean in means if is_target_met(mean, target.value, lower=lower)}
        names = tuple(trial for trial in reading.trials if trial in sure)
    return names if len(names) > 1 else reading.trials


def compute_column_bounds(columns: Sequence[Columns], metric: Metric) -> tuple[Floats, Floats]:
    """Shapes (n, trials): the least and the most that each score may be, larger better; NaN where it is undefined."""
    import numpy as np

    limits = []
    for name, limit in zip(("low", "high"), metric.range, strict=True):
        rows = []
        for column in columns:
            failed = column.status == STATUSES.index("failed")
            bound = getattr(column, name)
            rows.append(np.where(failed, np.where(np.isnan(bound), limit, bound), column.value))
        limits.append(np.column_stack(rows))
    low, high = limits
    return (-high, -low) if metric.direction == "lower" else (low, high)


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

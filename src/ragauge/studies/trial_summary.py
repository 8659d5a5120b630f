"""What the trials of a study say together: means, differences to a base, which may be best, which to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.core.errors import DataError
from ragauge.core.score import STATUSES
from ragauge.core.study import Trial
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import Columns, ScoreColumns
from ragauge.stats.families import compare_rivals
from ragauge.studies.front import Knee, compute_shared_means, find_knee, find_pareto_front, round_unnoticed
from ragauge.studies.means import build_measured_means, compute_trial_means, get_score_column
from ragauge.studies.objective import compute_score_span
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

    Floats = npt.NDArray[np.float64]


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

"""What the trials of a study say together: means, differences to a base, which may be best, which to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.core.errors import DataError
from ragauge.core.score import STATUSES
from ragauge.core.study import Trial
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse
from ragauge.scores.arrays import Columns, ScoreColumns
from ragauge.stats.families import rivalries
from ragauge.studies.front import Knee, knee, noticed, pareto_front, shared_means
from ragauge.studies.means import measured_means, score_column, trial_means
from ragauge.studies.objective import score_span
from ragauge.studies.recommendation import (
    RaceOutcome,
    Recommendation,
    StudyTarget,
    TrialCosts,
    cheapest_above,
    cheapest_of_best,
    raced,
    surely_meets,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StudyReading:
    """What is decided by one metric against one cost.

    Attributes:
        metric: what trials are held to.
        cost: the measurement that says what they cost; "" where none does, and the front is that of the metric alone.
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

    if len({one.index.query_ids for one in scores.values()}) > 1:
        raise DataError("the trials have scores of different examples.", hint="Make the study anew with --fresh.")
    scores = {name: one for name, one in scores.items() if not np.isnan(score_column(one, str(metric)).value).all()}
    if not scores:
        none = Recommendation(None, f"not enough data: no trial has a score of {metric}")
        return StudyReading(str(metric), cost, (), (), Knee(None, 0.0, 0.0, "no clear knee: no score"), (), none)
    names, sign = tuple(scores), -1.0 if metric.direction == "lower" else 1.0
    columns = [score_column(one, str(metric)) for one in scores.values()]
    values, clusters = sign * np.column_stack([one.value for one in columns]), columns[0].cluster
    left = None if race is None else race.left
    worst, most = column_bounds(columns, metric)
    if left is None:
        found = rivalries(worst, most, clusters=clusters, span=score_span(metric))
        left = [name for name, one in zip(names, found, strict=True) if not one.beaten]
    best = tuple(name for name in names if name in left)
    scored, (means, fair) = (~np.isnan(values)).sum(axis=0), shared_means(worst)
    priced = [n for n, name in enumerate(names) if fair[n] and (name in costs or not cost)]
    prices = noticed([costs[names[n]] if cost else 0.0 for n in priced], cost)
    front = tuple(names[priced[n]] for n in pareto_front([means[n] for n in priced], prices))
    bend = knee(values[:, priced], prices, clusters, logarithmic=logarithmic)
    bend = bend if bend.trial is None else replace(bend, trial=priced[bend.trial])
    if target is None:
        quality, paid = {name: means[n] for n, name in enumerate(names) if fair[n]}, TrialCosts(cost, costs)
        taken = cheapest_of_best(scores, metric, best, paid, quality, base="" if race is None else race.base)
        if race is not None and taken.trial is not None:
            taken = raced(taken, len(best), race.of, int(scored[names.index(taken.trial)]))
    else:
        known = trial_means({name: scores[name] for n, name in enumerate(names) if fair[n]}, parse(target.metric))
        taken = cheapest_above(known, costs, cost, target, lower=parse(target.metric).direction == "lower")
    return StudyReading(str(metric), cost, best, front, bend, names, taken)


def read_measured(
    trials: Sequence[Trial], name: str, cost: str, costs: Mapping[str, float], *, target: StudyTarget | None = None
) -> StudyReading:
    """As `read_trials`, of a measurement where larger is better and nothing is known but its interval.

    A trial may be the best unless the whole interval of another lies above its own. There is no knee: there are no
    examples to draw again.
    """
    means = [one for one in measured_means(trials, name) if one.mean is not None]
    if not means:
        raise DataError(f"no trial has a value of {name}.", hint="Name another metric with --metric.")
    lows = [one.interval.low if one.interval else one.mean or 0.0 for one in means]
    best = tuple(one.trial for one in means if (one.interval.high if one.interval else one.mean or 0.0) >= max(lows))
    priced = [one for one in means if one.trial in costs or not cost]
    points = pareto_front([one.mean or 0.0 for one in priced], [costs.get(one.trial, 0.0) for one in priced])
    front = tuple(priced[n].trial for n in points)
    bend = Knee(None, 0.0, 0.0, "no clear knee: a measurement has no examples to draw again")
    if target is None:
        known = [one for one in best if one in costs] or list(best)
        taken = Recommendation(
            min(known, key=lambda one: costs.get(one, 0.0)),
            f"the cheapest by {cost} of the {len(best)} whose interval reaches the best"
            if cost
            else f"the first of the {len(best)} whose interval reaches the best",
        )
    else:
        taken = cheapest_above(measured_means(trials, target.metric), costs, cost, target, lower=False)
    return StudyReading(name, cost, best, front, bend, tuple(one.trial for one in means), taken)


def may_be_taken(
    found: StudyReading, target: StudyTarget | None, trials: Mapping[str, ScoreColumns] | Sequence[Trial]
) -> Sequence[str]:
    """The trials that may be the best, or that surely meet a target; all where these are fewer than two.

    Args:
        found: what is decided between them, whatever they cost.
        target: what has to be reached; None = as much as can be had.
        trials: their scores, or the trials themselves where a measurement decides.
    """
    if target is None:
        names = found.best_set
    else:
        if isinstance(trials, Mapping):
            means, lower = trial_means(trials, parse(target.metric)), parse(target.metric).direction == "lower"
        else:
            means, lower = list(measured_means(trials, target.metric)), False
        sure = {mean.trial for mean in means if surely_meets(mean, target.value, lower=lower)}
        names = tuple(trial for trial in found.trials if trial in sure)
    return names if len(names) > 1 else found.trials


def column_bounds(columns: Sequence[Columns], metric: Metric) -> tuple[Floats, Floats]:
    """Shapes (n, trials): the least and the most that each score may be, larger better; NaN where it is undefined."""
    import numpy as np

    ends = []
    for name, limit in zip(("low", "high"), metric.range, strict=True):
        rows = []
        for one in columns:
            failed = one.status == STATUSES.index("failed")
            bound = getattr(one, name)
            rows.append(np.where(failed, np.where(np.isnan(bound), limit, bound), one.value))
        ends.append(np.column_stack(rows))
    low, high = ends
    return (-high, -low) if metric.direction == "lower" else (low, high)

"""What the trials of a study say together: means, differences to a base, which may be best, which to take."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from typing import TYPE_CHECKING

from ragauge.analysis.estimating import (
    ScoreSample,
    difference_test,
    examples_to_decide,
    interval_of_difference,
    interval_of_mean,
)
from ragauge.analysis.scores.arrays import Columns, ScoreColumns, by_example
from ragauge.analysis.studies.front import Knee, alike_in_cost, knee, pareto_front, shared_means
from ragauge.analysis.studies.objective import score_span
from ragauge.data.score import STATUSES
from ragauge.data.study import Measurement, Trial
from ragauge.errors import DataError
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse
from ragauge.stats.families import benjamini_hochberg, holm, rivalries
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

ALL = ""
MAX_FAILED = 0.05     # share of failed calls above which a trial is not recommended
WIDER = 1.5     # the interval of one pair beside that of all pairs at once, about


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
        p_value: of the difference. Over all examples corrected by Holm over the trials alone; in segments by
            Benjamini and Hochberg over trials and segments, so that looking closely costs the main answer nothing.
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
class StudyTarget:
    """What a trial has to reach: `value` of `metric`, with its whole interval."""

    metric: str
    value: float


@dataclass(frozen=True, slots=True)
class RaceOutcome:
    """What a sweep came to.

    Attributes:
        left: trials that a race by the metric left: the set that may be best, at its one error rate; None = there
            was no race by this metric.
        of: how many trials there were: nothing is recommended where more than half of them may be the best.
    """

    left: Collection[str] | None
    of: int


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Which trial to take.

    Attributes:
        trial: its name; None = not enough data, or none will do.
        reason: one sentence.
        examples: about how many would decide what is left open; None where nothing is, or no number would.
    """

    trial: str | None
    reason: str
    examples: int | None = None


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


def trial_means(
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

    found: list[TrialMean] = []
    columns = {trial: score_column(one, str(metric)) for trial, one in scores.items()}
    index = next(iter(scores.values())).index
    every: Mapping[str, Mask] = {ALL: np.ones(len(index.query_ids), dtype=bool), **(segments or {})}
    for segment, mask in every.items():
        for trial, column in columns.items():
            there = columns[base] if base and trial != base else None
            found.append(_mean(trial, metric, segment, column, there, mask))
    for overall, corrected in ((True, holm), (False, benjamini_hochberg)):
        family = [n for n, one in enumerate(found) if one.p_value is not None and (one.segment == ALL) == overall]
        for n, p in zip(family, corrected([found[n].p_value or 0.0 for n in family]), strict=True):
            found[n] = replace(found[n], p_value=p)
    return found


def read_trials(
    scores: Mapping[str, ScoreColumns], metric: Metric, cost: str, costs: Mapping[str, float], *,
    target: StudyTarget | None = None, logarithmic: bool = False, race: RaceOutcome | None = None,
) -> StudyReading:     # fmt: skip
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
    worst, most = _bounds(columns, metric)
    if left is None:
        found = rivalries(worst, most, clusters=clusters, span=score_span(metric))
        left = [name for name, one in zip(names, found, strict=True) if not one.beaten]
    best = tuple(name for name in names if name in left)
    scored, (means, fair) = (~np.isnan(values)).sum(axis=0), shared_means(worst)
    priced = [n for n, name in enumerate(names) if fair[n] and (name in costs or not cost)]
    prices = [costs[names[n]] if cost else 0.0 for n in priced]
    front = tuple(names[priced[n]] for n in pareto_front([means[n] for n in priced], prices))
    bend = knee(values[:, priced], prices, clusters, logarithmic=logarithmic)
    bend = bend if bend.trial is None else replace(bend, trial=priced[bend.trial])
    if target is None:
        held = {name: means[n] for n, name in enumerate(names) if fair[n]}
        taken = _cheapest_of_best(scores, metric, best, costs, cost, held)
        if race is not None and taken.trial is not None:
            taken = _raced(taken, len(best), race.of, int(scored[names.index(taken.trial)]))
    else:
        known = trial_means({name: scores[name] for n, name in enumerate(names) if fair[n]}, parse(target.metric))
        taken = _cheapest_above(known, costs, cost, target, lower=parse(target.metric).direction == "lower")
    return StudyReading(str(metric), cost, best, front, bend, names, taken)


def surely_meets(one: TrialMean, value: float, *, lower: bool = False) -> bool:
    """Whether the whole interval of a mean meets a value: from below where lower is better."""
    return one.interval is not None and (one.interval.high <= value if lower else one.interval.low >= value)


def measured_means(trials: Sequence[Trial], name: str) -> tuple[TrialMean, ...]:
    """A measurement of each trial in the form of a mean, for trials that have no scores."""
    found = []
    for trial in trials:
        one = next((one for one in trial.measurements if one.name == name), Measurement(name, None))
        interval = None
        if one.value is not None and one.low is not None and one.high is not None:
            interval = Interval(one.low, one.high, "measured")
        counts: dict[str, int] = dict.fromkeys(STATUSES, 0)
        counts["scored"] = one.n if one.value is not None else 0
        found.append(TrialMean(trial.name, name, ALL, one.value, interval, counts))
    return tuple(found)


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
    best = tuple(
        one.trial for one in means if (one.interval.high if one.interval else one.mean or 0.0) >= max(lows)
    )
    priced = [one for one in means if one.trial in costs or not cost]
    points = pareto_front([one.mean or 0.0 for one in priced], [costs.get(one.trial, 0.0) for one in priced])
    front = tuple(priced[n].trial for n in points)
    bend = Knee(None, 0.0, 0.0, "no clear knee: a measurement has no examples to draw again")
    if target is None:
        known = [one for one in best if one in costs] or list(best)
        taken = Recommendation(
            min(known, key=lambda one: costs.get(one, 0.0)),
            f"the cheapest by {cost} of the {len(best)} whose interval reaches the best" if cost else
            f"the first of the {len(best)} whose interval reaches the best",
        )
    else:
        taken = _cheapest_above(measured_means(trials, target.metric), costs, cost, target, lower=False)
    return StudyReading(name, cost, best, front, bend, tuple(one.trial for one in means), taken)


def score_column(scores: ScoreColumns, metric: str) -> Columns:
    """The scores of a trial by one metric, an entry an example; DataError where it has none."""
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


def _bounds(columns: Sequence[Columns], metric: Metric) -> tuple[Floats, Floats]:
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


def _raced(taken: Recommendation, left: int, of: int, n: int) -> Recommendation:
    """What a race lets recommend: nothing where over half of its trials are left."""
    if 2 * left > of:
        told = f"not enough data: {left} of {of} trials may still be the best"
        return Recommendation(None, f"{told}, on {n:,} examples", taken.examples)
    if left > 1:
        return taken
    told = f"the race left it alone of {of} trials: it is the best, the confidence being 95 %"
    return Recommendation(taken.trial, f"{told}, on {n:,} examples")


def _cheapest_of_best(
    scores: Mapping[str, ScoreColumns], metric: Metric, best: Sequence[str], costs: Mapping[str, float], cost: str,
    quality: Mapping[str, float],
) -> Recommendation:     # fmt: skip
    """Of the trials that may be best; `quality` has those that are comparable: their means over shared examples."""
    means = {one.trial: one for one in trial_means({name: scores[name] for name in best}, metric)} if best else {}
    if max((one.counts["scored"] for one in means.values()), default=0) < 2:
        return Recommendation(None, "not enough data: no trial has two examples with a score")
    failing = [name for name in best if means[name].counts["failed"] > MAX_FAILED * sum(means[name].counts.values())]
    lacking = [name for name in best if name not in quality and name not in failing]
    best = [name for name in best if name not in failing and name not in lacking]
    left_out = f"; left out, since calls failed: {', '.join(failing)}" if failing else ""
    left_out += f"; left out, since many examples have no score: {', '.join(lacking)}" if lacking else ""
    if not best:
        why = f"too many calls of {', '.join(failing)} failed" if failing else ""
        few = f"too few examples of {', '.join(lacking)} have a score" if lacking else ""
        return Recommendation(None, f"not enough data: {'; '.join(filter(None, (why, few)))}")
    if cost and not any(name in costs for name in best):
        return Recommendation(None, f"none of those that may be the best has a {cost}{left_out}")
    top, lower = max(best, key=lambda name: quality[name]), metric.direction == "lower"
    alike, within = alike_in_cost({name: costs[name] for name in best if name in costs}, cost) if cost else (best, "")
    taken = max(alike, key=lambda name: quality[name])
    on, first = f"on {(n := means[taken].counts['scored']):,} examples{left_out}", _best_by_mean(taken, alike, quality)
    if len(scores) == 1:
        return Recommendation(taken, f"it is the only complete trial, {on}")
    if len(means) == 1:
        return Recommendation(taken, f"it is the best, the confidence being 95 %, {on}")
    if not cost:
        return Recommendation(top, f"{first} of the {len(best)} that may be the best, {on}")
    told = f"the cheapest by {cost} of the {len(best)} that may be the best, {on}"
    if len(alike) == len(best) > 1:
        told = f"{first} of the {len(best)} that may be the best, on {n:,} examples; by {cost} they cost "
        told += f"about the same{left_out}"
    elif len(alike) > 1 and taken == alike[0]:
        told += f" ({len(alike)} cost about the same)"
    elif len(alike) > 1:
        told = f"of {len(alike)} that cost about the same ({within}) {first}; {len(best)} may be the "
        told += f"best, {on}"
    if taken == top:
        return Recommendation(taken, told)
    pair = {name: scores[name] for name in (taken, top)}
    gap = next(one for one in trial_means(pair, metric, base=taken) if one.trial == top)
    examples = None
    if gap.difference and gap.difference_interval and (gap.difference < 0) == lower:
        ends = gap.difference_interval
        more = f"{abs(gap.difference):.3f} {'less' if lower else 'more'}"
        told += f"; {top} has {more}, which may be chance among so many trials"
        wanted = examples_to_decide(n, ends, abs(gap.difference) / WIDER)
        examples = wanted if wanted > n else None
    return Recommendation(taken, told, examples)


def _best_by_mean(taken: str, among: Sequence[str], quality: Mapping[str, float]) -> str:
    """That a trial's mean is the best, or which others have the same."""
    tied = [name for name in among if name != taken and isclose(quality[name], quality[taken], abs_tol=1e-12)]
    return f"tied with {', '.join(tied)} for the best mean" if tied else "the best by its mean"


def _cheapest_above(
    means: Sequence[TrialMean], costs: Mapping[str, float], cost: str, target: StudyTarget, *, lower: bool
) -> Recommendation:
    goal, aim = target.value, f"{target.metric} {'≤' if lower else '≥'} {target.value:g}"
    known = [(one, one.mean, one.interval) for one in means if one.mean is not None and one.interval is not None]
    sure = [one.trial for one, _, _ in known if surely_meets(one, goal, lower=lower)]
    if priced := [name for name in sure if name in costs or not cost]:
        taken = min(priced, key=lambda name: costs.get(name, 0.0))
        return Recommendation(taken, f"the cheapest whose whole interval meets {aim}")
    near = [(abs(mean - goal), i, one) for one, mean, i in known if (mean < goal if lower else mean > goal)]
    if not near:
        return Recommendation(None, f"no trial's mean meets {aim}")
    gap, interval, one = max(near, key=lambda item: item[0])
    n = one.counts["scored"]
    told = f"not enough data: {one.trial} meets {aim} by its mean, not by its interval"
    return Recommendation(None, told, max(examples_to_decide(n, interval, gap), n + 1))

"""Which trial of a study to take, and why: the cheapest that may be best, or that meets a target."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import NamedTuple

from ragauge.core.errors import UsageError
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import ScoreColumns
from ragauge.scores.estimation import estimate_examples_to_decide
from ragauge.studies.front import list_equal_cost
from ragauge.studies.means import TrialMean, compute_trial_means

MAX_FAILED_SHARE = 0.05  # share of failed calls above which a trial is not recommended
ALL_PAIRS_WIDENING = 1.5  # the interval of one pair beside that of all pairs at once, about


@dataclass(frozen=True, slots=True)
class StudyTarget:
    """What a trial has to reach: `value` of `metric`, with its whole interval."""

    metric: str
    value: float


def parse_target(target: str | float | None) -> tuple[str, float | None]:
    """The metric ("" = what decides) and the value of a target METRIC=x or x; no value where there is no target.

    >>> parse_target("token_recall:budget=1024=0.8"), parse_target(0.8), parse_target(None)
    (('token_recall:budget=1024', 0.8), ('', 0.8), ('', None))

    Raises:
        UsageError: x is no number.
    """
    if target is None:
        return "", None
    metric, _, value = str(target).rpartition("=")
    try:
        return metric, float(value)
    except ValueError:
        message = f"--target: expected METRIC=x, such as recall@5=0.8, got {str(target)!r}."
        raise UsageError(message) from None


class TrialCosts(NamedTuple):
    """What each trial costs, by its name, and what kind of cost that is; "" = none is looked at."""

    kind: str
    by_trial: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RaceOutcome:
    """What a sweep came to."""

    #: trials that a race by the metric left: the set that may be best, at its one error rate; None = there was no race
    #: by this metric.
    left: Collection[str] | None
    of: int  #: how many trials could be asked: nothing is recommended where more than half of them may be the best.
    base: str = ""  #: the configuration of today, which is kept unless another is surely better, or cheaper; "" = none.


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Which trial to take."""

    trial: str | None  #: its name; None = not enough data, or none will do.
    reason: str  #: one sentence.
    #: about how many would decide what is left open; None where nothing is, or no number would.
    examples: int | None = None


def is_target_met(mean: TrialMean, value: float, *, lower: bool = False) -> bool:
    """Whether the whole interval of a mean meets a value: from below where lower is better."""
    return mean.interval is not None and (mean.interval.high <= value if lower else mean.interval.low >= value)


def apply_race(taken: Recommendation, n_left: int, n_trials: int, n: int) -> Recommendation:
    """What a race lets recommend: nothing where over half of its trials are left."""
    if 2 * n_left > n_trials:
        reason = f"not enough data: {n_left} of {n_trials} trials may still be best"
        return Recommendation(None, f"{reason}, on {n:,} examples", taken.examples)
    if n_left > 1:
        return taken
    reason = f"it is the only one of {n_trials} trials left in the race, so it is the best with 95 % confidence"
    return Recommendation(taken.trial, f"{reason}, on {n:,} examples")


def recommend_cheapest_best(
    scores: Mapping[str, ScoreColumns],
    metric: Metric,
    best: Sequence[str],
    priced: TrialCosts,
    quality: Mapping[str, float],
    *,
    base: str = "",
    which: str = "that may be best",
) -> Recommendation:
    """Of the trials that may be best the cheapest; of those that cost about the same the base, else the best mean.

    `quality` has the trials that are comparable: their means over shared examples. `which` says what `best` are.
    """
    cost, costs = priced
    best_scores = {name: scores[name] for name in best}
    means = {mean.trial: mean for mean in compute_trial_means(best_scores, metric)} if best else {}
    if max((mean.counts["scored"] for mean in means.values()), default=0) < 2:
        return Recommendation(None, "not enough data: no trial has at least two scored examples")
    best, left_out, problem = _exclude_unscored(means, quality)
    if not best:
        return Recommendation(None, f"not enough data: {problem}")
    if cost and not any(name in costs for name in best):
        return Recommendation(None, f"none of the trials that may be best has a {cost}{left_out}")
    top = max(best, key=lambda name: quality[name])
    equal_names, within = (
        list_equal_cost({name: costs[name] for name in best if name in costs}, cost) if cost else (best, "")
    )
    # as trials were made: what costs about the same has no order
    order = [name for name in best if name in equal_names]
    taken = base if base in equal_names else max(order, key=lambda name: quality[name])
    n = means[taken].counts["scored"]
    if len(scores) == 1:
        return Recommendation(taken, f"it is the only complete trial, on {n:,} examples{left_out}")
    if len(means) == 1:
        return Recommendation(taken, f"it is the best with 95 % confidence, on {n:,} examples{left_out}")
    on = f", on {n:,} examples{left_out}"
    first = _describe_best_mean(taken, equal_names, quality)
    if taken == base and len(best) > 1:
        reason = f"it is the base, and none of the {len(best)} trials {which} is clearly better"
        reason += f" or has a lower {cost}{on}" if cost else on
    elif not cost:
        reason = f"{first} of the {len(best)} trials {which}{on}"
    else:
        reason = _describe_cost_choice(taken, len(best), equal_names, (first, cost, within), f"{which}{on}")
    if taken == top or isclose(quality[taken], quality[top], abs_tol=1e-12):
        return Recommendation(taken, reason)
    return _compare_with_top(scores, metric, (taken, top), reason, n)


def _exclude_unscored(means: Mapping[str, TrialMean], quality: Mapping[str, float]) -> tuple[list[str], str, str]:
    """The trials with enough scores, which others are excluded, and why none may be left."""
    counts = {name: mean.counts for name, mean in means.items()}
    failing = [name for name, n in counts.items() if n["failed"] > MAX_FAILED_SHARE * sum(n.values())]
    lacking = [name for name in means if name not in quality and name not in failing]
    left_out = f"; excluded because calls failed: {', '.join(failing)}" if failing else ""
    left_out += f"; excluded because many examples have no score: {', '.join(lacking)}" if lacking else ""
    failed_text = f"too many calls of {', '.join(failing)} failed" if failing else ""
    few = f"too few examples of {', '.join(lacking)} have a score" if lacking else ""
    kept = [name for name in means if name not in failing and name not in lacking]
    return kept, left_out, "; ".join(filter(None, (failed_text, few)))


def _describe_cost_choice(
    taken: str, n_best: int, equal_names: Sequence[str], words: tuple[str, str, str], on: str
) -> str:
    """Why a trial is taken for its cost: alone the cheapest, or the best of those that cost about the same."""
    first, cost, within = words
    if len(equal_names) == n_best > 1:
        return f"{first} of the {n_best} trials {on}; their {cost} is about the same"
    if len(equal_names) > 1 and taken != equal_names[0]:
        return f"{first} of {len(equal_names)} trials that cost about the same ({within}), out of the {n_best} {on}"
    same = f" ({len(equal_names)} cost about the same)" if len(equal_names) > 1 else ""
    return f"the lowest {cost} of the {n_best} trials {on}{same}"


def _compare_with_top(
    scores: Mapping[str, ScoreColumns], metric: Metric, pair: tuple[str, str], reason: str, n: int
) -> Recommendation:
    """The recommendation, with by how much the best mean lies above it, and how many examples decide that."""
    taken, top = pair
    means = compute_trial_means({name: scores[name] for name in pair}, metric, base=taken)
    gap = next(mean for mean in means if mean.trial == top)
    lower = metric.direction == "lower"
    if not gap.difference or gap.difference_interval is None or (gap.difference < 0) != lower:
        return Recommendation(taken, reason)
    more = f"{abs(gap.difference):.3f} {'less' if lower else 'more'}"
    needed = estimate_examples_to_decide(n, gap.difference_interval, abs(gap.difference) / ALL_PAIRS_WIDENING)
    reason += f"; {top} has {more}, which may be chance with this many trials"
    return Recommendation(taken, reason, needed if needed > n else None)


def _describe_best_mean(taken: str, among: Sequence[str], quality: Mapping[str, float]) -> str:
    """That a trial's mean is the best, or which others have the same."""
    tied = [name for name in among if name != taken and isclose(quality[name], quality[taken], abs_tol=1e-12)]
    return f"tied with {', '.join(tied)} for the best mean" if tied else "the best mean"


def recommend_cheapest_above(
    means: Sequence[TrialMean], costs: Mapping[str, float], cost: str, target: StudyTarget, *, lower: bool
) -> Recommendation:
    """The cheapest trial whose whole interval meets a target; None where no trial surely does."""
    goal, aim = target.value, f"{target.metric} {'≤' if lower else '≥'} {target.value:g}"
    scored = [(mean, mean.mean, mean.interval) for mean in means if mean.mean is not None and mean.interval is not None]
    sure = [mean.trial for mean, _, _ in scored if is_target_met(mean, goal, lower=lower)]
    if priced := [name for name in sure if name in costs or not cost]:
        taken = min(priced, key=lambda name: costs.get(name, 0.0))
        return Recommendation(taken, f"the cheapest trial whose whole interval meets {aim}")
    near = [(abs(value - goal), i, mean) for mean, value, i in scored if (value < goal if lower else value > goal)]
    if not near:
        return Recommendation(None, f"no trial's mean meets {aim}")
    gap, interval, nearest = max(near, key=lambda item: item[0])
    n = nearest.counts["scored"]
    reason = f"not enough data: the mean of {nearest.trial} meets {aim}, but its whole interval does not"
    return Recommendation(None, reason, max(estimate_examples_to_decide(n, interval, gap), n + 1))

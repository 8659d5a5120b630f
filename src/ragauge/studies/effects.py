"""What each value of a parameter changes, over all trials that are otherwise equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragauge.core.identity import canonical
from ragauge.metrics.base import Metric
from ragauge.scores.estimation import ScoreSample, difference_test, interval_of_difference
from ragauge.stats.families import benjamini_hochberg, holm
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Verdict = Literal["matters", "inside the noise", "not enough data"]
Parameters = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ParameterEffect:
    """One value of a parameter against the base's value.

    Attributes:
        parameter: its name.
        value: the value.
        base: the base's value.
        pairs: of trials that differ in this alone.
        dropped: of these pairs, those of which a trial was not asked everything.
        examples: that have a score in both trials of a pair.
        difference: mean score at the value less that at the base's, over pairs and examples; None where there is none.
        interval: of the difference.
        p_value: corrected by Holm over all effects.
        costs: cost -> mean change over the pairs.
        verdict: matters; inside the noise (the whole interval is: not the bottleneck); or not enough data.
    """

    parameter: str
    value: Any
    base: Any
    pairs: int
    dropped: int = 0
    examples: int = 0
    difference: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    costs: Mapping[str, float] | None = None
    verdict: Verdict = "not enough data"


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two values that do together what they do not do alone.

    Attributes:
        first: parameter and value.
        second: parameter and value.
        difference: the effect of the first beside the second's value, less its effect beside the base's.
        interval: of the difference.
        p_value: corrected by Benjamini and Hochberg over all pairs of values.
    """

    first: tuple[str, Any]
    second: tuple[str, Any]
    difference: float
    interval: Interval | None
    p_value: float


class EffectSettings(NamedTuple):
    """How effects are judged.

    Attributes:
        noise: differences within ± this are no bottleneck.
        dropped: numbers of the trials that a race stopped asking.
        n_looks: looks at which it could; p-values of what was dropped are multiplied by it, since they are those of a
            look that was chosen by the scores.
    """

    noise: float = 0.03
    dropped: frozenset[int] = frozenset()
    n_looks: int = 1


DEFAULT_SETTINGS = EffectSettings()


def parameter_effects(
    trials: Sequence[Parameters],
    values: Floats,
    metric: Metric,
    base: Parameters,
    *,
    clusters: npt.NDArray[Any] | None = None,
    costs: Mapping[str, Sequence[float | None]] | None = None,
    settings: EffectSettings = DEFAULT_SETTINGS,
) -> list[ParameterEffect]:
    """Each value of each parameter against the base's value, on the examples that both trials of a pair have.

    Args:
        trials: the parameters of each trial.
        values: shape (examples, trials), scores of the metric; NaN where there is none.
        metric: whose scores; says the kind of interval.
        base: parameter -> the base's value.
        clusters: shape (examples,), labels of what examples depend on.
        costs: cost -> its value in each trial.
        settings: how they are judged.

    Returns:
        Those of parameters that vary, in the order of the base and of the trials.
    """
    grid = _Grid(trials, _index(trials), values, metric, clusters, costs or {}, settings)
    found = [
        _effect(name, value, base[name], grid)
        for name in base
        for value in _values(trials, name)
        if canonical(value) != canonical(base[name])
    ]
    noise, tested = settings.noise, [n for n, one in enumerate(found) if one.p_value is not None]
    for n, p in zip(tested, holm([found[n].p_value or 0.0 for n in tested]), strict=True):
        found[n] = replace(found[n], p_value=p, verdict=_verdict(p, found[n].interval, noise))
    return [
        replace(one, verdict=_verdict(None, one.interval, noise)) if one.p_value is None and one.interval else one
        for one in found
    ]


def interactions(
    trials: Sequence[Parameters],
    values: Floats,
    metric: Metric,
    base: Parameters,
    *,
    clusters: npt.NDArray[Any] | None = None,
    rate: float = 0.05,
) -> list[Interaction]:
    """Pairs of values, of two parameters, whose effects do not add up; only those found at this false discovery rate.

    ((x at both) − (x at the second alone)) − ((x at the first alone) − (x at neither)), trials otherwise equal

    Args:
        trials: the parameters of each complete trial.
        values: shape (examples, trials).
        metric: whose scores.
        base: parameter -> the base's value.
        clusters: shape (examples,), labels.
        rate: share of false ones among those returned, at most, on average.
    """
    index = _index(trials)
    found = []
    for one, other in combinations(base, 2):
        for a in _values(trials, one):
            for b in _values(trials, other):
                if canonical(a) == canonical(base[one]) or canonical(b) == canonical(base[other]):
                    continue
                if (seen := _interaction((one, a), (other, b), base, index, values, metric, clusters)) is not None:
                    found.append(seen)
    adjusted = benjamini_hochberg([one.p_value for one in found])
    kept = [replace(one, p_value=p) for one, p in zip(found, adjusted, strict=True) if p < rate]
    return sorted(kept, key=lambda one: (one.p_value, -abs(one.difference)))


def _index(trials: Sequence[Parameters]) -> dict[str, int]:
    return {canonical(dict(one)): n for n, one in enumerate(trials)}


def _values(trials: Sequence[Parameters], name: str) -> list[Any]:
    found = {canonical(one[name]): one[name] for one in trials if name in one}
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Grid:
    """The trials with their scores and costs, and which of them a race dropped."""

    trials: Sequence[Parameters]
    index: Mapping[str, int]
    values: Floats
    metric: Metric
    clusters: npt.NDArray[Any] | None
    costs: Mapping[str, Sequence[float | None]]
    settings: EffectSettings


def _effect(name: str, value: Any, base: Any, grid: _Grid) -> ParameterEffect:
    pairs = []
    for there, parameters in enumerate(grid.trials):
        if name in parameters and canonical(parameters[name]) == canonical(value):
            here = grid.index.get(canonical({**parameters, name: base}))
            if here is not None:
                pairs.append((there, here))
    n_dropped = sum(not grid.settings.dropped.isdisjoint(pair) for pair in pairs)
    found = ParameterEffect(name, value, base, len(pairs), n_dropped)
    if not pairs:
        return found
    changes = {}
    for cost, held in grid.costs.items():
        both = [(held[a], held[b]) for a, b in pairs]
        known = [x - y for x, y in both if x is not None and y is not None]
        if known:
            changes[cost] = sum(known) / len(known)
    new, old, rows = _sides([a for a, _ in pairs], [b for _, b in pairs], grid.values)
    if rows.sum() < 2:
        return replace(found, examples=int(rows.sum()), costs=changes)
    if (new == old).all():  # not one example differs: the parameter is idle here
        return replace(found, examples=int(rows.sum()), difference=0.0, costs=changes, verdict="inside the noise")
    sides = ScoreSample.pair(grid.metric, new, old, None, None if grid.clusters is None else grid.clusters[rows])
    tested, looked = difference_test(*sides), grid.settings.n_looks if n_dropped else 1
    return replace(
        found,
        examples=int(rows.sum()),
        difference=float((new - old).mean()),
        costs=changes,
        interval=interval_of_difference(*sides),
        p_value=None if tested is None else min(1.0, looked * tested.p_value),
    )


def _interaction(
    first: tuple[str, Any],
    second: tuple[str, Any],
    base: Parameters,
    index: Mapping[str, int],
    values: Floats,
    metric: Metric,
    clusters: npt.NDArray[Any] | None,
) -> Interaction | None:
    import numpy as np

    (one, a), (other, b) = first, second
    fours = []
    for key, both in index.items():
        parameters = _parameters(key)
        if canonical(parameters.get(one)) != canonical(a) or canonical(parameters.get(other)) != canonical(b):
            continue
        rest = [
            {**parameters, one: base[one]},
            {**parameters, other: base[other]},
            {**parameters, one: base[one], other: base[other]},
        ]
        numbers = [index.get(canonical(change)) for change in rest]
        if None not in numbers:
            fours.append((both, *numbers))
    if not fours:
        return None
    parts = np.array(fours)
    new = values[:, parts[:, 0]] + values[:, parts[:, 3]]
    old = values[:, parts[:, 1]] + values[:, parts[:, 2]]
    mean_new, mean_old, rows = _means(new / 2, old / 2)
    if rows.sum() < 2 or (mean_new == mean_old).all():  # a parameter that is idle here is no hypothesis
        return None
    sides = ScoreSample.pair(metric, mean_new, mean_old, None, None if clusters is None else clusters[rows])
    tested, interval = difference_test(*sides), interval_of_difference(*sides)
    if tested is None:
        return None
    doubled = None if interval is None else replace(interval, low=2 * interval.low, high=2 * interval.high)
    return Interaction(first, second, 2 * float((mean_new - mean_old).mean()), doubled, tested.p_value)


def _parameters(key: str) -> dict[str, Any]:
    import json

    return dict(json.loads(key))


def _sides(new: Sequence[int], old: Sequence[int], values: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    return _means(values[:, list(new)], values[:, list(old)])


def _means(new: Floats, old: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Per example the mean of both sides over the pairs that have both, and which examples have any."""
    import numpy as np

    both = ~(np.isnan(new) | np.isnan(old))
    count = both.sum(axis=1)
    rows = count > 0
    means = [np.where(both, side, 0.0).sum(axis=1)[rows] / count[rows] for side in (new, old)]
    return means[0], means[1], rows


def _verdict(p_value: float | None, interval: Interval | None, noise: float) -> Verdict:
    if p_value is not None and p_value < 0.05:
        return "matters"
    if interval is not None and -noise <= interval.low and interval.high <= noise:
        return "inside the noise"
    return "not enough data"

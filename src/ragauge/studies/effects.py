"""What each value of a parameter changes, over all trials that are otherwise equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragauge.core.identity import to_canonical_json
from ragauge.metrics.base import Metric
from ragauge.scores.estimation import ScoreSample, compute_difference_interval, run_difference_test
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
    """One value of a parameter against the base's value."""

    parameter: str  #: its name.
    value: Any  #: the value.
    base: Any  #: the base's value.
    pairs: int  #: of trials that differ in this alone.
    dropped: int = 0  #: of these pairs, those of which a trial was not asked everything.
    examples: int = 0  #: that have a score in both trials of a pair.
    #: mean score at the value less that at the base's, over pairs and examples; None where there is none.
    difference: float | None = None
    interval: Interval | None = None  #: of the difference.
    p_value: float | None = None  #: corrected by Holm over all effects.
    costs: Mapping[str, float] | None = None  #: cost -> mean change over the pairs.
    #: matters; inside the noise (the whole interval is: not the bottleneck); or not enough data.
    verdict: Verdict = "not enough data"


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two values that do together what they do not do alone."""

    first: tuple[str, Any]  #: parameter and value.
    second: tuple[str, Any]  #: parameter and value.
    difference: float  #: the effect of the first beside the second's value, less its effect beside the base's.
    interval: Interval | None  #: of the difference.
    p_value: float  #: corrected by Benjamini and Hochberg over all pairs of values.


class EffectSettings(NamedTuple):
    """How effects are judged."""

    noise: float = 0.03  #: differences within ± this are no bottleneck.
    dropped: frozenset[int] = frozenset()  #: numbers of the trials that a race stopped asking.
    #: looks at which it could; p-values of what was dropped are multiplied by it, since they are those of a look that
    #: was chosen by the scores.
    n_looks: int = 1


DEFAULT_SETTINGS = EffectSettings()


def compute_effects(
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
    grid = _Grid(trials, _index_trials(trials), values, metric, clusters, costs or {}, settings)
    effects = [
        _compute_effect(name, value, base[name], grid)
        for name in base
        for value in _list_values(trials, name)
        if to_canonical_json(value) != to_canonical_json(base[name])
    ]
    noise, tested = settings.noise, [n for n, effect in enumerate(effects) if effect.p_value is not None]
    for n, p in zip(tested, holm([effects[n].p_value or 0.0 for n in tested]), strict=True):
        effects[n] = replace(effects[n], p_value=p, verdict=_decide_verdict(p, effects[n].interval, noise))
    return [
        replace(effect, verdict=_decide_verdict(None, effect.interval, noise))
        if effect.p_value is None and effect.interval
        else effect
        for effect in effects
    ]


def find_interactions(
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
    index = _index_trials(trials)
    results = []
    for item, other in combinations(base, 2):
        for a in _list_values(trials, item):
            for b in _list_values(trials, other):
                if to_canonical_json(a) == to_canonical_json(base[item]) or to_canonical_json(b) == to_canonical_json(
                    base[other]
                ):
                    continue
                if (
                    interaction := _compute_interaction((item, a), (other, b), base, index, values, metric, clusters)
                ) is not None:
                    results.append(interaction)
    adjusted = benjamini_hochberg([item.p_value for item in results])
    significant = [replace(item, p_value=p) for item, p in zip(results, adjusted, strict=True) if p < rate]
    return sorted(significant, key=lambda item: (item.p_value, -abs(item.difference)))


def _index_trials(trials: Sequence[Parameters]) -> dict[str, int]:
    return {to_canonical_json(dict(parameters)): n for n, parameters in enumerate(trials)}


def _list_values(trials: Sequence[Parameters], name: str) -> list[Any]:
    values_by_key = {
        to_canonical_json(parameters[name]): parameters[name] for parameters in trials if name in parameters
    }
    return list(values_by_key.values())


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


def _compute_effect(name: str, value: Any, base: Any, grid: _Grid) -> ParameterEffect:
    pairs = []
    for value_index, parameters in enumerate(grid.trials):
        if name in parameters and to_canonical_json(parameters[name]) == to_canonical_json(value):
            base_index = grid.index.get(to_canonical_json({**parameters, name: base}))
            if base_index is not None:
                pairs.append((value_index, base_index))
    n_dropped = sum(not grid.settings.dropped.isdisjoint(pair) for pair in pairs)
    effect = ParameterEffect(name, value, base, len(pairs), n_dropped)
    if not pairs:
        return effect
    changes = {}
    for cost, cost_values in grid.costs.items():
        both = [(cost_values[a], cost_values[b]) for a, b in pairs]
        cost_changes = [x - y for x, y in both if x is not None and y is not None]
        if cost_changes:
            changes[cost] = sum(cost_changes) / len(cost_changes)
    new, old, rows = _average_pairs(grid.values[:, [a for a, _ in pairs]], grid.values[:, [b for _, b in pairs]])
    if rows.sum() < 2:
        return replace(effect, examples=int(rows.sum()), costs=changes)
    if (new == old).all():  # not one example differs: the parameter is idle here
        return replace(effect, examples=int(rows.sum()), difference=0.0, costs=changes, verdict="inside the noise")
    samples = ScoreSample.from_pairs(
        grid.metric, new, old, None, None if grid.clusters is None else grid.clusters[rows]
    )
    tested, looked = run_difference_test(*samples), grid.settings.n_looks if n_dropped else 1
    return replace(
        effect,
        examples=int(rows.sum()),
        difference=float((new - old).mean()),
        costs=changes,
        interval=compute_difference_interval(*samples),
        p_value=None if tested is None else min(1.0, looked * tested.p_value),
    )


def _compute_interaction(
    first: tuple[str, Any],
    second: tuple[str, Any],
    base: Parameters,
    index: Mapping[str, int],
    values: Floats,
    metric: Metric,
    clusters: npt.NDArray[Any] | None,
) -> Interaction | None:
    import numpy as np

    (first_name, a), (second_name, b) = first, second
    fours = []
    for key, both in index.items():
        parameters = _parse_parameters(key)
        if to_canonical_json(parameters.get(first_name)) != to_canonical_json(a) or to_canonical_json(
            parameters.get(second_name)
        ) != to_canonical_json(b):
            continue
        reduced = [
            {**parameters, first_name: base[first_name]},
            {**parameters, second_name: base[second_name]},
            {**parameters, first_name: base[first_name], second_name: base[second_name]},
        ]
        numbers = [index.get(to_canonical_json(change)) for change in reduced]
        if None not in numbers:
            fours.append((both, *numbers))
    if not fours:
        return None
    quads = np.array(fours)
    new = values[:, quads[:, 0]] + values[:, quads[:, 3]]
    old = values[:, quads[:, 1]] + values[:, quads[:, 2]]
    mean_new, mean_old, rows = _average_pairs(new / 2, old / 2)
    if rows.sum() < 2 or (mean_new == mean_old).all():  # a parameter that is idle here is no hypothesis
        return None
    samples = ScoreSample.from_pairs(metric, mean_new, mean_old, None, None if clusters is None else clusters[rows])
    tested, interval = run_difference_test(*samples), compute_difference_interval(*samples)
    if tested is None:
        return None
    doubled = None if interval is None else replace(interval, low=2 * interval.low, high=2 * interval.high)
    return Interaction(first, second, 2 * float((mean_new - mean_old).mean()), doubled, tested.p_value)


def _parse_parameters(key: str) -> dict[str, Any]:
    import json

    return dict(json.loads(key))


def _average_pairs(new: Floats, old: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Per example the mean of both sides over the pairs that have both, and which examples have any."""
    import numpy as np

    both = ~(np.isnan(new) | np.isnan(old))
    count = both.sum(axis=1)
    rows = count > 0
    means = [np.where(both, scores, 0.0).sum(axis=1)[rows] / count[rows] for scores in (new, old)]
    return means[0], means[1], rows


def _decide_verdict(p_value: float | None, interval: Interval | None, noise: float) -> Verdict:
    if p_value is not None and p_value < 0.05:
        return "matters"
    if interval is not None and -noise <= interval.low and interval.high <= noise:
        return "inside the noise"
    return "not enough data"

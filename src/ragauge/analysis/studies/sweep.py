"""Sweeps of whole systems: what the race came to, which parameters matter, and what is expected on new questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ragauge.analysis.studies.effects import ParameterEffect, interactions, parameter_effects
from ragauge.analysis.studies.figures import ChartPoint, StudyChart, StudyFigures, StudyKind, StudyTable, Told
from ragauge.analysis.studies.objective import score_span
from ragauge.data.identity import canonical
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse
from ragauge.stats.max_t import may_be_best
from ragauge.stats.selection import expected_on_new
from ragauge.text.messages import number, plural

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.analysis.scores.arrays import Columns

    Floats = npt.NDArray[np.float64]

NOISE = 0.03
COSTS = ("cost", "latency", "context_tokens")
RISES = ("k", "top_k", "n", "budget")     # parameters by which more passages reach the generator


def _tells(found: StudyFigures) -> Iterable[Told]:
    yield from _race(found)
    if not found.scored:
        return
    values = _Values(found, parse(found.metric))
    yield from _winner(found, values)
    yield from _effects(found, values)
    yield from _idle(found)
    yield from _segments(found, values)
    yield from _noise(found)
    yield from _charts(found)


class _Values:
    """The scores of what decides, an example a row and a complete trial a column, larger being better."""

    def __init__(self, found: StudyFigures, metric: Metric) -> None:
        import numpy as np

        self.metric = metric
        self.names = tuple(found.scores)
        columns = [_column(found, name, str(metric)) for name in self.names]
        self.own: Floats = np.column_stack([one.value for one in columns])
        self.sign = -1.0 if metric.direction == "lower" else 1.0
        self.clusters = columns[0].cluster
        parameters = {trial.name: trial.parameters for trial in found.complete}
        self.parameters = [parameters[name] for name in self.names]


def _column(found: StudyFigures, trial: str, metric: str) -> Columns:
    from ragauge.analysis.studies.reading import score_column

    return score_column(found.scores[trial], metric)


def _race(found: StudyFigures) -> Iterator[Told]:
    """Who was dropped, when and why, and what that saved."""
    trials = found.study.trials
    asked = {trial.name: int(trial.measured("questions") or 0) for trial in trials}
    most = max(asked.values(), default=0)
    pruned = [trial for trial in trials if trial.state == "pruned"]
    if pruned:
        planned, made = most * len(trials), sum(asked.values())
        yield (
            f"The race asked {made:,} of {planned:,} questions ({1 - made / planned:.0%} saved): "
            f"{plural(len(pruned), 'trial')} of {len(trials)} surely lost on the way. The chance that the best was "
            "dropped is at most 5 %."
        )


def _winner(found: StudyFigures, values: _Values) -> Iterator[str]:
    """What the highest mean is worth on questions that had no part in its choice."""
    if len(values.names) < 2:
        return
    means = {name: found.mean(name) for name in values.names}
    seen = [one.mean for one in means.values() if one is not None and one.mean is not None]
    expected = expected_on_new(values.sign * values.own, None, values.clusters)
    if seen and expected is not None:
        top = (min if values.sign < 0 else max)(seen)
        yield (
            f"The best mean seen is {number(top)}; the best of {len(values.names)} is chosen with luck, and on new "
            f"questions {number(values.sign * expected)} is expected of it."
        )


def _effects(found: StudyFigures, values: _Values) -> Iterator[Told]:
    base = found.study.fixed.get("base") or {}
    if not base:
        return
    costs = {name: [found.costs(name).get(trial) for trial in values.names] for name in COSTS if name in found.measured}
    noise = float(found.study.fixed.get("noise", NOISE))
    effects = parameter_effects(
        values.parameters, values.own, values.metric, base, clusters=values.clusters, costs=costs, noise=noise
    )
    there = {(one.parameter, canonical(one.value)) for one in effects}
    effects += [     # values of which no trial was asked everything
        ParameterEffect(name, value, base[name], 0)
        for name, tried in found.study.space.items() for value in tried
        if name in base and canonical(value) != canonical(base[name]) and (name, canonical(value)) not in there
    ]     # fmt: skip
    if not effects:
        return
    heads = ("parameter", "value", "instead of", "pairs", str(values.metric), "95 %", *costs, "verdict")
    rows = tuple(_effect_row(one, tuple(costs)) for one in effects)
    yield StudyTable(
        "What each value changes", heads, rows, heads[3:-1],
        ("Against the base's value, over all pairs of complete trials that are otherwise equal.",),
        (f"inside the noise: the whole interval lies within ±{100 * noise:g} points; not the bottleneck.",
         "A verdict of matters is corrected by Holm over all rows."),
    )     # fmt: skip
    for one in interactions(values.parameters, values.own, values.metric, base, clusters=values.clusters):
        (a, x), (b, y) = one.first, one.second
        within = f" [{100 * one.interval.low:+.1f}, {100 * one.interval.high:+.1f}]" if one.interval else ""
        yield (
            f"{a}={x} and {b}={y} do {100 * one.difference:+.1f} points{within} together beyond what each does alone "
            "(false discovery rate 5 %)."
        )
    points = [
        ChartPoint(f"{one.parameter}={one.value}", 100 * one.difference, "", 100 * ends.low, 100 * ends.high)
        for one in effects if one.difference is not None and (ends := one.interval) is not None
    ]     # fmt: skip
    if points:
        yield StudyChart(f"Effects on {values.metric}", "bars", "", "points against the base", tuple(points))


def _effect_row(one: ParameterEffect, costs: tuple[str, ...]) -> tuple[str, ...]:
    ends = f"{100 * one.interval.low:+.1f} to {100 * one.interval.high:+.1f}" if one.interval else "–"
    change = "–" if one.difference is None else f"{100 * one.difference:+.1f}"
    held: Mapping[str, float] = one.costs or {}
    spent = (f"{held[name]:+.3g}" if name in held else "–" for name in costs)
    verdict = one.verdict if one.pairs else "no pair was asked everything"
    return (one.parameter, str(one.value), str(one.base), str(one.pairs), change, ends, *spent, verdict)


def _idle(found: StudyFigures) -> Iterator[str]:
    """Parameters that change no score and no length of the context."""
    import numpy as np

    metrics = [name for name in found.names if name not in ("latency", "cost", "tokens")]
    held = {name: [_column(found, name, metric).value for metric in metrics] for name in found.scores}
    parameters = {trial.name: trial.parameters for trial in found.complete if trial.name in held}
    for name in next(iter(parameters.values()), {}):
        pairs = [
            (one, other) for one, other in combinations(parameters, 2)
            if parameters[one].get(name) != parameters[other].get(name)
            and _without(parameters[one], name) == _without(parameters[other], name)
        ]     # fmt: skip
        same = (
            np.array_equal(x, y, equal_nan=True)
            for one, other in pairs for x, y in zip(held[one], held[other], strict=True)
        )     # fmt: skip
        some = any(len(x) >= 10 and not np.isnan(x).all() for columns in held.values() for x in columns)
        if pairs and some and all(same):
            yield f"{name} changes no score in any pair of trials: does the system use it?"


def _without(parameters: Mapping[str, Any], name: str) -> str:
    return canonical({key: value for key, value in parameters.items() if key != name})


def _segments(found: StudyFigures, values: _Values) -> Iterator[str]:
    """Segments in which the trial that is recommended is surely not the best."""
    taken = found.reading.recommendation.trial
    if taken is None or taken not in values.names or not found.masks:
        return
    level = 1 - 0.05 / len(found.masks)     # of all segments together
    for segment, mask in found.masks.items():
        clusters = None if values.clusters is None else values.clusters[mask]
        stays = may_be_best(values.sign * values.own[mask], clusters, level=level, span=score_span(values.metric))
        if not stays[values.names.index(taken)]:
            others = [name for name, one in zip(values.names, stays, strict=True) if one]
            yield f"In {segment}, {taken} is surely not the best: {', '.join(others[:3])} may be."


def _noise(found: StudyFigures) -> Iterator[str]:
    """Faithfulness that falls as more passages are handed on."""
    name = "faithfulness"
    if name not in found.names:
        return
    for parameter in RISES:
        means: dict[float, list[float]] = {}
        for trial in found.complete:
            value, one = trial.parameters.get(parameter), found.mean(trial.name, name)
            if isinstance(value, int | float) and one is not None and one.mean is not None:
                means.setdefault(float(value), []).append(one.mean)
        line = [sum(ones) / len(ones) for _, ones in sorted(means.items())]
        if len(line) > 2 and line[-1] < max(line) - NOISE and line.index(max(line)) < len(line) - 1:
            at = sorted(means)[line.index(max(line))]
            yield f"{name} falls as {parameter} rises beyond {at:g}: further passages are noise to the generator."


def _charts(found: StudyFigures) -> Iterator[StudyChart]:
    asked = [ChartPoint(trial.name, trial.measured("questions") or 0.0) for trial in found.study.trials]
    if any(trial.state == "pruned" for trial in found.study.trials):
        yield StudyChart("The race: questions that each trial was asked", "bars", "", "questions", tuple(asked))


SWEEP = StudyKind("sweep", (), COSTS, ("questions", "judge_calls"), _tells, ("*",))

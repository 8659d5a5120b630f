"""What a sweep draws: the race, effects, recall against precision, and a map of two parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from ragauge.core.identity import canonical
from ragauge.core.messages import number
from ragauge.metrics.catalogue import parse
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.context import TrialValues
from ragauge.studies.effects import ParameterEffect
from ragauge.studies.figures import StudyFigures, Told
from ragauge.studies.front import paired_knee, pareto_front

RECALLS = ("context_recall", "recall", "token_recall")


def race_chart(found: StudyFigures) -> Iterator[ReportChart]:
    """How far each trial came."""
    trials = found.study.trials
    if any(trial.state == "pruned" for trial in trials):
        points = [ChartPoint(found.short(one.name), one.measured("questions") or 0.0) for one in trials]
        title = f"The race: questions that each trial was asked, by {', '.join(found.varied)}"
        yield ReportChart(title, "bars", "", "questions", tuple(points))


def forest_chart(effects: Sequence[ParameterEffect], metric: str) -> Iterator[ReportChart]:
    """What each value changes, with its interval, around the line of no change."""
    points = [
        ChartPoint(f"{one.parameter}={one.value}", 100 * one.difference, one.verdict, 100 * ends.low, 100 * ends.high)
        for one in effects
        if one.difference is not None and (ends := one.interval) is not None
    ]
    if points:
        yield ReportChart(f"Effects on {metric}", "forest", "", "points against the base's value", tuple(points))


def precision_recall(found: StudyFigures) -> Iterator[Told]:
    """Recall against 1 − precision with its knee, where the trials have a pair of both."""
    pair = _pair(found)
    if pair is None or len(found.scores) < 3:
        return
    recall, precision = (TrialValues(found, parse(name)) for name in pair)
    means = [[found.mean(name, metric) for name in recall.names] for metric in pair]
    if any(one is None or one.mean is None for row in means for one in row):
        return
    quality, exact = ([one.mean for one in row if one and one.mean is not None] for row in means)
    lost = [1 - one for one in exact]
    bend = paired_knee(recall.own, 1 - precision.own, recall.clusters)
    front = set(pareto_front(quality, lost))
    points = [
        ChartPoint(
            lost[n],
            quality[n],
            "on the front" if n in front else "beaten",
            label=f"{found.short(name)} (knee)" if n == bend.trial else found.short(name) if n in front else "",
        )
        for n, name in enumerate(recall.names)
    ]
    about = f"{pair[0]} against 1 − {pair[1]}"
    if bend.trial is None:
        yield f"{about}: {bend.reason}."
    else:
        at = bend.trial
        yield (
            f"Knee of {about}: {recall.names[at]}, at {number(quality[at])} and {number(lost[at])} "
            f"({bend.agreement:.0%} of resamples agree)."
        )
    title = f"{pair[0]} against {pair[1]}, by {', '.join(found.varied)}"
    yield ReportChart(title, "points", f"1 − {pair[1]}", pair[0], tuple(points))


def _pair(found: StudyFigures) -> tuple[str, str] | None:
    """A metric of recall, what decides first, and the one of precision that belongs to it."""
    names = [name for name in (found.metric, *found.names) if name.startswith(RECALLS)]
    for name in names:
        for other in (name.replace("recall", "precision"), *found.names):
            if other in found.names and other.startswith(("context_precision", "precision", "token_precision")):
                return name, other
    return None


def heat_map(found: StudyFigures) -> Iterator[ReportChart]:
    """Two parameters, the others as in the trial that is recommended, or the best, or the base."""
    trials = {trial.name: trial for trial in found.study.trials}
    centre = trials.get(found.reading.recommendation.trial or found.base or found.reading.best_set[0])
    if centre is None:
        return
    best: tuple[int, str, str, list[ChartPoint], bool] = (0, "", "", [], True)
    for across, down in combinations(found.study.space, 2):
        rest = {name: value for name, value in centre.parameters.items() if name not in (across, down)}
        cells = []
        for x in _ordered(found.study.space[across]):
            for y in _ordered(found.study.space[down]):
                wanted = canonical({**rest, across: x, down: y})
                trial = next((one for one in trials.values() if canonical(dict(one.parameters)) == wanted), None)
                mean = found.mean(trial.name) if trial else None
                if mean is not None and mean.mean is not None:
                    cells.append(ChartPoint(str(x), mean.mean, str(y), label=number(mean.mean)))
        whole = len(cells) == len(found.study.space[across]) * len(found.study.space[down])
        square = len({one.x for one in cells}) > 1 and len({one.series for one in cells}) > 1
        if square and len(cells) > best[0]:
            best = (len(cells), across, down, cells, whole)
    if best[0] > 3:
        _, across, down, cells, whole = best
        rest = {name: value for name, value in centre.parameters.items() if name not in (across, down)}
        at = f", at {', '.join(f'{name}={value}' for name, value in rest.items())}" if rest else ""
        title = f"{found.metric} by {across} and {down}{at}{'' if whole else '; blank: not asked everything'}"
        yield ReportChart(title, "heat", across, down, tuple(cells))


def _ordered(values: Sequence[Any]) -> list[Any]:
    """Numbers by their size, others as they are written."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    return sorted(values) if numbers else list(values)

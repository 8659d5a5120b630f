"""What a sweep draws: the race, effects, recall against precision, and a map of two parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from ragauge.core.identity import to_canonical_json
from ragauge.core.messages import format_value
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.context import TrialValues
from ragauge.studies.effects import ParameterEffect
from ragauge.studies.figures import StudyContent, StudySummary
from ragauge.studies.front import find_paired_knee, find_pareto_front

RECALL_METRICS = ("context_recall", "recall", "token_recall")


def build_race_chart(summary: StudySummary) -> Iterator[ReportChart]:
    """How far each trial came."""
    trials = summary.study.trials
    if any(trial.state == "pruned" for trial in trials):
        points = [
            ChartPoint(summary.shorten_name(trial.name), trial.find_measurement_value("questions") or 0.0)
            for trial in trials
        ]
        title = f"The race: questions asked of each trial, by {', '.join(summary.varied_parameters)}"
        yield ReportChart(title, "bars", "", "questions", tuple(points))


def build_forest_chart(effects: Sequence[ParameterEffect], metric: str) -> Iterator[ReportChart]:
    """What each value changes, with its interval, around the line of no change."""
    points = [
        ChartPoint(
            f"{effect.parameter}={effect.value}",
            100 * effect.difference,
            effect.verdict,
            100 * interval.low,
            100 * interval.high,
        )
        for effect in effects
        if effect.difference is not None and (interval := effect.interval) is not None
    ]
    if points:
        yield ReportChart(f"Effects on {metric}", "forest", "", "points compared with the base value", tuple(points))


def build_precision_recall(summary: StudySummary) -> Iterator[StudyContent]:
    """Recall against 1 − precision with its knee, where the trials have a pair of both."""
    pair = _find_metric_pair(summary)
    if pair is None or len(summary.scores) < 3:
        return
    recall, precision = (TrialValues(summary, parse_metric(name)) for name in pair)
    means = [[summary.mean(name, metric) for name in recall.names] for metric in pair]
    if any(item is None or item.mean is None for row in means for item in row):
        return
    quality, exact = ([item.mean for item in row if item and item.mean is not None] for row in means)
    missing_precision = [1 - item for item in exact]
    bend = find_paired_knee(recall.own, 1 - precision.own, recall.clusters)
    front = set(find_pareto_front(quality, missing_precision))
    points = [
        ChartPoint(
            missing_precision[n],
            quality[n],
            "on the front" if n in front else "beaten",
            label=f"{summary.shorten_name(name)} (knee)"
            if n == bend.trial
            else summary.shorten_name(name)
            if n in front
            else "",
        )
        for n, name in enumerate(recall.names)
    ]
    about = f"{pair[0]} vs 1 − {pair[1]}"
    if bend.trial is None:
        yield f"{about}: {bend.reason}."
    else:
        knee_index = bend.trial
        yield (
            f"Knee of {about}: {recall.names[knee_index]}, at {format_value(quality[knee_index])} and "
            f"{format_value(missing_precision[knee_index])} ({bend.agreement:.0%} of resamples agree)."
        )
    title = f"{pair[0]} vs {pair[1]}, by {', '.join(summary.varied_parameters)}"
    yield ReportChart(title, "points", f"1 − {pair[1]}", pair[0], tuple(points))


def _find_metric_pair(summary: StudySummary) -> tuple[str, str] | None:
    """A metric of recall, what decides first, and the one of precision that belongs to it."""
    names = [name for name in (summary.metric, *summary.names) if name.startswith(RECALL_METRICS)]
    for name in names:
        for other in (name.replace("recall", "precision"), *summary.names):
            if other in summary.names and other.startswith(("context_precision", "precision", "token_precision")):
                return name, other
    return None


def build_heat_map(summary: StudySummary) -> Iterator[ReportChart]:
    """Two parameters, the others as in the trial that is recommended, or the best, or the base."""
    trials = {trial.name: trial for trial in summary.study.trials}
    center = trials.get(summary.reading.recommendation.trial or summary.base or summary.reading.best_set[0])
    if center is None:
        return
    best: tuple[int, str, str, list[ChartPoint], bool] = (0, "", "", [], True)
    for across, down in combinations(summary.study.parameter_values, 2):
        fixed = {name: value for name, value in center.parameters.items() if name not in (across, down)}
        cells = []
        for x in _sort_values(summary.study.parameter_values[across]):
            for y in _sort_values(summary.study.parameter_values[down]):
                target_key = to_canonical_json({**fixed, across: x, down: y})
                trial = next(
                    (item for item in trials.values() if to_canonical_json(dict(item.parameters)) == target_key), None
                )
                mean = summary.mean(trial.name) if trial else None
                if mean is not None and mean.mean is not None:
                    cells.append(ChartPoint(str(x), mean.mean, str(y), label=format_value(mean.mean)))
        is_complete = len(cells) == len(summary.study.parameter_values[across]) * len(
            summary.study.parameter_values[down]
        )
        square = len({item.x for item in cells}) > 1 and len({item.series for item in cells}) > 1
        if square and len(cells) > best[0]:
            best = (len(cells), across, down, cells, is_complete)
    if best[0] > 3:
        _, across, down, cells, is_complete = best
        fixed = {name: value for name, value in center.parameters.items() if name not in (across, down)}
        fixed_text = f", at {', '.join(f'{name}={value}' for name, value in fixed.items())}" if fixed else ""
        title = (
            f"{summary.metric} by {across} and "
            f"{down}{fixed_text}{'' if is_complete else '; blank: not all questions asked'}"
        )
        yield ReportChart(title, "heat", across, down, tuple(cells))


def _sort_values(values: Sequence[Any]) -> list[Any]:
    """Numbers by their size, others as they are written."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return sorted(values) if numbers else list(values)

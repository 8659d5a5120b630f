"""Studies in the store: made, listed, removed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.studies.options import OpenStudyOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    import polars as pl

    from ragauge.core.example import EvalSet
    from ragauge.core.study import Study, Trial
    from ragauge.store.store_access import Store
    from ragauge.studies.maker import TrialMaker
    from ragauge.studies.result import StudyResult


def conduct_study(
    name: str,
    maker: TrialMaker,
    eval_set: EvalSet | None,
    grid: Sequence[Mapping[str, Any]],
    *,
    fresh: bool = False,
    store: str | None = None,
    say: Callable[[str], None] | None = None,
) -> Study:
    """Makes the trials of a grid that are not there yet, as `engine.studies.conduct` says, in a store by its URL."""
    from ragauge.store.store_access import open_store
    from ragauge.studies.conduct import conduct

    with open_store(store_url(store)) as opened:
        return conduct(opened, name, maker, eval_set, grid, fresh=fresh, say=say)


def studies(*, store: str | None = None) -> list[dict[str, Any]]:
    """The stored studies, newest first: name, kind, set, created_at, and how many trials are in which state."""
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        found = opened.studies.list()
    rows = []
    for study in found:
        states = [trial.state for trial in study.trials]
        rows.append(
            {
                "name": study.name,
                "kind": study.kind,
                "set": study.set_name,
                "created_at": study.created_at,
                "trials": {state: states.count(state) for state in dict.fromkeys(states)},
            }
        )
    return rows


def with_verdicts(
    rows: Sequence[Mapping[str, Any]], *, store: str | None = None, seconds: float | None = None
) -> list[dict[str, Any]]:
    """A list of studies, each with what came of it, in a sentence, as `verdict`.

    Args:
        rows: as `studies` gives them.
        store: URL of the store.
        seconds: after so many no further study is read, and the rest has no verdict; None = all are.
    """
    from ragauge.studies.tables import verdict

    until = None if seconds is None else time.monotonic() + seconds
    return [
        dict(row)
        if until is not None and time.monotonic() > until
        else {**row, "verdict": verdict(open_study(row["name"], store=store).figures)}
        for row in rows
    ]


def delete_study(name: str, *, store: str | None = None) -> int:
    """Removes a study with the runs of its trials; returns how many trials it had.

    Raises:
        UnknownName: no such study.
        UsageError: a baseline stands for one of its runs.
    """
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        trials = len(opened.studies.read(name).trials)
        opened.studies.delete(name)
    return trials


@keywords(OpenStudyOptions)
def open_study(wanted: OpenStudyOptions) -> StudyResult:
    """A stored study with what its trials say together.

    Options:
        name: of the study.
        metric: what decides; by default the kind's own.
        base: the trial that others are held against, by name.
        target: METRIC=x, or x of what decides: take the cheapest trial whose whole interval meets it.
        cost: the measurement that says what a trial costs; by default the kind's own.
        log: look for knees on the logarithm of the cost.
        decide: what verdicts such as worth-its-price look at: interval, or point for estimates alone.
        store: URL of the store.

    Raises:
        UnknownName: no such study, kind, metric, measurement or trial.
        UsageError: a target that is no number.
    """
    from ragauge.engine.judge_error import judge_errors
    from ragauge.scores.arrays import ScoreArrays
    from ragauge.store.store_access import open_store
    from ragauge.studies.figures import StudyFigures
    from ragauge.studies.kinds import kind_of
    from ragauge.studies.result import StudyResult

    with open_store(store_url(wanted.store)) as opened:
        study = opened.studies.read(wanted.name)
        kind = kind_of(study.kind)
        scored = [trial for trial in study.trials if trial.state == "complete" and trial.run_id]
        judge = study.fixed.get("judge") or None  # scores by it, where the trials are judged
        frames = {trial.name: _scores(opened, trial, judge) for trial in scored}
        fallen = {
            trial.name: _scores(opened, trial, judge)
            for trial in study.trials
            if trial.state == "pruned" and trial.run_id
        }
        errors = judge_errors(judge, opened, [trial.run_id for trial in scored])
        held = {trial: set(frame["metric"].unique().to_list()) for trial, frame in frames.items()}
        first = opened.scores.metrics(scored[0].run_id, judge) if scored else []
        names = tuple(one for one in first if all(one in mine for mine in held.values()))
        segments = opened.runs.segments(scored[0].run_id).sort("query_id") if scored else None
    scores = {trial: ScoreArrays.of(frame) for trial, frame in frames.items()}
    figures = StudyFigures(study, kind, scores, names, _masks(segments))
    figures.fallen, figures.errors = {name: ScoreArrays.of(one) for name, one in fallen.items()}, errors
    asked = {key: value for key, value in wanted.reading.items() if key != "store"}
    objective, at = str(study.fixed.get("objective", "")), str(study.fixed.get("base_trial", ""))
    if objective in names and not wanted.metric and not str(wanted.target or "").count("="):
        asked["metric"] = objective
    if not wanted.base and at in scores:
        asked["base"] = at
    figures.ask(**asked)
    return StudyResult(figures, opened.url)


def _scores(opened: Store, trial: Trial, judge: str | None) -> pl.DataFrame:
    from ragauge.studies.sweep.trial_scores import trial_scores

    return trial_scores(opened, trial.run_id, judge).sort("query_id", "repeat", maintain_order=True)


def _masks(segments: pl.DataFrame | None) -> dict[str, Any]:
    """column=value -> which examples are of this segment."""
    return (
        {}
        if segments is None
        else {
            f"{column}={value}": (segments[column] == value).fill_null(value=False).to_numpy()
            for column in segments.columns[1:]
            for value in segments[column].drop_nulls().unique(maintain_order=True)
        }
    )

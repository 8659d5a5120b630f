"""Studies in the store: their kinds, and how they are opened, listed and deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UnknownName
from ragauge.studies.ann.compute import ANN
from ragauge.studies.chunking.compute import CHUNKING
from ragauge.studies.embeddings.compute import EMBEDDINGS
from ragauge.studies.figures import StudyKind
from ragauge.studies.options import OpenStudyOptions
from ragauge.studies.sweep.compute import SWEEP
from ragauge.verbs.option_specs import Store as StoreOption
from ragauge.verbs.option_specs import expand_options, with_options
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    import polars as pl

    from ragauge.core.example import EvalSet
    from ragauge.core.study import Study, Trial
    from ragauge.store.store_access import Store
    from ragauge.studies.conduct import TrialMaker
    from ragauge.studies.result import StudyResult


def run_study(
    name: str,
    maker: TrialMaker,
    eval_set: EvalSet | None,
    grid: Sequence[Mapping[str, Any]],
    *,
    fresh: bool = False,
    store: str | None = None,
    say: Callable[[str], None] | None = None,
) -> Study:
    """Makes the trials of a grid that are not there yet, as `studies.conduct` says, in a store by its URL."""
    from ragauge.store.store_access import open_store
    from ragauge.studies.conduct import run_study_trials

    with open_store(resolve_store_url(store)) as opened_store:
        return run_study_trials(opened_store, name, maker, eval_set, grid, fresh=fresh, say=say)


@with_options(store=StoreOption)
def list_stored_studies(*, store: str | None = None) -> list[dict[str, Any]]:
    """The stored studies, newest first: name, kind, set, created_at, and how many trials are in which state."""
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        stored_studies = opened_store.studies.list()
    rows = []
    for study in stored_studies:
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


def add_verdicts(
    rows: Sequence[Mapping[str, Any]], *, store: str | None = None, seconds: float | None = None
) -> list[dict[str, Any]]:
    """A list of studies, each with what came of it, in a sentence, as `verdict`.

    Args:
        rows: as `list_stored_studies` gives them.
        store: URL of the store.
        seconds: after so many no further study is read, and the rest has no verdict; None = all are.
    """
    from ragauge.studies.tables import describe_verdict

    until = None if seconds is None else time.monotonic() + seconds
    return [
        dict(row)
        if until is not None and time.monotonic() > until
        else {**row, "verdict": describe_verdict(open_study(row["name"], store=store).figures)}
        for row in rows
    ]


def delete_study(name: str, *, store: str | None = None) -> int:
    """Removes a study with the runs of its trials; returns how many trials it had.

    Raises:
        UnknownName: no such study.
        UsageError: a baseline stands for one of its runs.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        trials = len(opened_store.studies.read(name).trials)
        opened_store.studies.delete(name)
    return trials


@expand_options(OpenStudyOptions)
def open_study(options: OpenStudyOptions) -> StudyResult:
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
    from ragauge.engine.judge_error import find_judge_errors
    from ragauge.scores.arrays import ScoreArrays
    from ragauge.store.store_access import open_store
    from ragauge.studies.figures import StudySummary
    from ragauge.studies.result import StudyResult

    with open_store(resolve_store_url(options.store)) as opened_store:
        study = opened_store.studies.read(options.name)
        kind = find_study_kind(study.kind)
        scored = [trial for trial in study.trials if trial.state == "complete" and trial.run_id]
        judge = study.fixed.get("judge") or None  # scores by it, where the trials are judged
        frames = {trial.name: _load_scores(opened_store, trial, judge) for trial in scored}
        pruned = [trial for trial in study.trials if trial.state == "pruned" and trial.run_id]
        fallen = {trial.name: _load_scores(opened_store, trial, judge) for trial in pruned}
        errors = find_judge_errors(judge, opened_store, [trial.run_id for trial in scored])
        metrics_by_trial = [set(frame["metric"].unique().to_list()) for frame in frames.values()]
        first = opened_store.scores.metrics(scored[0].run_id, judge) if scored else []
        names = tuple(entry for entry in first if all(entry in metrics for metrics in metrics_by_trial))
        segments = opened_store.runs.segments(scored[0].run_id).sort("query_id") if scored else None
    scores = {trial: ScoreArrays.of(frame) for trial, frame in frames.items()}
    figures = StudySummary(study, kind, scores, names, _build_masks(segments))
    figures.fallen, figures.errors = {name: ScoreArrays.of(entry) for name, entry in fallen.items()}, errors
    read_options = {key: value for key, value in options.open_arguments.items() if key != "store"}
    objective, base_trial = str(study.fixed.get("objective", "")), str(study.fixed.get("base_trial", ""))
    if objective in names and not options.metric and not str(options.target or "").count("="):
        read_options["metric"] = objective
    if not options.base and base_trial in scores:
        read_options["base"] = base_trial
    figures.set_options(**read_options)
    return StudyResult(figures, opened_store.url)


def _load_scores(store: Store, trial: Trial, judge: str | None) -> pl.DataFrame:
    from ragauge.studies.conduct import load_trial_scores

    return load_trial_scores(store, trial.run_id, judge).sort("query_id", "repeat", maintain_order=True)


def _build_masks(segments: pl.DataFrame | None) -> dict[str, Any]:
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


KINDS: Mapping[str, StudyKind] = {kind.name: kind for kind in (CHUNKING, EMBEDDINGS, SWEEP, ANN)}


def find_study_kind(name: str) -> StudyKind:
    """A kind by its name.

    Raises:
        UnknownName: none of this name is declared.
    """
    if name not in KINDS:
        raise UnknownName("kind of study", name, KINDS, "The study was made by another version of ragauge.")
    return KINDS[name]

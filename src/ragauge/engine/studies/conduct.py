"""Carries out a study: the trials that are not complete, one after the other, each kept whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.data.example import EvalSet
from ragauge.data.response import Response
from ragauge.data.run import Run
from ragauge.data.study import Measurement, Study, Trial
from ragauge.engine.studies.maker import OpenTrial, TrialMaker
from ragauge.errors import DataError, StoreError, UsageError
from ragauge.metrics.base import Measured
from ragauge.store.open import Store
from ragauge.store.scores import Column

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Result:
    """What a trial gave, before it is kept."""

    config: Mapping[str, Any]
    columns: tuple[Column, ...]
    answers: tuple[tuple[Response, Sequence[Measured]], ...]
    measurements: tuple[Measurement, ...]


def conduct(
    store: Store, name: str, maker: TrialMaker, eval_set: EvalSet, grid: Sequence[Mapping[str, Any]], *,
    fresh: bool = False, say: Say | None = None,
) -> Study:     # fmt: skip
    """Makes every trial of a grid that the study does not hold complete already.

    A study of this name with the same kind, set and fixed settings is continued: new parameters join, complete
    trials stay as they are, failed and unfinished ones are made again. Run, responses, scores and measurements of a
    trial are written in one transaction, so that a kill costs the trial under way and nothing else.

    Args:
        store: where the study is kept.
        name: of the study.
        maker: of the trials.
        eval_set: what every trial is asked.
        grid: the parameters of each trial.
        fresh: forget a study of this name first.
        say: told what is done, a line a trial.

    Returns:
        The study with all of its trials.

    Raises:
        UsageError: there is a study of this name with other fixed settings, which are named; or the grid is empty.
    """
    if not grid:
        raise UsageError(f"the study {name} has no trial. Name at least one setting to try.")
    if fresh and store.studies.has(name):
        store.studies.delete(name)
    wanted = Study(name, maker.kind, eval_set.name, eval_set.version, dict(maker.fixed))
    if store.studies.has(name):
        _refuse_other(store.studies.read(name), wanted)
    else:
        store.studies.begin(wanted)
    complete = {trial.name for trial in store.studies.read(name).trials if trial.state == "complete"}
    named = {maker.name(parameters): parameters for parameters in grid}
    for number, (called, parameters) in enumerate(named.items(), 1):
        head = f"trial {number} of {len(named)}: {called}"
        if called in complete:
            _tell(say, f"{head}: there already")
            continue
        _tell(say, head)
        _make(store, name, maker, eval_set, Trial(called, dict(parameters)), say)
    return store.studies.read(name)


def _make(store: Store, study: str, maker: TrialMaker, eval_set: EvalSet, trial: Trial, say: Say | None) -> None:
    """One trial, kept as complete or as failed."""
    store.studies.put(study, trial)
    try:
        result = _result(maker.open(trial.parameters), eval_set)
    except StoreError:
        raise     # no trial of any settings could be kept
    except Exception as error:     # whatever a library raises, the other trials are made
        reason = f"{type(error).__name__}: {error}" if not isinstance(error, UsageError | DataError) else str(error)
        _tell(say, f"{trial.name} failed: {reason}")
        store.studies.put(study, Trial(trial.name, trial.parameters, "failed", reason))
        return
    with store.transaction():
        run_id = _keep_run(store, study, maker.kind, eval_set, trial, result)
        store.studies.put(
            study, Trial(trial.name, trial.parameters, "complete", "", run_id, result.measurements)
        )


def _result(opened: OpenTrial, eval_set: EvalSet) -> _Result:
    try:
        answers = tuple(opened.answers(eval_set.examples))
        columns = tuple(Column(str(metric), metric.version) for metric in opened.metrics)
        return _Result(dict(opened.config), columns, answers, tuple(opened.measurements()))
    finally:
        opened.close()


def _keep_run(
    store: Store, study: str, kind: str, eval_set: EvalSet, trial: Trial, result: _Result
) -> str:
    """The run of a trial with its responses and scores; returns its id."""
    config = {**result.config, "study": study, "parameters": dict(trial.parameters)}
    run = Run("", trial.name, system=kind, config=config, planned=len(result.answers))
    run_id = store.collecting.begin(run, eval_set).run_id
    examples = {example.query_id: example for example in eval_set.examples}
    arrived = [(examples[response.query_id], response) for response, _ in result.answers]
    store.collecting.add(run_id, arrived)
    store.collecting.finish(run_id)
    order = store.runs.order(run_id).numbers
    index = store.runs.index(run_id, order)
    number = {index.query_ids[query]: int(no) for no, query in zip(index.number, index.query, strict=True)}
    rows = [(number[response.query_id], scores) for response, scores in result.answers]
    if result.columns:
        store.scores.write(run_id, result.columns, rows)
    return run_id


def _refuse_other(there: Study, wanted: Study) -> None:
    """UsageError where a study of this name holds something else constant."""
    def settings(study: Study) -> dict[str, Any]:
        return {"kind": study.kind, "set": f"{study.set_name} {study.set_version}", **study.fixed}

    old, new = settings(there), settings(wanted)
    differing = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if differing:
        told = "; ".join(f"{key} was {old.get(key)}, now {new.get(key)}" for key in differing)
        raise UsageError(
            f"the study {wanted.name} holds other settings constant: {told}. "
            "Choose another --name, or --fresh to forget it."
        )


def _tell(say: Say | None, line: str) -> None:
    if say is not None:
        say(line)

"""Carries out a study: the trials that are not complete, one after the other, each kept whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from ragauge.core.errors import RagaugeError, StoreError, UsageError
from ragauge.core.example import EvalSet
from ragauge.core.messages import plural
from ragauge.core.response import Response, Run
from ragauge.core.study import Measurement, Study, Trial
from ragauge.engine.plan import declare_own
from ragauge.metrics.base import Measured
from ragauge.metrics.catalogue import parse
from ragauge.store.scores import Column
from ragauge.store.store_access import Store
from ragauge.studies.maker import OpenTrial, TrialMaker

Say = Callable[[str], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Result:
    """What a trial gave, before it is kept."""

    config: Mapping[str, Any]
    columns: tuple[Column, ...]
    answers: tuple[tuple[Response, Sequence[Measured]], ...]
    measurements: tuple[Measurement, ...]


def conduct(
    store: Store,
    name: str,
    maker: TrialMaker,
    eval_set: EvalSet | None,
    grid: Sequence[Mapping[str, Any]],
    *,
    fresh: bool = False,
    say: Say | None = None,
) -> Study:
    """Makes every trial of a grid that the study does not hold complete already.

    A study of this name with the same kind, set and fixed settings is continued: new parameters join, complete
    trials stay as they are, failed and unfinished ones are made again. Run, responses, scores and measurements of a
    trial are written in one transaction, so that a kill costs the trials under way and nothing else.

    Args:
        store: where the study is kept.
        name: of the study.
        maker: of the trials.
        eval_set: what every trial is asked; None = trials have measurements alone.
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
    about = (eval_set.name, eval_set.version) if eval_set else ("", "")
    wanted = Study(name, maker.kind.name, *about, dict(maker.fixed))
    if store.studies.has(name):
        refuse_other(store.studies.read(name), wanted)
    else:
        store.studies.begin(wanted)
    complete = {trial.name for trial in store.studies.read(name).trials if trial.state == "complete"}
    named = {maker.name(parameters): parameters for parameters in grid}
    if there := [called for called in named if called in complete]:
        _tell(say, f"{plural(len(there), 'trial')} of {len(named)} there already: {', '.join(there)}")
    made = _Making(store, name, maker, eval_set, say, len(named) - len(there))
    for group in maker.groups([parameters for called, parameters in named.items() if called not in complete]):
        made.group([Trial(maker.name(parameters), dict(parameters)) for parameters in group])
    return store.studies.read(name)


class _Making:
    """Trials made group by group."""

    def __init__(
        self, store: Store, study: str, maker: TrialMaker, eval_set: EvalSet | None, say: Say | None, planned: int
    ) -> None:
        self._store, self._study, self._maker, self._set = store, study, maker, eval_set
        self._say, self._planned, self._begun = say, planned, 0

    def group(self, trials: Sequence[Trial]) -> None:
        """Opens all of them, then lets each answer; each is kept as complete or as failed."""
        with ExitStack() as held:
            opened: list[tuple[Trial, OpenTrial]] = []
            for trial in trials:
                self._begun += 1
                if reason := self._maker.needless(trial.parameters):
                    _tell(self._say, f"{trial.name} is {reason}")
                    self._store.studies.put(self._study, replace(trial, state="pruned", reason=reason))
                    continue
                _tell(self._say, f"trial {self._begun} of {self._planned}: {trial.name}")
                self._store.studies.put(self._study, trial)
                if (one := self._tried(trial, partial(self._maker.open, trial.parameters))) is not None:
                    held.callback(one.close)
                    opened.append((trial, one))
            ready = [one for _, one in opened]
            for trial, one in opened if ready and self._prepared(opened, ready) else ():
                result = self._tried(trial, partial(_result, one, self._set))
                if result is not None:
                    self._keep(trial, result)

    def _prepared(self, opened: Sequence[tuple[Trial, OpenTrial]], ready: Sequence[OpenTrial]) -> bool:
        """Whether what is done with a whole group went well; else all of it has failed."""
        try:
            self._maker.together(ready)
        except StoreError:
            raise
        except Exception as error:  # whatever a library raises
            for trial, _ in opened:
                self._failed(trial, error)
            return False
        return True

    def _tried(self, trial: Trial, attempt: Callable[[], T]) -> T | None:
        try:
            return attempt()
        except StoreError:
            raise  # no trial of any settings could be kept
        except Exception as error:  # whatever a library raises, the other trials are made
            self._failed(trial, error)
            return None

    def _failed(self, trial: Trial, error: Exception) -> None:
        reason = str(error) if isinstance(error, RagaugeError) else f"{type(error).__name__}: {error}"
        _tell(self._say, f"{trial.name} failed: {reason}")
        self._store.studies.put(self._study, Trial(trial.name, trial.parameters, "failed", reason))

    def _keep(self, trial: Trial, result: _Result) -> None:
        with self._store.transaction():
            run_id = ""
            if self._set is not None and result.answers:
                system, about = self._maker.kind.name, {"study": self._study, "parameters": dict(trial.parameters)}
                run_id = _keep_run(self._store, trial.name, system, about, self._set, result)
            kept = Trial(trial.name, trial.parameters, "complete", "", run_id, result.measurements)
            self._store.studies.put(self._study, kept)


def _result(opened: OpenTrial, eval_set: EvalSet | None) -> _Result:
    answers = tuple(opened.answers(eval_set.examples if eval_set else ()))
    columns = tuple(Column(str(metric), metric.version) for metric in opened.metrics)
    return _Result(dict(opened.config), columns, answers, tuple(opened.measurements()))


def conduct_once(
    store: Store,
    name: str,
    maker: TrialMaker,
    eval_set: EvalSet,
    parameters: Mapping[str, Any],
    about: Mapping[str, Any],
) -> str:
    """One trial that is of no study, such as a check of an index that is in use; returns the id of its run.

    Args:
        store: where the run is kept.
        name: of the run.
        maker: of the trial.
        eval_set: what it is asked.
        parameters: of the trial.
        about: further settings for the record of the run.

    Raises:
        RagaugeError: what the maker raises; nothing is kept then.
    """
    with ExitStack() as held:
        opened = maker.open(parameters)
        held.callback(opened.close)
        maker.together([opened])
        result = _result(opened, eval_set)
    told = {**about, "measurements": {one.name: one.value for one in result.measurements}}
    with store.transaction():
        return _keep_run(store, name, maker.kind.name, told, eval_set, result)


def _keep_run(
    store: Store, name: str, system: str, about: Mapping[str, Any], eval_set: EvalSet, result: _Result
) -> str:
    """The run of a trial with its responses and scores; returns its id."""
    run = Run("", name, system=system, config={**result.config, **about}, planned=len(result.answers))
    run_id = store.collecting.begin(run, eval_set).run_id
    examples = {example.query_id: example for example in eval_set.examples}
    arrived = [(examples[response.query_id], response) for response, _ in result.answers]
    store.collecting.add(run_id, arrived)
    store.collecting.finish(run_id)
    declare_own([parse(column.metric) for column in result.columns], store)
    order = store.runs.order(run_id).numbers
    index = store.runs.index(run_id, order)
    number = {index.query_ids[query]: int(no) for no, query in zip(index.number, index.query, strict=True)}
    rows = [(number[response.query_id], scores) for response, scores in result.answers]
    if result.columns:
        store.scores.write(run_id, result.columns, rows)
    return run_id


def refuse_other(there: Study, wanted: Study) -> None:
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

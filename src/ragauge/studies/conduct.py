"""Carries out a study trial by trial, for every kind of study that offers a trial maker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ragauge.comparison.comparability import FAILED_CALLS_NAME
from ragauge.core.errors import RagaugeError, StoreError, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.messages import format_count
from ragauge.core.response import Response, Run
from ragauge.core.study import Measurement, Study, Trial
from ragauge.engine.plan import save_own_declarations
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.scores import Column
from ragauge.store.store_access import Store
from ragauge.studies.figures import StudyKind

if TYPE_CHECKING:
    import polars as pl


class OpenTrial(Protocol):
    """A trial that is made ready: chunks are cut, vectors computed, an index built."""

    config: Mapping[str, Any]  #: the settings for the record of its run.
    metrics: Sequence[Metric]  #: what it scores; every answer has one result for each, in this order.

    def answers(self, examples: Sequence[Example]) -> Iterable[tuple[Response, Sequence[MetricResult]]]:
        """A response to every example, with its scores; nothing where the trial has measurements alone.

        Scores come with the responses, and not from the engine, since a component is scored by what no response holds:
        the tokens of whole documents, the true distances of all vectors. For metrics of ordinary facts call
        `ragauge.metrics.measure.measure_all`. Ids alone will do for passages.
        """

    def measurements(self) -> Sequence[Measurement]:
        """What was measured of the trial as a whole; asked for after the answers."""

    def close(self) -> None:
        """Gives back what the trial holds; called once, whatever became of it."""


class TrialMaker(ABC):
    """Makes the trials of one kind of study."""

    kind: StudyKind  #: what decides, costs and is told; two studies of one name must be of one kind.
    #: the settings that all trials share, as JSON types. They identify the study: with other ones a study of the same
    #: name is not continued.
    fixed: Mapping[str, Any]

    @abstractmethod
    def name(self, parameters: Mapping[str, Any]) -> str:
        """What a trial is called: unique for its parameters, such as token:overlap=0:size=400."""

    @abstractmethod
    def open(self, parameters: Mapping[str, Any]) -> OpenTrial:
        """Makes a trial ready. What it raises is kept as the reason why the trial failed; the study goes on."""

    def groups(self, grid: Sequence[Mapping[str, Any]]) -> Iterable[Sequence[Mapping[str, Any]]]:
        """The trials still to make, in the order and the groups in which they are open together; each alone here."""
        return ([parameters] for parameters in grid)

    def find_skip_reason(self, parameters: Mapping[str, Any]) -> str:
        """Why a trial need not be made, known from those before it; "" = it is needed. Asked before its group is open.

        Such a trial is kept as pruned, with this reason.
        """
        del parameters
        return ""

    def prepare_group(self, opened: Sequence[OpenTrial]) -> None:  # noqa: B027 - most kinds have nothing to do
        """Called once a group, when all of it is open; what it raises fails the whole group."""


Say = Callable[[str], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _TrialOutput:
    """What a trial gave, before it is kept."""

    config: Mapping[str, Any]
    columns: tuple[Column, ...]
    answers: tuple[tuple[Response, Sequence[MetricResult]], ...]
    measurements: tuple[Measurement, ...]


def run_study_trials(
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
        raise UsageError(f"the study {name} has no trials. Give at least one setting to try.")
    about = (eval_set.name, eval_set.version) if eval_set else ("", "")
    study = _begin_or_continue(store, Study(name, maker.kind.name, *about, dict(maker.fixed)), fresh=fresh)
    complete = {trial.name for trial in study.trials if trial.state == "complete"}
    parameters_by_trial = {maker.name(parameters): parameters for parameters in grid}
    if existing := [trial_name for trial_name in parameters_by_trial if trial_name in complete]:
        _report_line(
            say,
            f"{format_count(len(existing), 'trial')} of {len(parameters_by_trial)} already done: {', '.join(existing)}",
        )
    runner = _TrialRunner(store, name, maker, eval_set, say, len(parameters_by_trial) - len(existing))
    for group in maker.groups(
        [parameters for trial_name, parameters in parameters_by_trial.items() if trial_name not in complete]
    ):
        runner.run_group([Trial(maker.name(parameters), dict(parameters)) for parameters in group])
    return store.studies.read(name)


class _TrialRunner:
    """Trials made group by group."""

    def __init__(
        self, store: Store, study: str, maker: TrialMaker, eval_set: EvalSet | None, say: Say | None, planned: int
    ) -> None:
        self._store, self._study, self._maker, self._set = store, study, maker, eval_set
        self._say, self._planned, self._begun = say, planned, 0

    def run_group(self, trials: Sequence[Trial]) -> None:
        """Opens all of them, then lets each answer; each is kept as complete or as failed."""
        with ExitStack() as exit_stack:
            open_trials: list[tuple[Trial, OpenTrial]] = []
            for trial in trials:
                self._begun += 1
                if reason := self._maker.find_skip_reason(trial.parameters):
                    _report_line(self._say, f"{trial.name} is {reason}")
                    self._store.studies.save_trial(self._study, replace(trial, state="pruned", reason=reason))
                    continue
                _report_line(self._say, f"trial {self._begun} of {self._planned}: {trial.name}")
                self._store.studies.save_trial(self._study, trial)
                if (open_trial := self._try_step(trial, partial(self._maker.open, trial.parameters))) is not None:
                    exit_stack.callback(open_trial.close)
                    open_trials.append((trial, open_trial))
            ready = [open_trial for _, open_trial in open_trials]
            for trial, open_trial in open_trials if ready and self._prepare_group(open_trials, ready) else ():
                result = self._try_step(trial, partial(_build_result, open_trial, self._set))
                if result is not None:
                    self._save_trial(trial, result)

    def _prepare_group(self, open_trials: Sequence[tuple[Trial, OpenTrial]], ready: Sequence[OpenTrial]) -> bool:
        """Whether what is done with a whole group went well; else all of it has failed."""
        try:
            self._maker.prepare_group(ready)
        except StoreError:
            raise
        except Exception as error:  # whatever a library raises
            for trial, _ in open_trials:
                self._record_failure(trial, error)
            return False
        return True

    def _try_step(self, trial: Trial, attempt: Callable[[], T]) -> T | None:
        try:
            return attempt()
        except StoreError:
            raise  # no trial of any settings could be kept
        except Exception as error:  # whatever a library raises, the other trials are made
            self._record_failure(trial, error)
            return None

    def _record_failure(self, trial: Trial, error: Exception) -> None:
        reason = str(error) if isinstance(error, RagaugeError) else f"{type(error).__name__}: {error}"
        _report_line(self._say, f"{trial.name} failed: {reason}")
        self._store.studies.save_trial(self._study, Trial(trial.name, trial.parameters, "failed", reason))

    def _save_trial(self, trial: Trial, result: _TrialOutput) -> None:
        with self._store.transaction():
            run_id = ""
            if self._set is not None and result.answers:
                system, about = self._maker.kind.name, {"study": self._study, "parameters": dict(trial.parameters)}
                run_id = _save_run(self._store, trial.name, system, about, self._set, result)
            complete_trial = Trial(trial.name, trial.parameters, "complete", "", run_id, result.measurements)
            self._store.studies.save_trial(self._study, complete_trial)


def _build_result(open_trial: OpenTrial, eval_set: EvalSet | None) -> _TrialOutput:
    answers = tuple(open_trial.answers(eval_set.examples if eval_set else ()))
    columns = tuple(Column(str(metric), metric.version) for metric in open_trial.metrics)
    return _TrialOutput(dict(open_trial.config), columns, answers, tuple(open_trial.measurements()))


def run_single_trial(
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
    with ExitStack() as exit_stack:
        open_trial = maker.open(parameters)
        exit_stack.callback(open_trial.close)
        maker.prepare_group([open_trial])
        result = _build_result(open_trial, eval_set)
    run_config = {**about, "measurements": {measurement.name: measurement.value for measurement in result.measurements}}
    with store.transaction():
        return _save_run(store, name, maker.kind.name, run_config, eval_set, result)


def _save_run(
    store: Store, name: str, system: str, about: Mapping[str, Any], eval_set: EvalSet, result: _TrialOutput
) -> str:
    """The run of a trial with its responses and scores; returns its id."""
    run = Run("", name, system=system, config={**result.config, **about}, planned=len(result.answers))
    run_id = store.collecting.begin_run(run, eval_set).run_id
    examples = {example.query_id: example for example in eval_set.examples}
    arrived = [(examples[response.query_id], response) for response, _ in result.answers]
    store.collecting.add(run_id, arrived)
    store.collecting.finish_run(run_id)
    save_own_declarations([parse_metric(column.metric) for column in result.columns], store)
    order = store.runs.load_order(run_id).numbers
    index = store.runs.index(run_id, order)
    number = {index.query_ids[query]: int(no) for no, query in zip(index.number, index.query, strict=True)}
    rows = [(number[response.query_id], scores) for response, scores in result.answers]
    if result.columns:
        store.scores.write(run_id, result.columns, rows)
    return run_id


def _begin_or_continue(store: Store, requested: Study, *, fresh: bool) -> Study:
    """The stored study of this name, begun where there is none or a fresh one is wanted."""
    if fresh and store.studies.has_study(requested.name):
        store.studies.delete(requested.name)
    if store.studies.has_study(requested.name):
        check_same_settings(store.studies.read(requested.name), requested)
    else:
        store.studies.begin_study(requested)
    return store.studies.read(requested.name)


def check_same_settings(existing: Study, requested: Study) -> None:
    """UsageError where a study of this name holds something else constant."""

    def list_settings(study: Study) -> dict[str, Any]:
        return {"kind": study.kind, "set": f"{study.set_name} {study.set_version}", **study.fixed}

    old, new = list_settings(existing), list_settings(requested)
    differing = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if differing:
        changes = "; ".join(f"{key} was {old.get(key)}, now {new.get(key)}" for key in differing)
        raise UsageError(
            f"the study {requested.name} was made with other constant settings: {changes}. Choose another "
            "--name, or use --fresh to delete the old study."
        )


def _report_line(say: Say | None, line: str) -> None:
    if say is not None:
        say(line)


def load_trial_scores(store: Store, run_id: str, judge_id: str | None) -> pl.DataFrame:
    """Scores as `store.scores.frame` has them, in which no failed call is a quick or cheap answer.

    The latency, tokens and cost of a call that the system failed count as failed, so that a trial that answers nothing
    is not the quickest of a study.
    """
    import polars as pl

    frame = store.scores.load_frame(run_id, judge_id)
    causes = store.causes.load_frame(run_id, judge_id)
    failed = causes.filter(pl.col("cause") == FAILED_CALLS_NAME).select("query_id", "repeat").unique()
    amounts = [name for name in frame["metric"].unique().to_list() if parse_metric(name).scale == "amount"]
    if not failed.height or not amounts:
        return frame
    is_failed = pl.struct("query_id", "repeat").is_in(failed.to_struct().implode())
    hit = is_failed & pl.col("metric").is_in(amounts) & (pl.col("status") == "scored")
    numbers = [name for name in ("value", "numerator", "denominator", "low", "high") if name in frame.columns]
    return frame.with_columns(
        pl.when(hit).then(pl.lit("failed")).otherwise(pl.col("status")).cast(frame["status"].dtype).alias("status"),
        *(pl.when(hit).then(None).otherwise(pl.col(name)).alias(name) for name in numbers),
    )

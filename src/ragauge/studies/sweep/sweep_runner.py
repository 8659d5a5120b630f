"""Carries out a sweep: which configurations are asked, how far, and what of it is kept."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragauge.core.errors import UsageError
from ragauge.core.search_space import Design, Parameters, SearchSpace, format_parameters
from ragauge.core.study import Measurement, Study, Trial, TrialState
from ragauge.engine.execute import Progress
from ragauge.metrics.base import Metric
from ragauge.studies.sweep.race_runner import MIN_RACE_EXAMPLES, RaceCourse, RaceResult, find_idle_parameters, run_race
from ragauge.studies.sweep.systems import MAX_OPEN_INDEXES, SystemFactory, SystemTrial, TrialOptions
from ragauge.studies.trial_summary import compute_score_bounds

Say = Callable[[str], None]
COST_METRICS = ("cost", "latency", "context_tokens")  # measurements of every trial, where they are known


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep is to do."""

    space: SearchSpace  #: what may vary.
    objective: Metric  #: what decides.
    design: Design = "grid"  #: which configurations are tried.
    trials: int = 24  #: how many, where they are drawn at random.
    raced: bool = True  #: drop what surely loses on the way; an ablation never does.
    margin: float = 0.0  #: also drop what surely cannot beat the leader by this.
    seed: int = 0  #: of a random design.

    def list_configurations(self) -> list[dict[str, Any]]:
        """The first trials to make: of a staged sweep, those of the first stage."""
        if self.design == "grid":
            return self.space.list_grid()
        if self.design == "one_factor":
            return self.space.list_one_factor()
        if self.design == "random":
            return self.space.sample_random(self.trials, self.seed)
        return self.space.stage(next(iter(self.space.parameters)), self.space.base)


@dataclass
class SweepLog:
    """What a sweep did now, beyond what the study keeps."""

    planned: int = 0  #: questions that all trials would have been asked without a race.
    made: int = 0  #: questions asked now.
    held: int = 0  #: questions that all trials have been asked, earlier ones counted.
    judge_calls: int = 0  #: calls to the judge's models now.
    replies_reused: int = 0  #: replies of the judge that were there.
    index_calls: int = 0  #: calls of index.
    idle: list[str] = field(default_factory=list)  #: parameters that changed no answer.
    notes: list[str] = field(default_factory=list)  #: what is worth knowing.


async def conduct_sweep(
    how: TrialOptions,
    factory: SystemFactory,
    plan: SweepPlan,
    *,
    fixed: Mapping[str, Any],
    fresh: bool = False,
    say: Say | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> SweepLog:
    """Asks the trials of a sweep, raced where that is wanted, and keeps them as a study.

    The study of this name is continued: what is stored is never asked again, and the race is decided anew from it, so
    that a kill changes nothing and wider parameters join.

    Raises:
        UsageError: the study holds other settings constant, there is one trial alone, a factory does not take a
            parameter, or no trial could be asked.
        BudgetSpent: the judge's budget is spent; the same call goes on.
    """
    configurations = plan.list_configurations()
    if len(configurations) < 2:
        raise UsageError("sweep: there is only one configuration. Give at least one parameter a second value.")
    factory.check_parameters(tuple(plan.space.parameters))
    ids = [example.query_id for example in how.eval_set]
    if repeated := [query_id for query_id, times in Counter(ids).items() if times > 1]:
        message = f"{len(repeated)} query_ids are used by several examples, such as {repeated[0]!r}"
        raise UsageError(f"sweep: {message}. Give each example its own query_id.")
    with how.store.lock_run(f"sweep-{hashlib.sha256(how.study.encode()).hexdigest()[:16]}") as alone:
        if not alone:
            raise UsageError(f"another process is running the study {how.study}. Wait for it to end, or stop it.")
        _begin_study(how, fixed, fresh=fresh)
        return await _Sweep(how, factory, plan, say, progress).run(configurations)


@dataclass
class _Sweep:
    how: TrialOptions
    factory: SystemFactory
    plan: SweepPlan
    say: Say | None
    progress: Callable[[Progress], None] | None = None
    log: SweepLog = field(default_factory=SweepLog)
    trials: dict[str, SystemTrial] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    out: set[str] = field(default_factory=set)  # trials that are asked nothing more
    started: float = field(default_factory=time.perf_counter)
    began: int | None = None  # questions that were answered before

    async def run(self, configurations: Sequence[Parameters]) -> SweepLog:
        plan, eval_set = self.plan, self.how.eval_set
        raced = plan.raced and plan.design != "one_factor"
        course = RaceCourse.of(eval_set, race=raced)
        if raced and len(course.stops) < 2:
            alone = "examples" if course.clusters is None else "examples, in clusters"
            note = (
                f"no race: the set has {len(eval_set)} {alone}, and a race needs more than "
                f"{MIN_RACE_EXAMPLES} independent examples"
            )
            self.log.notes.append(note)
        self.order = course.order
        if len(course.stops) < 2 and plan.design != "staged":  # each index is needed for one stretch alone
            self.factory.keep_open = self.factory.keep_open or MAX_OPEN_INDEXES
        try:
            if plan.design == "staged":
                await self._run_staged(course)
            else:
                await self._race_configurations(configurations, course)
        finally:
            self._fill_log()
        return self.log

    async def _race_configurations(self, configurations: Sequence[Parameters], course: RaceCourse) -> RaceResult:
        runs = {item.name: item.run_id for item in self.how.store.studies.read(self.how.study).trials}
        own_trials = []
        how = replace(self.how, moved=None if self.progress is None else self._report_progress)
        for parameters in configurations:
            name = format_parameters(parameters)
            trial = self.trials.get(name) or SystemTrial(parameters, how, self.factory, runs.get(name, ""))
            if name not in self.trials and trial.run_id:
                trial.n_asked = len(how.store.collecting.list_response_keys(trial.run_id))
            self.trials[name] = trial
            if name not in runs:
                self.how.store.studies.save_trial(self.how.study, Trial(name, dict(parameters)))
            own_trials.append(trial)
        race_result = await run_race(
            own_trials,
            course,
            self.plan.objective,
            margin=self.plan.margin,
            after_look=lambda look, so_far: self._handle_look(look, so_far, own_trials),
            say=self.say,
        )
        self.out |= {item.trial for item in race_result.losers} | set(race_result.failed)
        self._save_trials(race_result, own_trials, len(course.order))
        return race_result

    def _report_progress(self, note: str) -> None:
        """How far the sweep is: what trials that are left are still asked falls with each that is dropped."""
        if self.progress is None:
            return
        n_done, n = sum(trial.n_asked for trial in self.trials.values()), len(self.order)
        if self.began is None:
            self.began = n_done
        total = sum(trial.n_asked if trial.name in self.out else n for trial in self.trials.values())
        seconds = time.perf_counter() - self.started
        rate = (n_done - self.began) / max(seconds, 1e-9)
        seconds_left = (total - n_done) / rate if rate else None
        self.progress(Progress(n_done, total, rate, seconds_left, 0, 0, seconds=seconds, note=note))

    async def _run_staged(self, course: RaceCourse) -> None:
        """Parameters in the order written, each raced before the next; one moves only where that is decided."""
        current: Parameters = self.plan.space.base
        for name in self.plan.space.parameters:
            stage = self.plan.space.stage(name, current)
            if len(stage) < 2:
                continue
            race_result = await self._race_configurations(stage, course)
            out = {loser.trial for loser in race_result.losers} | set(race_result.failed)
            if (
                format_parameters(current) in out
            ):  # the value of today surely loses: the best of the others takes its place
                survivors = [trial for trial in race_result.survivors if trial not in out]
                current = self.trials[max(survivors, key=self._compute_mean)].parameters
            self._report_line(
                f"{name}: {'stays' if format_parameters(current) == format_parameters(stage[0]) else 'moves to'} "
                f"{current[name]}"
            )

    def _compute_mean(self, trial: str) -> float:
        import numpy as np

        low, high = compute_score_bounds(self.plan.objective, self.trials[trial].scores(), self.order)
        middle = (low + high) / 2
        return float(np.nanmean(middle)) if not np.isnan(middle).all() else -np.inf

    def _handle_look(self, look: int, so_far: RaceResult, own_trials: Sequence[SystemTrial]) -> None:
        self.out |= {entry.trial for entry in so_far.losers} | set(so_far.failed)
        self.factory.release_indexes({entry.shared_index for entry in own_trials if entry.name in so_far.survivors})
        if look == 1:
            self._check_objective(so_far, own_trials)
        if look == 1 and max(so_far.counts.values(), default=0) >= MIN_RACE_EXAMPLES:
            self._find_idle(so_far, own_trials)

    def _check_objective(self, so_far: RaceResult, own_trials: Sequence[SystemTrial]) -> None:
        """UsageError where what decides applies to no question so far, and there are more to ask."""
        metric, reasons = str(self.plan.objective), Counter[str]()
        for trial in (candidate for candidate in own_trials if candidate.name in so_far.counts):
            rows = trial.scores()
            rows = rows.filter(rows["metric"] == metric)
            if (rows["status"] != "not_applicable").any():
                return
            reasons.update(rows["reason"].to_list())
        n_asked = max(so_far.counts.values(), default=0)
        if reasons and n_asked < len(self.order):
            raise UsageError(
                f"sweep: {metric} applies to none of the first {n_asked} questions: {reasons.most_common(1)[0][0]}. "
                "Choose another --objective, or add what it needs to the eval set."
            )

    def _find_idle(self, so_far: RaceResult, own_trials: Sequence[SystemTrial]) -> None:
        raced = [trial for trial in own_trials if trial.name in so_far.counts]
        answers = {trial.name: self._hash_answers(trial, so_far.counts[trial.name]) for trial in raced}
        for name in find_idle_parameters({trial.name: trial.parameters for trial in raced}, answers):
            if name not in self.log.idle:
                self.log.idle.append(name)
                note = f"{self.factory.name} ignores {name}: answers and passages are the same for all of its values"
                self.log.notes.append(note)
                self._report_line(note)

    def _hash_answers(self, trial: SystemTrial, count: int) -> list[str]:
        query_ids = set(self.order[:count])
        hashes_by_query = {
            example.query_id: hashlib.sha256(
                repr(
                    (response.answer, response.error, [(p.passage_id, p.text) for p in response.passages or ()])
                ).encode("utf-8", "surrogatepass")
            ).hexdigest()
            for example, response in self.how.store.runs.pairs(trial.run_id)
            if example.query_id in query_ids
        }
        return [hashes_by_query.get(query_id, "") for query_id in self.order[:count]]

    def _save_trials(self, race_result: RaceResult, own_trials: Sequence[SystemTrial], n: int) -> None:
        """What became of each trial, with what was measured of it."""
        losers_by_trial = {loser.trial: loser for loser in race_result.losers}
        for trial in own_trials:
            count = race_result.counts.get(trial.name, 0)
            state: TrialState = "complete"
            reason = ""
            if trial.name in race_result.failed:
                state, reason = "failed", race_result.failed[trial.name]
            elif trial.name in losers_by_trial:
                state, reason = ("complete" if count == n else "pruned"), losers_by_trial[trial.name].reason
            if state == "complete":
                self.how.store.collecting.finish_run(trial.run_id)
            stored_trial = Trial(
                trial.name, dict(trial.parameters), state, reason, trial.run_id, self._build_measurements(trial, count)
            )
            self.how.store.studies.save_trial(self.how.study, stored_trial)

    def _build_measurements(self, trial: SystemTrial, count: int) -> tuple[Measurement, ...]:
        if not trial.run_id:
            return ()
        frame = trial.scores()
        n_asked = len(self.how.store.collecting.list_response_keys(trial.run_id))
        measurements = [Measurement("questions", float(n_asked), "", n=max(n_asked, count))]
        for name, unit in zip(COST_METRICS, ("USD", "ms", "tokens"), strict=True):
            values = frame.filter((frame["metric"] == name) & (frame["status"] == "scored"))["value"]
            if len(values):
                measurements.append(Measurement(name, float(values.mean()), unit, n=len(values)))  # type: ignore[arg-type]  # floats
        return tuple(measurements)

    def _fill_log(self) -> None:
        log, store = self.log, self.how.store
        log.index_calls = self.factory.indexed
        log.planned = len(self.trials) * len(self.how.eval_set)
        log.made = sum(trial.made for trial in self.trials.values())
        log.held = sum(
            len(store.collecting.list_response_keys(trial.run_id)) for trial in self.trials.values() if trial.run_id
        )
        log.judge_calls = sum(trial.judged for trial in self.trials.values())
        log.replies_reused = sum(trial.reused for trial in self.trials.values())

    def _report_line(self, line: str) -> None:
        if self.say is not None:
            self.say(line)


def _begin_study(how: TrialOptions, fixed: Mapping[str, Any], *, fresh: bool) -> None:
    """The study, begun or continued: of other settings, or of changed code, it is another one."""
    store = how.store
    requested = Study(how.study, "sweep", how.eval_set.name, how.eval_set.version, dict(fixed))
    if fresh and store.studies.has_study(how.study):
        store.studies.delete(how.study)
    if not store.studies.has_study(how.study):
        store.studies.begin_study(requested)
        return
    from ragauge.studies.conduct import check_same_settings

    existing = store.studies.read(how.study)
    check_same_settings(replace(existing, fixed={**existing.fixed, "code": fixed.get("code")}), requested)
    if existing.fixed.get("code") not in (None, fixed.get("code")):
        raise UsageError(
            f"the code of {fixed.get('system')} (its source files, or the documents of the reference "
            f"system) changed after the study {how.study} started, so the stored answers may be stale. Use "
            "--fresh to ask all questions again, or choose another --name."
        )

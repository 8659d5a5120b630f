"""Carries out a sweep: which configurations are asked, how far, and what of it is kept."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragauge.core.errors import UsageError
from ragauge.core.search_space import Design, Parameters, SearchSpace, called
from ragauge.core.study import Measurement, Study, Trial, TrialState
from ragauge.engine.execute import Progress
from ragauge.metrics.base import Metric
from ragauge.studies.objective import score_bounds
from ragauge.studies.sweep.race_runner import FEWEST, RaceCourse, RaceResult, idle_parameters, race
from ragauge.studies.sweep.systems import KEEP_OPEN, Asked, SystemFactory, SystemTrial

Say = Callable[[str], None]
COSTS = ("cost", "latency", "context_tokens")  # measurements of every trial, where they are known


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep is to do.

    Attributes:
        space: what may vary.
        objective: what decides.
        design: which configurations are tried.
        trials: how many, where they are drawn at random.
        raced: drop what surely loses on the way; an ablation never does.
        margin: also drop what surely cannot beat the leader by this.
        seed: of a random design.
    """

    space: SearchSpace
    objective: Metric
    design: Design = "grid"
    trials: int = 24
    raced: bool = True
    margin: float = 0.0
    seed: int = 0

    def configurations(self) -> list[dict[str, Any]]:
        """The first trials to make: of a staged sweep, those of the first stage."""
        if self.design == "grid":
            return self.space.grid()
        if self.design == "one_factor":
            return self.space.one_factor()
        if self.design == "random":
            return self.space.random(self.trials, self.seed)
        return self.space.stage(next(iter(self.space.parameters)), self.space.base)


@dataclass
class SweepLog:
    """What a sweep did now, beyond what the study keeps.

    Attributes:
        planned: questions that all trials would have been asked without a race.
        made: questions asked now.
        held: questions that all trials have been asked, earlier ones counted.
        judge_calls: calls to the judge's models now.
        replies_reused: replies of the judge that were there.
        index_calls: calls of index.
        idle: parameters that changed no answer.
        notes: what is worth knowing.
    """

    planned: int = 0
    made: int = 0
    held: int = 0
    judge_calls: int = 0
    replies_reused: int = 0
    index_calls: int = 0
    idle: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def conduct_sweep(
    how: Asked,
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
    configurations = plan.configurations()
    if len(configurations) < 2:
        raise UsageError("sweep: one configuration alone is no sweep. Give a parameter a second value.")
    factory.check(tuple(plan.space.parameters))
    ids = [example.query_id for example in how.eval_set]
    if twice := [query_id for query_id, times in Counter(ids).items() if times > 1]:
        told = f"{len(twice)} query_ids stand for several examples, such as {twice[0]!r}"
        raise UsageError(f"sweep: {told}. Give each example its own.")
    with how.store.held(f"sweep-{hashlib.sha256(how.study.encode()).hexdigest()[:16]}") as alone:
        if not alone:
            raise UsageError(f"the study {how.study} is being made by another process now. Wait for it, or stop it.")
        _begin(how, fixed, fresh=fresh)
        return await _Sweep(how, factory, plan, say, progress).run(configurations)


@dataclass
class _Sweep:
    how: Asked
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
            told = f"no race: the set has {len(eval_set)} {alone}, and a race needs more than {FEWEST} that stand alone"
            self.log.notes.append(told)
        self.order = course.order
        if len(course.stops) < 2 and plan.design != "staged":  # each index is needed for one stretch alone
            self.factory.keep_open = self.factory.keep_open or KEEP_OPEN
        try:
            if plan.design == "staged":
                await self._staged(course)
            else:
                await self._race(configurations, course)
        finally:
            self._count()
        return self.log

    async def _race(self, configurations: Sequence[Parameters], course: RaceCourse) -> RaceResult:
        runs = {one.name: one.run_id for one in self.how.store.studies.read(self.how.study).trials}
        mine = []
        how = replace(self.how, moved=None if self.progress is None else self._moved)
        for parameters in configurations:
            name = called(parameters)
            trial = self.trials.get(name) or SystemTrial(parameters, how, self.factory, runs.get(name, ""))
            if name not in self.trials and trial.run_id:
                trial.asked = len(how.store.collecting.held(trial.run_id))
            self.trials[name] = trial
            if name not in runs:
                self.how.store.studies.put(self.how.study, Trial(name, dict(parameters)))
            mine.append(trial)
        found = await race(
            mine,
            course,
            self.plan.objective,
            margin=self.plan.margin,
            after_look=lambda look, so_far: self._looked(look, so_far, mine),
            say=self.say,
        )
        self.out |= {one.trial for one in found.losers} | set(found.failed)
        self._keep(found, mine, len(course.order))
        return found

    def _moved(self, note: str) -> None:
        """How far the sweep is: what trials that are left are still asked falls with each that is dropped."""
        if self.progress is None:
            return
        done, n = sum(one.asked for one in self.trials.values()), len(self.order)
        if self.began is None:
            self.began = done
        total = sum(one.asked if one.name in self.out else n for one in self.trials.values())
        seconds = time.perf_counter() - self.started
        rate = (done - self.began) / max(seconds, 1e-9)
        left = (total - done) / rate if rate else None
        self.progress(Progress(done, total, rate, left, 0, 0, seconds=seconds, note=note))

    async def _staged(self, course: RaceCourse) -> None:
        """Parameters in the order written, each raced before the next; one moves only where that is decided."""
        at: Parameters = self.plan.space.base
        for name in self.plan.space.parameters:
            stage = self.plan.space.stage(name, at)
            if len(stage) < 2:
                continue
            found = await self._race(stage, course)
            out = {one.trial for one in found.losers} | set(found.failed)
            if called(at) in out:  # the value of today surely loses: the best of the others takes its place
                left = [trial for trial in found.survivors if trial not in out]
                at = self.trials[max(left, key=self._mean)].parameters
            self._tell(f"{name}: {'stays' if called(at) == called(stage[0]) else 'moves to'} {at[name]}")

    def _mean(self, trial: str) -> float:
        import numpy as np

        low, high = score_bounds(self.plan.objective, self.trials[trial].scores(), self.order)
        middle = (low + high) / 2
        return float(np.nanmean(middle)) if not np.isnan(middle).all() else -np.inf

    def _looked(self, look: int, so_far: RaceResult, mine: Sequence[SystemTrial]) -> None:
        self.out |= {one.trial for one in so_far.losers} | set(so_far.failed)
        self.factory.release({one.shares for one in mine if one.name in so_far.survivors})
        if look == 1:
            self._check_objective(so_far, mine)
        if look == 1 and max(so_far.counts.values(), default=0) >= FEWEST:
            self._find_idle(so_far, mine)

    def _check_objective(self, so_far: RaceResult, mine: Sequence[SystemTrial]) -> None:
        """UsageError where what decides applies to no question so far, and there are more to ask."""
        metric, why = str(self.plan.objective), Counter[str]()
        for trial in (one for one in mine if one.name in so_far.counts):
            rows = trial.scores()
            rows = rows.filter(rows["metric"] == metric)
            if (rows["status"] != "not_applicable").any():
                return
            why.update(rows["reason"].to_list())
        asked = max(so_far.counts.values(), default=0)
        if why and asked < len(self.order):
            raise UsageError(
                f"sweep: {metric} applies to none of the first {asked} questions: {why.most_common(1)[0][0]}. Choose "
                "another --objective, or add to the set what it needs."
            )

    def _find_idle(self, so_far: RaceResult, mine: Sequence[SystemTrial]) -> None:
        asked = [one for one in mine if one.name in so_far.counts]
        answers = {one.name: self._answers(one, so_far.counts[one.name]) for one in asked}
        for name in idle_parameters({one.name: one.parameters for one in asked}, answers):
            if name not in self.log.idle:
                self.log.idle.append(name)
                told = f"{self.factory.name} ignores {name}: answers and passages are the same for all of its values"
                self.log.notes.append(told)
                self._tell(told)

    def _answers(self, trial: SystemTrial, count: int) -> list[str]:
        wanted = set(self.order[:count])
        held = {
            example.query_id: hashlib.sha256(
                repr(
                    (response.answer, response.error, [(p.passage_id, p.text) for p in response.passages or ()])
                ).encode("utf-8", "surrogatepass")
            ).hexdigest()
            for example, response in self.how.store.runs.pairs(trial.run_id)
            if example.query_id in wanted
        }
        return [held.get(query_id, "") for query_id in self.order[:count]]

    def _keep(self, found: RaceResult, mine: Sequence[SystemTrial], n: int) -> None:
        """What became of each trial, with what was measured of it."""
        fell = {one.trial: one for one in found.losers}
        for trial in mine:
            count = found.counts.get(trial.name, 0)
            state: TrialState = "complete"
            reason = ""
            if trial.name in found.failed:
                state, reason = "failed", found.failed[trial.name]
            elif trial.name in fell:
                state, reason = ("complete" if count == n else "pruned"), fell[trial.name].reason
            if state == "complete":
                self.how.store.collecting.finish(trial.run_id)
            kept = Trial(
                trial.name, dict(trial.parameters), state, reason, trial.run_id, self._measurements(trial, count)
            )
            self.how.store.studies.put(self.how.study, kept)

    def _measurements(self, trial: SystemTrial, count: int) -> tuple[Measurement, ...]:
        if not trial.run_id:
            return ()
        frame = trial.scores()
        asked = len(self.how.store.collecting.held(trial.run_id))
        found = [Measurement("questions", float(asked), "", n=max(asked, count))]
        for name, unit in zip(COSTS, ("USD", "ms", "tokens"), strict=True):
            values = frame.filter((frame["metric"] == name) & (frame["status"] == "scored"))["value"]
            if len(values):
                found.append(Measurement(name, float(values.mean()), unit, n=len(values)))  # type: ignore[arg-type]  # floats
        return tuple(found)

    def _count(self) -> None:
        log, store = self.log, self.how.store
        log.index_calls = self.factory.indexed
        log.planned = len(self.trials) * len(self.how.eval_set)
        log.made = sum(one.made for one in self.trials.values())
        log.held = sum(len(store.collecting.held(one.run_id)) for one in self.trials.values() if one.run_id)
        log.judge_calls = sum(one.judged for one in self.trials.values())
        log.replies_reused = sum(one.reused for one in self.trials.values())

    def _tell(self, line: str) -> None:
        if self.say is not None:
            self.say(line)


def _begin(how: Asked, fixed: Mapping[str, Any], *, fresh: bool) -> None:
    """The study, begun or continued: of other settings, or of changed code, it is another one."""
    store = how.store
    wanted = Study(how.study, "sweep", how.eval_set.name, how.eval_set.version, dict(fixed))
    if fresh and store.studies.has(how.study):
        store.studies.delete(how.study)
    if not store.studies.has(how.study):
        store.studies.begin(wanted)
        return
    from ragauge.studies.conduct import refuse_other

    there = store.studies.read(how.study)
    refuse_other(replace(there, fixed={**there.fixed, "code": fixed.get("code")}), wanted)
    if there.fixed.get("code") not in (None, fixed.get("code")):
        raise UsageError(
            f"the code of {fixed.get('system')} changed since the study {how.study} was begun (its source files, or "
            "the documents of the reference system), so its stored answers may be stale. Choose --fresh to ask "
            "everything again, or another --name."
        )

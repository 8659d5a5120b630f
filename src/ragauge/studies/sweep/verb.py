"""Sweep: which configuration of a system to take, and how sure that is."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import Interrupted, UsageError
from ragauge.studies.options import SweepOptions
from ragauge.studies.result import StudyResult
from ragauge.verbs.coroutines import plain
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.comparison.result import ComparisonResult
    from ragauge.core.example import EvalSet, Example
    from ragauge.store.store_access import Store
    from ragauge.studies.sweep.sweep_runner import SweepLog, SweepPlan
    from ragauge.studies.sweep.systems import Asked, SystemFactory

RECALLS = ("context_recall", "recall")
PARTS = ("passage_use:part=start", "passage_use:part=middle", "passage_use:part=end")
COSTS = ("context_tokens", "cost", "latency")  # scored in every sweep: they cost nothing


class SweepResult(StudyResult):
    """A finished sweep: its study, what was done now, and how the recommended trial did on questions held back.

    Attributes:
        log: questions planned, made and saved, calls of index and judge, parameters that changed nothing.
        confirmed: the recommended trial against the base on the set to confirm on; None where there is no such set, or
            none but the base is recommended.
    """

    def __init__(self, found: StudyResult, log: SweepLog, confirmed: ComparisonResult | None = None) -> None:
        super().__init__(found.figures, found.url)
        self.log, self.confirmed = log, confirmed

    def to_dict(self) -> dict[str, Any]:
        """As of any study; also the log, and the comparison on what was held back."""
        confirmed = None if self.confirmed is None else self.confirmed.to_dict()
        return {**super().to_dict(), "log": asdict(self.log), "confirmed": confirmed}


async def run_sweep(wanted: SweepOptions) -> SweepResult:
    """Carries out a sweep and reads what it left."""
    from ragauge.evaluation.run.verb import set_of
    from ragauge.store.store_access import open_store
    from ragauge.studies.sweep.sweep_runner import conduct_sweep
    from ragauge.studies.sweep.systems import BudgetSpent, SystemFactory
    from ragauge.studies.verb import open_study

    plan = _plan(wanted)
    factory = SystemFactory(wanted.system, tuple(wanted.index), wanted.keep_open)
    factory.check(tuple(plan.space.parameters))
    with open_store(store_url(wanted.store)) as opened:
        eval_set = set_of(wanted.set, opened)
        asked_set, held_back = _split(wanted, eval_set, opened)
        how = _how(wanted, plan, asked_set, opened)
        try:
            log = await conduct_sweep(
                how,
                factory,
                plan,
                fixed=_fixed(wanted, plan, factory, how),
                fresh=wanted.fresh,
                say=wanted.say,
                progress=wanted.progress,
            )
        except BudgetSpent as end:
            told = f"{end} The sweep is interrupted between looks: not enough data. The same call goes on."
            raise Interrupted(told, resume="") from None
    found = open_study(how.study, store=wanted.store, cost=wanted.cost)
    taken = found.recommendation.trial
    confirmed = None
    if held_back is not None and taken is not None and taken != found.study.fixed["base_trial"]:
        confirmed = await _confirmed(wanted, found, taken, held_back)
        _keep_confirmation(wanted, found, taken, confirmed)
        found = open_study(how.study, store=wanted.store, cost=wanted.cost)
    elif held_back is not None:
        why = "no trial is recommended" if taken is None else "the base is what is recommended"
        log.notes.append(f"nothing was confirmed on {held_back.name}: {why}")
    return SweepResult(found, log, confirmed)


def planned(wanted: SweepOptions) -> dict[str, Any]:
    """What a sweep would do, as JSON types; nothing is asked.

    Of a staged design the configurations are those of its first stage, and all counts the most that there may be.
    """
    from ragauge.core.identity import canonical
    from ragauge.core.search_space import called
    from ragauge.evaluation.run.verb import set_of
    from ragauge.metrics.catalogue import questions
    from ragauge.store.store_access import open_store
    from ragauge.studies.sweep.race_runner import RaceCourse
    from ragauge.studies.sweep.systems import SystemFactory

    plan = _plan(wanted)
    factory = SystemFactory(wanted.system, tuple(wanted.index), wanted.keep_open)
    factory.check(tuple(plan.space.parameters))
    with open_store(store_url(wanted.store)) as opened:
        eval_set, back = _split(wanted, set_of(wanted.set, opened), opened)
        how = _how(wanted, plan, eval_set, opened)
        there = opened.studies.read(how.study).trials if opened.studies.has(how.study) and not wanted.fresh else ()
        held = {one.name: len(opened.collecting.held(one.run_id)) if one.run_id else 0 for one in there}
    rows = plan.configurations()
    raced = plan.raced and plan.design != "one_factor"
    stops = RaceCourse.of(eval_set, race=raced).stops
    indexes = {canonical([row[name] for name in wanted.index]) for row in rows} if wanted.index else ()
    most, index_calls = len(rows), len(indexes)
    if plan.design == "staged":  # the others depend on what is decided
        more = {name: len(values) - 1 for name, values in plan.space.parameters.items()}
        most = 1 + sum(more.values())
        index_calls = 1 + sum(more[name] for name in wanted.index) if wanted.index else 0
    asked = 0 if how.judge is None else len(questions(how.metrics))
    return {
        "study": how.study,
        "system": factory.name,
        "design": plan.design,
        "objective": str(plan.objective),
        "metrics": [str(metric) for metric in how.metrics],
        "judge": None if how.judge is None else how.judge.judge_id,
        "base": dict(plan.space.base),
        "trials": most,
        "examples": len(eval_set),
        "held_back": 0 if back is None else len(back),
        "questions_at_most": most * len(eval_set),
        "questions_stored": sum(held.get(called(row), 0) for row in rows),
        "judge_questions_at_most": asked * most * len(eval_set),
        "looks": list(stops),
        "index_calls": index_calls,
        "configurations": [called(row) for row in rows],
    }


def _plan(wanted: SweepOptions) -> SweepPlan:
    """The configurations, checked."""
    from ragauge.core.search_space import DESIGNS, SearchSpace
    from ragauge.studies.objective import objective_of
    from ragauge.studies.sweep.sweep_runner import SweepPlan

    return SweepPlan(
        SearchSpace(wanted.values, dict(wanted.base or {}), tuple(wanted.leave_out)),
        objective_of(wanted.objective),
        DESIGNS[DESIGNS.index(wanted.design)],
        wanted.trials,
        wanted.race,
        wanted.margin,
        wanted.seed,
    )


def _how(wanted: SweepOptions, plan: SweepPlan, eval_set: EvalSet, store: Store) -> Asked:
    from ragauge.engine.judges import build_judge, given_judge
    from ragauge.metrics.catalogue import questions, select
    from ragauge.studies.sweep.systems import Asked
    from ragauge.verbs.calls import ModelCallOptions
    from ragauge.verbs.sources import named

    parts = getattr(plan.objective, "of", "") if plan.objective.name() == "composite" else ""
    names = [str(plan.objective), *filter(None, parts.split("+")), *named(wanted.metrics)]
    if wanted.preset == "chunk_size":  # for the knee of recall against 1 − precision
        names += [name.replace("recall", "precision") for name in names if name.startswith(RECALLS)][:1]
    if "verify_answer" in questions(select(names)):  # asked anyway: where in the context the passages used stand
        names += PARTS
    metrics = select([*dict.fromkeys([*names, *COSTS])])
    spec = given_judge(wanted.judge, "", None)
    asked = questions(metrics)
    if asked and spec in ("none", ""):
        raise UsageError(f"sweep: {plan.objective} or a metric beside it needs a judge. Use --judge local.")
    judge = build_judge(spec) if asked else None
    calling = ModelCallOptions(max_cost=wanted.max_cost).of(judge)
    name = wanted.name or f"sweep-{eval_set.name}"
    return Asked(store, name, eval_set, metrics, judge, calling, wanted.concurrency, wanted.timeout)


def _fixed(wanted: SweepOptions, plan: SweepPlan, factory: SystemFactory, how: Asked) -> dict[str, Any]:
    """What all trials share: a study of other ones is another study."""
    from ragauge.core.search_space import called
    from ragauge.studies.sweep.race_runner import RaceCourse

    raced = plan.raced and plan.design != "one_factor" and len(RaceCourse.of(how.eval_set).stops) > 1
    return {
        "system": factory.name,
        "objective": str(plan.objective),
        "base": dict(plan.space.base),
        "base_trial": called(plan.space.base),
        "judge": None if how.judge is None else how.judge.judge_id,
        "metrics": [str(metric) for metric in how.metrics],
        "raced": raced,
        "design": plan.design,
        "margin": plan.margin,
        "noise": wanted.noise,
        "code": factory.code,
    }


def _split(wanted: SweepOptions, eval_set: EvalSet, store: Store) -> tuple[EvalSet, EvalSet | None]:
    """The questions of the sweep, and those to confirm on: another set, or a share held back, clusters whole."""
    from ragauge.evaluation.run.verb import set_of

    share = _share(wanted.confirm)
    if wanted.confirm is None or share is None:
        return eval_set, None if wanted.confirm is None else set_of(wanted.confirm, store)

    def drawn(group: str) -> bytes:
        return hashlib.sha256(f"confirm {eval_set.name} {group}".encode("utf-8", "surrogatepass")).digest()

    sizes = Counter(map(_group, eval_set))
    wanted_back, count, taken = round(share * len(eval_set)), 0, set()
    for group in sorted(sizes, key=drawn):  # a whole cluster where that comes closer to the share
        if count + sizes[group] / 2 <= wanted_back:
            count += sizes[group]
            taken.add(group)
    back = tuple(example for example in eval_set if _group(example) in taken)
    rest = tuple(example for example in eval_set if _group(example) not in taken)
    if min(len(back), len(rest)) < 2:
        told = f"leaves {len(rest)} examples to choose by and {len(back)} to confirm on"
        raise UsageError(f"sweep: confirm={wanted.confirm} {told}. Each needs two.")
    return replace(eval_set, examples=rest), replace(eval_set, name=f"{eval_set.name}-held-back", examples=back)


def _group(example: Example) -> str:
    return f"query {example.query_id}" if example.cluster is None else f"cluster {example.cluster}"


def _share(confirm: Any) -> float | None:
    try:
        share = float(confirm[:-1]) / 100 if isinstance(confirm, str) and confirm.endswith("%") else float(confirm)
    except (TypeError, ValueError):
        return None
    if not 0 < share < 1:
        raise UsageError(f"sweep: a share to confirm on must lie between 0 and 1, got {confirm}.")
    return share


async def _confirmed(wanted: SweepOptions, found: StudyResult, taken: str, held_back: EvalSet) -> ComparisonResult:
    """The recommended trial and the base, asked what had no part in the choice: two ordinary runs, compared."""
    from ragauge.comparison.verb import compare_async
    from ragauge.evaluation.evaluate.verb import evaluated
    from ragauge.evaluation.run.verb import run_system
    from ragauge.studies.sweep.systems import SystemFactory
    from ragauge.verbs.evaluate_options import EvaluateOptions, RunOptions

    factory = SystemFactory(wanted.system, tuple(wanted.index), wanted.keep_open)
    parameters = {trial.name: trial.parameters for trial in found.study.trials}
    base = str(found.study.fixed["base_trial"])
    runs = {}
    for trial in dict.fromkeys((base, taken)):
        run = await run_system(
            RunOptions(
                await factory.make(parameters[trial]),
                held_back,
                name=f"{found.study.name}-confirm-{trial}",
                concurrency=wanted.concurrency,
                timeout=wanted.timeout,
                store=wanted.store,
            )
        )
        card = await evaluated(
            EvaluateOptions(
                run,
                metrics=tuple(found.study.fixed["metrics"]),
                judge=wanted.judge,
                max_cost=wanted.max_cost,
                store=wanted.store,
            )
        )
        runs[trial] = card.run.run_id
    return await compare_async(runs[base], runs[taken], store=wanted.store)


def _keep_confirmation(wanted: SweepOptions, found: StudyResult, taken: str, confirmed: ComparisonResult) -> None:
    """Keeps with the trial what was confirmed of it, so that every later look at the study shows it."""
    from ragauge.core.study import Measurement
    from ragauge.store.store_access import open_store
    from ragauge.studies.sweep.compute import CONFIRMED

    change = confirmed.metrics.get(str(found.study.fixed["objective"]))
    if change is None or change.difference.mean is None:
        return
    ends = change.difference.widest
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    kept = Measurement(CONFIRMED, change.difference.mean, "", low, high, change.difference.n)
    trial = next(one for one in found.study.trials if one.name == taken)
    others = tuple(one for one in trial.measurements if one.name != CONFIRMED)
    with open_store(store_url(wanted.store)) as opened:
        opened.studies.put(found.study.name, replace(trial, measurements=(*others, kept)))


@keywords(SweepOptions)
async def sweep_async(wanted: SweepOptions) -> SweepResult:
    """Tries configurations of a system on one set of questions, stops asking those that surely lose, recommends one.

    The same call continues a sweep that was stopped, and wider parameters join it: nothing is asked twice. The trials
    are ordinary runs, listed by `runs --study NAME`. Looks are taken at 30, 45, 68 … examples; the true best is kept
    with 95 % over all of them together.

    Options:
        system: build, a function of the parameters that returns whatever `run` takes, or "module:name" of one;
            "reference:FOLDER", whose settings are the parameters; or {"index": …, "build": …}, where index is called
            once for each distinct setting of the parameters named by `index`, and build gets what it returned first.
        set: the questions, as `run` takes them.
        parameters: name -> list of values, JSON types; at least two configurations.
        base: parameter -> the value of today, that others are held against; the first of each by default.
        objective: what decides: a metric, or {"composite": {metric: weight}}.
        metrics: metrics to show beside it; context_tokens, cost and latency always are.
        index: parameters that index takes.
        leave_out: parts of configurations that are not tried.
        preset: chunk_size (256 to 2,048 tokens) or top_k (1 to 20): their parameters.
        design: grid, one_factor (each other value alone, never raced), random, or staged (parameters in the order
            written, each raced before the next, and moved only where that is decided).
        trials: how many, of a random design.
        race: drop on the way what surely loses; needs 30 examples.
        margin: also drop what surely cannot beat the leader by this.
        budget: tokens of passages in rank order, the last one cut, in place of k: a parameter `budget` of the system.
        confirm: a set, or a share of the questions held back first: the recommended trial and the base are asked there.
        judge: who answers what labels do not.
        max_cost: US dollars that the judge may spend now.
        noise: effects whose whole interval lies within ± this are no bottleneck.
        cost: what a trial costs; else cost, latency (50 ms or a quarter are alike) or context_tokens, as known.
        keep_open: indexes held, at most, where memory is short: others are made again at each look. None = those of
            all trials that are left, so that each is made once.
        concurrency: questions under way.
        timeout: seconds for one question.
        seed: of a random design.
        name: of the study; sweep-SET by default.
        fresh: forget a study of this name first.
        store: URL of the store.
        say: told what is done.
        progress: told how many questions are answered, with every one.

    Returns:
        The study, with `.best_set`, `.recommendation`, `.front`, `.knee`, `.trials`, `.log` and `.confirmed`.

    Raises:
        UsageError: parameters that make no sense or that the system does not take, said before the first question; a
            study of this name with other fixed settings; no trial could be asked.
        Interrupted: max_cost is reached; the same call goes on.
    """
    return await run_sweep(wanted)


sweep = plain(sweep_async)

"""Sweep: which configuration of a system to take, and how sure that is."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import Interrupted, UsageError
from ragauge.studies.options import SweepOptions
from ragauge.studies.result import StudyResult
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.comparison.result import ComparisonResult
    from ragauge.core.example import EvalSet, Example
    from ragauge.store.store_access import Store
    from ragauge.studies.sweep.sweep_runner import SweepLog, SweepPlan
    from ragauge.studies.sweep.systems import SystemFactory, TrialOptions

RECALL_METRICS = ("context_recall", "recall")
CONTEXT_PART_METRICS = ("passage_use:part=start", "passage_use:part=middle", "passage_use:part=end")
COST_METRICS = ("context_tokens", "cost", "latency")  # scored in every sweep: they cost nothing


class SweepResult(StudyResult):
    """A finished sweep: its study, what was done now, and how the recommended trial did on questions held back.

    Attributes:
        log: questions planned, made and saved, calls of index and judge, parameters that changed nothing.
        confirmed: the recommended trial against the base on the set to confirm on; None where there is no such set, or
            none but the base is recommended.
    """

    def __init__(self, study_result: StudyResult, log: SweepLog, confirmed: ComparisonResult | None = None) -> None:
        super().__init__(study_result.figures, study_result.url)
        self.log, self.confirmed = log, confirmed

    def to_dict(self) -> dict[str, Any]:
        """As of any study; also the log, and the comparison on what was held back."""
        confirmed = None if self.confirmed is None else self.confirmed.to_dict()
        return {**super().to_dict(), "log": asdict(self.log), "confirmed": confirmed}


async def run_sweep(options: SweepOptions) -> SweepResult:
    """Carries out a sweep and reads what it left."""
    from ragauge.evaluation.run.verb import load_set
    from ragauge.store.store_access import open_store
    from ragauge.studies.sweep.sweep_runner import conduct_sweep
    from ragauge.studies.sweep.systems import BudgetSpent, SystemFactory
    from ragauge.studies.verb import open_study

    plan = _build_plan(options)
    factory = SystemFactory(options.system, tuple(options.index), options.keep_open)
    factory.check_parameters(tuple(plan.space.parameters))
    with open_store(resolve_store_url(options.store)) as opened_store:
        eval_set = load_set(options.set, opened_store)
        asked_set, held_back = _split_set(options, eval_set, opened_store)
        how = _build_setup(options, plan, asked_set, opened_store)
        try:
            log = await conduct_sweep(
                how,
                factory,
                plan,
                fixed=_build_fixed_settings(options, plan, factory, how),
                fresh=options.fresh,
                say=options.say,
                progress=options.progress,
            )
        except BudgetSpent as end:
            message = f"{end} The sweep stopped early: not enough data. Run the same command to resume."
            raise Interrupted(message, resume="") from None
    study_result = open_study(how.study, store=options.store, cost=options.cost)
    recommended = study_result.recommendation.trial
    confirmed = None
    if held_back is not None and recommended is not None and recommended != study_result.study.fixed["base_trial"]:
        confirmed = await _confirm_recommended(options, study_result, recommended, held_back)
        _save_confirmation(options, study_result, recommended, confirmed)
        study_result = open_study(how.study, store=options.store, cost=options.cost)
    elif held_back is not None:
        reason = "no trial is recommended" if recommended is None else "the base is recommended"
        log.notes.append(f"nothing was confirmed on {held_back.name}: {reason}")
    return SweepResult(study_result, log, confirmed)


def preview_sweep(options: SweepOptions) -> dict[str, Any]:
    """What a sweep would do, as JSON types; nothing is asked.

    Of a staged design the configurations are those of its first stage, and all counts the most that there may be.
    """
    from ragauge.core.search_space import format_parameters
    from ragauge.evaluation.run.verb import load_set
    from ragauge.metrics.catalogue import list_questions
    from ragauge.store.store_access import open_store
    from ragauge.studies.sweep.race_runner import RaceCourse
    from ragauge.studies.sweep.systems import SystemFactory

    plan = _build_plan(options)
    factory = SystemFactory(options.system, tuple(options.index), options.keep_open)
    factory.check_parameters(tuple(plan.space.parameters))
    with open_store(resolve_store_url(options.store)) as opened_store:
        eval_set, back = _split_set(options, load_set(options.set, opened_store), opened_store)
        how = _build_setup(options, plan, eval_set, opened_store)
        is_continued = opened_store.studies.has_study(how.study) and not options.fresh
        stored_trials = opened_store.studies.read(how.study).trials if is_continued else ()
        n_stored_by_trial = {
            trial.name: len(opened_store.collecting.list_response_keys(trial.run_id)) if trial.run_id else 0
            for trial in stored_trials
        }
    rows = plan.list_configurations()
    raced = plan.raced and plan.design != "one_factor"
    stops = RaceCourse.of(eval_set, race=raced).stops
    max_trials, index_calls = _count_trials(plan, rows, options.index)
    n_judge_questions = 0 if how.judge is None else len(list_questions(how.metrics))
    return {
        "study": how.study,
        "system": factory.name,
        "design": plan.design,
        "objective": str(plan.objective),
        "metrics": [str(metric) for metric in how.metrics],
        "judge": None if how.judge is None else how.judge.judge_id,
        "base": dict(plan.space.base),
        "trials": max_trials,
        "examples": len(eval_set),
        "held_back": 0 if back is None else len(back),
        "questions_at_most": max_trials * len(eval_set),
        "questions_stored": sum(n_stored_by_trial.get(format_parameters(row), 0) for row in rows),
        "judge_questions_at_most": n_judge_questions * max_trials * len(eval_set),
        "looks": list(stops),
        "index_calls": index_calls,
        "configurations": [format_parameters(row) for row in rows],
    }


def _count_trials(plan: SweepPlan, rows: Sequence[Mapping[str, Any]], index: Sequence[str]) -> tuple[int, int]:
    """Trials, and calls of index, at most: what follows the first stage of a staged design depends on it."""
    from ragauge.core.identity import to_canonical_json

    if plan.design == "staged":
        more = {name: len(values) - 1 for name, values in plan.space.parameters.items()}
        return 1 + sum(more.values()), 1 + sum(more[name] for name in index) if index else 0
    return len(rows), len({to_canonical_json([row[name] for name in index]) for row in rows}) if index else 0


def _build_plan(options: SweepOptions) -> SweepPlan:
    """The configurations, checked."""
    from ragauge.core.search_space import DESIGNS, SearchSpace
    from ragauge.studies.sweep.sweep_runner import SweepPlan
    from ragauge.studies.trial_summary import parse_objective

    return SweepPlan(
        SearchSpace(options.values, dict(options.base or {}), tuple(options.leave_out)),
        parse_objective(options.objective),
        DESIGNS[DESIGNS.index(options.design)],
        options.trials,
        options.race,
        options.margin,
        options.seed,
    )


def _build_setup(options: SweepOptions, plan: SweepPlan, eval_set: EvalSet, store: Store) -> TrialOptions:
    from ragauge.engine.judges import build_judge, resolve_judge_spec
    from ragauge.metrics.catalogue import list_questions, select_metrics
    from ragauge.studies.sweep.systems import TrialOptions
    from ragauge.verbs.calls import ModelCallOptions
    from ragauge.verbs.sources import parse_names

    parts = getattr(plan.objective, "of", "") if plan.objective.name() == "composite" else ""
    names = [str(plan.objective), *filter(None, parts.split("+")), *parse_names(options.metrics)]
    if options.preset == "chunk_size":  # for the knee of recall against 1 − precision
        names += [name.replace("recall", "precision") for name in names if name.startswith(RECALL_METRICS)][:1]
    if "verify_answer" in list_questions(
        select_metrics(names)
    ):  # asked anyway: where in the context the passages used stand
        names += CONTEXT_PART_METRICS
    metrics = select_metrics([*dict.fromkeys([*names, *COST_METRICS])])
    spec = resolve_judge_spec(options.judge, "", None)
    judge_questions = list_questions(metrics)
    if judge_questions and spec in ("none", ""):
        raise UsageError(f"sweep: {plan.objective} or another requested metric needs a judge. Use --judge local.")
    judge = build_judge(spec) if judge_questions else None
    calling = ModelCallOptions(max_cost=options.max_cost).of(judge)
    name = options.name or f"sweep-{eval_set.name}"
    return TrialOptions(store, name, eval_set, metrics, judge, calling, options.concurrency, options.timeout)


def _build_fixed_settings(
    options: SweepOptions, plan: SweepPlan, factory: SystemFactory, how: TrialOptions
) -> dict[str, Any]:
    """What all trials share: a study of other ones is another study."""
    from ragauge.core.search_space import format_parameters
    from ragauge.studies.sweep.race_runner import RaceCourse

    raced = plan.raced and plan.design != "one_factor" and len(RaceCourse.of(how.eval_set).stops) > 1
    return {
        "system": factory.name,
        "objective": str(plan.objective),
        "base": dict(plan.space.base),
        "base_trial": format_parameters(plan.space.base),
        "judge": None if how.judge is None else how.judge.judge_id,
        "metrics": [str(metric) for metric in how.metrics],
        "raced": raced,
        "design": plan.design,
        "margin": plan.margin,
        "noise": options.noise,
        "code": factory.code_hash,
    }


def _split_set(options: SweepOptions, eval_set: EvalSet, store: Store) -> tuple[EvalSet, EvalSet | None]:
    """The questions of the sweep, and those to confirm on: another set, or a share held back, clusters whole."""
    from ragauge.evaluation.run.verb import load_set

    share = _parse_share(options.confirm)
    if options.confirm is None or share is None:
        return eval_set, None if options.confirm is None else load_set(options.confirm, store)

    def hash_group(group: str) -> bytes:
        return hashlib.sha256(f"confirm {eval_set.name} {group}".encode("utf-8", "surrogatepass")).digest()

    sizes = Counter(map(_find_group, eval_set))
    wanted_back, count, held_groups = round(share * len(eval_set)), 0, set()
    for group in sorted(sizes, key=hash_group):  # a whole cluster where that comes closer to the share
        if count + sizes[group] / 2 <= wanted_back:
            count += sizes[group]
            held_groups.add(group)
    back = tuple(example for example in eval_set if _find_group(example) in held_groups)
    remaining = tuple(example for example in eval_set if _find_group(example) not in held_groups)
    if min(len(back), len(remaining)) < 2:
        problem = f"leaves {len(remaining)} examples for the sweep and {len(back)} for confirmation"
        raise UsageError(f"sweep: confirm={options.confirm} {problem}. Each part needs at least two.")
    return replace(eval_set, examples=remaining), replace(eval_set, name=f"{eval_set.name}-held-back", examples=back)


def _find_group(example: Example) -> str:
    return f"query {example.query_id}" if example.cluster is None else f"cluster {example.cluster}"


def _parse_share(confirm: Any) -> float | None:
    try:
        share = float(confirm[:-1]) / 100 if isinstance(confirm, str) and confirm.endswith("%") else float(confirm)
    except (TypeError, ValueError):
        return None
    if not 0 < share < 1:
        raise UsageError(f"sweep: the share for confirmation must be between 0 and 1, got {confirm}.")
    return share


async def _confirm_recommended(
    options: SweepOptions, study_result: StudyResult, recommended: str, held_back: EvalSet
) -> ComparisonResult:
    """The recommended trial and the base, asked what had no part in the choice: two ordinary runs, compared."""
    from ragauge.comparison.verb import compare_async
    from ragauge.evaluation.evaluate.verb import evaluate_source
    from ragauge.evaluation.run.verb import run_system
    from ragauge.studies.sweep.systems import SystemFactory
    from ragauge.verbs.evaluate_options import EvaluateOptions, RunOptions

    factory = SystemFactory(options.system, tuple(options.index), options.keep_open)
    parameters = {trial.name: trial.parameters for trial in study_result.study.trials}
    base = str(study_result.study.fixed["base_trial"])
    runs = {}
    for trial in dict.fromkeys((base, recommended)):
        run = await run_system(
            RunOptions(
                await factory.make_system(parameters[trial]),
                held_back,
                name=f"{study_result.study.name}-confirm-{trial}",
                concurrency=options.concurrency,
                timeout=options.timeout,
                store=options.store,
            )
        )
        card = await evaluate_source(
            EvaluateOptions(
                run,
                metrics=tuple(study_result.study.fixed["metrics"]),
                judge=options.judge,
                max_cost=options.max_cost,
                store=options.store,
            )
        )
        runs[trial] = card.run.run_id
    return await compare_async(runs[base], runs[recommended], store=options.store)


def _save_confirmation(
    options: SweepOptions, study_result: StudyResult, recommended: str, confirmed: ComparisonResult
) -> None:
    """Keeps with the trial what was confirmed of it, so that every later look at the study shows it."""
    from ragauge.core.study import Measurement
    from ragauge.store.store_access import open_store
    from ragauge.studies.sweep.compute import CONFIRMED_MEASUREMENT

    change = confirmed.metrics.get(str(study_result.study.fixed["objective"]))
    if change is None or change.difference.mean is None:
        return
    bounds = change.difference.widest_interval
    low, high = (None, None) if bounds is None else (bounds.low, bounds.high)
    measurement = Measurement(CONFIRMED_MEASUREMENT, change.difference.mean, "", low, high, change.difference.n)
    trial = next(entry for entry in study_result.study.trials if entry.name == recommended)
    others = tuple(entry for entry in trial.measurements if entry.name != CONFIRMED_MEASUREMENT)
    with open_store(resolve_store_url(options.store)) as opened_store:
        opened_store.studies.save_trial(study_result.study.name, replace(trial, measurements=(*others, measurement)))


@expand_options(SweepOptions)
async def sweep_async(options: SweepOptions) -> SweepResult:
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
    return await run_sweep(options)


sweep = make_sync(sweep_async)

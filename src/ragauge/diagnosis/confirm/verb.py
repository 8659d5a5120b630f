"""Confirm: answer failed examples again with other passages, to see whether their causes are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.errors import SystemFailed, UsageError
from ragauge.core.json_keys import Key, json_keys, key
from ragauge.core.messages import format_command
from ragauge.core.response import Run
from ragauge.diagnosis.confirm.experiment_results import compute_fingerprint, list_failed_causes, load_context
from ragauge.evaluation.evaluate.verb import evaluate_source
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.evaluate_options import ConfirmOptions, EvaluateOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.sources import HasRun, find_run, resolve_store_url

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.core.example import Example
    from ragauge.core.response import Passage
    from ragauge.diagnosis.causes.cause_context import CauseContext
    from ragauge.engine.systems import System
    from ragauge.scores.results.experiments import CauseTally, Experiment, ExperimentOutcome
    from ragauge.store.store_access import Store

RECORDED = "recorded"  # the system of a run that came from a file


@json_keys("run run_id answers judge_id asked experiments causes outcomes", run_id=Key("run", at="run_id"))
@dataclass(frozen=True)
class Confirmation:
    """Causes as they were inferred, and what experiments said of them."""

    run: Run = field(metadata=key(at="name"))  #: whose causes.
    #: the run that keeps the new answers; None where no experiment could be made.
    answers: Run | None = field(metadata=key(at="run_id"))
    system: str  #: that was asked.
    judge_id: str = field(metadata=key("judge"))  #: who judged both answers.
    #: inferred and confirmed side by side, the most frequent first.
    causes: tuple[CauseTally, ...] = field(metadata=key(by="cause"))
    #: one an experiment, in the order of the draw.
    outcomes: tuple[ExperimentOutcome, ...] = field(metadata=key("examples"))
    asked: int  #: questions asked now; the others were there.

    @property
    def experiments(self) -> int:
        """How many were made."""
        return len(self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON types."""
        from ragauge.core.json_keys import encode

        values: dict[str, Any] = encode(self)
        return values


def render(confirmation: Confirmation, _: object) -> RenderableType:
    """What `ragauge confirm` prints."""
    from ragauge.diagnosis.confirm.tables import build_sections
    from ragauge.rendering.writers.terminal import render_terminal

    made = confirmation
    return render_terminal(
        build_sections(made.run, made.answers, made.judge_id, made.causes, made.outcomes, made.asked)
    )


class _ConfirmPlan(NamedTuple):
    """What was drawn: the causes of all failed examples, the experiments, and why there are no others."""

    failed: Mapping[str, str]
    examples: Mapping[str, Example]
    experiments: tuple[Experiment, ...]
    without: Mapping[str, str]
    run: Run
    answers: Run | None
    judge_id: str
    spec: str
    metrics: tuple[str, ...]


async def confirm_causes(options: ConfirmOptions) -> Confirmation:
    """Asks the system again, judges the new answers as the first ones were, and reads them.

    Raises:
        UsageError: the system takes no passages, or the run has no causes; said before the first question.
        SystemFailed: the system is not there, or does not let us in.
    """
    from ragauge.engine.systems import build_system
    from ragauge.store.store_access import open_store

    url = resolve_store_url(options.store or getattr(options.run, "url", None))
    system = build_system(options.system, options.settings)
    try:
        system.check_variant("replayed")
        with open_store(url) as opened_store:
            plan = _plan_experiments(options, system, opened_store)
            n_asked = await _ask_system(options, system, plan, opened_store)
    finally:
        await system.close()
    if plan.answers is not None:
        what = EvaluateOptions(plan.answers, metrics=plan.metrics, judge=plan.spec, max_cost=options.max_cost)
        await evaluate_source(replace(what, store=url, progress=options.progress, warn=options.warn))
    with open_store(url) as opened_store:
        return _build_confirmation(plan, system.name, n_asked, opened_store)


def _plan_experiments(options: ConfirmOptions, system: System, store: Store) -> _ConfirmPlan:
    """Draws the experiments; nothing is asked yet."""
    from ragauge.diagnosis.causes.counterfactuals import order_experiments, plan_experiment
    from ragauge.diagnosis.confirm.reruns import find_gold_passages, find_or_begin_run
    from ragauge.scores.results.experiments import Experiment

    run = _resolve_run(options.run, store)
    if options.warn is not None and run.system not in (system.name, RECORDED):
        options.warn(f"{run.name} was answered by {run.system}; the experiments use {system.name}.")
    judge_id, spec = _resolve_judge(options, run, store)
    causes = _load_failures(store, run, judge_id)
    failed = {query_id: cause for query_id, (_, cause) in causes.items()}
    examples = {
        example.query_id: example
        for example, response in store.runs.pairs(run.run_id)
        if causes.get(example.query_id, (None, ""))[0] == response.repeat
    }
    gold, reason = find_gold_passages(list(examples.values()), store, options.corpus)
    if reason and options.warn is not None:
        options.warn(f"{reason} For these, the passages recorded in the run are used.")
    experiments: list[Experiment] = []
    without: dict[str, str] = {}
    for query_id in order_experiments(failed, run.set_version, options.seed):
        if len(experiments) == options.limit:
            break
        repeat, cause = causes[query_id]
        context = load_context(store, run, query_id, repeat, judge_id)
        made = plan_experiment(context, cause, repeat, gold.get(query_id))
        if isinstance(made, Experiment):
            experiments.append(made)
        else:
            without[query_id] = made
    answers = None
    if experiments:
        basis = {"causes": compute_fingerprint(causes, judge_id), "gold": _list_texts(gold)}
        answers = find_or_begin_run(store, run, system, list(examples.values()), basis)
    metrics = tuple(store.scores.metrics(run.run_id, judge_id))
    return _ConfirmPlan(failed, examples, tuple(experiments), without, run, answers, judge_id, spec, metrics)


async def _ask_system(options: ConfirmOptions, system: System, plan: _ConfirmPlan, store: Store) -> int:
    from ragauge.diagnosis.confirm.reruns import run_experiments
    from ragauge.engine.collect import Pace, RunToFill

    if plan.answers is None:
        return 0
    try:
        return await run_experiments(
            system,
            RunToFill(store, plan.answers.run_id),
            plan.experiments,
            plan.examples,
            Pace.of(options.concurrency, options.timeout),
            control=options.control,
            progress=options.progress,
        )
    except SystemFailed:
        if not store.collecting.list_response_keys(plan.answers.run_id):
            store.runs.delete(plan.answers.run_id)  # there was nothing to keep
        raise


def _build_confirmation(plan: _ConfirmPlan, system: str, n_asked: int, store: Store) -> Confirmation:
    """What the answers say."""
    from ragauge.diagnosis.causes.counterfactuals import CHANGED_REPEAT, UNCHANGED_REPEAT, decide_outcome, tally_causes

    answers = None if plan.answers is None else store.runs.find(plan.answers.run_id)
    answered = set() if answers is None else store.collecting.list_response_keys(answers.run_id)

    def find_context(query_id: str, which: int) -> CauseContext | None:
        if answers is None or (query_id, which) not in answered:
            return None
        return load_context(store, answers, query_id, which, plan.judge_id)

    outcomes = tuple(
        decide_outcome(
            experiment,
            find_context(experiment.query_id, CHANGED_REPEAT),
            find_context(experiment.query_id, UNCHANGED_REPEAT),
        )
        for experiment in plan.experiments
    )
    causes = tally_causes(plan.failed, plan.without, outcomes)
    return Confirmation(plan.run, answers, system, plan.judge_id, causes, outcomes, n_asked)


def _resolve_run(which: Any, store: Store) -> Run:
    if isinstance(which, Run):
        return which
    return which.run if isinstance(which, HasRun) else find_run(str(which), store)


def _resolve_judge(options: ConfirmOptions, run: Run, store: Store) -> tuple[str, str]:
    """Whose causes are tested: the judge's id, and the spec that it is built from."""
    from ragauge.engine.judges import build_judge, resolve_judge_spec
    from ragauge.evaluation.scorecard.cards import resolve_scored_judge

    if options.judge:
        spec = resolve_judge_spec(options.judge)
        judge_id = resolve_scored_judge(store, run, build_judge(spec).judge_id)
    else:
        judge_id = resolve_scored_judge(store, run, None)
        spec = store.judges.find_spec(judge_id) or "" if judge_id else ""
    if judge_id is None:
        raise UsageError(
            f"{run.name} was not judged, so right answers are unknown. First evaluate it with the preset prompt and a "
            f"judge: {format_command('evaluate', store.runs.word(run), '-m', 'prompt')}"
        )
    if not spec:
        raise UsageError(f"the configuration of judge {judge_id} is not stored. Pass it with --judge.")
    return judge_id, spec


def _load_failures(store: Store, run: Run, judge_id: str) -> dict[str, tuple[int, str]]:
    """query_id -> repeat and cause of each failed example."""
    causes = list_failed_causes(store.causes.load_frame(run.run_id, judge_id))
    if not causes:
        raise UsageError(f"{run.name} has no failed examples, so there is no cause to confirm.")
    return causes


def _list_texts(gold: Mapping[str, tuple[Passage, ...]]) -> dict[str, list[str | None]]:
    return {query_id: [passage.text for passage in passages] for query_id, passages in gold.items()}


@expand_options(ConfirmOptions)
async def confirm_async(options: ConfirmOptions) -> Confirmation:
    """Which of a run's causes hold when the passages are changed: answers failed examples again, with extra calls.

    Answers and verdicts are kept as a run of their own: the same call asks nothing twice, and a higher limit only adds.

    Options:
        run: the evaluated run: id, name, "latest", what `open_run` gives.
        system: the system that answered it, in any form that `run` takes; it must take passages.
        corpus: the texts of the labelled documents: a path, a table, or {doc_id: text}.
        limit: experiments, at most; one of each cause in turn, each cause's examples at random.
        seed: of the draw.
        control: answer from the unchanged passages again too: where that is right as well, the failure does not repeat
            and decides nothing. For systems that answer otherwise each time; it doubles the calls.
        judge: whose causes; None = the last judge's.
        settings: of the system: a mapping, or a YAML file with a section `system`.
        concurrency: questions under way, at most.
        timeout: seconds for one attempt at a question.
        max_cost: US dollars that the judge may spend now, never exceeded; None = no bound.
        store: URL of the store.
        progress: called with what is done.
        warn: receives what is worth knowing.

    Raises:
        UsageError: a system that takes no passages, with what to implement; a run without causes.
        SystemFailed: nothing was answered, and the system is not there.
    """
    return await confirm_causes(options)


confirm = make_sync(confirm_async)

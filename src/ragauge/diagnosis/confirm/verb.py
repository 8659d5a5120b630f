"""Confirm: answer failed examples again with other passages, to see whether their causes are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.errors import SystemFailed, UsageError
from ragauge.core.messages import command
from ragauge.core.response import Run
from ragauge.diagnosis.confirm.experiment_results import causes_now, fingerprint, seen_of
from ragauge.evaluation.evaluate.verb import evaluated
from ragauge.verbs.coroutines import plain
from ragauge.verbs.evaluate_options import ConfirmOptions, EvaluateOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.sources import HasRun, run_of, store_url

if TYPE_CHECKING:
    from ragauge.core.example import Example
    from ragauge.core.response import Passage
    from ragauge.diagnosis.causes.cause_context import CauseContext
    from ragauge.engine.systems import System
    from ragauge.scores.results.experiments import CauseTally, Experiment, ExperimentOutcome
    from ragauge.store.store_access import Store

RECORDED = "recorded"  # the system of a run that came from a file


@dataclass(frozen=True)
class Confirmation:
    """Causes as they were inferred, and what experiments said of them.

    Attributes:
        run: whose causes.
        answers: the run that keeps the new answers; None where no experiment could be made.
        system: that was asked.
        judge_id: who judged both answers.
        causes: inferred and confirmed side by side, the most frequent first.
        outcomes: one an experiment, in the order of the draw.
        asked: questions asked now; the others were there.
    """

    run: Run
    answers: Run | None
    system: str
    judge_id: str
    causes: tuple[CauseTally, ...]
    outcomes: tuple[ExperimentOutcome, ...]
    asked: int

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON types."""
        from ragauge.rendering.encoder import encode

        values: dict[str, Any] = encode(self)
        return values


class _Todo(NamedTuple):
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


async def confirm_causes(wanted: ConfirmOptions) -> Confirmation:
    """Asks the system again, judges the new answers as the first ones were, and reads them.

    Raises:
        UsageError: the system takes no passages, or the run has no causes; said before the first question.
        SystemFailed: the system is not there, or does not let us in.
    """
    from ragauge.engine.systems import build_system
    from ragauge.store.store_access import open_store

    url = store_url(wanted.store or getattr(wanted.run, "url", None))
    system = build_system(wanted.system, wanted.settings)
    try:
        system.check("replayed")
        with open_store(url) as opened:
            todo = _todo(wanted, system, opened)
            asked = await _asked(wanted, system, todo, opened)
    finally:
        await system.close()
    if todo.answers is not None:
        what = EvaluateOptions(todo.answers, metrics=todo.metrics, judge=todo.spec, max_cost=wanted.max_cost)
        await evaluated(replace(what, store=url, progress=wanted.progress, warn=wanted.warn))
    with open_store(url) as opened:
        return _read(todo, system.name, asked, opened)


def _todo(wanted: ConfirmOptions, system: System, store: Store) -> _Todo:
    """Draws the experiments; nothing is asked yet."""
    from ragauge.diagnosis.causes.counterfactuals import drawn, experiment
    from ragauge.diagnosis.confirm.reruns import begun, gold_passages
    from ragauge.scores.results.experiments import Experiment

    run = _run(wanted.run, store)
    if wanted.warn is not None and run.system not in (system.name, RECORDED):
        wanted.warn(f"{run.name} was answered by {run.system}; {system.name} is asked now.")
    judge_id, spec = _judge(wanted, run, store)
    causes = _failures(store, run, judge_id)
    failed = {query_id: cause for query_id, (_, cause) in causes.items()}
    examples = {
        example.query_id: example
        for example, response in store.runs.pairs(run.run_id)
        if causes.get(example.query_id, (None, ""))[0] == response.repeat
    }
    gold, reason = gold_passages(list(examples.values()), store, wanted.corpus)
    if reason and wanted.warn is not None:
        wanted.warn(f"{reason} Of these, what the run recorded is taken.")
    experiments: list[Experiment] = []
    without: dict[str, str] = {}
    for query_id in drawn(failed, run.set_version, wanted.seed):
        if len(experiments) == wanted.limit:
            break
        repeat, cause = causes[query_id]
        seen = seen_of(store, run, query_id, repeat, judge_id)
        made = experiment(seen, cause, repeat, gold.get(query_id))
        if isinstance(made, Experiment):
            experiments.append(made)
        else:
            without[query_id] = made
    answers = None
    if experiments:
        basis = {"causes": fingerprint(causes, judge_id), "gold": _texts(gold)}
        answers = begun(store, run, system, list(examples.values()), basis)
    metrics = tuple(store.scores.metrics(run.run_id, judge_id))
    return _Todo(failed, examples, tuple(experiments), without, run, answers, judge_id, spec, metrics)


async def _asked(wanted: ConfirmOptions, system: System, todo: _Todo, store: Store) -> int:
    from ragauge.diagnosis.confirm.reruns import ask_again
    from ragauge.engine.collect import Pace, RunToFill

    if todo.answers is None:
        return 0
    try:
        return await ask_again(
            system,
            RunToFill(store, todo.answers.run_id),
            todo.experiments,
            todo.examples,
            Pace.of(wanted.concurrency, wanted.timeout),
            control=wanted.control,
            progress=wanted.progress,
        )
    except SystemFailed:
        if not store.collecting.held(todo.answers.run_id):
            store.runs.delete(todo.answers.run_id)  # there was nothing to keep
        raise


def _read(todo: _Todo, system: str, asked: int, store: Store) -> Confirmation:
    """What the answers say."""
    from ragauge.diagnosis.causes.counterfactuals import CHANGED, UNCHANGED, outcome, tallies

    answers = None if todo.answers is None else store.runs.find(todo.answers.run_id)
    held = set() if answers is None else store.collecting.held(answers.run_id)

    def new(query_id: str, which: int) -> CauseContext | None:
        if answers is None or (query_id, which) not in held:
            return None
        return seen_of(store, answers, query_id, which, todo.judge_id)

    outcomes = tuple(
        outcome(experiment, new(experiment.query_id, CHANGED), new(experiment.query_id, UNCHANGED))
        for experiment in todo.experiments
    )
    causes = tallies(todo.failed, todo.without, outcomes)
    return Confirmation(todo.run, answers, system, todo.judge_id, causes, outcomes, asked)


def _run(which: Any, store: Store) -> Run:
    if isinstance(which, Run):
        return which
    return which.run if isinstance(which, HasRun) else run_of(str(which), store)


def _judge(wanted: ConfirmOptions, run: Run, store: Store) -> tuple[str, str]:
    """Whose causes are tested: the judge's id, and the spec that it is built from."""
    from ragauge.engine.judges import build_judge, given_judge
    from ragauge.evaluation.scorecard.cards import judged

    if wanted.judge:
        spec = given_judge(wanted.judge)
        judge_id = judged(store, run, build_judge(spec).judge_id)
    else:
        judge_id = judged(store, run, None)
        spec = store.judges.spec(judge_id) or "" if judge_id else ""
    if judge_id is None:
        raise UsageError(
            f"{run.name} was not judged: nothing tells a right answer. Evaluate it with the preset prompt and a judge "
            f"first: {command('evaluate', store.runs.word(run), '-m', 'prompt')}"
        )
    if not spec:
        raise UsageError(f"it is not known how the judge {judge_id} is built. Name it with --judge.")
    return judge_id, spec


def _failures(store: Store, run: Run, judge_id: str) -> dict[str, tuple[int, str]]:
    """query_id -> repeat and cause of each failed example."""
    causes = causes_now(store.causes.frame(run.run_id, judge_id))
    if not causes:
        raise UsageError(f"{run.name} has no example that is known to have failed: there is no cause to confirm.")
    return causes


def _texts(gold: Mapping[str, tuple[Passage, ...]]) -> dict[str, list[str | None]]:
    return {query_id: [passage.text for passage in passages] for query_id, passages in gold.items()}


@keywords(ConfirmOptions)
async def confirm_async(wanted: ConfirmOptions) -> Confirmation:
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
    return await confirm_causes(wanted)


confirm = plain(confirm_async)

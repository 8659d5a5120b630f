"""Asks a system again with other passages, as a run of its own, so that no answer is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import hash_json, to_json_value
from ragauge.core.response import Passage, Run
from ragauge.diagnosis.causes.counterfactuals import CHANGED_REPEAT, UNCHANGED_REPEAT
from ragauge.engine.collect import Pace, RunToFill, collect_responses
from ragauge.engine.execute import Progress
from ragauge.engine.system_caller import SystemRequest
from ragauge.engine.systems import find_variant_passages
from ragauge.scores.results.experiments import Experiment
from ragauge.store.store_access import Store
from ragauge.systems.base import System


def find_gold_passages(
    examples: Sequence[Example], store: Store, corpus: Any
) -> tuple[Mapping[str, tuple[Passage, ...]], str]:
    """The labelled passages of each example from a corpus, and what the user should know; none without one.

    Raises:
        UsageError: no label's text is in the corpus.
        DataError: a corpus that cannot be read.
    """
    if corpus is None or not examples:
        return {}, ""
    passages, note = find_variant_passages(
        "oracle", EvalSet("the failed examples", tuple(examples)), store, corpus=corpus
    )
    return passages or {}, note


def find_or_begin_run(
    store: Store, run: Run, system: System, examples: Sequence[Example], basis: Mapping[str, Any]
) -> Run:
    """The run that keeps the new answers: the one that was there, or a new one.

    Args:
        store: where it is kept.
        run: whose causes are tested.
        system: what will be asked.
        examples: the failed ones, whether they will be asked or not.
        basis: all that the experiments depend on but how many there are: causes, a fingerprint of the causes as they
            are, and gold, the labelled passages' texts. The same basis goes on with the same run.
    """
    failed_set = EvalSet(f"{run.set_name or run.name} (failed)", tuple(examples))
    template = Run(
        "",
        f"{run.name}-confirm",
        set_name=failed_set.name,
        set_version=failed_set.version,
        system=system.name,
        config={
            **system.config,
            "confirms": run.run_id,
            "causes": basis["causes"],
            "experiments": hash_json(to_json_value(basis))[:16],
        },
        variant="replayed",
        git=run.git,
    )
    return store.collecting.newest(template, unfinished=False) or store.collecting.begin_run(template, failed_set)


async def run_experiments(
    system: System,
    answers: RunToFill,
    experiments: Sequence[Experiment],
    examples: Mapping[str, Example],
    pace: Pace,
    *,
    control: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Makes the experiments that have no answer yet; each answer is durable as it arrives.

    Args:
        system: what answers; it must take passages.
        answers: the run that keeps them, see `find_or_begin_run`.
        experiments: what to ask.
        examples: by query_id.
        pace: how hard the system is asked.
        control: ask from the unchanged passages too, as the run's second answers.
        progress: called with every answer.

    Returns:
        How many were asked now.

    Raises:
        SystemFailed: the system is not there, or does not let us in.
    """
    run_id, state = answers.run_id, answers.store.collecting
    existing = state.list_response_keys(run_id)
    requested = [
        SystemRequest(examples[experiment.query_id], CHANGED_REPEAT, experiment.passages) for experiment in experiments
    ]
    if control:
        requested += [
            SystemRequest(examples[experiment.query_id], UNCHANGED_REPEAT, experiment.unchanged)
            for experiment in experiments
            if experiment.unchanged is not None
        ]
    askings = [request for request in requested if (request.example.query_id, request.repeat) not in existing]
    if not askings:
        return 0
    total = len(existing) + len(askings)
    state.mark_state(run_id, "running", planned=total)
    try:
        await collect_responses(system, askings, replace(answers, total=total), pace, progress=progress)
    except BaseException:
        state.mark_state(run_id, "interrupted")
        raise
    state.finish_run(run_id)
    return len(askings)

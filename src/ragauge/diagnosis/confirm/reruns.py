"""Asks a system again with other passages, as a run of its own, so that no answer is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import digest, plain
from ragauge.core.response import Passage, Run
from ragauge.diagnosis.causes.counterfactuals import CHANGED, UNCHANGED
from ragauge.engine.collect import Pace, RunToFill, collect
from ragauge.engine.execute import Progress
from ragauge.engine.system_caller import Asking
from ragauge.engine.systems import handed
from ragauge.scores.results.experiments import Experiment
from ragauge.store.store_access import Store
from ragauge.systems.base import System


def gold_passages(
    examples: Sequence[Example], store: Store, corpus: Any
) -> tuple[Mapping[str, tuple[Passage, ...]], str]:
    """The labelled passages of each example from a corpus, and what the user should know; none without one.

    Raises:
        UsageError: no label's text is in the corpus.
        DataError: a corpus that cannot be read.
    """
    if corpus is None or not examples:
        return {}, ""
    found, said = handed("oracle", EvalSet("the failed examples", tuple(examples)), store, corpus=corpus)
    return found or {}, said


def begun(store: Store, run: Run, system: System, examples: Sequence[Example], basis: Mapping[str, Any]) -> Run:
    """The run that keeps the new answers: the one that was there, or a new one.

    Args:
        store: where it is kept.
        run: whose causes are tested.
        system: what will be asked.
        examples: the failed ones, whether they will be asked or not.
        basis: all that the experiments depend on but how many there are: causes, a fingerprint of the causes as they
            are, and gold, the labelled passages' texts. The same basis goes on with the same run.
    """
    asked = EvalSet(f"{run.set_name or run.name} (failed)", tuple(examples))
    like = Run(
        "",
        f"{run.name}-confirm",
        set_name=asked.name,
        set_version=asked.version,
        system=system.name,
        config={
            **system.config,
            "confirms": run.run_id,
            "causes": basis["causes"],
            "experiments": digest(plain(basis))[:16],
        },
        variant="replayed",
        git=run.git,
    )
    return store.collecting.newest(like, unfinished=False) or store.collecting.begin(like, asked)


async def ask_again(
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
        answers: the run that keeps them, see `begun`.
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
    held = state.held(run_id)
    wanted = [Asking(examples[one.query_id], CHANGED, one.passages) for one in experiments]
    if control:
        wanted += [
            Asking(examples[one.query_id], UNCHANGED, one.unchanged) for one in experiments if one.unchanged is not None
        ]
    askings = [one for one in wanted if (one.example.query_id, one.repeat) not in held]
    if not askings:
        return 0
    total = len(held) + len(askings)
    state.mark(run_id, "running", planned=total)
    try:
        await collect(system, askings, replace(answers, total=total), pace, progress=progress)
    except BaseException:
        state.mark(run_id, "interrupted")
        raise
    state.finish(run_id)
    return len(askings)

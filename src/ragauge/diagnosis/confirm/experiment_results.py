"""What experiments have said of a run's causes, read back from the store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ragauge.core.identity import digest, plain
from ragauge.core.response import Run

if TYPE_CHECKING:
    import polars as pl

    from ragauge.diagnosis.causes.cause_context import CauseContext
    from ragauge.scores.results.experiments import Confirmed, ExperimentOutcome
    from ragauge.store.store_access import Store

Causes = Mapping[str, tuple[int, str]]  # query_id -> the repeat that failed, and its cause


def confirmed_of(store: Store, run: Run, judge_id: str | None, shown: pl.DataFrame) -> Confirmed | None:
    """The newest experiments on a run's causes as they are now; None where there are none.

    Args:
        store: where the runs are.
        run: whose causes.
        judge_id: who judged.
        shown: the cause frame of the responses that count.
    """
    from ragauge.diagnosis.causes.counterfactuals import tallies
    from ragauge.scores.results.experiments import Confirmed

    asked = store.runs.confirming(run.run_id)
    if not asked or judge_id is None:
        return None
    causes = causes_now(store.causes.frame(run.run_id, judge_id))
    mine = fingerprint(causes, judge_id)
    answers = next((run for run in asked if run.config.get("causes") == mine), None)
    if answers is None:
        return None
    here, held = causes_now(shown), store.collecting.held(answers.run_id)
    outcomes = [
        outcome
        for query_id, of in here.items()
        if (outcome := _outcome(store, (run, answers), judge_id, query_id, of, held)) is not None
    ]
    failed = {query_id: cause for query_id, (_, cause) in here.items()}
    return Confirmed(answers.run_id, tallies(failed, {}, outcomes), tuple(outcomes)) if outcomes else None


def causes_now(frame: pl.DataFrame) -> dict[str, tuple[int, str]]:
    """query_id -> repeat and cause of each failed example of a cause frame."""
    from ragauge.scores.frames import failures

    rows = failures(frame).select("query_id", "repeat", "cause").iter_rows()
    return {query_id: (repeat, cause) for query_id, repeat, cause in rows}


def fingerprint(causes: Causes, judge_id: str) -> str:
    """Of the causes that experiments belong to: with others, they say nothing."""
    return digest(plain({"judge": judge_id, "causes": causes}))[:16]


def seen_of(store: Store, run: Run, query_id: str, repeat: int, judge_id: str) -> CauseContext:
    """A stored answer as the cause table sees it."""
    from ragauge.diagnosis.causes.cause_context import CauseContext
    from ragauge.metrics.facts import Facts
    from ragauge.verbs.example_views import view_of

    view = view_of(store, run.run_id, query_id, repeat, judge_id)
    return CauseContext(Facts(view.example, view.response, view.evidence))


def _outcome(
    store: Store, runs: tuple[Run, Run], judge_id: str, query_id: str, of: tuple[int, str], held: Collection[object]
) -> ExperimentOutcome | None:
    """What became of an example's experiment; None where there was none.

    Args:
        store: where both runs are.
        runs: that of the failure, and that of the new answers.
        judge_id: who judged both.
        query_id: of the example.
        of: the repeat that failed, and its cause.
        held: (query_id, repeat) of the new answers.
    """
    from ragauge.diagnosis.causes.counterfactuals import CHANGED, UNCHANGED, outcome, reread

    if (query_id, CHANGED) not in held:
        return None
    failed, answers = runs
    after = seen_of(store, answers, query_id, CHANGED, judge_id)
    control = seen_of(store, answers, query_id, UNCHANGED, judge_id) if (query_id, UNCHANGED) in held else None
    repeat, cause = of
    made = reread(seen_of(store, failed, query_id, repeat, judge_id), cause, repeat, tuple(after.passages or ()))
    return None if made is None else outcome(made, after, control)

"""What experiments have said of a run's causes, read back from the store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ragauge.core.identity import hash_json, to_json_value
from ragauge.core.response import Run

if TYPE_CHECKING:
    import polars as pl

    from ragauge.diagnosis.causes.cause_context import CauseContext
    from ragauge.scores.results.experiments import Confirmed, ExperimentOutcome
    from ragauge.store.store_access import Store

FailedCauses = Mapping[str, tuple[int, str]]  # query_id -> the repeat that failed, and its cause


def load_experiments(store: Store, run: Run, judge_id: str | None, cause_frame: pl.DataFrame) -> Confirmed | None:
    """The newest experiments on a run's causes as they are now; None where there are none.

    Args:
        store: where the runs are.
        run: whose causes.
        judge_id: who judged.
        cause_frame: the cause frame of the responses that count.
    """
    from ragauge.diagnosis.causes.counterfactuals import tally_causes
    from ragauge.scores.results.experiments import Confirmed

    reruns = store.runs.list_confirming(run.run_id)
    if not reruns or judge_id is None:
        return None
    causes = list_failed_causes(store.causes.load_frame(run.run_id, judge_id))
    own_fingerprint = compute_fingerprint(causes, judge_id)
    answers = next((run for run in reruns if run.config.get("causes") == own_fingerprint), None)
    if answers is None:
        return None
    current_causes, answered = list_failed_causes(cause_frame), store.collecting.list_response_keys(answers.run_id)
    outcomes = [
        outcome
        for query_id, failure in current_causes.items()
        if (outcome := _load_outcome(store, (run, answers), judge_id, query_id, failure, answered)) is not None
    ]
    failed = {query_id: cause for query_id, (_, cause) in current_causes.items()}
    return Confirmed(answers.run_id, tally_causes(failed, {}, outcomes), tuple(outcomes)) if outcomes else None


def list_failed_causes(frame: pl.DataFrame) -> dict[str, tuple[int, str]]:
    """query_id -> repeat and cause of each failed example of a cause frame."""
    from ragauge.scores.summarize import select_failures

    rows = select_failures(frame).select("query_id", "repeat", "cause").iter_rows()
    return {query_id: (repeat, cause) for query_id, repeat, cause in rows}


def compute_fingerprint(causes: FailedCauses, judge_id: str) -> str:
    """Of the causes that experiments belong to: with others, they say nothing."""
    return hash_json(to_json_value({"judge": judge_id, "causes": causes}))[:16]


def load_context(store: Store, run: Run, query_id: str, repeat: int, judge_id: str) -> CauseContext:
    """A stored answer as the cause table sees it."""
    from ragauge.diagnosis.causes.cause_context import CauseContext
    from ragauge.metrics.facts import Facts
    from ragauge.verbs.example_views import load_example_view

    view = load_example_view(store, run.run_id, query_id, repeat, judge_id)
    return CauseContext(Facts(view.example, view.response, view.evidence))


def _load_outcome(
    store: Store,
    runs: tuple[Run, Run],
    judge_id: str,
    query_id: str,
    failure: tuple[int, str],
    answered: Collection[object],
) -> ExperimentOutcome | None:
    """What became of an example's experiment; None where there was none.

    Args:
        store: where both runs are.
        runs: that of the failure, and that of the new answers.
        judge_id: who judged both.
        query_id: of the example.
        failure: the repeat that failed, and its cause.
        answered: (query_id, repeat) of the new answers.
    """
    from ragauge.diagnosis.causes.counterfactuals import (
        CHANGED_REPEAT,
        UNCHANGED_REPEAT,
        decide_outcome,
        rebuild_experiment,
    )

    if (query_id, CHANGED_REPEAT) not in answered:
        return None
    failed, answers = runs
    after = load_context(store, answers, query_id, CHANGED_REPEAT, judge_id)
    control = (
        load_context(store, answers, query_id, UNCHANGED_REPEAT, judge_id)
        if (query_id, UNCHANGED_REPEAT) in answered
        else None
    )
    repeat, cause = failure
    made = rebuild_experiment(
        load_context(store, failed, query_id, repeat, judge_id), cause, repeat, tuple(after.passages or ())
    )
    return None if made is None else decide_outcome(made, after, control)

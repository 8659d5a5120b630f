"""Which examples a system gave no response to, in a run and in its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.comparison.score_pairs import PairedScores
    from ragauge.core.response import Run
    from ragauge.gating.failed_calls import FailedCalls
    from ragauge.store.store_access import Store


def find_unanswered(store: Store, run: Run, judge_id: str | None) -> frozenset[str]:
    """Ids of the examples without a response, as the causes say, by this judge or else the last."""
    from ragauge.comparison.comparability import FAILED_CALLS_NAME

    judges = store.scores.judges(run.run_id)
    by = judge_id if judge_id is None or judge_id in judges else next(iter(judges), None)
    frame = store.causes.load_frame(run.run_id, by)
    return frozenset(frame.filter(frame["cause"] == FAILED_CALLS_NAME)["query_id"])


def find_failed_calls(
    store: Store, run: Run, base: Run | None, judge_id: str | None, paired: PairedScores | None
) -> FailedCalls:
    """Those of the run, and those of the baseline by their ids in the run where they are matched by question."""
    from ragauge.gating.failed_calls import FailedCalls

    theirs = frozenset[str]() if base is None else find_unanswered(store, base, judge_id)
    renamed = {} if paired is None else paired.renamed
    return FailedCalls(find_unanswered(store, run, judge_id), frozenset(renamed.get(name, name) for name in theirs))

"""Scores that ask nobody, of responses of traffic as they come in: whoever else works on the run, they do not wait."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ragauge.engine.judge_batch import Work, judge_batch, overtaken
from ragauge.engine.label_facts import read_label_facts
from ragauge.engine.plan import columns_of, declare_own
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import require_code
from ragauge.store.database import chunks
from ragauge.store.store_access import Store

AT_A_TIME = 500  # responses in memory, and in one transaction


def score_free(store: Store, run_id: str, metrics: Sequence[Metric], numbers: Sequence[int]) -> set[int]:
    """Computes metrics that need no judge for some responses of a run, those alone that do not have them.

    Args:
        store: with the run.
        run_id: of the run.
        metrics: that ask nobody.
        numbers: of the responses.

    Returns:
        Numbers of the responses of which a metric failed.
    """
    require_code(metrics)
    declare_own(metrics, store)
    columns = columns_of(metrics, None)
    there = store.scores.complete(run_id, columns, among=numbers)
    whole = store.scores.complete(run_id, columns, failed_too=False, among=there) if there else set()
    failed = there - whole
    work = Work(tuple(metrics), listing=store.listings.read(run_id), labels=partial(read_label_facts, store))
    for part in chunks((number for number in numbers if number not in there), AT_A_TIME):
        judged = judge_batch(store.runs.load(part), work, store.evidence).judged
        with store.transaction():
            other = overtaken(store, judged)  # scored when it is looked at again
            judged = tuple(one for one in judged if one.response_no not in other)
            store.scores.write(run_id, columns, ((one.response_no, one.measured) for one in judged))
            store.causes.write(run_id, None, {one.response_no: one.cause for one in judged})
            store.verdicts.write(run_id, None, {one.response_no: one.verdict for one in judged})
        failed |= {one.response_no for one in judged if any(score.status == "failed" for score in one.measured)}
    work.own_calls.stop()
    return failed

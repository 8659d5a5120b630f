"""Scores that ask nobody, of responses of traffic as they come in: whoever else works on the run, they do not wait."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ragauge.engine.judge_batch import Work, find_overtaken, judge_batch
from ragauge.engine.label_facts import read_label_facts
from ragauge.engine.plan import list_columns, save_own_declarations
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import require_code
from ragauge.store.database import split_batches
from ragauge.store.store_access import Store

BATCH_SIZE_RESPONSES = 500  # responses in memory, and in one transaction


def score_without_judge(store: Store, run_id: str, metrics: Sequence[Metric], numbers: Sequence[int]) -> set[int]:
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
    save_own_declarations(metrics, store)
    columns = list_columns(metrics, None)
    scored = store.scores.find_complete(run_id, columns, only=numbers)
    succeeded = store.scores.find_complete(run_id, columns, failed_too=False, only=scored) if scored else set()
    failed = scored - succeeded
    work = Work(tuple(metrics), listing=store.listings.read(run_id), labels=partial(read_label_facts, store))
    for batch in split_batches((number for number in numbers if number not in scored), BATCH_SIZE_RESPONSES):
        responses = judge_batch(store.runs.load(batch), work, store.evidence).judged
        with store.transaction():
            overtaken_numbers = find_overtaken(store, responses)  # scored when it is looked at again
            responses = tuple(response for response in responses if response.response_no not in overtaken_numbers)
            store.scores.write(run_id, columns, ((response.response_no, response.measured) for response in responses))
            store.causes.write(run_id, None, {response.response_no: response.cause for response in responses})
            store.verdicts.write(run_id, None, {response.response_no: response.verdict for response in responses})
        failed |= {
            response.response_no
            for response in responses
            if any(score.status == "failed" for score in response.measured)
        }
    work.own_calls.stop()
    return failed

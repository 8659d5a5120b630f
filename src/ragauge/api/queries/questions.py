"""Two runs whose ids have nothing in common, such as two captures: the same questions make them the same examples."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.data.identity import folded

if TYPE_CHECKING:
    from ragauge.analysis.scores.arrays import ResponseIndex
    from ragauge.store.open import Store

BATCH = 500


def by_question(store: Store, here: ResponseIndex, there: ResponseIndex) -> ResponseIndex:
    """The index of a baseline, its examples under the ids that the same questions have in a run.

    Only where no id is in both and both ask the same questions equally often; of equal questions the first is the
    first's, the second the second's. Else the index as it is.

    Args:
        store: which holds both.
        here: the responses of the run.
        there: of the baseline.
    """
    if len(here.query_ids) != len(there.query_ids) or not set(here.query_ids).isdisjoint(there.query_ids):
        return there
    mine, theirs = _questions(store, here), _questions(store, there)
    if Counter(mine) != Counter(theirs):
        return there
    waiting: defaultdict[str, deque[str]] = defaultdict(deque)
    for query_id, question in zip(here.query_ids, mine, strict=True):
        waiting[question].append(query_id)
    return replace(there, query_ids=tuple(waiting[question].popleft() for question in theirs))


def same_questions(store: Store, run_id: str, base_id: str) -> bool:
    """Whether two runs without a common id are matched by their questions."""
    here, there = (store.runs.index(either, store.runs.order(either).numbers) for either in (run_id, base_id))
    return by_question(store, here, there) is not there


def _questions(store: Store, index: ResponseIndex) -> list[str]:
    """The question of each example, by its number."""
    import numpy as np

    _, first = np.unique(index.query, return_index=True)
    numbers = index.number[first].tolist()
    return [
        folded(item.example.query)
        for start in range(0, len(numbers), BATCH)
        for item in store.runs.load(numbers[start : start + BATCH])
    ]

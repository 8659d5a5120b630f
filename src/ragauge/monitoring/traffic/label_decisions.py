"""Labels that came with traces change the verdicts and causes of the responses that they are of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragauge.engine.label_facts import decide_again, find_equal_texts
from ragauge.store.database import split_batches
from ragauge.store.store_access import Store

BATCH_SIZE_RESPONSES = 100  # labeled responses that are decided before they are taken off the list


class LabelDecisions:
    """Decides again the responses that labels came for, as an import of these labels does.

    A response stays on the list until it was decided while nobody evaluated its run: an evaluation that began before
    its label came may end after it, with a verdict that does not know the label.

    Args:
        store: with the runs.
        changed: called with the id of each run whose verdicts may have changed.
    """

    def __init__(self, store: Store, changed: Callable[[str], None] = lambda _: None) -> None:
        self._store, self._changed = store, changed
        self._decided: set[int] = set()  # that stay on the list

    def run_once(self) -> int:
        """Decides what is on the list; returns how many labeled responses that were."""
        n_done = 0
        for run_id, numbers in self._store.labels.load_queued_decisions().items():
            for batch in split_batches(numbers, BATCH_SIZE_RESPONSES):
                n_done += self._decide_batch(run_id, batch)
        return n_done

    def _decide_batch(self, run_id: str, numbers: Sequence[int]) -> int:
        with self._store.lock_run(run_id) as no_judge, self._store.lock_run(f"{run_id} free") as no_scorer:
            is_idle = no_judge and no_scorer
            todo = [number for number in numbers if is_idle or number not in self._decided]
            for changed, equal in find_equal_texts(self._store, todo).items():
                decide_again(self._store, changed, equal)
                self._changed(changed)
            if is_idle:
                self._store.labels.end_decisions(numbers)
                self._decided.difference_update(numbers)
            else:
                self._decided.update(numbers)
        return len(todo)

"""What the responses of a stored run are, before anything is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.data.response import Run
from ragauge.text.messages import command

if TYPE_CHECKING:
    from ragauge.analysis.overview.run_counts import RunCounts
    from ragauge.store.open import Store


def counts_of(store: Store, run_id: str) -> RunCounts:
    """What the responses of a run are."""
    from ragauge.analysis.overview.run_counts import CountsGatherer
    from ragauge.analysis.overview.timings import SpendingGatherer, TimingGatherer
    from ragauge.analysis.scores.gather import gather
    from ragauge.api.queries.columns import visits

    index = store.runs.index(run_id, store.runs.order(run_id).numbers)
    counts, timings, spending = CountsGatherer(), TimingGatherer(), SpendingGatherer()
    gather(visits(store, None, index), (counts, timings, spending))
    return counts.counts(timings.timings(index), spending.spending())


def broken(store: Store, run: Run) -> str:
    """Where every call of a run failed: that, its error, and where to look; "" where one was answered."""
    counts = counts_of(store, run.run_id)
    if not counts.all_failed:
        return ""
    return f"{counts.all_failed} Look there, and at: {command('show', run.name)}"

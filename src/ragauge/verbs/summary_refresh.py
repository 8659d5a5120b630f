"""Means that lists show, computed again: where scores came since, or more is known of how far their judge errs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.store.store_access import Store


def renew_means(store: Store) -> None:
    """Keeps anew what lists show, sort and filter by, of every run in flight or stopped that has scores since.

    An evaluation that ends keeps its means itself. A store that can only be read stays as it is.
    """
    for run_id, judge_id in store.run_list.list_outdated():
        _renew_summary(store, run_id, judge_id, counted=True)


def renew_judge_means(store: Store, judge_ids: Iterable[str]) -> None:
    """Keeps anew the means of every run that some judges scored, once a check of them changed what is known of them."""
    for judge_id in judge_ids:
        for run_id in store.summaries.list_run_ids(judge_id):
            _renew_summary(store, run_id, judge_id)


def list_card_metrics(store: Store, run_id: str, judge_id: str | None) -> list[str]:
    """Printed names of the metrics of a run's scorecard by one judge, in its order: that of the last evaluation of all.

    Metrics that are on no scorecard yet stand behind, as their scores do.
    """
    names = store.scores.metrics(run_id, judge_id)
    positions = {summary.metric: position for position, summary in enumerate(store.summaries.read(run_id, judge_id))}
    return sorted(names, key=lambda name: positions.get(name, len(positions)))


def _renew_summary(store: Store, run_id: str, judge_id: str | None, *, counted: bool = False) -> None:
    """Keeps the means anew, and with `counted` the counts of verdicts."""
    from ragauge.engine.judge_error import find_judge_errors
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.scores.summarize import summarize_scores
    from ragauge.verbs.columns import StoredColumns, load_verdicts

    names = list_card_metrics(store, run_id, judge_id)
    index = store.runs.index(run_id, store.scores.evaluated(run_id, judge_id, names))
    columns = StoredColumns(store, run_id, judge_id, index, ahead=names).labelled()
    errors = find_judge_errors(judge_id, store, (run_id,))
    means = summarize_scores(columns, [parse_metric(name) for name in names], errors=errors)
    counts = load_verdicts(store, run_id, judge_id, index).count() if counted else None
    store.summaries.write(run_id, judge_id, means, counts=counts)

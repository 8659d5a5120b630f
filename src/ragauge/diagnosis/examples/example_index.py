"""What lists of a run's examples are sorted and filtered by: read back where it was kept, else made and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.scores.results.scorecard import Cause
from ragauge.verbs.columns import load_verdicts

if TYPE_CHECKING:
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.failures import FailedResponses
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.example_index import ExampleIndex
    from ragauge.store.store_access import Store


def load_example_index(store: Store, run_id: str, judge_id: str | None) -> ExampleIndex:
    """The index of a run's examples by one judge, as of now; None = nobody judged.

    It is kept when it was made, so that the next list, of this process or another, need not look at every score.
    """

    def load_or_build() -> ExampleIndex:
        indexes = store.example_indexes
        stamp, cached = indexes.compute_stamp(run_id), indexes.read(run_id, judge_id)
        if cached is None:
            cached = _build_index(store, run_id, judge_id)
            indexes.save(run_id, judge_id, stamp, cached)
        return cached

    return store.cache_for_run(run_id, ("example index", judge_id), load_or_build)


def _build_index(store: Store, run_id: str, judge_id: str | None) -> ExampleIndex:
    """From all scores and causes, which the database adds up."""
    import numpy as np

    from ragauge.metrics.catalogue import parse_metric
    from ragauge.scores.quality import find_scale
    from ragauge.store.example_index import ExampleIndex

    example_list, metrics = store.example_list, tuple(store.scores.metrics(run_id, judge_id))
    index, groups = store.runs.index(run_id, store.runs.load_order(run_id).numbers), example_list.groups(run_id)
    names = example_list.load_cause_names(run_id, judge_id)
    causes, cause = tuple(sorted(set(names.values()))), np.full(len(index), -1, dtype=np.int16)
    positions = np.searchsorted(index.number, np.array([*names], dtype=np.int64))
    cause[positions] = [causes.index(name) for name in names.values()]
    scales = {name: scale for name in metrics if (scale := find_scale(parse_metric(name))) is not None}
    means, quality = example_list.compute_qualities(run_id, judge_id, scales), np.full(len(index), np.nan)
    quality[np.searchsorted(index.number, np.array([*means], dtype=np.int64))] = [*means.values()]
    verdicts = _compute_verdicts(store, run_id, judge_id, metrics, _build_failures(index, positions.tolist()))
    tags = groups.pop("", ())
    reason = verdicts.reason.astype(np.int16)
    return ExampleIndex(
        metrics, causes, verdicts.reasons, groups, tags, index.number, verdicts.verdict, cause, reason, quality
    )


def _build_failures(index: ResponseIndex, positions: list[int]) -> FailedResponses:
    """The failed responses, without what only their causes say."""
    from ragauge.scores.failures import FailedResponses

    return FailedResponses.from_causes(index, ((position, Cause("")) for position in positions), lambda _: {})


def _compute_verdicts(
    store: Store, run_id: str, judge_id: str | None, metrics: tuple[str, ...], failed: FailedResponses
) -> ResponseVerdicts:
    """The verdicts, by what the database says of metrics that show alike."""
    import numpy as np

    from ragauge.metrics.catalogue import parse_metric
    from ragauge.scores.pass_status import JudgedCoverage, ShownQuestions

    families: dict[ShownQuestions, list[str]] = {}
    for name in metrics:
        families.setdefault(ShownQuestions.of(parse_metric(name)), []).append(name)
    telling = [shows for shows in families if shows.has_judge]
    known_scores = JudgedCoverage(failed.index)
    for shows in telling:
        known_scores.mark_scored(shows, None)
    for position, numbers, _ in store.example_list.seen(run_id, judge_id, [families[shows] for shows in telling]):
        known_scores.mark_scored(telling[position], np.searchsorted(failed.index.number, numbers))
    return known_scores.verdicts(load_verdicts(store, run_id, judge_id, failed.index), failed, judge_id)

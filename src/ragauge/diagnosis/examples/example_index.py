"""What lists of a run's examples are sorted and filtered by: read back where it was kept, else made and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.scores.results.scorecard import Cause
from ragauge.verbs.columns import stored_verdicts

if TYPE_CHECKING:
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.failures import FailedResponses
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.example_index import ExampleIndex
    from ragauge.store.store_access import Store


def example_index(store: Store, run_id: str, judge_id: str | None) -> ExampleIndex:
    """The index of a run's examples by one judge, as of now; None = nobody judged.

    It is kept when it was made, so that the next list, of this process or another, need not look at every score.
    """

    def found() -> ExampleIndex:
        indexes = store.example_indexes
        stamp, kept = indexes.stamp(run_id), indexes.read(run_id, judge_id)
        if kept is None:
            kept = _made(store, run_id, judge_id)
            indexes.keep(run_id, judge_id, stamp, kept)
        return kept

    return store.of_run(run_id, ("example index", judge_id), found)


def _made(store: Store, run_id: str, judge_id: str | None) -> ExampleIndex:
    """From all scores and causes, which the database adds up."""
    import numpy as np

    from ragauge.metrics.catalogue import parse
    from ragauge.scores.quality import scale_of
    from ragauge.store.example_index import ExampleIndex

    listed, metrics = store.example_list, tuple(store.scores.metrics(run_id, judge_id))
    index, groups = store.runs.index(run_id, store.runs.order(run_id).numbers), listed.groups(run_id)
    names = listed.cause_names(run_id, judge_id)
    causes, cause = tuple(sorted(set(names.values()))), np.full(len(index), -1, dtype=np.int16)
    place = np.searchsorted(index.number, np.array([*names], dtype=np.int64))
    cause[place] = [causes.index(name) for name in names.values()]
    scales = {name: scale for name in metrics if (scale := scale_of(parse(name))) is not None}
    means, quality = listed.qualities(run_id, judge_id, scales), np.full(len(index), np.nan)
    quality[np.searchsorted(index.number, np.array([*means], dtype=np.int64))] = [*means.values()]
    verdicts = _verdicts(store, run_id, judge_id, metrics, _failed(index, place.tolist()))
    tags = groups.pop("", ())
    why = verdicts.reason.astype(np.int16)
    return ExampleIndex(
        metrics, causes, verdicts.reasons, groups, tags, index.number, verdicts.verdict, cause, why, quality
    )


def _failed(index: ResponseIndex, places: list[int]) -> FailedResponses:
    """The failed responses, without what only their causes say."""
    from ragauge.scores.failures import FailedResponses

    return FailedResponses.gathered(index, ((place, Cause("")) for place in places), lambda _: {})


def _verdicts(
    store: Store, run_id: str, judge_id: str | None, metrics: tuple[str, ...], failed: FailedResponses
) -> ResponseVerdicts:
    """The verdicts, by what the database says of metrics that show alike."""
    import numpy as np

    from ragauge.metrics.catalogue import parse
    from ragauge.scores.pass_status import KnownScores, Shows

    families: dict[Shows, list[str]] = {}
    for name in metrics:
        families.setdefault(Shows.of(parse(name)), []).append(name)
    telling = [shows for shows in families if shows.asked]
    known = KnownScores(failed.index)
    for shows in telling:
        known.see(shows, None)
    for at, numbers, _ in store.example_list.seen(run_id, judge_id, [families[shows] for shows in telling]):
        known.see(telling[at], np.searchsorted(failed.index.number, numbers))
    return known.verdicts(stored_verdicts(store, run_id, judge_id, failed.index), failed, judge_id)
